"""Paired tests, intervals and rank sets for models on the same items.

Groups (books, plates, bones) are swapped or drawn as a whole, because items of one group are not
independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import ceil, log2, sqrt
from typing import NamedTuple

import numpy as np

from keju.statistics.bootstrap import (
    FEWEST_GROUPS,
    Floats,
    GroupSums,
    Interval,
    draws,
    interval_of,
)

_EXACT_UP_TO = 12
"""The maximum number of groups for which all permutations are enumerated (4,096 of them)."""

_SLACK = 1e-12


class Difference(NamedTuple):
    """The difference of a value between the first and the second model.

    Attributes:
        value: the difference of the two ratios.
        p: two-sided, of the paired randomisation test.
        interval: of the paired bootstrap, or None with fewer than `FEWEST_GROUPS` groups.
        groups: the number of groups.
    """

    value: float
    p: float
    interval: Interval | None
    groups: int


def compare(
    first: GroupSums, second: GroupSums, *, resamples: int = 10_000, seed: int = 12345
) -> Difference:
    """Compare two models over the same groups.

    Args:
        first: sums by group of one model, G of them.
        second: sums of the other over the same groups in the same order.
        resamples: of both the test and the interval.
        seed: of both.

    Raises:
        ValueError: the groups differ in number, or there are none.
    """
    if len(first.top) != len(second.top) or not len(first.top):
        raise ValueError("both models need sums over the same groups")
    return Difference(
        value=first.ratio - second.ratio,
        p=randomisation_p(first, second, resamples=resamples, seed=seed),
        interval=_interval(first, second, resamples=resamples, seed=seed),
        groups=len(first.top),
    )


def randomisation_p(
    first: GroupSums, second: GroupSums, *, resamples: int = 10_000, seed: int = 12345
) -> float:
    """Two-sided p of the paired randomisation test (Fisher 1935; Noreen 1989).

    Under the null hypothesis the two models' answers to a group can be swapped. With twelve groups
    or fewer all swaps are enumerated and p is exact; else `resamples` are drawn, and the observed
    one counts among them, so that p is never 0.
    """
    observed = abs(first.ratio - second.ratio) - _SLACK
    groups = len(first.top)
    if groups <= _EXACT_UP_TO:
        swaps = np.array(list(product((0.0, 1.0), repeat=groups)))
        return float(np.mean(np.abs(_swapped(first, second, swaps)) >= observed))
    generator = np.random.default_rng(seed)
    block = max(1, (1 << 22) // groups)
    reached = 0
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        swaps = generator.integers(0, 2, size=(size, groups)).astype(np.float64)
        reached += int(np.sum(np.abs(_swapped(first, second, swaps)) >= observed))
    return (1 + reached) / (1 + resamples)


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


def groups_needed(tests: int = 1, *, level: float = 0.05) -> int:
    """The minimum number of groups with which a paired test can reach a level.

    The exact two-sided p of G groups is at least 2 / 2^G. After Holm's adjustment over `tests`
    tests, the smallest of them must be at most level / tests.
    """
    return ceil(log2(2 * tests / level) - _SLACK)


def detectable_difference(
    spread: float, groups: int, *, tests: int = 1, level: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest true difference that a test over `groups` groups detects with a given power.

    It follows from Student's t with groups - 1 degrees of freedom. Over several tests the level is
    divided by their number, which is slightly stricter than Holm's procedure.

    Args:
        spread: standard deviation over groups of the differences between the two models' values.
        groups: the number of groups.
        tests: the number of tests that are adjusted together.
        level: of the two-sided test.
        power: the probability of detecting the difference.

    Returns:
        The difference in the unit of `spread`. None where the groups are too few to reach the level
            at any difference (see `groups_needed`), or where the spread is 0: groups that all
            differ by the same amount do not show how much others would vary.
    """
    from scipy.special import stdtrit  # noqa: PLC0415

    if groups < groups_needed(tests, level=level) or spread <= _SLACK:
        return None
    freedom = groups - 1
    reach = stdtrit(freedom, 1 - level / (2 * tests)) + stdtrit(freedom, power)
    return float(reach) * spread / sqrt(groups)


