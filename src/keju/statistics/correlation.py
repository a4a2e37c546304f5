"""Correlation, error and bias of two raters' values.

The papers' formulas (Spearman by squared rank differences, Kendall by concordant pairs) are valid
only without ties; use the corrected forms where ratings are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from keju.metrics.base import UndefinedMetricError
from keju.texts import _

_Floats = npt.NDArray[np.float64]


class Deviation(NamedTuple):
    """The deviation of a model's values from people's, in the units of the values.

    Attributes:
        mse: mean squared difference.
        mae: mean absolute difference.
        bias: mean of human - model; above 0 the model is the stricter one.
    """

    mse: float
    mae: float
    bias: float


class PairCounts(NamedTuple):
    """The n(n - 1) / 2 pairs of items, by whether the two raters order them in the same way."""

    concordant: int
    discordant: int
    tied_left: int
    tied_right: int
    tied_both: int

    @property
    def pairs(self) -> int:
        """All pairs; `tied_left` and `tied_right` both include those of `tied_both`."""
        tied = self.tied_left + self.tied_right - self.tied_both
        return self.concordant + self.discordant + tied


def pearson(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's r of n paired values.

    Raises:
        UndefinedMetricError: fewer than two pairs, or one side is constant.
        ValueError: the sides differ in length, or a value is not finite.
    """
    return _pearson(*_paired(left, right))


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's rho with ties: Pearson's r of the ranks, tied values sharing their mean rank.

    Raises:
        UndefinedMetricError: fewer than two pairs, or one side is constant.
        ValueError: the sides differ in length, or a value is not finite.
    """
    first, second = _paired(left, right)
    return _pearson(_ranks(first), _ranks(second))


def spearman_paper(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's rho as the papers write it: 1 - 6 Σd² / (n(n² - 1)), for values without ties.

    Tied values share their mean rank (our reading; the papers do not state it). With ties it
    exceeds `spearman`, and two constant sides give 1.

    Raises:
        UndefinedMetricError: fewer than two pairs.
        ValueError: the sides differ in length, or a value is not finite.
    """
    first, second = _paired(left, right)
    count = len(first)
    squares = float(((_ranks(first) - _ranks(second)) ** 2).sum())
    return 1 - 6 * squares / (count * (count * count - 1))


def kendall(left: Sequence[float], right: Sequence[float]) -> float:
    """Kendall's tau-b: (C - D) over the geometric mean of the pairs without a tie on each side.

    Raises:
        UndefinedMetricError: fewer than two pairs, or one side is constant.
        ValueError: the sides differ in length, or a value is not finite.
    """
    counts = pair_counts(left, right)
    untied_left = counts.pairs - counts.tied_left
    untied_right = counts.pairs - counts.tied_right
    if not untied_left or not untied_right:
        raise UndefinedMetricError(_("all values of one side are equal"))
    difference = counts.concordant - counts.discordant
    return difference / math.sqrt(untied_left) / math.sqrt(untied_right)


def kendall_paper(left: Sequence[float], right: Sequence[float]) -> float:
    """Kendall's tau as the papers write it: (C - D) / (n(n - 1) / 2), which is tau-a.

    Raises:
        UndefinedMetricError: fewer than two pairs.
        ValueError: the sides differ in length, or a value is not finite.
    """
    counts = pair_counts(left, right)
    return (counts.concordant - counts.discordant) / counts.pairs


def pair_counts(left: Sequence[float], right: Sequence[float]) -> PairCounts:
    """Concordant, discordant and tied pairs, in O(n log n) (Knight 1966).

    Raises:
        UndefinedMetricError: fewer than two pairs.
        ValueError: the sides differ in length, or a value is not finite.
    """
    first, second = _paired(left, right)
    __, ids_first = np.unique(first, return_inverse=True)
    __, ids_second = np.unique(second, return_inverse=True)
    tied_first, tied_second = _ties(ids_first), _ties(ids_second)
    tied_both = _ties(ids_first * len(first) + ids_second)
    discordant = _inversions(ids_second[np.lexsort((ids_second, ids_first))])
    pairs = len(first) * (len(first) - 1) // 2
    concordant = pairs - tied_first - tied_second + tied_both - discordant
    return PairCounts(concordant, discordant, tied_first, tied_second, tied_both)


def deviation(human: Sequence[float], model: Sequence[float]) -> Deviation:
    """MSE, MAE and bias of a model's n values against people's.

    Raises:
        UndefinedMetricError: there are no pairs.
        ValueError: the sides differ in length, or a value is not finite.
    """
    difference = np.subtract(*_paired(human, model, least=1))
    return Deviation(
        float((difference**2).mean()), float(np.abs(difference).mean()), float(difference.mean())
    )


def _paired(
    left: Sequence[float], right: Sequence[float], *, least: int = 2
) -> tuple[_Floats, _Floats]:
    first, second = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError("the two sides must be of one length")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("values must be finite")
    if len(first) < least:
        raise UndefinedMetricError(
            _("at least {} pairs are needed, but there are {}", least, len(first))
        )
    return first, second


def _pearson(first: _Floats, second: _Floats) -> float:
    if (first == first[0]).all() or (second == second[0]).all():
        raise UndefinedMetricError(_("all values of one side are equal"))
    first, second = (_unit(side) for side in (first, second))
    return float(np.clip(first @ second, -1, 1))


def _unit(values: _Floats) -> _Floats:
    """Values minus their mean, as a vector of length 1.

    Scaled first so that no square overflows.
    """
    centred = values / np.abs(values).max()
    centred = centred - centred.mean()
    centred /= np.abs(centred).max()
    return np.asarray(centred / np.linalg.norm(centred), dtype=np.float64)


def _ranks(values: _Floats) -> _Floats:
    """Ranks from 1; tied values share their mean rank."""
    __, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


def _ties(ids: npt.NDArray[np.int_]) -> int:
    counts = np.unique(ids, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ids: npt.NDArray[np.int_]) -> int:
    """Pairs in which the greater number comes first.

    Numbers are divided by one bit after the other, from the highest: numbers with the same higher
    bits stay together in their order, and each 0 counts the 1s before it.
    """
    total = 0
    for bit in reversed(range(int(ids.max()).bit_length())):
        ones = ids >> bit & 1
        before = np.cumsum(ones) - ones
        family = ids >> (bit + 1)
        starts = np.flatnonzero(np.concatenate(([True], family[1:] != family[:-1])))
        sizes = np.diff(np.append(starts, len(ids)))
        before = before - np.repeat(before[starts], sizes)
        total += int(before[ones == 0].sum())
        ids = ids[np.argsort(ids >> bit, kind="stable")]
    return total
