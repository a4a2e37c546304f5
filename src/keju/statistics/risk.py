"""Risk–coverage curves of selective prediction: the error when only confident answers are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keju.statistics.bootstrap import Floats, Interval, draws, interval_of_values, number_groups


class RiskCoverage(NamedTuple):
    """The error of the kept items, when n items are kept in the order of a confidence signal.

    Attributes:
        coverage: the shares of items kept, 1/n to 1.
        risk: the error over them, a ratio of sums.
        area: the mean risk over all coverages (AURC, Geifman and El-Yaniv 2017).
        best: the area when items are kept in the order of their true error rates; where weights
            differ, a signal may be slightly better.
        whole: the error of everything, which is the area of a signal without information.
    """

    coverage: Floats
    risk: Floats
    area: float
    best: float
    whole: float

    @property
    def gain(self) -> float | None:
        """The reduction of the area, as a share of the reduction by a perfect order.

        1 is that of the true errors, 0 chance, below 0 worse; None where no reduction is possible.
        """
        room = self.whole - self.best
        return (self.whole - self.area) / room if room > 0 else None

    def at(self, coverage: float) -> float:
        """The error when that share is kept, the number of items rounded up."""
        place = int(np.searchsorted(self.coverage, coverage - 1e-12))
        return float(self.risk[min(place, len(self.risk) - 1)])


class RiskIntervals(NamedTuple):
    """Intervals of a curve's area, its gain, and its risk at some coverages."""

    area: Interval | None
    gain: Interval | None
    at: dict[float, Interval | None]


def risk_coverage(
    errors: Sequence[float], weights: Sequence[float], signal: Sequence[float]
) -> RiskCoverage:
    """Keep items from the highest signal down, and compute the error at each step.

    Items with equal signals have no order: a step among them has their mean.

    Args:
        errors: an item's contribution to the numerator, e.g. its edits; n of them.
        weights: its contribution to the denominator, e.g. its length; n of them, above 0.
        signal: higher means more confident; n of them.

    Raises:
        ValueError: the three differ in length or are empty, a number is not finite, or a weight is
            not above 0.
    """
    return _curve(*_checked(errors, weights, signal))


def risk_intervals(
    errors: Sequence[float],
    weights: Sequence[float],
    signal: Sequence[float],
    groups: Sequence[str],
    *,
    coverages: Sequence[float] = (),
    resamples: int = 1000,
    seed: int = 12345,
) -> RiskIntervals:
    """Bootstrap by group of the results of `risk_coverage`; an empty name is a group of its own.

    Raises:
        ValueError: as `risk_coverage`, or the groups are not as many.
    """
    arrays = _checked(errors, weights, signal)
    if len(groups) != len(arrays[0]):
        raise ValueError("as many groups as items are needed")
    inverse, known = number_groups(groups)
    found = [
        # Only the values of a curve are kept, not the curve: a thousand of them would fill memory.
        (curve.area, curve.gain, *map(curve.at, coverages))
        for drawn in draws(known, resamples=resamples, seed=seed)
        for counts in drawn
        if len(rows := np.repeat(np.arange(len(inverse)), counts[inverse].astype(np.intp)))
        for curve in [_curve(*(array[rows] for array in arrays))]
    ]

    def interval(values: Sequence[float | None]) -> Interval | None:
        numbers = np.array([np.nan if value is None else value for value in values])
        return interval_of_values(numbers, known)

    area, gain, *at = map(interval, zip(*found, strict=True))
    return RiskIntervals(area, gain, dict(zip(coverages, at, strict=True)))


def _checked(
    errors: Sequence[float], weights: Sequence[float], signal: Sequence[float]
) -> tuple[Floats, Floats, Floats]:
    first, second, third = (
        np.asarray(side, dtype=np.float64) for side in (errors, weights, signal)
    )
    if not len(first) == len(second) == len(third) or not len(first):
        raise ValueError("errors, weights and signal must be of one length, 1 or more")
    if not all(np.isfinite(side).all() for side in (first, second, third)):
        raise ValueError("values must be finite")
    if not (second > 0).all():
        raise ValueError("weights must be above 0")
    return first, second, third


def _curve(errors: Floats, weights: Floats, signal: Floats) -> RiskCoverage:
    risk = _risk(errors, weights, signal)
    best = _risk(errors, weights, -errors / weights)
    count = len(errors)
    return RiskCoverage(
        coverage=np.arange(1, count + 1) / count,
        risk=risk,
        area=float(risk.mean()),
        best=float(best.mean()),
        whole=float(risk[-1]),
    )


def _risk(errors: Floats, weights: Floats, signal: Floats) -> Floats:
    """The error after each item; items that tie are replaced by their mean."""
    _, block, sizes = np.unique(-signal, return_inverse=True, return_counts=True)
    order = np.argsort(block, kind="stable")
    top, bottom = (np.bincount(block, side) / sizes for side in (errors, weights))
    ordered = block[order]
    return np.asarray(np.cumsum(top[ordered]) / np.cumsum(bottom[ordered]), dtype=np.float64)
