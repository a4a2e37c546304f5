"""Association of two raters' values: correlation, error and bias, with bootstrap by group.

A resample gives each pair of values a whole-number weight. All measures are computed from such
weights, thousands of resamples at a time: means and Pearson's r from weighted sums, ranks from
cumulative sums of weights, Kendall's pairs from a quadratic form over the groups. Nothing is sorted
again.

The papers' formulas (Spearman by squared rank differences, Kendall by concordant pairs) are valid
only without ties; use the corrected forms where ratings are whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from keju.metrics.base import UndefinedMetricError
from keju.statistics.resampling import (
    Floats,
    GroupShares,
    Interval,
    Numbers,
    draws,
    interval_of_values,
    place_items,
)
from keju.texts import _

AssociationMeasure = Literal[
    "pearson", "spearman", "spearman_paper", "kendall", "kendall_paper", "mse", "mae", "bias"
]
"""Measures of a model's values against people's; those in ``_paper`` do not handle ties.

* ``pearson``: Pearson's r. ``spearman``: r of the ranks, tied values sharing their mean rank.
* ``spearman_paper``: 1 - 6 Σd² / (n(n² - 1)) as the papers write it. Tied values share their mean
  rank (our reading; the papers do not state it). With ties it exceeds ``spearman``.
* ``kendall``: tau-b, (C - D) over the geometric mean of the pairs without a tie on each side.
  ``kendall_paper``: (C - D) / (n(n - 1) / 2), which is tau-a.
* ``mse``, ``mae``: mean squared and mean absolute difference. ``bias``: mean of human - model;
  above 0 the model is the stricter one.
"""

MEASURES: tuple[AssociationMeasure, ...] = get_args(AssociationMeasure)

_BLOCK = 1 << 22
_PASSES = 64
"""Arrays of the size of the pairs that one draw makes."""

_FLAT = 1e-24
"""Mean squares below which, for values of 1, only rounding errors remain."""


class Correlation(NamedTuple):
    """A coefficient from -1 to 1 with its interval; None where one side does not vary."""

    value: float | None
    interval: Interval | None


class Association(NamedTuple):
    """Measures of n pairs, and their values in each of R resamples of the groups.

    A measure is None where it is not defined (one side is constant, a single pair), and NaN in
    resamples where it is not defined.
    """

    values: dict[AssociationMeasure, float | None]
    resampled: dict[AssociationMeasure, Floats]
    shares: GroupShares

    @property
    def groups(self) -> int:
        """The number of groups."""
        return self.shares.groups

    def interval(self, measure: AssociationMeasure) -> Interval | None:
        """The measure's interval (see `interval_of_values`)."""
        if (value := self.values[measure]) is None:
            return None
        return interval_of_values(self.resampled[measure], value, self.shares)

    def correlation(self, measure: AssociationMeasure) -> Correlation:
        """A coefficient with its interval."""
        return Correlation(self.values[measure], self.interval(measure))


def associate(human: Sequence[float], model: Sequence[float], groups: Sequence[str]) -> Association:
    """Every measure of a model's values against people's, resampled by group.

    The same groups in the same order give the same draws, so that two models over the same items
    can be compared resample by resample.

    Args:
        human: n values.
        model: n values of the same items.
        groups: the name of each one's group.

    Raises:
        ValueError: the three differ in length, or a value is not finite.
    """
    left, right = _sides(human, model)
    if len(groups) != len(left):
        raise ValueError("both sides and their groups must be of one length")
    places, cells, shares = place_items(groups)
    weigh = _Weighed(left, right, places, cells)
    values = _values(left, right, weigh)
    blocks = [weigh.measures(drawn) for drawn in draws(cells, numbers=_PASSES * len(left))]
    resampled = {
        measure: np.concatenate([block[measure] for block in blocks]) for measure in MEASURES
    }
    return Association(values, resampled, shares)


