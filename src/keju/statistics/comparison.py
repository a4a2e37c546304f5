"""Two models on the same items: by how much they differ, and how surely.

Groups (books, plates, bones) are swapped or drawn whole, as items of one are not independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np

from keju.statistics.bootstrap import Floats, GroupSums, Interval, draws, interval_of

_EXACT_UP_TO = 12
"""Groups; with no more, every way of swapping is tried (4,096 of them)."""

_SLACK = 1e-12


class Difference(NamedTuple):
    """How far a value of the first model lies above the second's.

    Attributes:
        value: the difference of the two ratios.
        p: two-sided, of the paired randomisation test.
        interval: of the paired bootstrap, or None with fewer than two groups.
        groups: how many could be swapped.
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

    If it does not matter who answered, the two answers to a group may be swapped. With twelve
    groups or fewer all swaps are tried and p is exact; else `resamples` are drawn, and the one
    that was seen counts among them, so that p is never 0.
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
    """P values adjusted for being many (Holm 1979), in their order: the family-wise error holds."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, place in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = worst
    return adjusted


def detectable_difference(
    spread: float, groups: int, *, level: float = 0.95, power: float = 0.8
) -> float:
    """The least difference that so many groups can tell, mostly.

    Args:
        spread: standard deviation over groups of the differences between the two models' values.
        groups: how many there are, one or more.
        level: of the two-sided test.
        power: how often the difference is to be told.

    Raises:
        ValueError: there is no group.
    """
    from scipy.special import ndtri  # noqa: PLC0415

    if groups < 1:
        raise ValueError("one group or more")
    return float(ndtri(1 - (1 - level) / 2) + ndtri(power)) * spread / sqrt(groups)


def spread_of_differences(first: GroupSums, second: GroupSums) -> float:
    """Standard deviation over groups of what `detectable_difference` asks for.

    Each group's difference is linearised: for a mean over items it is the difference of the
    group's sums over the mean weight of a group.
    """
    parts = []
    for sums in (first, second):
        weight = sums.bottom.mean()
        parts.append((sums.top - sums.ratio * sums.bottom) / weight if weight else 0 * sums.top)
    return float(np.std(parts[0] - parts[1], ddof=1)) if len(parts[0]) > 1 else float("nan")


def rank_intervals(
    values: Mapping[str, Floats], *, level: float = 0.95, higher_is_better: bool = True
) -> dict[str, tuple[int, int]]:
    """The ranks, from 1, that each model holds in resampled values.

    Args:
        values: for each model its value in each of R resamples, the same draws for all.
        level: the share of resamples in which the rank lies within.
        higher_is_better: else the least value ranks first.

    Returns:
        First and last rank of each; models that tie share the better rank at the one end and
        the worse at the other.
    """
    table = np.array(list(values.values()))
    if not higher_is_better:
        table = -table
    tail = (1 - level) / 2
    found = {}
    for place, name in enumerate(values):
        above = (table > table[place]).sum(axis=0)
        tied = (table == table[place]).sum(axis=0) - 1
        low = np.quantile(above + 1, tail, method="lower")
        high = np.quantile(above + 1 + tied, 1 - tail, method="higher")
        found[name] = (int(low), int(high))
    return found


def _swapped(first: GroupSums, second: GroupSums, swaps: Floats) -> Floats:
    """The difference of ratios after each row of swaps."""
    top = swaps @ (second.top - first.top)
    bottom = swaps @ (second.bottom - first.bottom)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (first.top.sum() + top) / (first.bottom.sum() + bottom)
        two = (second.top.sum() - top) / (second.bottom.sum() - bottom)
    return np.asarray(np.nan_to_num(one - two), dtype=np.float64)


def _interval(first: GroupSums, second: GroupSums, *, resamples: int, seed: int) -> Interval | None:
    if len(first.top) < 2:
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
