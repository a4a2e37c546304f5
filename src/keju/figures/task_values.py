"""Figures of models by tasks: the heatmap, and box plots over models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from keju.analysis.labels import higher_is_better, is_numbered, task_name
from keju.definitions import OWN_BENCHMARK, benchmark_title, task, tasks
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import (
    AS_PRINTED_MARKS,
    AS_PRINTED_ROWS,
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    Source,
    by_domain,
    data,
    distinct,
    heading,
    models_axis,
    named,
    points,
    said,
)
from keju.figures.theme import (
    FILL,
    INK,
    LOW_TO_HIGH,
    NUMBERS,
    ON_DARK,
    ON_LIGHT,
    OWN,
    PAPER,
    PAPERS,
    SOFT,
)
from keju.files import slug
from keju.items import Protocol
from keju.published import (
    AVERAGE,
    PrintedTable,
    paper,
    papers,
    published_tables,
    published_values,
)
from keju.translations import Words

_CELL = 27
_BOX = 26

_SCALED = (
    "Numbers in percent, as in the tables; ↓ where less is better. Colours run from the worst to "
    "the best of these models in each column alone (min-max per task), so that they rank models "
    "within a task and cannot be compared across tasks."
)
_BOXES = (
    "Boxes hold the middle half of the models, the line is the median, whiskers reach the furthest "
    "model within 1.5 box lengths; every model is a dot. In percent."
)


class Value(NamedTuple):
    """A model's main value on one task, a fraction; `subset` is the subset of its images."""

    model: str
    source: Source
    role: str
    task: str
    query: str
    subset: str
    metric: str
    value: float
    higher: bool


