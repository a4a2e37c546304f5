"""`MetricValue`: the result of a metric for one scoring sample."""

from __future__ import annotations

from typing import NamedTuple


class MetricValue(NamedTuple):
    """A value and the sufficient statistics behind it.

    A task's value is ``sum(numerator) / sum(denominator)`` over its items: the mean of items where
    every denominator is 1, a corpus rate where it is a length or a count.
    """

    value: float
    stats: dict[str, float]


def mean(value: float, **stats: float) -> MetricValue:
    """A value that a task averages over its items."""
    return ratio(value, 1, value, **stats)


def ratio(numerator: float, denominator: float, value: float, **stats: float) -> MetricValue:
    """A value whose parts a task sums before dividing."""
    return MetricValue(value, {"numerator": numerator, "denominator": denominator, **stats})
