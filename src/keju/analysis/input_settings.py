"""Comparison of one model's input settings (the text-only ones are our extension).

The step from image to own-ocr shows the benefit of transcribing first; from own-ocr to gold-ocr the
cost of the model's reading errors; from a text-only setting to the same text with the image the
benefit of the image. All numbers of a row are over the same items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, get_args

from keju.analysis.labels import metric_label, task_name
from keju.analysis.run_set import RunSet
from keju.definitions import task
from keju.items import PromptScript, PromptVariant, Protocol, Score, Setting
from keju.scoring import (
    PROTOCOLS,
    SideScores,
    TaskComparison,
    adjust_comparisons,
    compare_tasks,
    scores_frame,
)

_ROWS: tuple[tuple[Setting, ...], ...] = (
    ("image", "own-ocr", "gold-ocr"),
    ("image", "own-text", "gold-text"),
    ("own-ocr", "own-text"),
    ("gold-ocr", "gold-text"),
)
_Of = Mapping[Setting, Sequence[Score]]


class StepRow(NamedTuple):
    """One task: its main metric in each setting, and the paired differences between them.

    `values` are the metric's values in the settings, 0 to 1, in the order of the columns, and
    `values_if_right` those if every unclear answer were right. `steps` compare two settings each,
    adjusted over all steps of all tables of the protocol (Holm), and are None where that is not
    possible.
    """

    task: str
    name: str
    metric: str
    items: int
    values: tuple[float | None, ...]
    steps: tuple[TaskComparison | None, ...]
    values_if_right: tuple[float | None, ...] = ()


class StepTable(NamedTuple):
    """One model under one protocol. `columns` are its settings, then the steps between them.

    `tests` is the number of steps that were tested, in all tables of the protocol.
    """

    model: str
    protocol: Protocol
    columns: list[str]
    rows: list[StepRow]
    tests: int = 0


def step_tables(run_set: RunSet, among: Sequence[Setting] = get_args(Setting)) -> list[StepTable]:
    """A table for each model and script in more settings than one of `among`, and each protocol."""
    by_model: dict[tuple[str, str, PromptScript], dict[Setting, str]] = {}
    for name, model_responses in run_set.by_model.items():
        place = (model_responses.model, model_responses.run, model_responses.variant.script)
        by_model.setdefault(place, {})[model_responses.setting] = name
    tables = []
    for (spoken, _, script), names in by_model.items():
        model = " · ".join(filter(None, (spoken, PromptVariant(script=script).label())))
        shown = [setting for setting in among if setting in names]
        for protocol in PROTOCOLS[::-1] if len(shown) > 1 else ():
            steps = (f"{first} → {second}" for first, second in _pairs(shown))
            table = StepTable(model, protocol, [*shown, *steps], [])
            for (task_id, query), scores in run_set.mains[protocol].items():
                found = {
                    setting: [each for each in scores if each.model == names[setting]]
                    for setting in shown
                }
                table.rows.extend(_rows(task_id, query, protocol, found))
            if table.rows:
                tables.append(table)
    adjusted = {
        protocol: _adjust([table for table in tables if table.protocol == protocol])
        for protocol in PROTOCOLS
    }
    return [next(adjusted[table.protocol]) for table in tables]


def _adjust(tables: Sequence[StepTable]) -> Iterator[StepTable]:
    """The tables with the p values adjusted over all steps that are printed together."""
    steps = [step for table in tables for row in table.rows for step in row.steps if step]
    tests = sum(step.p is not None for step in steps)
    adjusted = iter(adjust_comparisons(steps))
    for table in tables:
        rows = [
            row._replace(steps=tuple(step and next(adjusted) for step in row.steps))
            for row in table.rows
        ]
        yield table._replace(rows=rows, tests=tests)


def _pairs(shown: Sequence[Setting]) -> list[tuple[Setting, Setting]]:
    """The steps with the image, those with text only, and from one to the other."""
    found: list[tuple[Setting, Setting]] = []
    for row in _ROWS:
        there = [setting for setting in row if setting in shown]
        found += pairwise(there)
        if len(there) > 2:
            found.append((there[0], there[-1]))
    return list(dict.fromkeys(found))


def _rows(task_id: str, query: str, protocol: Protocol, found: _Of) -> Iterator[StepRow]:
    """The row of a task; none unless it has at least two settings."""
    valued = {
        setting: {(s.item, s.round): s for s in scores if s.value is not None}
        for setting, scores in found.items()
    }
    asked = [by_item for by_item in valued.values() if by_item]
    shared = set.intersection(*map(set, asked)) if asked else set()
    if len(asked) < 2 or not shared:
        return
    kept = {
        setting: [score for place, score in by_item.items() if place in shared]
        for setting, by_item in valued.items()
    }
    sides = {
        setting: SideScores(protocol, scores_frame(scores)) for setting, scores in kept.items()
    }
    values: dict[Setting, float] = {}
    values_if_right: dict[Setting, float] = {}
    steps: list[TaskComparison | None] = []
    for first, second in _pairs(list(found)):
        compared = compare_tasks(sides[second], sides[first])
        for each in compared:
            values[first], values[second] = each.second, each.first
            values_if_right[first] = each.second_if_right
            values_if_right[second] = each.first_if_right
        steps.append(compared[0] if compared else None)
    metric = next(s.metric for scores in kept.values() for s in scores)
    known = task(task_id)
    yield StepRow(
        task=task_name(task_id, query),
        name=f"{known.name_zh} {known.name_en}",
        metric=metric_label(task_id, query, protocol, metric),
        items=len(shared),
        values=tuple(values.get(setting) for setting in found),
        values_if_right=tuple(values_if_right.get(setting) for setting in found),
        steps=tuple(steps),
    )
