"""Risk–coverage curves of selective prediction: the error when only confident answers are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keju.statistics.resampling import (
    Floats,
    Interval,
    Numbers,
    draws,
    interval_of_values,
    place_items,
)

_PASSES = 64
"""Arrays of the size of the items that one draw makes."""


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
    by_signal, by_error = _orders(errors, weights, signal)
    once = np.ones((1, len(by_signal.errors)))
    risk, best = by_signal.blocks(once).risks(), by_error.blocks(once).risks()
    return RiskCoverage(
        coverage=np.arange(1, len(risk) + 1) / len(risk),
        risk=risk,
        area=float(risk.mean()),
        best=float(best.mean()),
        whole=float(risk[-1]),
    )


def risk_intervals(
    errors: Sequence[float],
    weights: Sequence[float],
    signal: Sequence[float],
    groups: Sequence[str],
    *,
    coverages: Sequence[float] = (),
) -> RiskIntervals:
    """Intervals by group of the results of `risk_coverage`.

    Raises:
        ValueError: as `risk_coverage`, or the groups are not as many.
    """
    curve = risk_coverage(errors, weights, signal)
    by_signal, by_error = _orders(errors, weights, signal)
    if len(groups) != len(errors):
        raise ValueError("as many groups as items are needed")
    places, cells, shares = place_items(groups)
    rows = []
    for drawn in draws(cells, numbers=_PASSES * len(errors)):
        counts = drawn[:, places]
        blocks = by_signal.blocks(counts)
        area, total = blocks.areas(), blocks.at(1.0)
        room = total - by_error.blocks(counts).areas()
        gain = np.full(len(drawn), np.nan)
        np.divide(total - area, room, out=gain, where=room > 0)
        rows.append(np.stack([area, gain, *(blocks.at(share) for share in coverages)]))
    area, gain, *at = np.concatenate(rows, axis=1)
    return RiskIntervals(
        interval_of_values(area, curve.area, shares),
        None if curve.gain is None else interval_of_values(gain, curve.gain, shares),
        {
            share: interval_of_values(values, curve.at(share), shares)
            for share, values in zip(coverages, at, strict=True)
        },
    )


class _Blocks(NamedTuple):
    """Blocks of items with equal signals, from the highest signal down, in R draws: R by B of each.

    Attributes:
        counts: the items of a block, as often as they are drawn.
        top: their errors.
        bottom: their weights.
    """

    counts: Floats
    top: Floats
    bottom: Floats

    def risks(self) -> Floats:
        """The error after each item, draw after draw; an item of a block has the block's means."""
        sizes = self.counts.astype(np.intp).ravel()
        steps = np.arange(1, sizes.sum() + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        top, bottom = (
            np.repeat((np.cumsum(side, axis=1) - side).ravel(), sizes)
            + steps * np.repeat(side.ravel() / np.maximum(sizes, 1), sizes)
            for side in (self.top, self.bottom)
        )
        return np.asarray(top / bottom, dtype=np.float64)

    def areas(self) -> Floats:
        """The mean of the errors of each draw."""
        lengths = self.counts.sum(axis=1)
        starts = (np.cumsum(lengths) - lengths).astype(np.intp)
        return np.asarray(np.add.reduceat(self.risks(), starts) / lengths, dtype=np.float64)

    def at(self, coverage: float) -> Floats:
        """The error of each draw when that share is kept, the number of items rounded up."""
        reached = np.cumsum(self.counts, axis=1)
        items = np.maximum(1, np.ceil((coverage - 1e-12) * reached[:, -1]))
        rows, last = np.arange(len(items)), (reached < items[:, None]).sum(axis=1)
        beyond = (reached[rows, last] - items) / self.counts[rows, last]
        top, bottom = (
            np.cumsum(side, axis=1)[rows, last] - beyond * side[rows, last]
            for side in (self.top, self.bottom)
        )
        return np.asarray(top / bottom, dtype=np.float64)


class _Order(NamedTuple):
    """Items from the highest signal down, and where the blocks of equal signals begin."""

    places: Numbers
    starts: Numbers
    errors: Floats
    weights: Floats

    def blocks(self, counts: Floats) -> _Blocks:
        """The blocks in R draws, which have the n items `counts` times (R by n)."""
        counts = counts[:, self.places]
        sides = (counts, counts * self.errors, counts * self.weights)
        return _Blocks(*(np.add.reduceat(side, self.starts, axis=1) for side in sides))


def _orders(
    errors: Sequence[float], weights: Sequence[float], signal: Sequence[float]
) -> tuple[_Order, _Order]:
    """The items in the order of their signal, and in that of their true error rates."""
    first, second, third = (
        np.asarray(side, dtype=np.float64) for side in (errors, weights, signal)
    )
    if not len(first) == len(second) == len(third) or not len(first):
        raise ValueError("errors, weights and signal must be of one length, 1 or more")
    if not all(np.isfinite(side).all() for side in (first, second, third)):
        raise ValueError("values must be finite")
    if not (second > 0).all():
        raise ValueError("weights must be above 0")

    def order(descending: Floats) -> _Order:
        places = np.argsort(-descending, kind="stable")
        new = np.concatenate(([True], np.diff(descending[places]) != 0))
        return _Order(places, np.flatnonzero(new), first[places], second[places])

    return order(third), order(-first / second)
