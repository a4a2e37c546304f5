"""`PRF`, counts of hits and errors that several metrics use."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import NamedTuple


class UndefinedMetricError(ValueError):
    """A metric has no value for this input; the text says why."""


class TooLongError(UndefinedMetricError):
    """An answer is too long to be scored. It counts as the worst value of the metric."""


class PRF(NamedTuple):
    """Precision, recall and F1, as fractions."""

    precision: float
    recall: float
    f1: float


class HitCounts(NamedTuple):
    """How many of the predicted are right, how many were predicted, how many the truth has."""

    hits: int
    predicted: int
    expected: int


def prf(hits: int, predicted: int, expected: int) -> PRF:
    """Precision, recall and F1 of counts (see `HitCounts`); a rate over nothing is 0."""
    precision = hits / predicted if predicted else 0.0
    recall = hits / expected if expected else 0.0
    return PRF(precision, recall, f_beta(precision, recall))


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """The F measure with recall weighted `beta` times precision; 0 where both are 0."""
    weight = beta * beta
    total = recall + weight * precision
    return (1 + weight) * precision * recall / total if total else 0.0


def entities_prf(reference: AbstractSet[str], hypothesis: AbstractSet[str]) -> PRF:
    """P, R, F1 over sets of names."""
    return prf(len(reference & hypothesis), len(hypothesis), len(reference))


def relative_error(truth: float, predicted: float) -> float:
    """|truth - predicted| / |truth|, whose mean over items is the MRE.

    For a truth of 0 it is 1, or 0 if the prediction is 0 too.
    """
    if truth == 0:
        return float(predicted != 0)
    return abs(truth - predicted) / abs(truth)
