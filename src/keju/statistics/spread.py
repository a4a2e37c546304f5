"""Distribution of a quantity over items: mean and quantiles, with intervals by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keju.statistics.resampling import (
    Floats,
    Interval,
    draws,
    interval_of_values,
    mean_interval,
    place_items,
)

_SLACK = 1e-9


class Spread(NamedTuple):
    """A mean or quantile of n values, and its interval."""

    value: float
    interval: Interval | None


def spread(
    values: Sequence[float], groups: Sequence[str], quantiles: Sequence[float] = (0.5, 0.9)
) -> tuple[Spread, ...]:
    """The mean, then each quantile: the least value that this share does not exceed.

    A quantile has an interval only if a group is expected on its shorter side: the 90 % quantile
    with 10 groups or more. Measured with skewed pages in books of unequal sizes (600 samples, a
    standard error of 1.2), its intervals contain the true quantile in 84 % with 6 groups, 88 % with
    8, 93 % with 10, 90 % with 12, 91 % with 15 and 90 % with 30.

    Args:
        values: n of them.
        groups: the name of each one's group.
        quantiles: shares above 0, up to 1.

    Raises:
        ValueError: there are no values, not as many groups, one is not finite, or a share is not
            above 0 and up to 1.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers) or len(groups) != len(numbers) or not np.isfinite(numbers).all():
        raise ValueError("one or more finite values and as many groups are needed")
    if not all(0 < share <= 1 for share in quantiles):
        raise ValueError("a quantile is a share above 0, up to 1")
    places, cells, shares = place_items(groups)
    levels, columns = np.unique(numbers, return_inverse=True)
    counts = np.zeros((cells, len(levels)))
    np.add.at(counts, (places, columns), 1.0)
    reached = np.cumsum(counts, axis=1)
    measures = _quantiles(levels, reached.sum(axis=0, keepdims=True), quantiles)[0].tolist()
    resampled = np.concatenate([
        _quantiles(levels, drawn @ reached, quantiles)
        for drawn in draws(cells, numbers=len(levels) * (4 + cells // 16))
    ])  # fmt: skip
    sure = [cells * min(share, 1 - share) >= 1 - _SLACK for share in quantiles]
    return (
        Spread(float(numbers.mean()), mean_interval(values, groups)),
        *(
            Spread(value, interval_of_values(column, value, shares) if enough else None)
            for value, column, enough in zip(measures, resampled.T, sure, strict=True)
        ),
    )


def _quantiles(levels: Floats, reached: Floats, quantiles: Sequence[float]) -> Floats:
    """Quantiles of ascending values with cumulative counts in rows: rows by quantiles."""
    total = reached[:, -1:] * (1 - _SLACK)
    places = [(reached < share * total).sum(axis=1) for share in quantiles]
    return np.stack([levels[place] for place in places], axis=1)
