"""Relative error of a number."""

from __future__ import annotations


def relative_error(truth: float, predicted: float) -> float:
    """|truth - predicted| / |truth|, whose mean over items is the MRE.

    For a truth of 0 it is 1, or 0 if the prediction is 0 too.
    """
    if truth == 0:
        return float(predicted != 0)
    return abs(truth - predicted) / abs(truth)
