"""Box plots of the models' values by task and domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt
import numpy as np

from keju.definitions import benchmark as benchmark_named
from keju.definitions import tasks
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import (
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    Source,
    by_domain,
    data,
    has_ranges,
    heading,
    lower_end_note,
    named,
    points,
    printed_marks_note,
)
from keju.figures.task_values import (
    Value,
    column_of,
    columns_axis,
    in_order,
    in_task_order,
    paper_values,
    protocol_of,
    values_beside,
)
from keju.figures.theme import (
    FILL,
    INK,
    OWN,
    PAPERS,
    SOFT,
)
from keju.files import slug
from keju.published import (
    AVERAGE,
    PrintedTable,
    paper,
    papers,
    published_tables,
)
from keju.texts import _, join_lines, recognised
from keju.words import Words

_BOX = 26

_Dot = tuple[str, Source, float, float | None]
"""A model, its source, and its value with unclear answers as wrong and as right, in percent."""


def boxes(source: OfRun) -> Iterator[Drawn]:
    """Box plots over models, by task and by domain, one figure each per benchmark."""
    for board in source.boards:
        protocol = protocol_of(source, board.benchmark)
        values = [
            each
            for each in values_beside(source, board.benchmark, protocol)
            if each.role not in ("baseline", "human")
        ]
        mixed = {each.source for each in values} == {OWN_SOURCE, PAPER_SOURCE}
        notes = [_("Protocol: {}.", protocol)]
        notes += [printed_marks_note()] if mixed else []
        yield _boxes(board.benchmark, "tasks", task_box_rows(values), notes)


def published_boxes() -> Iterator[Drawn]:
    """Box plots over a paper's models, by task and by domain."""
    for benchmark in papers():
        known = paper(benchmark).figures
        if known.boxes:
            values = [each for each in paper_values(benchmark) if each.role != "human"]
            yield _boxes(benchmark, "tasks", task_box_rows(values), [known.lacking])
            rows = _domain_rows(published_tables(benchmark)[known.boxes.tables[0]])
            yield _boxes(benchmark, "domains", rows, [known.boxes.caption])


def _domain_rows(table: PrintedTable) -> list[Row]:
    """A box for each domain whose means a table prints."""
    domains = {each.domain for each in tasks() if each.benchmark == table.benchmark}
    rows: list[Row] = []
    for column in table.columns.values():
        if column.metric == "mean" and column.task in domains:
            name = {"domain": "", "column": column.task, "name_en": "", "name_zh": ""}
            models = [
                (model, PAPER_SOURCE, value, None)
                for model, value in column.values.items()
                if model != AVERAGE
            ]
            rows += _box(models, name)
    return rows


def _boxes(benchmark: str, of: str, rows: list[Row], notes: Sequence[str]) -> Drawn:
    if not any(row["part"] == "box" for row in rows):
        why = _("no task has values of three models")
        return Undrawn("boxes", f"{slug(benchmark)}-{of}", why)
    name = recognised(benchmark_named(benchmark).title)
    return Figure(
        kind="boxes",
        of=f"{slug(benchmark)}-{of}",
        title=_("{}: differences between models, by task", name)
        if of == "tasks"
        else _("{}: differences between models, by domain", name),
        caption=join_lines(
            [
                _(
                    "Boxes contain the middle half of the models, the line is the median, "
                    "whiskers reach the furthest model within 1.5 box lengths; every model is a "
                    "dot. In percent."
                ),
                *map(recognised, notes),
                *([lower_end_note()] if has_ranges(rows) else []),
            ]
        ),
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
        box_rows = [
            (each.model, each.source, 100 * each.value, points(each.value_if_right))
            for each in of_task
        ]
        rows += _box(box_rows, column_of(of_task[0]))
    return in_task_order(rows)


def _box(models: Sequence[_Dot], column: dict[str, str]) -> list[Row]:
    """Quartiles by linear interpolation, whiskers after Tukey."""
    if len(models) < 3:
        return []
    values = np.array([value for _, _, value, _ in models])
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
         "value": round(value, 4), "value_if_right": if_right}
        for name, source, value, if_right in models
    ]  # fmt: skip
    return [box, *dots]


def _boxes_chart(rows: Sequence[Row], words: Words) -> alt.HConcatChart:
    lows = [float(row["value"] or 0) for row in rows if row["part"] == "model"]
    # One very negative value (AR) would leave no room for the others.
    scale = alt.Scale(domain=[max(-20.0, min(0.0, *lows)), max(100.0, *lows)], clamp=True)

    def part(of_domain: Sequence[Row], first: bool) -> alt.LayerChart:
        columns = in_order(of_domain)
        step = _BOX if of_domain[0]["domain"] else 74
        labels = (
            columns_axis(of_domain, words)
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
