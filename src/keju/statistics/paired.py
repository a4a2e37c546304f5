"""The paired test of two models on the same items, its adjustment, and ranks.

Under the null hypothesis two models' answers are exchangeable within every group (book, plate,
bone): the test swaps them, group by group. It is not a test of equal means: if one model loses
whole books in a few groups, such a loss is often not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, log2

import numpy as np

from keju.statistics.resampling import (
    FEWEST_GROUPS,
    RESAMPLES,
    SEED,
    Floats,
    Numbers,
    Ratio,
    group_shares,
    merge_groups,
)

LEVEL = 0.05
"""The level of every test, after adjustment."""

_EXACT_UP_TO = 14
"""The number of groups up to which all swaps are enumerated: 2^14 is less than `RESAMPLES`."""

_SLACK = 1e-12
_BLOCK = 1 << 22


def paired_p(parts: Sequence[Ratio]) -> dict[tuple[int, int], float]:
    """Two-sided p of the paired randomisation test for every two of M columns of a value.

    The two models' numerators and denominators are swapped in some groups (Fisher 1935; Noreen
    1989), in all parts of the value together, and the difference of the two values is computed
    again. No other column has an influence on the p of two. If all swaps are at most `RESAMPLES`,
    they are enumerated and p is exact; else `RESAMPLES` are drawn, and the observed one counts
    among them, so that p is never 0.

    Args:
        parts: the parts of the value, as of `keju.statistics.intervals`.

    Returns:
        The unadjusted p of each pair of columns, the lower first. Empty if there are fewer than
        `FEWEST_GROUPS` groups.
    """
    models = parts[0].top.shape[1] if parts else 0
    if models < 2 or group_shares(parts).groups < FEWEST_GROUPS:
        return {}
    cells, merged = merge_groups(parts)
    pairs = list(combinations(range(models), 2))
    first, second = np.array(pairs, dtype=np.intp).T
    observed = _swapped_differences(merged, np.zeros((1, cells)), first, second)[0]
    least = np.abs(observed) - _SLACK
    reached, count = np.zeros(len(pairs)), 0
    for swaps in _swaps(cells, wide=len(pairs)):
        differences = _swapped_differences(merged, swaps, first, second)
        reached += (np.abs(differences) >= least).sum(axis=0)
        count += len(swaps)
    added = 0 if cells <= _EXACT_UP_TO else 1
    p_values = (reached + added) / (count + added)
    return {pair: float(p) for pair, p in zip(pairs, p_values, strict=True)}


def _swaps(cells: int, *, wide: int) -> Iterator[Floats]:
    """Rows of 0 and 1, whether a group is swapped: all of them for few groups, else drawn."""
    if cells <= _EXACT_UP_TO:
        swaps = np.arange(2**cells)[:, None] >> np.arange(cells) & 1
    else:
        # All at once: drawn by blocks, the swaps would depend on the number of pairs.
        generator = np.random.default_rng(SEED)
        swaps = generator.integers(0, 2, size=(RESAMPLES, cells), dtype=np.int8)
    block = max(1, _BLOCK // max(cells, wide))
    for start in range(0, len(swaps), block):
        yield swaps[start : start + block].astype(np.float64)


def _swapped_differences(
    parts: Sequence[Ratio], swaps: Floats, first: Numbers, second: Numbers
) -> Floats:
    """The difference of two columns' values after each row of swaps, for each pair of columns."""
    by_cell = np.ascontiguousarray(swaps.T)
    # Where all columns have equal denominators, a swap leaves them as they are, and the difference
    # of two columns is that of two numbers: one for each column and not one for each pair.
    linear = np.zeros((len(swaps), parts[0].top.shape[1]))
    others: Floats | float = 0.0
    for part in parts:
        moved = by_cell[part.groups].T
        top, bottom = part.top.sum(axis=0), part.bottom.sum(axis=0)
        if (part.bottom == part.bottom[:, :1]).all():
            if bottom[0]:
                linear += part.weight * (top - 2 * (moved @ part.top)) / bottom[0]
            continue
        above, below = moved @ part.top, moved @ part.bottom
        top_moved = above[:, second] - above[:, first]
        bottom_moved = below[:, second] - below[:, first]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = (top[first] + top_moved) / (bottom[first] + bottom_moved)
            ratios -= (top[second] - top_moved) / (bottom[second] - bottom_moved)
        others = others + part.weight * np.nan_to_num(ratios)
    return np.asarray(linear[:, first] - linear[:, second] + others, dtype=np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted for multiple tests (Holm 1979), in their order.

    Controls the family-wise error.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, place in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = worst
    return adjusted


def groups_needed(tests: int = 1, *, level: float = LEVEL) -> int:
    """The minimum number of groups with which a paired test can reach a level.

    The exact two-sided p of G groups is at least 2 / 2^G. After Holm's adjustment over `tests`
    tests, the smallest of them must be at most level / tests.
    """
    return max(FEWEST_GROUPS, ceil(log2(2 * tests / level) - _SLACK))


def rank_sets(
    values: Sequence[float], p_values: Mapping[tuple[int, int], float], *, level: float = LEVEL
) -> list[tuple[int, int]]:
    """The possible ranks, from 1, of each of M models after all pairwise tests.

    A model ranks after those that are significantly better and before those that are significantly
    worse. The p values must be adjusted for the number of pairs; then all sets together contain the
    true ranks with probability 1 - level (Al Mohamad et al. 2022, Biometrics 78).

    Args:
        values: of each model, higher is better.
        p_values: adjusted, for each pair of indices, the lower index first.
        level: of the adjusted p values.
    """
    better, worse = [0] * len(values), [0] * len(values)
    for (one, other), p in p_values.items():
        if p <= level and values[one] != values[other]:
            above, below = (one, other) if values[one] > values[other] else (other, one)
            better[below] += 1
            worse[above] += 1
    return [(1 + above, len(values) - below) for above, below in zip(better, worse, strict=True)]
