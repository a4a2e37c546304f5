"""Figures of a history: the overall value and each task over labels, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from keju.analysis.history import History, history_records
from keju.definitions import benchmark as benchmark_named
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import data, distinct, has_ranges, heading, lower_end_note, points
from keju.figures.theme import INK, OWN, PAPER
from keju.files import slug
from keju.texts import Text, _, join_lines
from keju.words import Words

_COLUMNS = 4
_MOST_TASKS = 60


def history_figures(history: History) -> Iterator[Drawn]:
    """For each benchmark a figure of its overall value, and one of its tasks."""
    rows = [_row(record) for record in history_records(history)]
    for benchmark in distinct(rows, "benchmark"):
        own = [row for row in rows if row["benchmark"] == benchmark]
        name = slug(str(benchmark))
        title = benchmark_named(str(benchmark)).title
        overall = [row for row in own if not row["task"]]
        caption = _(
            "Main metrics under {} in percent, with 95 % intervals by group (book, plate, bone), "
            "by label.",
            history.protocol,
        )
        if all(row["value"] is None for row in overall):
            yield Undrawn("history", name, _("no label has an overall value"))
        else:
            yield Figure(
                kind="history",
                of=name,
                title=_("{}: overall value by label", title),
                caption=_with_note(caption, overall),
                rows=overall,
                draw=_overall_chart,
            )
        of_tasks = [row for row in own if row["task"] and row["value"] is not None]
        names = distinct(of_tasks, "name")[:_MOST_TASKS]
        if names:
            drawn = [row for row in of_tasks if row["name"] in names]
            caption = _(
                "Main metrics under {} in percent, with 95 % intervals by group. A filled "
                "triangle is a significant change since the label before (paired test, "
                "adjusted over all tasks and changes). The scales differ.",
                history.protocol,
            )
            yield Figure(
                kind="history-tasks",
                of=name,
                title=_("{}: tasks by label", title),
                caption=_with_note(caption, drawn),
                rows=drawn,
                draw=_tasks_chart,
            )


def _with_note(caption: Text, rows: Sequence[Row]) -> str:
    return join_lines([caption, lower_end_note()] if has_ranges(rows) else [caption])


def _row(record: dict[str, str | float | None]) -> Row:
    percent = ("value", "value_if_right", "low", "high",
               *(f"{prefix}change{end}" for prefix in ("", "total_")
                 for end in ("", "_least", "_most", "_low", "_high")))  # fmt: skip
    scaled = {name: points(value) if isinstance(value := record[name], float) else None
              for name in percent}  # fmt: skip
    name = "/".join(str(record[key]) for key in ("task", "query") if record[key])
    return {**record, **scaled, "name": name}


def _overall_chart(rows: Sequence[Row], words: Words) -> alt.LayerChart:
    labels = distinct(rows, "label")
    width = max(200, min(640, 90 * len(labels)))
    chart = _chart(rows, labels, width, words(_("percent")))
    return chart.properties(width=width, height=240)


def _tasks_chart(rows: Sequence[Row], words: Words) -> alt.VConcatChart:
    del words
    labels = distinct(rows, "label")
    width = max(110, min(320, 40 * len(labels)))
    charts = []
    for name in distinct(rows, "name"):
        chart = _chart([row for row in rows if row["name"] == name], labels, width)
        charts.append(chart.properties(title=heading(name, width), width=width, height=90))
    lines = [charts[start : start + _COLUMNS] for start in range(0, len(charts), _COLUMNS)]
    return alt.vconcat(
        *(alt.hconcat(*line, spacing=36, bounds="flush") for line in lines), spacing=14
    )


def _chart(
    rows: Sequence[Row], labels: Sequence[str], width: float, title: str | None = None
) -> alt.LayerChart:
    """A line over the labels with intervals; a filled triangle is a significant change."""
    crowded = 7 * sum(map(len, labels)) > width
    base = alt.Chart(data(row for row in rows if row["value"] is not None)).encode(
        x=alt.X(
            "label:N", sort=list(labels), title=None,
            axis=alt.Axis(labelAngle=-40 if crowded else 0, labelLimit=110),
        ),
    )  # fmt: skip
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False, nice=True, padding=6),
              axis=alt.Axis(tickCount=4))  # fmt: skip
    known = alt.datum.low != None  # noqa: E711 - an expression of the chart
    shape = alt.Scale(
        domain=["", "improved", "declined"], range=["circle", "triangle-up", "triangle-down"]
    )
    return alt.layer(
        base.transform_filter(known).mark_rule(color=INK, strokeWidth=1).encode(
            y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=False)), y2="high:Q"
        ),
        base.mark_line(color=INK, strokeWidth=1.4).encode(y=y),
        base.mark_point(size=60, opacity=1, stroke=OWN, strokeWidth=1.4).encode(
            y=y,
            shape=alt.Shape("significant:N", scale=shape, legend=None),
            fill=alt.condition(alt.datum.significant == "", alt.value(PAPER), alt.value(OWN)),
        ),
    )  # fmt: skip
