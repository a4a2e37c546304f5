"""The statistics of a whole leaderboard: 37 models x 45 tasks x 6,500 items, resampled by group.

The size of MCS-Bench. Once with every item a group of its own and once with books of ten items,
each of which may have items in any task. Intervals of all tasks, domains and overall means, and the
paired tests of all pairs of models with their ranks.

    python -m benchmarks.resampling
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from keju.definitions import tasks
from keju.statistics import (
    RESAMPLES,
    Ratio,
    holm,
    intervals,
    paired_p,
    rank_sets,
    value_of,
)

MODELS = 37
GOAL = 24.0
"""CPU seconds of keju with 2,000 draws and 10,000 swaps, where each model was drawn alone."""

Domains = dict[str, list[Ratio]]


def leaderboard(items_a_group: int) -> Domains:
    """The tasks of MCS-Bench with as many items as the paper counts, right or wrong by a coin."""
    generator = np.random.default_rng(1)
    of_benchmark = [task for task in tasks() if task.benchmark == "MCS-Bench"]
    groups = sum(task.count for task in of_benchmark) // items_a_group
    domains: Domains = {}
    for task in of_benchmark:
        of_items = generator.integers(0, groups, task.count)
        present, rows = np.unique(of_items, return_inverse=True)
        top, bottom = np.zeros((2, len(present), MODELS))
        np.add.at(top, rows, generator.integers(0, 2, (task.count, MODELS)).astype(float))
        np.add.at(bottom, rows, 1.0)
        domains.setdefault(task.domain, []).append(Ratio(present, top, bottom))
    return domains


def mean_over(parts: list[Ratio], weight: float = 1.0) -> list[Ratio]:
    """The parts of the plain mean over tasks."""
    return [part._replace(weight=weight / len(parts)) for part in parts]


def rank(overall: list[Ratio]) -> None:
    """Test all pairs, adjust, and rank."""
    p_values = paired_p(overall)
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    rank_sets(value_of(overall).tolist(), adjusted)


def main() -> None:
    table = Table("items a group", "tasks", "domains", "overall", "pairs", "CPU s", box=None)
    for items_a_group in (1, 10):
        domains = leaderboard(items_a_group)
        overall = [
            part for parts in domains.values() for part in mean_over(parts, 1 / len(domains))
        ]
        steps: list[Callable[[], object]] = [
            lambda domains=domains: [
                intervals([part]) for parts in domains.values() for part in parts
            ],
            lambda domains=domains: [intervals(mean_over(parts)) for parts in domains.values()],
            lambda overall=overall: intervals(overall),
            lambda overall=overall: rank(overall),
        ]
        seconds = []
        for step in steps:
            start = time.process_time()
            step()
            seconds.append(time.process_time() - start)
        table.add_row(
            str(items_a_group), *(f"{number:.1f}" for number in seconds), f"{sum(seconds):.1f}"
        )
    console = Console()
    console.print(table)
    console.print(f"{RESAMPLES:,} draws and swaps; the goal is at most {GOAL:g} CPU s")


if __name__ == "__main__":
    main()
