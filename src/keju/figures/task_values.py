"""The values of models on tasks, and the columns of their figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from keju.analysis.labels import higher_is_better, is_numbered, task_name
from keju.definitions import task, tasks
from keju.figures.figure import Row
from keju.figures.parts import (
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    Source,
    distinct,
)
from keju.items import Protocol
from keju.published import (
    AVERAGE,
    papers,
    published_values,
)
from keju.words import Words


class Value(NamedTuple):
    """A model's main value on one task, a fraction; `subset` is the subset of its images.

    `value_if_right` is the value if every unclear answer were right; None of a paper's models.
    """

    model: str
    source: Source
    role: str
    task: str
    query: str
    subset: str
    metric: str
    value: float
    higher: bool
    value_if_right: float | None = None


def own_values(source: OfRun, benchmark: str, protocol: Protocol) -> list[Value]:
    """The main values of a run's models on a benchmark's tasks."""
    return [
        Value(
            model, OWN_SOURCE, source.run_set.by_model[model].role, each.task, each.query, "",
            main.metric, main.value,
            higher_is_better(each.task, each.query, protocol, main.metric), main.value_if_right,
        )
        for (model, its), result in source.run_set.results.items()
        for each in result.tasks
        if its == protocol and task(each.task).benchmark == benchmark
        for main in each.metrics[:1]
        if main.value is not None and np.isfinite(main.value)
    ]  # fmt: skip


def paper_values(benchmark: str) -> list[Value]:
    """The main values that a paper prints of its models, each once."""
    found: dict[tuple[str, str, str, str], Value] = {}
    for each in published_values(benchmark):
        query = next(query for query in task(each.task).queries if query.name == each.query)
        if each.metric != query.official[0] or each.subset == AVERAGE:
            continue
        higher = higher_is_better(each.task, each.query, "official", each.metric)
        key = (each.model.name, each.task, each.query, each.subset)
        role = "human" if each.model.kind == "human" else "model"
        found.setdefault(
            key,
            Value(each.model.name, PAPER_SOURCE, role, *key[1:], each.metric, each.value, higher),
        )
    return _mostly(list(found.values()))


def protocol_of(source: OfRun, benchmark: str) -> Protocol:
    """`official` with the rows of a benchmark's paper, else `strict`."""
    return "official" if source.published and benchmark in papers() else "strict"


def _mostly(values: Sequence[Value]) -> list[Value]:
    """Columns with values of most models, and models with values in most of those."""
    models = {each.model for each in values}
    columns: dict[tuple[str, str, str], set[str]] = {}
    for each in values:
        columns.setdefault((each.task, each.query, each.subset), set()).add(each.model)
    most = max((len(by) for by in columns.values()), default=0)
    kept = {column for column, by in columns.items() if 2 * len(by) > most}
    whole = {m for m in models if 2 * sum(m in columns[column] for column in kept) > len(kept)}
    return [v for v in values if (v.task, v.query, v.subset) in kept and v.model in whole]


def values_beside(source: OfRun, benchmark: str, protocol: Protocol) -> list[Value]:
    """A run's values, with the paper's of the same tasks if requested."""
    values = own_values(source, benchmark, protocol)
    asked = {(each.task, each.query) for each in values}
    printed = paper_values(benchmark) if protocol == "official" else []
    return values + [v for v in printed if (v.task, v.query) in asked and not v.subset]


def column_of(each: Value) -> dict[str, str]:
    """The task, metric and names of the column of a value."""
    known = task(each.task)
    arrow = "" if each.higher else " ↓"
    subset = f" {each.subset}" if each.subset else ""
    return {
        "domain": known.domain,
        "task": each.task,
        "query": each.query,
        "subset": each.subset,
        "metric": each.metric,
        "column": f"{task_name(each.task, each.query)}{subset}{arrow}",
        "name_en": known.name_en,
        "name_zh": known.name_zh,
    }


def columns_axis(rows: Sequence[Row], words: Words) -> alt.Axis:
    """Each column's name, slanted below it."""
    names = {row["column"]: _column_name(row, words) for row in rows}
    table = ", ".join(f"{_quote(str(column))}: {_quote(name)}" for column, name in names.items())
    return alt.Axis(
        labelAngle=-55, labelAlign="right", labelFontSize=9, labelLimit=190, domain=False,
        ticks=False, labelExpr=f"({{{table}}})[datum.label]",
    )  # fmt: skip


def _column_name(row: Row, words: Words) -> str:
    """A numbered task by number and name, another by its name, with the query."""
    column = str(row["column"])
    name = str(row["name_zh" if words.language == "zh" else "name_en"])
    if row["query"] or not name:
        return column
    task_id = str(row["task"])
    return f"{column} {name}" if is_numbered(task_id) else column.replace(task_id, name)


def _quote(text: str) -> str:
    """A string literal of Vega's expressions; the texts come from the catalogues."""
    return "'" + text.replace("\\", "").replace("'", "\\'") + "'"


def in_order(rows: Iterable[Row]) -> list[str]:
    """The columns in the order of their rows."""
    return distinct(rows, "column")


def in_task_order(rows: Sequence[Row]) -> list[Row]:
    """The rows in the order of the catalogue's tasks, which orders the columns."""
    places = {each.id: place for place, each in enumerate(tasks())}
    return sorted(rows, key=lambda row: places[str(row["task"])])
