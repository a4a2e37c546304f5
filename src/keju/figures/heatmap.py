"""The heatmap of models by tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt
import numpy as np

from keju.definitions import OWN_BENCHMARK
from keju.definitions import benchmark as benchmark_named
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import (
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    by_domain,
    data,
    distinct,
    format_number,
    has_ranges,
    heading,
    lower_end_note,
    models_axis,
    named,
    points,
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
    LOW_TO_HIGH,
    NUMBERS,
    ON_DARK,
    ON_LIGHT,
    PAPER,
)
from keju.files import slug
from keju.published import (
    paper,
    papers,
)
from keju.texts import _, join_lines, recognised
from keju.words import Words

_CELL = 27


def heatmap(source: OfRun) -> Iterator[Drawn]:
    """Models by tasks, one figure per benchmark: `official` with a paper, else `strict`."""
    for board in source.boards:
        protocol = protocol_of(source, board.benchmark)
        values = values_beside(source, board.benchmark, protocol)
        notes = [_("Protocol: {}.", protocol)]
        yield _heatmap(board.benchmark, values, notes)


def published_heatmaps() -> Iterator[Drawn]:
    """The papers' own models by tasks."""
    for benchmark in papers():
        lacking = paper(benchmark).figures.lacking
        yield _heatmap(benchmark, paper_values(benchmark), [lacking] if lacking else [])


def _heatmap(benchmark: str, values: Sequence[Value], notes: Sequence[str]) -> Drawn:
    rows = heatmap_rows(values)
    if len(distinct(rows, "model")) < 2:
        return Undrawn("heatmap", slug(benchmark), _("fewer than two models have values"))
    if benchmark == OWN_BENCHMARK:
        return Undrawn("heatmap", slug(benchmark), _("own pages are one task"))
    lines = [
        _(
            "Values in percent, as in the tables; ↓ means that lower is better. Colours go from "
            "the worst to the best of these models in each column alone (min-max per task). They "
            "rank models within a task and cannot be compared across tasks."
        ),
        *map(recognised, notes),
    ]
    if {each.source for each in values} == {OWN_SOURCE, PAPER_SOURCE}:
        lines.append(_("† as the paper printed it."))
    if has_ranges(rows):
        lines.append(lower_end_note())
    return Figure(
        kind="heatmap",
        of=slug(benchmark),
        title=_("{}: models by tasks", recognised(benchmark_named(benchmark).title)),
        caption=join_lines(lines),
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
                **column_of(each),
                "value": points(each.value),
                "value_if_right": points(each.value_if_right),
                "scaled": None if scaled is None else round(scaled, 4),
                "label": format_number(points(each.value)),
            }
        )
    means: dict[object, list[float]] = {}
    for row in rows:
        place = row["scaled"]
        means.setdefault(row["model"], []).append(0.5 if place is None else float(place))
    rows = in_task_order(rows)
    return sorted(rows, key=lambda row: -float(np.mean(means[row["model"]])))


def _heatmap_chart(rows: Sequence[Row], words: Words) -> alt.HConcatChart:
    models = distinct(rows, "model")
    scale = alt.Scale(domain=[0, 0.25, 0.5, 0.75, 1], range=list(LOW_TO_HIGH))

    def part(of_domain: Sequence[Row], first: bool) -> alt.LayerChart:
        columns = in_order(of_domain)
        axis = models_axis(rows) if first else None
        base = alt.Chart(data(of_domain)).encode(
            x=alt.X("column:N", sort=columns, title=None, axis=columns_axis(of_domain, words)),
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

    return by_domain(in_task_order(rows), part)
