"""Association of two raters' values: all measures, with bootstrap by group.

A resample gives each pair of values a whole-number weight. All measures are computed from such
weights, thousands of resamples at a time: means and Pearson's r from weighted sums, ranks from
cumulative sums of weights, Kendall's pairs from a quadratic form. Nothing is sorted again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from keju.metrics.base import UndefinedMetricError
from keju.statistics.bootstrap import Floats, Interval, draws, interval_of_values, number_groups
from keju.statistics.correlation import (
    deviation,
    kendall,
    kendall_paper,
    pearson,
    spearman,
    spearman_paper,
)

AssociationMeasure = Literal[
    "pearson", "spearman", "spearman_paper", "kendall", "kendall_paper", "mse", "mae", "bias"
]
"""Names as in `correlation`; those in ``_paper`` are the papers' formulas, which do not handle
ties."""

MEASURES: tuple[AssociationMeasure, ...] = get_args(AssociationMeasure)

_BLOCK = 1 << 22
_FLAT = 1e-24
"""Mean squares below which, for values of 1, only rounding errors remain."""

_Ints = npt.NDArray[np.intp]


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
    groups: int

    def interval(self, measure: AssociationMeasure, level: float = 0.95) -> Interval | None:
        """The measure's interval; None with one group, or where most resamples have no value."""
        if self.values[measure] is None:
            return None
        return interval_of_values(self.resampled[measure], self.groups, level=level)

    def correlation(self, measure: AssociationMeasure) -> Correlation:
        """A coefficient with its interval."""
        return Correlation(self.values[measure], self.interval(measure))


def associate(
    human: Sequence[float],
    model: Sequence[float],
    groups: Sequence[str],
    *,
    resamples: int = 2000,
    seed: int = 12345,
) -> Association:
    """Every measure of association of a model's values with people's, resampled by group.

    The same groups in the same order give the same draws, so that two models over the same items
    can be compared resample by resample.

    Args:
        human: n values.
        model: n values of the same items.
        groups: the group of each; an empty name makes it a group of its own.
        resamples: the number of resamples; groups are drawn with replacement.
        seed: of the draws.

    Raises:
        ValueError: the three differ in length, or a value is not finite.
    """
    if not len(human) == len(model) == len(groups):
        raise ValueError("both sides and their groups must be of one length")
    left, right = np.asarray(human, dtype=np.float64), np.asarray(model, dtype=np.float64)
    inverse, known = number_groups(groups)
    values = {measure: _value(_POINT[measure], human, model) for measure in MEASURES}
    parts: dict[AssociationMeasure, list[Floats]] = {measure: [] for measure in MEASURES}
    if known > 1:
        weigh = _Weighed(left, right)
        step = max(1, _BLOCK // len(left))
        for drawn in draws(known, resamples=resamples, seed=seed):
            for start in range(0, len(drawn), step):
                found = weigh.measures(drawn[start : start + step][:, inverse])
                for measure in MEASURES:
                    parts[measure].append(found[measure])
    resampled = {
        measure: np.concatenate(parts[measure]) if parts[measure] else np.empty(0)
        for measure in MEASURES
    }
    return Association(values, resampled, known)


_POINT: dict[AssociationMeasure, Callable[[Sequence[float], Sequence[float]], float]] = {
    "pearson": pearson,
    "spearman": spearman,
    "spearman_paper": spearman_paper,
    "kendall": kendall,
    "kendall_paper": kendall_paper,
    "mse": lambda human, model: deviation(human, model).mse,
    "mae": lambda human, model: deviation(human, model).mae,
    "bias": lambda human, model: deviation(human, model).bias,
}


def _value(
    measure: Callable[[Sequence[float], Sequence[float]], float],
    human: Sequence[float],
    model: Sequence[float],
) -> float | None:
    try:
        return measure(human, model)
    except UndefinedMetricError:
        return None


class _Weighed:
    """The measures of weighted pairs; equal pairs are merged first."""

    def __init__(self, left: Floats, right: Floats) -> None:
        order = np.lexsort((right, left))
        left, right = left[order], right[order]
        new = np.concatenate(([True], (np.diff(left) != 0) | (np.diff(right) != 0)))
        self._order, self._starts = order, np.flatnonzero(new)
        self._left, self._right = left[self._starts], right[self._starts]
        self._ids = tuple(
            np.unique(side, return_inverse=True)[1] for side in (self._left, self._right)
        )

    def measures(self, weights: Floats) -> dict[AssociationMeasure, Floats]:
        """All measures for each row of weights, R rows of n."""
        weights = np.add.reduceat(weights[:, self._order], self._starts, axis=1)
        total = weights.sum(axis=1)
        difference = self._left - self._right
        ranks_left, untied_left = self._ranks(weights, self._ids[0])
        ranks_right, untied_right = self._ranks(weights, self._ids[1])
        squares = (weights * (ranks_left - ranks_right) ** 2).sum(axis=1)
        surplus = self._surplus(weights)
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
    def _ranks(weights: Floats, ids: _Ints) -> tuple[Floats, Floats]:
        """Each pair's rank on one side, R by K, and the number of pairs without a tie on it, R."""
        order = np.argsort(ids, kind="stable")
        starts = np.flatnonzero(np.concatenate(([True], np.diff(ids[order]) != 0)))
        counts = np.add.reduceat(weights[:, order], starts, axis=1)
        middle = np.cumsum(counts, axis=1) - (counts - 1) / 2
        untied = (counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)) / 2
        return middle[:, ids], untied

    def _surplus(self, weights: Floats) -> Floats:
        """Concordant less discordant pairs, R, a block of columns at a time."""
        found = np.zeros(len(weights))
        step = max(1, _BLOCK // len(self._left))
        for start in range(0, len(self._left), step):
            block = slice(start, start + step)
            signs = np.sign(self._left[:, None] - self._left[None, block])
            signs *= np.sign(self._right[:, None] - self._right[None, block])
            found += ((weights @ signs) * weights[:, block]).sum(axis=1)
        return found / 2


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
