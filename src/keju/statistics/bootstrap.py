"""Bootstrap over groups, from sums: resampling never scores again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_BLOCK = 1 << 22


class Interval(NamedTuple):
    """A percentile interval of a ratio of sums, and the number of groups behind it."""

    low: float
    high: float
    groups: int


def group_bootstrap(
    numerators: Sequence[float],
    denominators: Sequence[float],
    groups: Sequence[str],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 12345,
) -> Interval | None:
    """Interval of ``sum(numerators) / sum(denominators)`` when whole groups are drawn again.

    Items of one book, plate or bone are not independent, so the group is what is drawn. With
    denominators of 1 the ratio is the mean over items; with reference lengths it is a corpus rate.

    Args:
        numerators: one value an item, n of them.
        denominators: one weight an item, n of them, not negative.
        groups: the group of each item; an empty name makes the item a group of its own.
        resamples: how many times groups are drawn with replacement.
        level: the share of resampled ratios that lies inside the interval.
        seed: of the generator; the same input gives the same interval.

    Returns:
        The interval, or None where fewer than two groups or no weight leave nothing to resample.

    Raises:
        ValueError: the three sequences differ in length.
    """
    if not len(numerators) == len(denominators) == len(groups):
        raise ValueError("numerators, denominators and groups must be of one length")
    known: dict[str | int, int] = {}
    inverse = [known.setdefault(name or index, len(known)) for index, name in enumerate(groups)]
    count = len(known)
    if count < 2:
        return None
    top = np.bincount(inverse, weights=np.asarray(numerators, dtype=float), minlength=count)
    bottom = np.bincount(inverse, weights=np.asarray(denominators, dtype=float), minlength=count)
    ratios = _resampled_ratios(top, bottom, resamples=resamples, seed=seed)
    if not ratios.size:
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return Interval(float(low), float(high), count)


def _resampled_ratios(
    top: np.ndarray, bottom: np.ndarray, *, resamples: int, seed: int
) -> np.ndarray:
    generator = np.random.default_rng(seed)
    count = len(top)
    share = np.full(count, 1 / count)
    block = max(1, _BLOCK // count)
    parts = []
    for start in range(0, resamples, block):
        drawn = generator.multinomial(count, share, size=min(block, resamples - start))
        weight = drawn @ bottom
        kept = weight > 0
        parts.append((drawn @ top)[kept] / weight[kept])
    return np.concatenate(parts) if parts else np.empty(0)
