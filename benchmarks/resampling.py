"""A whole leaderboard resampled: 37 models x 45 tasks x 6,500 items, 10,000 times by group.

The size of MCS-Bench. Once with every item a group of its own and once with books of ten items,
each of which may have items in any task. Overall values and rank sets are computed too.

    python -m benchmarks.resampling [--resamples 10000]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from keju.definitions import tasks
from keju.statistics import TaskSums, holm, pairwise_p, rank_sets, resample_suite

MODELS = 37
GOAL = 20.0


def leaderboard(items_a_group: int) -> tuple[list[TaskSums], int]:
    """The tasks of MCS-Bench with as many items as the paper counts, right or wrong by a coin."""
    generator = np.random.default_rng(1)
    counts = [task.count for task in tasks() if task.benchmark == "MCS-Bench"]
    groups = sum(counts) // items_a_group
    found = []
    for count in counts:
        of_items = generator.integers(0, groups, count)
        there, rows = np.unique(of_items, return_inverse=True)
        top, bottom = np.zeros((2, len(there), MODELS))
        np.add.at(top, rows, generator.integers(0, 2, (count, MODELS)).astype(float))
        np.add.at(bottom, rows, 1.0)
        found.append(TaskSums(there, top, bottom))
    return found, groups


def contributions(suite: list[TaskSums], groups: int) -> np.ndarray:
    """The contribution of each group to each model's overall value, models by groups."""
    shares = np.zeros((MODELS, groups))
    for task in suite:
        shares[:, task.groups] += (task.top / task.bottom.sum(axis=0)).T / len(suite)
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=10_000)
    resamples = parser.parse_args().resamples
    table = Table("items a group", "groups", "CPU s", "wall s", box=None)
    for items_a_group in (1, 10):
        suite, groups = leaderboard(items_a_group)
        cpu, wall = time.process_time(), time.monotonic()
        values = resample_suite(suite, groups=groups, resamples=resamples)
        np.nanmean(values, axis=1)
        shares = contributions(suite, groups)
        p_values = pairwise_p(shares, resamples=resamples)
        adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
        rank_sets(shares.sum(axis=1).tolist(), adjusted)
        table.add_row(
            str(items_a_group), f"{groups:,}", f"{time.process_time() - cpu:.1f}",
            f"{time.monotonic() - wall:.1f}",
        )  # fmt: skip
    console = Console()
    console.print(table)
    console.print(f"{resamples:,} resamples; the goal is at most {GOAL:g} CPU s for 10,000")


if __name__ == "__main__":
    main()
