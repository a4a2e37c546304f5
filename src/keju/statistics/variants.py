"""The test whether a value differs between variants, such as the wordings of a prompt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keju.statistics.paired import paired_p
from keju.statistics.resampling import (
    FEWEST_GROUPS,
    SEED,
    Floats,
    Numbers,
    Ratio,
    count_draws,
    group_shares,
    merge_groups,
    value_of,
)

_BLOCK = 1 << 20
_PASSES = 16
"""Arrays of the size of the groups and variants that one permutation makes."""

_SLACK = 1e-12


def variants_p(parts: Sequence[Ratio]) -> float | None:
    """P of a permutation test of the range (highest minus lowest) over the columns of a value.

    Under the null hypothesis the answers of all variants are exchangeable within every group. The
    variants' numerators and denominators are permuted in each group, in all parts of the value
    together. For two variants it is the paired test. A range of pure noise is not 0, so that only
    the test shows whether the variants matter.

    Args:
        parts: the parts of the value, of a task or of a mean over tasks; a column for each variant.

    Returns:
        The p; None with fewer than `FEWEST_GROUPS` groups or two variants.
    """
    variants = parts[0].top.shape[1] if parts else 0
    if variants < 2 or group_shares(parts).groups < FEWEST_GROUPS:
        return None
    if variants == 2:
        return paired_p(parts)[0, 1]
    cells, merged = merge_groups(parts)
    least = float(np.ptp(value_of(merged))) - _SLACK
    generator = np.random.default_rng(SEED)
    size = cells * variants
    count, block = count_draws(_PASSES * size), max(1, _BLOCK // size)
    reached = 0
    for start in range(0, count, block):
        rows = min(block, count - start)
        order = generator.random((rows, cells, variants)).argsort(axis=2)
        values = sum(part.weight * _permuted(part, order[:, part.groups]) for part in merged)
        reached += int((np.ptp(values, axis=1) >= least).sum())
    return (reached + 1) / (count + 1)


def _permuted(part: Ratio, order: Numbers) -> Floats:
    """The ratios of one part after each permutation of its columns by group."""
    top, bottom = (
        np.take_along_axis(side[None], order, axis=2).sum(axis=1)
        for side in (part.top, part.bottom)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num(top / bottom), dtype=np.float64)
