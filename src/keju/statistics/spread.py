"""Distribution of a quantity over items: mean and quantiles, with intervals by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keju.statistics.bootstrap import Floats, Interval, draws, interval_of_values, number_groups


class Spread(NamedTuple):
    """A mean or quantile of n values, and its interval (None with fewer than two groups)."""

    value: float
    interval: Interval | None


def spread(
    values: Sequence[float],
    groups: Sequence[str],
    quantiles: Sequence[float] = (0.5, 0.9),
    *,
    resamples: int = 2000,
    seed: int = 12345,
) -> tuple[Spread, ...]:
    """The mean, then each quantile: the least value that this share does not exceed.

    Args:
        values: n of them.
        groups: the group of each; an empty name makes it a group of its own.
        quantiles: shares above 0, up to 1.
        resamples: the number of resamples; groups are drawn with replacement.
        seed: of the draws.

    Raises:
        ValueError: there are no values, not as many groups, one is not finite, or a share is not
            above 0 and up to 1.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not len(numbers) or len(groups) != len(numbers) or not np.isfinite(numbers).all():
        raise ValueError("one or more finite values and as many groups are needed")
    if not all(0 < share <= 1 for share in quantiles):
        raise ValueError("a quantile is a share above 0, up to 1")
    inverse, known = number_groups(groups)
    order = np.argsort(numbers, kind="stable")
    numbers, inverse = numbers[order], inverse[order]
    parts = [
        _measures(numbers, drawn[:, inverse], quantiles)
        for drawn in draws(known, resamples=resamples, seed=seed, wide=len(numbers))
        if known > 1
    ]
    (found,) = _measures(numbers, np.ones((1, len(numbers))), quantiles)
    resampled = np.concatenate(parts) if parts else np.empty((0, len(found)))
    return tuple(
        Spread(float(value), interval_of_values(column, known) if column.size else None)
        for value, column in zip(found, resampled.T, strict=True)
    )


def _measures(ordered: Floats, weights: Floats, quantiles: Sequence[float]) -> Floats:
    """Mean and quantiles of ascending values under each row of weights: rows by measures."""
    total = weights.sum(axis=1)
    reached = np.cumsum(weights, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = weights @ ordered / total
    columns = [mean]
    for share in quantiles:
        places = (reached < share * total[:, None] * (1 - 1e-12)).sum(axis=1)
        columns.append(np.where(total > 0, ordered[np.minimum(places, len(ordered) - 1)], np.nan))
    return np.stack(columns, axis=1)
