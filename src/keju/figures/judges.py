"""Judges compared with people: a scatter plot per judge, and the papers' values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import altair as alt
import numpy as np

from keju.figures.figure import Drawn, Figure, Row
from keju.figures.parts import PAPER_SOURCE, cycled, data, distinct, format_number, heading, named
from keju.figures.theme import INK, OWN, PAPER, PAPERS, SERIES, SHAPES, SOFT
from keju.files import slug
from keju.judging.aligning import Alignment
from keju.published import PrintedFigure, paper, papers, published_tables
from keju.texts import _, recognised
from keju.words import Words

_SIDE = 190
_JITTER = 0.18
"""Maximum offset in points, to each side."""
_STATED = (("pearson", "r"), ("spearman", "ρ"), ("kendall", "τ"), ("mse", "MSE"), ("mae", "MAE"),
           ("bias", "bias"))  # fmt: skip


def judges(found: Alignment) -> Iterator[Drawn]:
    """All answers by judge, then each task's by judge where there are several tasks."""
    tasks = list(dict.fromkeys(point.task for point in found.points))
    yield _scatter("", judge_rows(found, ""))
    for task in tasks if len(tasks) > 1 else ():
        yield _scatter(task, judge_rows(found, task))


def _scatter(task: str, rows: list[Row]) -> Drawn:
    of = slug(task) if task else ""
    return Figure(
        kind="judges",
        of=of,
        title=_("Judges compared with people: {}", task)
        if task
        else _("Judges compared with people"),
        caption=_(
            "Each mark is an answer, with a little jitter so that equal grades do not hide each "
            "other. Dashed line: judge and people agree; solid line: least-squares fit. ρ and τ "
            "are corrected for ties; bias is the people's grade minus the judge's, so above 0 "
            "the judge is stricter."
        ),
        rows=rows,
        draw=_scatter_chart,
    ).or_undrawn(_("no judge graded answers that people rated"))


def judge_rows(found: Alignment, task: str) -> list[Row]:
    """A row per point, per line and per statistic; an empty task means all of them.

    `part` is the kind: ``point`` has `human` and `grade`, and `x` and `y` where the mark is drawn;
    ``line`` the ends of the least-squares line; ``statistic`` a `measure` with its `value`.
    """
    rows: list[Row] = []
    for judge in dict.fromkeys(point.judge for point in found.points):
        points = [p for p in found.points if p.judge == judge and task in ("", p.task)]
        for point in points:
            shaken = _shaken(point.judge, point.task, point.model, point.item)
            rows.append(
                {
                    "judge": judge, "part": "point", "task": point.task, "model": point.model,
                    "item": point.item, "human": round(point.human, 4),
                    "grade": round(point.grade, 4), "x": round(point.human + shaken[0], 3),
                    "y": round(point.grade + shaken[1], 3),
                }
            )  # fmt: skip
        rows += _line(judge, [p.human for p in points], [p.grade for p in points])
        rows += _statistics(found, judge, task)
    return rows


def _shaken(*names: str) -> tuple[float, float]:
    """Two small offsets that are derived from the names."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    first, second = (int.from_bytes(digest[n : n + 4]) / 2**32 for n in (0, 4))
    return _JITTER * (2 * first - 1), _JITTER * (2 * second - 1)


def _line(judge: str, human: Sequence[float], grade: Sequence[float]) -> list[Row]:
    """The least-squares line of grades on people's ratings; none where people gave one value."""
    if len(set(human)) < 2:
        return []
    slope, start = (float(each) for each in np.polyfit(human, grade, 1))
    return [
        {"judge": judge, "part": "line", "x": round(x, 4), "y": round(start + slope * x, 4)}
        for x in (min(human), max(human))
    ]


def _statistics(found: Alignment, judge: str, task: str) -> Iterator[Row]:
    """The output of `keju judge align` about a judge, in its order."""
    tasks = {each.task for each in found.tasks}
    wanted = task if task or "" in tasks else next(iter(tasks), "")
    for row in found.tasks:
        if (row.judge, row.task) == (judge, wanted):
            yield _statistic(judge, "n", row.answers, f"n = {row.answers}")
            for name, sign in _STATED:
                estimate = row.measures.get(name)
                if estimate is not None and estimate.value is not None:
                    label = f"{sign} = {format_number(estimate.value, 2)}"
                    yield _statistic(judge, name, round(estimate.value, 4), label)


def _statistic(judge: str, measure: str, value: float, label: str) -> Row:
    return {
        "judge": judge,
        "part": "statistic",
        "measure": measure,
        "value": value,
        "label": label,
    }


