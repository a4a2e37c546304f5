"""`MetricValue`: the result of a metric for one scoring sample."""

from __future__ import annotations

from typing import NamedTuple

from keju.metrics import prf


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


class Hits(NamedTuple):
    """How many of the predicted are right, how many were predicted, how many the reference has.

    Each rate is a value whose parts a task sums, but for `f1_macro`.
    """

    hits: int
    predicted: int
    expected: int

    @property
    def precision(self) -> MetricValue:
        """The share of the predicted that is right."""
        return _rate(self.hits, self.predicted)

    @property
    def recall(self) -> MetricValue:
        """The share of the reference that is predicted."""
        return _rate(self.hits, self.expected)

    @property
    def f1(self) -> MetricValue:
        """F1 as a ratio of sums; nothing predicted where nothing was to be found is right."""
        value = prf(*self).f1 if self.predicted or self.expected else 1.0
        return ratio(2 * self.hits, self.predicted + self.expected, value, **self._asdict())

    @property
    def f1_macro(self) -> MetricValue:
        """F1 of the item, which a task averages."""
        return mean(self.f1.value)


def _rate(hits: int, total: int) -> MetricValue:
    return ratio(hits, total, hits / total if total else 0.0)
