"""Models: endpoints, OCR engines, baselines, and responses from other programs."""

from keju.models.base import (
    MISSING,
    REPLAYED,
    RESULTS,
    Answer,
    AskError,
    Decoding,
    Model,
    ModelOptions,
    Shown,
    source_of,
)
from keju.models.declarations import Role
from keju.models.drafts import drafted_by
from keju.models.image_limits import Fit
from keju.models.pipeline import Pipeline
from keju.models.registry import (
    ModelKind,
    check_models,
    computes_here,
    model_kinds,
    open_model,
    open_models,
    plugins_of,
    role_of,
)

__all__ = [
    "MISSING",
    "REPLAYED",
    "RESULTS",
    "Answer",
    "AskError",
    "Decoding",
    "Fit",
    "Model",
    "ModelKind",
    "ModelOptions",
    "Pipeline",
    "Role",
    "Shown",
    "check_models",
    "computes_here",
    "drafted_by",
    "model_kinds",
    "open_model",
    "open_models",
    "plugins_of",
    "role_of",
    "source_of",
]
