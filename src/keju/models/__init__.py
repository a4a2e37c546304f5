"""Who answers: endpoints, OCR engines, baselines, answers made elsewhere."""

from keju.models.base import Answer, AskError, Decoding, Model, ModelOptions
from keju.models.opening import ModelKind, model_kinds, open_model

__all__ = [
    "Answer",
    "AskError",
    "Decoding",
    "Model",
    "ModelKind",
    "ModelOptions",
    "model_kinds",
    "open_model",
]