def own_values(source: OfRun, benchmark: str, protocol: Protocol) -> list[Value]:
    """The main values of a run's models on a benchmark's tasks."""
    return [
        Value(
            model, OWN_SOURCE, source.gathered.voices[model].role, each.task, each.query, "",
            main.metric, main.value,
            higher_is_better(each.task, each.query, protocol, main.metric),
        )
        for (model, its), result in source.gathered.results.items()
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


def heatmap(source: OfRun) -> Iterator[Drawn]:
    """Models by tasks, one figure per benchmark: `official` with a paper, else `strict`."""
    for board in source.boards:
        protocol = _protocol(source, board.benchmark)
        values = _beside(source, board.benchmark, protocol)
        yield _heatmap(board.benchmark, values, f"{_SCALED}\nProtocol: {protocol}.")


def _protocol(source: OfRun, benchmark: str) -> Protocol:
    """`official` with the rows of a benchmark's paper, else `strict`."""
    return "official" if source.published and benchmark in papers() else "strict"


def _beside(source: OfRun, benchmark: str, protocol: Protocol) -> list[Value]:
    """A run's values, with the paper's of the same tasks if requested."""
    values = own_values(source, benchmark, protocol)
    asked = {(each.task, each.query) for each in values}
    printed = paper_values(benchmark) if protocol == "official" else []
    return values + [v for v in printed if (v.task, v.query) in asked and not v.subset]


def published_heatmaps() -> Iterator[Drawn]:
    """The papers' own models by tasks."""
    for benchmark in papers():
        caption = "\n".join(filter(None, (_SCALED, paper(benchmark).figures.lacking)))
        yield _heatmap(benchmark, paper_values(benchmark), caption)


def _heatmap(benchmark: str, values: Sequence[Value], caption: str) -> Drawn:
    rows = heatmap_rows(values)
    if len(distinct(rows, "model")) < 2:
        return Undrawn("heatmap", slug(benchmark), "fewer than two models have values")
    if benchmark == OWN_BENCHMARK:
        return Undrawn("heatmap", slug(benchmark), "own pages are one task")
    mixed = {each.source for each in values} == {OWN_SOURCE, PAPER_SOURCE}
    return Figure(
        kind="heatmap",
        of=slug(benchmark),
        title=f"{benchmark_title(benchmark)}: models by tasks",
        caption=f"{caption}\n{AS_PRINTED_ROWS}" if mixed else caption,
        rows=rows,
        draw=_heatmap_chart,
    )


def heatmap_rows(values: Sequence[Value]) -> list[Row]:
    """One row per cell, models with the best mean of scaled values first.

    `scaled` is 0 for the worst and 1 for the best model of the column, None where all are equal.
    """
    columns: dict[tuple[str, str, str], list[float]] = {}
    for each in values:
        columns.setdefault((each.task, each.query, each.subset), []).append(each.value)
    rows: list[Row] = []
    for each in values:
        of_column = columns[each.task, each.query, each.subset]
        low, high = min(of_column), max(of_column)
        scaled = (each.value - low) / (high - low) if high > low else None
        if scaled is not None and not each.higher:
            scaled = 1 - scaled
        rows.append(
            {
                "model": named(each.model, each.source),
                "source": each.source,
                **_column_of(each),
                "value": points(each.value),
                "scaled": None if scaled is None else round(scaled, 4),
                "label": said(points(each.value)),
            }
        )
    means: dict[object, list[float]] = {}
    for row in rows:
        means.setdefault(row["model"], []).append(_half_if_none(row["scaled"]))
    rows = _by_task(rows)
    return sorted(rows, key=lambda row: -float(np.mean(means[row["model"]])))


def _half_if_none(value: str | float | None) -> float:
    return 0.5 if value is None else float(value)


def _column_of(each: Value) -> dict[str, str]:
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


def _columns_axis(rows: Sequence[Row], words: Words) -> alt.Axis:
    """Each column's name, slanted below it."""
    names = {row["column"]: _column_name(row, words) for row in rows}
    table = ", ".join(f"{_quoted(str(column))}: {_quoted(name)}" for column, name in names.items())
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


def _quoted(text: str) -> str:
    """A string literal of Vega's expressions; the texts come from the catalogues."""
    return "'" + text.replace("\\", "").replace("'", "\\'") + "'"


def _heatmap_chart(rows: Sequence[Row], words: Words) -> alt.HConcatChart:
    models = distinct(rows, "model")
    scale = alt.Scale(domain=[0, 0.25, 0.5, 0.75, 1], range=list(LOW_TO_HIGH))

    def part(of_domain: Sequence[Row], first: bool) -> alt.LayerChart:
        columns = _in_order(of_domain)
        axis = models_axis(rows) if first else None
        base = alt.Chart(data(of_domain)).encode(
            x=alt.X("column:N", sort=columns, title=None, axis=_columns_axis(of_domain, words)),
            y=alt.Y("model:N", scale=alt.Scale(domain=models), title=None, axis=axis),
        )
        cells = base.mark_rect(stroke=PAPER, strokeWidth=1).encode(
            color=alt.condition(
                "isValid(datum.scaled)",
                alt.Color("scaled:Q", scale=scale, legend=None),
                alt.value(LOW_TO_HIGH[0]),
            )
        )
        ink = alt.condition("datum.scaled > 0.6", alt.value(ON_DARK), alt.value(ON_LIGHT))
        numbers = base.mark_text(fontSize=8, font=NUMBERS).encode(text="label:N", color=ink)
        title = heading(words(str(of_domain[0]["domain"])), _CELL * len(columns))
        return alt.layer(cells, numbers, title=title).properties(
            width=_CELL * len(columns), height=16 * len(models)
        )

    return by_domain(_by_task(rows), part)


def _in_order(rows: Iterable[Row]) -> list[str]:
    return distinct(rows, "column")


def _by_task(rows: Sequence[Row]) -> list[Row]:
    """The rows in the order of the catalogue's tasks, which orders the columns."""
    places = {each.id: place for place, each in enumerate(tasks())}
    return sorted(rows, key=lambda row: places[str(row["task"])])


def boxes(source: OfRun) -> Iterator[Drawn]:
    """Box plots over models, by task and by domain, one figure each per benchmark."""
    for board in source.boards:
        protocol = _protocol(source, board.benchmark)
        values = [
            each
            for each in _beside(source, board.benchmark, protocol)
            if each.role not in ("baseline", "human")
        ]
        mixed = {each.source for each in values} == {OWN_SOURCE, PAPER_SOURCE}
        note = f"Protocol: {protocol}." + (f"\n{AS_PRINTED_MARKS}" if mixed else "")
        yield _boxes(board.benchmark, "tasks", task_box_rows(values), note)


def published_boxes() -> Iterator[Drawn]:
    """Box plots over a paper's models, by task and by domain."""
    for benchmark in papers():
        known = paper(benchmark).figures
        if known.boxes:
            values = [each for each in paper_values(benchmark) if each.role != "human"]
            yield _boxes(benchmark, "tasks", task_box_rows(values), known.lacking)
            rows = _domain_rows(published_tables(benchmark)[known.boxes.tables[0]])
            yield _boxes(benchmark, "domains", rows, known.boxes.caption)


def _domain_rows(table: PrintedTable) -> list[Row]:
    """A box for each domain whose means a table prints."""
    domains = {each.domain for each in tasks() if each.benchmark == table.benchmark}
    rows: list[Row] = []
    for column in table.columns.values():
        if column.metric == "mean" and column.task in domains:
            name = {"domain": "", "column": column.task, "name_en": "", "name_zh": ""}
            models = [
                (model, PAPER_SOURCE, value)
                for model, value in column.values.items()
                if model != AVERAGE
            ]
            rows += _box(models, name)
    return rows


def _boxes(benchmark: str, of: str, rows: list[Row], note: str) -> Drawn:
    if not any(row["part"] == "box" for row in rows):
        return Undrawn("boxes", f"{slug(benchmark)}-{of}", "no task has values of three models")
    return Figure(
        kind="boxes",
        of=f"{slug(benchmark)}-{of}",
        title=f"{benchmark_title(benchmark)}: differences between models, by {of[:-1]}",
        caption=f"{_BOXES}\n{note}",
        rows=rows,
        draw=_boxes_chart,
    )


def task_box_rows(values: Sequence[Value]) -> list[Row]:
    """A box for each task with at least three models, and a dot for each model."""
    by_task: dict[tuple[str, str, str], list[Value]] = {}
    for each in values:
        by_task.setdefault((each.task, each.query, each.subset), []).append(each)
    rows: list[Row] = []
    for of_task in by_task.values():
        found = [(each.model, each.source, 100 * each.value) for each in of_task]
        rows += _box(found, _column_of(of_task[0]))
    return _by_task(rows)


def _box(models: Sequence[tuple[str, Source, float]], column: dict[str, str]) -> list[Row]:
    """Quartiles by linear interpolation, whiskers after Tukey."""
    if len(models) < 3:
        return []
    values = np.array([value for _, _, value in models])
    low, middle, high = (float(each) for each in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = 1.5 * (high - low)
    inside = values[(values >= low - reach) & (values <= high + reach)]
    box: Row = {
        **column, "part": "box", "model": None, "source": None, "value": None,
        "n": len(values), "low": float(inside.min()), "q1": low, "median": middle, "q3": high,
        "high": float(inside.max()),
    }  # fmt: skip
    dots: list[Row] = [
        {**column, "part": "model", "model": named(name, source), "source": source,
         "value": round(value, 4)}
        for name, source, value in models
    ]  # fmt: skip
    return [box, *dots]


def _boxes_chart(rows: Sequence[Row], words: Words) -> alt.HConcatChart:
    lows = [float(row["value"] or 0) for row in rows if row["part"] == "model"]
    # One very negative value (AR) would leave no room for the others.
    scale = alt.Scale(domain=[max(-20.0, min(0.0, *lows)), max(100.0, *lows)], clamp=True)

    def part(of_domain: Sequence[Row], first: bool) -> alt.LayerChart:
        columns = _in_order(of_domain)
        step = _BOX if of_domain[0]["domain"] else 74
        labels = (
            _columns_axis(of_domain, words)
            if of_domain[0]["domain"]
            else alt.Axis(labelExpr="split(datum.label, ' ')", labelAngle=0, domain=False)
        )
        base = alt.Chart(data(of_domain)).encode(
            x=alt.X("column:N", sort=columns, title=None, axis=labels)
        )
        axis = alt.Axis(domain=False, ticks=False, labels=first)
        y = {"scale": scale, "axis": axis}
        box = base.transform_filter(alt.datum.part == "box")
        layers = [
            box.mark_rule(color=SOFT).encode(y=alt.Y("low:Q", title=None, **y), y2="high:Q"),
            box.mark_bar(size=step * 0.55, color=FILL).encode(y="q1:Q", y2="q3:Q"),
            box.mark_tick(size=step * 0.55, thickness=2, color=INK).encode(y="median:Q"),
            base.transform_filter("datum.part == 'model' && datum.source == 'paper'")
            .mark_point(size=9, color=PAPERS, strokeWidth=0.8, opacity=1)
            .encode(y="value:Q"),
            base.transform_filter("datum.part == 'model' && datum.source != 'paper'")
            .mark_point(size=26, filled=True, color=OWN, opacity=1)
            .encode(y="value:Q"),
        ]
        title = heading(words(str(of_domain[0]["domain"])), step * len(columns))
        return alt.layer(*layers, title=title).properties(width=step * len(columns), height=260)

    return by_domain(rows, part)
