"""Agreement of raters beyond chance: Krippendorff's alpha, with missing ratings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from keju.metrics.base import UndefinedMetricError
from keju.texts import _

Measure = Literal["nominal", "ordinal", "interval"]

_BLOCK = 1 << 22

_Floats = npt.NDArray[np.float64]
_Distance = Callable[[_Floats, _Floats], _Floats]


def krippendorff_alpha(ratings: Sequence[Sequence[Hashable | None]], *, measure: Measure) -> float:
    """Krippendorff's alpha: 1 is full agreement, 0 chance, below 0 worse.

    Krippendorff 2011, "Computing Krippendorff's alpha-reliability".

    Args:
        ratings: raters x units; None where a rater gave none. Units with one rating contain no
            information about agreement and are excluded. Values are numbers, except that nominal
            ones may be anything hashable.
        measure: the level of measurement, which defines the distance.

    Raises:
        UndefinedMetricError: no unit has two ratings, or all ratings are equal (alpha is then not
            defined).
        ValueError: raters have different numbers of units, or a number is not finite.
    """
    values, unit_of = _pairable(ratings, nominal=measure == "nominal")
    if not len(values):
        raise UndefinedMetricError(_("no unit has two or more ratings"))
    if measure == "ordinal":
        values = _middle_ranks(values)
    distance = _nominal if measure == "nominal" else _squared
    expected = _expected(values, distance)
    if not expected:
        raise UndefinedMetricError(_("all ratings are equal"))
    return 1 - _observed(values, unit_of, distance) / expected


def _pairable(
    ratings: Sequence[Sequence[Hashable | None]], *, nominal: bool
) -> tuple[_Floats, npt.NDArray[np.int64]]:
    """The ratings of all units with two or more, unit after unit, and each one's unit number."""
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("every rater must have an entry, or None, for every unit")
    codes: dict[Hashable, int] = {}
    values: list[float] = []
    unit_of: list[int] = []
    number = 0
    for unit in zip(*ratings, strict=True):
        given = [value for value in unit if value is not None]
        if len(given) < 2:
            continue
        for value in given:
            values.append(codes.setdefault(value, len(codes)) if nominal else _number(value))
            unit_of.append(number)
        number += 1
    return np.array(values, dtype=np.float64), np.array(unit_of, dtype=np.int64)


def _number(value: Hashable) -> float:
    if not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
        raise ValueError(f"not a finite number: {value!r}")
    return float(value)


def _middle_ranks(values: _Floats) -> _Floats:
    """The mid-rank of each value, for which the ordinal distance equals the interval distance.

    The ordinal distance is (the number of ratings from one value to the other, the ends counted
    half)², which is the squared difference of these ranks.
    """
    __, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - counts / 2)[inverse], dtype=np.float64)


def _observed(values: _Floats, unit_of: npt.NDArray[np.int64], distance: _Distance) -> float:
    """Mean over ratings of the distance to the other ratings of their unit."""
    sizes = np.bincount(unit_of)
    starts = np.cumsum(sizes) - sizes
    total = 0.0
    for size in np.unique(sizes).tolist():
        rows = values[starts[sizes == size][:, None] + np.arange(size)]
        for first in range(size):
            total += float(distance(rows[:, first : first + 1], rows).sum()) / (size - 1)
    return total / len(values)


def _expected(values: _Floats, distance: _Distance) -> float:
    """Mean distance of all pairs of ratings, whatever their units, by distinct values."""
    distinct, counts = np.unique(values, return_counts=True)
    weights = counts.astype(np.float64)
    step = max(1, _BLOCK // len(distinct))
    total = 0.0
    for start in range(0, len(distinct), step):
        block = slice(start, start + step)
        total += float(weights[block] @ distance(distinct[block, None], distinct[None]) @ weights)
    return total / (len(values) * (len(values) - 1))


def _nominal(left: _Floats, right: _Floats) -> _Floats:
    return np.not_equal(left, right).astype(np.float64)


def _squared(left: _Floats, right: _Floats) -> _Floats:
    return np.asarray((left - right) ** 2, dtype=np.float64)
