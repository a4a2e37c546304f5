"""Notes on the data of a run, for a comparison with a paper's printed rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keju.analysis.run_set import Run, RunSet
from keju.definitions import is_undeciphered, task, tasks
from keju.items import Item

_UNITS = {"items": "", "images": " images"}
"""The unit after a count; items need none."""


def other_data(run_set: RunSet) -> list[str]:
    """Notes that are necessary for a comparison of a run with a paper, one line per dataset.

    Counts are in the unit of the paper: items or images.
    """
    runs: dict[str, Run] = {}
    items: dict[str, dict[str, list[Item]]] = {}
    for key, asked in run_set.asked.items():
        if is_undeciphered(asked.item) or not task(asked.item.task).published:
            continue  # no paper has these
        runs.setdefault(key[0], asked.run)
        items.setdefault(key[0], {}).setdefault(asked.item.task, []).append(asked.item)
    return [_line(run, items[key]) for key, run in runs.items()]


def _line(run: Run, by_task: Mapping[str, Sequence[Item]]) -> str:
    data = f"{run.manifest.dataset} {run.manifest.dataset_version}"
    if run.manifest.synthetic:
        return (
            f"{data} was drawn by keju: it is not the benchmark's own data, and a difference "
            "from a printed row is not evidence about a model."
        )
    declared = [each for each in tasks() if each.id in by_task]
    counts = {each.id: each.counted(by_task[each.id]) for each in declared}
    other = [
        f"{each.id} {counts[each.id]:,} of {each.count:,}{_UNITS[each.unit]}"
        for each in declared
        if counts[each.id] != each.count
    ]
    if other:
        return (
            f"{data} has other items than the benchmark ({', '.join(other)}): a difference "
            "from a printed row may be the data's."
        )
    units = " and ".join(dict.fromkeys(each.unit for each in declared))
    return (
        f"{data} has as many {units} of each task as the benchmark; whether they are its "
        "own, keju can't know."
    )
