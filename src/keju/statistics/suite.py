"""Bootstrap of a whole benchmark: many models, many tasks, the same draws for all.

A group (a book, say) may have items in several tasks; it is drawn for all of them together. So
means over tasks, ranks of models and differences between them keep their correlation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from keju.statistics.bootstrap import Floats

_BLOCK = 1 << 24

_STRIP = 64
"""Resamples that are transposed at once; more do not fit into the processor's cache."""


class TaskSums(NamedTuple):
    """The sums of all models on one task.

    Attributes:
        groups: the indices of the rows among the suite's groups, g of them.
        top: numerators, g by models.
        bottom: denominators, g by models.
    """

    groups: npt.NDArray[np.intp]
    top: Floats
    bottom: Floats


def resample_suite(
    tasks: Sequence[TaskSums], *, groups: int, resamples: int = 2000, seed: int = 12345
) -> Floats:
    """Values of every model on every task in every resample: resamples by tasks by models.

    NaN where a draw leaves a task without weight.

    Args:
        tasks: the sums; their columns are the same models in the same order.
        groups: the total number of groups.
        resamples: the number of resamples; all groups are drawn with replacement.
        seed: of the generator.
    """
    generator = np.random.default_rng(seed)
    models = tasks[0].top.shape[1] if tasks else 0
    values = np.empty((resamples, len(tasks), models))
    block = max(1, min(resamples, _BLOCK // max(1, groups)))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = _counts(generator, groups, size)
        for place, task in enumerate(tasks):
            rows = drawn[task.groups].T
            with np.errstate(divide="ignore", invalid="ignore"):
                values[start : start + size, place] = (rows @ task.top) / (rows @ task.bottom)
    return values


def _counts(generator: np.random.Generator, groups: int, size: int) -> Floats:
    """How often each group is drawn in each of `size` resamples: groups by resamples."""
    chosen = generator.integers(0, groups, size=(size, groups), dtype=np.int32)
    chosen += (np.arange(size, dtype=np.int32) * groups)[:, None]
    counts = np.bincount(chosen.ravel(), minlength=size * groups).reshape(size, groups)
    # A task takes the rows of its groups, which is several times faster than taking columns.
    drawn = np.empty((groups, size))
    for start in range(0, size, _STRIP):
        drawn[:, start : start + _STRIP] = counts[start : start + _STRIP].T
    return drawn
