"""Notes on the data of a run, for a comparison with a paper's printed rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keju.analysis.asked_items import Run
from keju.analysis.run_set import RunSet
from keju.definitions import Task, is_undeciphered, task, tasks
from keju.items import Item
from keju.messages import Message, message
from keju.texts import listed

_AS_MANY = {
    ("items",): "analysis.as-many-items",
    ("images",): "analysis.as-many-images",
    ("items", "images"): "analysis.as-many-items-and-images",
    ("images", "items"): "analysis.as-many-images-and-items",
}
"""The note on a dataset with as many of these units as the benchmark."""


def other_data(run_set: RunSet) -> list[Message]:
    """Notes that are necessary for a comparison of a run with a paper, one line per dataset.

    Counts are in the unit of the paper: items or images.
    """
    runs: dict[str, Run] = {}
    items: dict[str, dict[str, list[Item]]] = {}
    for asked in run_set.asked:
        if is_undeciphered(asked.item) or not task(asked.item.task).from_paper:
            continue  # no paper has these
        key = asked.run.manifest.items_key
        runs.setdefault(key, asked.run)
        items.setdefault(key, {}).setdefault(asked.item.task, []).append(asked.item)
    return [_line(run, items[key]) for key, run in runs.items()]


def _line(run: Run, by_task: Mapping[str, Sequence[Item]]) -> Message:
    data = f"{run.manifest.dataset} {run.manifest.dataset_version}"
    if run.manifest.synthetic:
        return message("analysis.drawn-keju-not-benchmark", data=data)
    declared = [each for each in tasks() if each.id in by_task]
    counts = {each.id: each.counted(by_task[each.id]) for each in declared}
    other = [
        _describe_count(each, counts[each.id]) for each in declared if counts[each.id] != each.count
    ]
    if other:
        return message("analysis.other-items-benchmark-difference", data=data, other=listed(other))
    return message(_AS_MANY[tuple(dict.fromkeys(each.unit for each in declared))], data=data)


def _describe_count(each: Task, count: int) -> Message:
    if each.unit == "images":
        return message("analysis.task-images-of", task=each.id, count=count, total=each.count)
    return message("analysis.task-items-of", task=each.id, count=count, total=each.count)
