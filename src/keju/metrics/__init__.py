"""Metrics: pure functions on strings, sets and numbers. Nothing here normalises or reads files.

A function that has no value for its input raises `UndefinedMetricError`, which says why.

The metrics of scoring, with its preparation of texts and signatures, are attributes too, by the
names that tables have: ``keju.metrics.CER()`` (`docs/api.md`).
"""

from typing import Any

from keju.metrics.base import (
    PRF,
    HitCounts,
    UndefinedMetricError,
    entities_prf,
    f_beta,
    prf,
    relative_error,
)
from keju.metrics.edit import (
    EditCounts,
    ErrorParts,
    accurate_rate,
    bag_distance,
    best_edits,
    character_error_rate,
    correct_rate,
    distance,
    error_parts,
    normalised_distance,
    position_prf,
    set_prf,
)
from keju.metrics.ngrams import (
    chrf,
    chrf_counts,
    chrf_of_counts,
    rouge_l,
    rouge_n,
    sentence_bleu,
)

__all__ = [
    "PRF",
    "EditCounts",
    "ErrorParts",
    "HitCounts",
    "UndefinedMetricError",
    "accurate_rate",
    "bag_distance",
    "best_edits",
    "character_error_rate",
    "chrf",
    "chrf_counts",
    "chrf_of_counts",
    "correct_rate",
    "distance",
    "entities_prf",
    "error_parts",
    "f_beta",
    "normalised_distance",
    "position_prf",
    "prf",
    "relative_error",
    "rouge_l",
    "rouge_n",
    "sentence_bleu",
    "set_prf",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a metric is found by its name
    if name.startswith("_"):
        raise AttributeError(f"module 'keju.metrics' has no attribute {name!r}")
    return _objects().constructor(name)


def __dir__() -> list[str]:
    return [*__all__, *_objects().names()]


def _objects() -> Any:  # noqa: ANN401 - a module above this one, which is imported on first use
    from importlib import import_module  # noqa: PLC0415 - needed only here

    return import_module("keju.api.text_metrics")
