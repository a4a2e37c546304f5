"""Spread of a value over variants, such as the wordings of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import harmonic_mean
from typing import NamedTuple

import numpy as np

from keju.statistics.bootstrap import FEWEST_GROUPS, Floats, Interval, draws, interval_of_values
from keju.statistics.suite import TaskSums, resample_suite

_PERMUTATIONS = 2000
_BLOCK = 1 << 22
_SLACK = 1e-12
"""Rounding of sums, so that a permutation that changes nothing counts as equal."""


class VariantSpread(NamedTuple):
    """The values of variants on the same items, and their spread.

    Attributes:
        values: one for each variant.
        spread: the greatest minus the least.
        deviation: the standard deviation over the variants (divided by their number less one).
        spread_interval: of the spread, resampled by group; None with fewer than `FEWEST_GROUPS`.
        deviation_interval: the same of the standard deviation.
        p: the probability of a spread at least as large when the variants of each group are
            permuted at random; None with one group. The spread of pure noise is not 0, so that only
            `p` shows whether the variants matter.
        groups: the number of groups.
    """

    values: list[float]
    spread: float
    deviation: float
    spread_interval: Interval | None
    deviation_interval: Interval | None
    p: float | None
    groups: int


def variant_spread(
    top: Floats, bottom: Floats, *, resamples: int = 2000, seed: int = 12345
) -> VariantSpread:
    """The spread of ratios of sums over two or more variants of the same items.

    Args:
        top: numerators, one row per group, one column per variant.
        bottom: denominators, of the same shape.
        resamples: the number of bootstrap resamples and of permutations.
        seed: of the generator.
    """
    groups = len(top)
    values = top.sum(axis=0) / bottom.sum(axis=0)
    ratios = np.concatenate([
        _ratios(drawn @ top, drawn @ bottom)
        for drawn in draws(groups, resamples=resamples, seed=seed, wide=top.shape[1])
    ])  # fmt: skip
    ratios = ratios[~np.isnan(ratios).any(axis=1)]
    enough = groups >= FEWEST_GROUPS and len(ratios) > 0
    return VariantSpread(
        values=values.tolist(),
        spread=float(np.ptp(values)),
        deviation=float(np.std(values, ddof=1)),
        spread_interval=_interval(np.ptp(ratios, axis=1), groups) if enough else None,
        deviation_interval=_interval(np.std(ratios, axis=1, ddof=1), groups) if enough else None,
        p=_p(top, bottom, float(np.ptp(values)), seed) if groups > 1 else None,
        groups=groups,
    )


def macro_variant_spread(tasks: Sequence[TaskSums], *, groups: int) -> VariantSpread:
    """The spread of the mean over tasks, of two or more variants of the same items.

    The groups of all tasks are drawn, and their variants permuted, together.

    Args:
        tasks: the sums of each task, of the same variants in the same order.
        groups: the total number of groups.
    """
    values = np.mean([task.top.sum(axis=0) / task.bottom.sum(axis=0) for task in tasks], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = resample_suite(tasks, groups=groups).mean(axis=1)
    means = means[~np.isnan(means).any(axis=1)]
    # As for the mean of a leaderboard, the width is that of a typical task.
    counts = [len(task.groups) for task in tasks if len(task.groups) > 1]
    width = max(FEWEST_GROUPS, round(harmonic_mean(counts))) if counts else 0
    enough = groups >= FEWEST_GROUPS and width > 0 and len(means) > 0
    spread = float(np.ptp(values))
    return VariantSpread(
        values=values.tolist(),
        spread=spread,
        deviation=float(np.std(values, ddof=1)),
        spread_interval=_interval(np.ptp(means, axis=1), width) if enough else None,
        deviation_interval=_interval(np.std(means, axis=1, ddof=1), width) if enough else None,
        p=_macro_p(tasks, groups, spread) if groups > 1 else None,
        groups=groups,
    )


def _macro_p(tasks: Sequence[TaskSums], groups: int, spread: float, seed: int = 12345) -> float:
    """The share of permutations within groups, the same for all tasks, with such a spread."""
    generator = np.random.default_rng(seed)
    variants = tasks[0].top.shape[1]
    block = max(1, _BLOCK // (groups * variants))
    as_large = 0
    for start in range(0, _PERMUTATIONS, block):
        size = min(block, _PERMUTATIONS - start)
        order = generator.random((size, groups, variants)).argsort(axis=2)
        moved = np.zeros((size, variants))
        for task in tasks:
            mine = order[:, task.groups]
            moved += _ratios(
                np.take_along_axis(task.top[None], mine, axis=2).sum(axis=1),
                np.take_along_axis(task.bottom[None], mine, axis=2).sum(axis=1),
            )
        as_large += int((np.ptp(moved / len(tasks), axis=1) >= spread - _SLACK).sum())
    return (as_large + 1) / (_PERMUTATIONS + 1)


def _ratios(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(top / bottom, dtype=np.float64)


def _interval(values: Floats, groups: int) -> Interval | None:
    found = interval_of_values(np.asarray(values, dtype=np.float64), groups)
    return found._replace(low=max(0.0, found.low)) if found else None


def _p(top: Floats, bottom: Floats, spread: float, seed: int) -> float:
    """The share of random permutations within groups whose spread is at least as large."""
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK // top.size)
    as_large = 0
    for start in range(0, _PERMUTATIONS, block):
        size = min(block, _PERMUTATIONS - start)
        order = generator.random((size, *top.shape)).argsort(axis=2)
        moved = _ratios(
            np.take_along_axis(top[None], order, axis=2).sum(axis=1),
            np.take_along_axis(bottom[None], order, axis=2).sum(axis=1),
        )
        as_large += int((np.ptp(moved, axis=1) >= spread - _SLACK).sum())
    return (as_large + 1) / (_PERMUTATIONS + 1)