def pearson(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's r of n paired values.

    Raises:
        UndefinedMetricError: fewer than two pairs, or one side is constant.
        ValueError: the sides differ in length, or a value is not finite.
    """
    return _defined(_pearson(*_pairs(left, right)))


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's rho with ties; raises as `pearson`."""
    first, second = _pairs(left, right)
    return _defined(_pearson(_ranks(first), _ranks(second)))


def kendall(left: Sequence[float], right: Sequence[float]) -> float:
    """Kendall's tau-b; raises as `pearson`."""
    first, second = map(_ranks, _pairs(left, right))
    weigh = _Weighed(first, second, np.zeros(len(first), dtype=np.intp), 1)
    return _defined(float(weigh.measures(np.ones((1, 1)))["kendall"][0]))


def _pairs(left: Sequence[float], right: Sequence[float]) -> tuple[Floats, Floats]:
    first, second = _sides(left, right)
    if len(first) < 2:
        raise UndefinedMetricError(
            _("at least {} pairs are needed, but there are {}", 2, len(first))
        )
    return first, second


def _defined(value: float | None) -> float:
    if value is None or not np.isfinite(value):
        raise UndefinedMetricError(_("all values of one side are equal"))
    return value


def _values(left: Floats, right: Floats, weigh: _Weighed) -> dict[AssociationMeasure, float | None]:
    """The measures of pairs without weights.

    Means and Pearson's r are computed from the pairs in their order: sums of weights differ in the
    last bit, which shows where a value is printed that is exactly between two, such as 0.125.
    """
    difference = left - right
    weighed = weigh.measures(np.ones((1, weigh.cells)))
    values = {
        measure: float(value[0]) if np.isfinite(value[0]) else None
        for measure, value in weighed.items()
    }
    return values | {
        "pearson": _pearson(left, right),
        "spearman": _pearson(_ranks(left), _ranks(right)),
        "mse": float((difference**2).mean()),
        "mae": float(np.abs(difference).mean()),
        "bias": float(difference.mean()),
    }


def _pearson(first: Floats, second: Floats) -> float | None:
    if (first == first[0]).all() or (second == second[0]).all():
        return None
    return float(np.clip(_unit(first) @ _unit(second), -1, 1))


def _unit(values: Floats) -> Floats:
    """Values minus their mean, as a vector of length 1; scaled so that no square overflows."""
    centred = values / np.abs(values).max()
    centred = centred - centred.mean()
    centred /= np.abs(centred).max()
    return np.asarray(centred / np.linalg.norm(centred), dtype=np.float64)


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; tied values share their mean rank."""
    __, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse], dtype=np.float64)


def _sides(left: Sequence[float], right: Sequence[float]) -> tuple[Floats, Floats]:
    first, second = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError("the two sides must be of one length")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("values must be finite")
    return first, second


class _Weighed:
    """The measures of pairs that are weighted by group; equal pairs are merged first."""

    def __init__(self, left: Floats, right: Floats, places: Numbers, cells: int) -> None:
        self.cells = cells
        self._concordance = _concordance(left, right, places, cells)
        order = np.lexsort((right, left))
        left, right = left[order], right[order]
        new = np.concatenate(([True], (np.diff(left) != 0) | (np.diff(right) != 0)))
        self._places, self._starts = places[order], np.flatnonzero(new)
        self._left, self._right = left[self._starts], right[self._starts]
        self._ids = tuple(
            np.unique(side, return_inverse=True)[1] for side in (self._left, self._right)
        )

    def measures(self, drawn: Floats) -> dict[AssociationMeasure, Floats]:
        """All measures for each row of the groups' weights."""
        weights = np.add.reduceat(drawn[:, self._places], self._starts, axis=1)
        total = weights.sum(axis=1)
        difference = self._left - self._right
        ranks_left, untied_left = self._ranks(weights, self._ids[0])
        ranks_right, untied_right = self._ranks(weights, self._ids[1])
        squares = (weights * (ranks_left - ranks_right) ** 2).sum(axis=1)
        surplus = ((drawn @ self._concordance) * drawn).sum(axis=1) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = total * (total - 1) / 2
            return {
                "pearson": _correlation(weights, self._left[None], self._right[None]),
                "spearman": _correlation(weights, ranks_left, ranks_right),
                "spearman_paper": 1 - 6 * squares / (total * (total**2 - 1)),
                "kendall": surplus / np.sqrt(untied_left) / np.sqrt(untied_right),
                "kendall_paper": surplus / pairs,
                "mse": weights @ difference**2 / total,
                "mae": weights @ np.abs(difference) / total,
                "bias": weights @ difference / total,
            }

    @staticmethod
    def _ranks(weights: Floats, ids: Numbers) -> tuple[Floats, Floats]:
        """Each pair's rank on one side, R by K, and the number of pairs without a tie on it, R."""
        order = np.argsort(ids, kind="stable")
        starts = np.flatnonzero(np.concatenate(([True], np.diff(ids[order]) != 0)))
        counts = np.add.reduceat(weights[:, order], starts, axis=1)
        middle = np.cumsum(counts, axis=1) - (counts - 1) / 2
        untied = (counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)) / 2
        return middle[:, ids], untied


def _concordance(left: Floats, right: Floats, places: Numbers, cells: int) -> Floats:
    """Concordant less discordant pairs of each group's items with each other group's, ordered."""
    order = np.argsort(places, kind="stable")
    left, right = left[order], right[order]
    starts = np.searchsorted(places[order], np.arange(cells))
    rows = []
    step = max(1, _BLOCK // max(1, len(left)))
    for start in range(0, len(left), step):
        block = slice(start, start + step)
        signs = np.sign(left[block, None] - left) * np.sign(right[block, None] - right)
        rows.append(np.add.reduceat(signs, starts, axis=1))
    return np.add.reduceat(np.concatenate(rows), starts, axis=0)


def _correlation(weights: Floats, left: Floats, right: Floats) -> Floats:
    """Pearson's r in each row; NaN where a side is constant."""
    total = weights.sum(axis=1, keepdims=True)
    sizes = [float(np.abs(side).max()) for side in (left, right)]
    left = left - (weights * left).sum(axis=1, keepdims=True) / total
    right = right - (weights * right).sum(axis=1, keepdims=True) / total
    spreads = [(weights * side**2).sum(axis=1) for side in (left, right)]
    product = (weights * left * right).sum(axis=1)
    varies = np.logical_and.reduce(
        [
            spread > _FLAT * total[:, 0] * size**2
            for spread, size in zip(spreads, sizes, strict=True)
        ]
    )
    bounded = np.clip(product / np.sqrt(spreads[0]) / np.sqrt(spreads[1]), -1, 1)
    return np.where(varies, bounded, np.nan)