def _scatter_chart(rows: Sequence[Row], words: Words) -> alt.ConcatChart:
    tasks = distinct([row for row in rows if row["part"] == "point"], "task")

    def of_judge(judge: str) -> alt.LayerChart:
        its = [row for row in rows if row["judge"] == judge]
        stated = [str(row["label"]) for row in its if row["part"] == "statistic"]
        scale = alt.Scale(domain=[-0.4, 10.4], nice=False)
        axis = alt.Axis(values=[0, 2, 4, 6, 8, 10])
        base = alt.Chart(data(its)).encode(
            x=alt.X("x:Q", title=words(_("people")), scale=scale, axis=axis),
            y=alt.Y("y:Q", title=words(_("judge")), scale=scale, axis=axis),
        )
        shapes = alt.Scale(domain=tasks, range=cycled(SHAPES, len(tasks)))
        colours = alt.Scale(domain=tasks, range=cycled(SERIES, len(tasks)))
        legend = alt.Legend(title=None) if len(tasks) > 1 else None
        marks = base.transform_filter(alt.datum.part == "point").mark_point(
            size=26, opacity=0.75, strokeWidth=1.1
        )
        same = alt.Chart(data([{"x": 0, "y": 0}, {"x": 10, "y": 10}])).mark_line(
            color=SOFT, strokeDash=[4, 3], strokeWidth=1
        )
        layers = [
            same.encode(x="x:Q", y="y:Q"),
            marks.encode(
                shape=alt.Shape("task:N", scale=shapes, legend=legend),
                color=alt.Color("task:N", scale=colours, legend=legend),
            ),
            base.transform_filter(alt.datum.part == "line").mark_line(color=INK, strokeWidth=1.6),
        ]
        return alt.layer(*layers, title=_build_title(judge, stated)).properties(
            width=_SIDE, height=_SIDE
        )

    charts = [of_judge(str(judge)) for judge in distinct(rows, "judge")]
    return alt.concat(*charts, columns=min(5, max(2, len(charts))), spacing=26)


def _build_title(judge: str, statistics: Sequence[str]) -> alt.TitleParams:
    """The judge's name, and below it the measures, in lines as wide as the plot."""
    title = heading(judge.replace(" ", "\u00a0"), 10 * _SIDE)
    lines, line = [], ""
    for each in statistics:
        if line and len(line) + len(each) > 32:
            lines.append(line)
            line = ""
        line = f"{line} · {each}" if line else each
    title.subtitle = [*lines, line]
    title.subtitleFontSize, title.subtitleColor = 9, SOFT
    return title


def published_judges() -> Iterator[Drawn]:
    """The judges that papers compare with people, by the measures that they print."""
    for benchmark in papers():
        if form := paper(benchmark).figures.judges:
            yield _build_printed(benchmark, form)


def _build_printed(benchmark: str, form: PrintedFigure) -> Figure:
    table = published_tables(benchmark)[form.tables[0]]
    rows: list[Row] = [
        {
            "judge": named(judge, PAPER_SOURCE),
            "measure": column.metric,
            "better": column.how.better,
            "value": value,
            "label": column.cells[judge].text.replace("-", "−"),
        }
        for column in table.columns.values()
        for judge, value in column.values.items()
    ]
    return Figure(
        kind="judges",
        of=slug(benchmark),
        title=_("{}: {}", benchmark, recognised(form.title)),
        caption=form.caption,
        rows=[{**row, "best": _is_best(row, rows)} for row in rows],
        draw=_printed_chart,
    )


def _is_best(row: Row, rows: Sequence[Row]) -> bool:
    signs = {"higher": -1.0, "lower": 1.0}

    def badness(each: Row) -> float:
        value = float(each["value"] or 0)
        return signs[str(each["better"])] * value if each["better"] in signs else abs(value)

    return badness(row) == min(badness(each) for each in rows if each["measure"] == row["measure"])


def _printed_chart(rows: Sequence[Row], words: Words) -> alt.HConcatChart:
    def of_measure(measure: str, first: bool) -> alt.LayerChart:
        its = [row for row in rows if row["measure"] == measure]
        arrow = {"higher": " ↑", "lower": " ↓"}.get(str(its[0]["better"]), " → 0")
        base = alt.Chart(data(its)).encode(
            y=alt.Y("judge:N", sort=distinct(rows, "judge"), title=None,
                    axis=alt.Axis(domain=False, ticks=False, grid=True, gridDash=[1, 3],
                                  labels=first)),
            x=alt.X("value:Q", title=None, scale=alt.Scale(zero=False, padding=12),
                    axis=alt.Axis(tickCount=3)),
        )  # fmt: skip
        marks = base.mark_point(size=60, strokeWidth=1.5, opacity=1, stroke=PAPERS).encode(
            fill=alt.condition(alt.datum.best, alt.value(OWN), alt.value(PAPER))
        )
        text = base.mark_text(dy=-10, fontSize=9).encode(text="label:N")
        return alt.layer(marks, text, title=heading(words(measure) + arrow, 110)).properties(
            width=110, height=alt.Step(30)
        )

    measures = distinct(rows, "measure")
    charts = [of_measure(str(name), place == 0) for place, name in enumerate(measures)]
    return alt.hconcat(*charts, spacing=12, bounds="flush")
