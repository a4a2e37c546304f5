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

_BLOCK = 1 << 22


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
    first, second = _paired(left, right)
    untied_left, untied_right = _untied(first), _untied(second)
    if not untied_left or not untied_right:
        raise UndefinedMetricError(_("all values of one side are equal"))
    return _surplus(first, second) / math.sqrt(untied_left) / math.sqrt(untied_right)


def kendall_paper(left: Sequence[float], right: Sequence[float]) -> float:
    """Kendall's tau as the papers write it: (C - D) / (n(n - 1) / 2), which is tau-a.

    Raises:
        UndefinedMetricError: fewer than two pairs.
        ValueError: the sides differ in length, or a value is not finite.
    """
    first, second = _paired(left, right)
    return _surplus(first, second) / (len(first) * (len(first) - 1) // 2)


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


def _untied(values: _Floats) -> int:
    """The pairs of different values."""
    counts = np.unique(values, return_counts=True)[1]
    return int(len(values) ** 2 - (counts**2).sum()) // 2


def _surplus(first: _Floats, second: _Floats) -> int:
    """Concordant less discordant pairs."""
    step = max(1, _BLOCK // len(first))
    total = 0.0
    for start in range(0, len(first), step):
        block = slice(start, start + step)
        signs = np.sign(first[block, None] - first) * np.sign(second[block, None] - second)
        total += float(signs.sum())
    return int(total) // 2
