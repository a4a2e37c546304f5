"""Print docs/protocols.md: where the two protocols differ in each task, and by how much.

    python -m tools.make_protocols_page > docs/protocols.md

The sentences are those of the metrics' declarations and of src/keju/scoring/rules.toml, the answers
those of tests/support/specimens.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from keju.analysis.labels import metric_label
from keju.definitions import Query, Task, paper_tasks
from keju.items import Protocol
from keju.scoring import (
    PROTOCOLS,
    TaskDifference,
    list_task_differences,
    metric_of,
    scores_frame,
)
from keju.scoring.protocol_differences import differing_steps
from tests.support.specimens import ITEMS, SPECIMENS, scores_of

APART = 0.02

_INTRODUCTION = f"""\
# Protocol differences: where `official` and `strict` differ

Made by `tools/make_protocols_page.py`; the test suite compares this page with its output. For your
own run, `keju protocols RUN` prints the differences, item by item.

The first tables give the size: each row is a task (OBI-Bench: one way of asking), each column an
answer given to {ITEMS} small items of it, whose true answers are as long as the task's own
(MCS-Bench Table 5; 200 characters where no length is printed). A cell is *official → strict*, task
values × 100 of the metrics named in the row, bold where they are 2 points or more apart on one
scale (an error ↓ counts as 1 - error there). A range has the answers that `strict` cannot read as
wrong and as right; it is bold if both ends are so far apart from `official`. If a main metric needs
an encoder's weights, the row has the first other metric that needs none, in italics. If there is
none, the cells have a dash.

MCS-Bench's `official` scores the content as it was returned, reasoning in it included, as the
authors' script scores its field `Response`. If a server returns reasoning in a separate field,
`official` scores the content alone (our reading); `keju score` also shows the value with the
reasoning before the content, as `<think>REASONING</think>CONTENT`. `strict`, judges and reports
never take the answer from inside the marks of reasoning that
[reasoning_marks.toml](../src/keju/text/data/reasoning_marks.toml) lists for known models.

The sections below explain the differences step by step.
"""


def page() -> str:
    """The whole page as Markdown."""
    listed = [(each, query) for each in paper_tasks() for query in each.queries if query.strict]
    parts = [_INTRODUCTION, "## By how much\n"]
    for benchmark in dict.fromkeys(each.benchmark for each, _ in listed):
        parts += [
            f"### {benchmark}\n",
            _sizes(pair for pair in listed if pair[0].benchmark == benchmark),
        ]
    parts.append("## Where\n")
    families: dict[tuple[object, ...], list[tuple[Task, Query]]] = {}
    for each, query in listed:
        key = (each.benchmark, query.form, query.official, query.strict)
        families.setdefault(key, []).append((each, query))
    parts += map(_family, families.values())
    return "\n".join(parts)


def _name(task: Task, query: Query) -> str:
    return f"{task.id}/{query.name}" if query.name else task.id


def _sizes(listed: Iterable[tuple[Task, Query]]) -> str:
    lines = [
        "| task | official | strict | " + " | ".join(SPECIMENS) + " |",
        "|---|---|---|" + "---:|" * len(SPECIMENS),
    ]
    for task, query in listed:
        found = [
            next(iter(list_task_differences(scores_frame(scores_of(task, query, name)))), None)
            for name in SPECIMENS
        ]
        known = next((each for each in found if each), None)
        heads = [_head(task, query, protocol, known) for protocol in PROTOCOLS]
        cells = [_cell(each) for each in found]
        lines.append("| " + " | ".join([_name(task, query), *heads, *cells]) + " |")
    return "\n".join([*lines, ""])


def _head(task: Task, query: Query, protocol: Protocol, known: TaskDifference | None) -> str:
    main = query.metrics(protocol)[0]
    used = getattr(known, f"{protocol}_metric") if known else main
    label = metric_label(task.id, query.name, protocol, used).replace("|", "\\|")
    return label if used == main else f"*{label}*"


def _cell(found: TaskDifference | None) -> str:
    if found is None:
        return "–"
    strict = dict.fromkeys(map(_percent, sorted((found.strict, found.strict_if_right))))
    text = f"{_percent(found.official)} → {'–'.join(strict)}"
    return f"**{text}**" if found.certain_difference >= APART else text


def _percent(value: float) -> str:
    text = f"{100 * value:,.0f}"
    return "0" if text == "-0" else text


def _family(members: Sequence[tuple[Task, Query]]) -> str:
    task, query = members[0]
    names = ", ".join(_name(*each) for each in members)
    main = (query.official[0], query.strict[0])
    rows = [
        f"| {each.step} | {each.official} | {each.strict} |"
        for each in differing_steps(task, query, main)
    ]
    heads = [
        f"| step | official {_escaped(main[0])} | strict {_escaped(main[1])} |",
        "|---|---|---|",
    ]
    same = [f"Both take {_escaped(main[0])} alike."]
    lines = [f"### {task.benchmark}: {names}\n", *([*heads, *rows] if rows else same), ""]
    for protocol in PROTOCOLS:
        beside = query.metrics(protocol)[1:]
        rules = [
            f"**{_escaped(name)}**, {metric.rule}"
            for name in beside
            if (metric := metric_of(protocol, task.benchmark, query.form, name))
        ]
        if rules:
            lines += [f"Beside it in {protocol}: " + "; ".join(rules) + ".\n"]
    return "\n".join(lines)


def _escaped(metric: str) -> str:
    return metric.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