def spread_of_differences(first: GroupSums, second: GroupSums) -> float:
    """Standard deviation over groups, as input of `detectable_difference`.

    Each group's difference is linearised: for a mean over items it is the difference of the group's
    sums over the mean weight of a group.
    """
    parts = []
    for sums in (first, second):
        weight = sums.bottom.mean()
        parts.append((sums.top - sums.ratio * sums.bottom) / weight if weight else 0 * sums.top)
    return float(np.std(parts[0] - parts[1], ddof=1)) if len(parts[0]) > 1 else float("nan")


def pairwise_p(
    contributions: Floats, *, resamples: int = 10_000, seed: int = 12345
) -> dict[tuple[int, int], float]:
    """Two-sided p of the paired randomisation test for every pair of M models.

    Swapping two models' answers to a group changes the sign of the difference of their
    contributions. With twelve groups or fewer all signs are enumerated and p is exact. For two
    models on one task whose denominators are equal, this is `randomisation_p`.

    Args:
        contributions: the contribution of each group to each model's value, M by G. The sums of two
            rows differ by the difference of the two models' values.
        resamples: the number of drawn signs where there are too many groups for all.
        seed: of the generator.

    Returns:
        The unadjusted p of each pair of rows, the lower row first.
    """
    models, groups = contributions.shape
    observed = contributions.sum(axis=1)
    pairs = list(combinations(range(models), 2))
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    least = np.abs(observed[first] - observed[second]) - _SLACK
    exact = groups <= _EXACT_UP_TO
    reached = np.zeros(len(pairs))
    drawn = 0
    for signs in _signs(groups, resamples, seed):
        values = signs @ contributions.T
        drawn += len(signs)
        reached += (np.abs(values[:, first] - values[:, second]) >= least).sum(axis=0)
    p_values = reached / drawn if exact else (1 + reached) / (1 + drawn)
    return {pair: float(p) for pair, p in zip(pairs, p_values, strict=True)}


def _signs(groups: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Rows of signs, one per group: all of them for few groups, else drawn in blocks."""
    if groups <= _EXACT_UP_TO:
        yield np.array(list(product((-1.0, 1.0), repeat=groups)), dtype=np.float64)
        return
    generator = np.random.default_rng(seed)
    block = max(1, (1 << 22) // groups)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        yield generator.choice((-1.0, 1.0), size=(size, groups))


def rank_sets(
    values: Sequence[float], p_values: Mapping[tuple[int, int], float], *, level: float = 0.05
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
            first, last = (one, other) if values[one] > values[other] else (other, one)
            better[last] += 1
            worse[first] += 1
    return [(1 + above, len(values) - below) for above, below in zip(better, worse, strict=True)]


def _swapped(first: GroupSums, second: GroupSums, swaps: Floats) -> Floats:
    """The difference of ratios after each row of swaps."""
    top = swaps @ (second.top - first.top)
    bottom = swaps @ (second.bottom - first.bottom)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (first.top.sum() + top) / (first.bottom.sum() + bottom)
        two = (second.top.sum() - top) / (second.bottom.sum() - bottom)
    return np.asarray(np.nan_to_num(one - two), dtype=np.float64)


def _interval(first: GroupSums, second: GroupSums, *, resamples: int, seed: int) -> Interval | None:
    if len(first.top) < FEWEST_GROUPS:
        return None
    parts = []
    for drawn in draws(len(first.top), resamples=resamples, seed=seed):
        weights = drawn @ first.bottom, drawn @ second.bottom
        kept = (weights[0] > 0) & (weights[1] > 0)
        one, two = (
            (drawn @ sums.top)[kept] / weight[kept]
            for sums, weight in zip((first, second), weights, strict=True)
        )
        parts.append(one - two)
    found = np.concatenate(parts)
    return interval_of(found, first) if found.size else None
