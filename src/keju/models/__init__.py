"""Models: endpoints, OCR engines, baselines, and responses from other programs."""

from keju.models.base import (
    MISSING,
    REPLAYED,
    RESULTS,
    Answer,
    AskError,
    DatasetAccess,
    Decoding,
    Model,
    ModelOptions,
)
from keju.models.images import Fit
from keju.models.registry import (
    ModelKind,
    check_models,
    drafted_by,
    model_kinds,
    open_model,
    open_models,
    role_of,
)

__all__ = [
    "MISSING",
    "REPLAYED",
    "RESULTS",
    "Answer",
    "AskError",
    "DatasetAccess",
    "Decoding",
    "Fit",
    "Model",
    "ModelKind",
    "ModelOptions",
    "check_models",
    "drafted_by",
    "model_kinds",
    "open_model",
    "open_models",
    "role_of",
]
