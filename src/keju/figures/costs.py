"""Cost figures: score against time or money, and error against coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from keju.analysis.engine_times import speeds
from keju.analysis.leaderboard import Leaderboard, money
from keju.analysis.risk_coverage import RiskCoverageRow, risk_coverage_rows
from keju.figures.figure import Drawn, Figure, Row
from keju.figures.parts import (
    OfRun,
    apart,
    cycled,
    data,
    distinct,
    has_ranges,
    heading,
    line_note,
    points,
)
from keju.figures.theme import OWN, PAPERS, RULE, SERIES, SHAPES
from keju.files import slug
from keju.texts import _, join_lines, recognised
from keju.words import Words

_MOST_STEPS = 60
"""Maximum points of a curve; longer ones are thinned."""
_LABEL_GAP = 0.045
"""Distance between two names, as a share of the axis."""


def costs(source: OfRun) -> Iterator[Drawn]:
    """Overall mean against time and, with prices, money; one figure per benchmark and unit."""
    for board in source.boards:
        for unit in ("seconds", "money") if source.prices else ("seconds",):
            few_costs, few_times = (
                _("fewer than two models have known costs"),
                _("fewer than two models have known times"),
            )
            rows = cost_rows(source, board, unit)
            yield Figure(
                kind="costs",
                of=f"{slug(board.benchmark)}-{unit}",
                title=_("{}: cost and quality", recognised(board.title)),
                caption=_describe_costs(board, unit, rows),
                rows=rows,
                draw=_costs_chart,
            ).or_undrawn(few_costs if unit == "money" else few_times, fewest=2)


def _describe_costs(board: Leaderboard, unit: str, rows: Sequence[Row]) -> str:
    described = (
        _(
            "Overall mean (strict, percent) against {} per 1,000 items, including the "
            "transcription before an answer. The line connects the models that no other "
            "model beats in both; hollow marks are baselines.",
            board.currency,
        )
        if unit == "money"
        else _(
            "Overall mean (strict, percent) against seconds per 1,000 items, including "
            "the transcription before an answer. The line connects the models that no "
            "other model beats in both; hollow marks are baselines."
        )
    )
    return join_lines([described, line_note()] if has_ranges(rows) else [described])


def cost_rows(source: OfRun, board: Leaderboard, unit: str) -> list[Row]:
    """A row for each model with known cost and overall mean, cheapest first.

    `best` is true where no model of the same or lower cost is as good.
    """
    found = []
    timed = speeds(source.run_set)
    for name, model_responses in source.run_set.by_model.items():
        result = board.results.get((name, "strict"))
        value = points(result.overall.value) if result else None
        seconds = model_responses.seconds_an_item
        per = None if seconds is None else seconds * 1000
        if speed := timed.get(name):
            per = speed.thousand
        cost = money(model_responses, source.prices) if unit == "money" else per
        if result and value is not None and cost:
            if_right = points(result.overall.value_if_right)
            found.append((cost, -value, name, model_responses.role, if_right))
    rows: list[Row] = []
    high = float("-inf")
    for cost, negative, name, role, if_right in sorted(found):
        best = -negative > high and role != "baseline"
        high = max(high, -negative) if role != "baseline" else high
        rows.append(
            {"model": name, "role": role, "unit": unit, "cost": round(cost, 4), "value": -negative,
             "value_if_right": if_right, "best": best}
        )  # fmt: skip
    return _place_labels(rows)


def _place_labels(rows: Sequence[Row]) -> list[Row]:
    values = [float(row["value"] or 0) for row in rows]
    gap = _LABEL_GAP * max(1.0, max(values, default=0) - min(0.0, *values, 0.0))
    return [
        {**row, "label_at": round(place, 3)}
        for row, place in zip(rows, apart(values, gap), strict=True)
    ]


def _costs_chart(rows: Sequence[Row], words: Words) -> alt.LayerChart:
    money_unit = rows[0]["unit"] == "money"
    unit = _("per 1,000 items, money") if money_unit else _("per 1,000 items, seconds")
    base = alt.Chart(data(rows)).encode(
        x=alt.X("cost:Q", title=words(unit), scale=alt.Scale(type="log", padding=14),
                axis=alt.Axis(tickCount=6, labelOverlap=True)),
        y=alt.Y("value:Q", title=words(_("percent")), scale=alt.Scale(zero=True)),
    )  # fmt: skip
    plain = alt.datum.role == "baseline"
    front = base.transform_filter(alt.datum.best).mark_line(color=RULE, strokeWidth=2)
    lines = base.mark_rule(color=PAPERS).encode(y2="value_if_right:Q")
    marks = base.mark_point(size=70, strokeWidth=1.6, opacity=1).encode(
        fill=alt.condition(plain, alt.value("#ffffff"), alt.value(OWN)),
        stroke=alt.condition(plain, alt.value(PAPERS), alt.value(OWN)),
    )
    names = base.mark_text(align="left", dx=9, fontSize=10).encode(y="label_at:Q", text="model:N")
    return alt.layer(front, lines, marks, names).properties(width=460, height=300)


def risks(source: OfRun) -> Iterator[Drawn]:
    """Error against coverage: the error when only the most confident answers are kept."""
    rows = risk_rows(risk_coverage_rows(source.run_set))
    yield Figure(
        kind="risks",
        of="",
        title=_("Confidence and coverage (risk–coverage curve)"),
        caption=_(
            "From right to left, the coverage (share of pages kept) falls: only the most "
            "confident pages are kept. A level line means that the confidence carries no "
            "information. Error: CER in percent. Confidence: the engine's own, mean over the "
            "characters of a page."
        ),
        rows=rows,
        draw=_risks_chart,
    ).or_undrawn(_("no model has answers with a confidence"))


def risk_rows(found: Sequence[RiskCoverageRow]) -> list[Row]:
    """A row for each drawn point of each curve; coverage and risk in percent."""
    rows: list[Row] = []
    for each in found:
        steps = list(zip(each.curve.coverage, each.curve.risk, strict=True))
        every = max(1, len(steps) // _MOST_STEPS)
        kept = [step for n, step in enumerate(steps) if n % every == 0 or n == len(steps) - 1]
        rows += [
            {
                "model": each.model,
                "task": f"{each.task} {each.metric}",
                "coverage": points(float(coverage)),
                "risk": points(float(risk)),
                "answers": each.answers,
            }
            for coverage, risk in kept
        ]
    return rows


def _risks_chart(rows: Sequence[Row], words: Words) -> alt.ConcatChart:
    models = distinct(rows, "model")
    colour = alt.Color("model:N", sort=models, title=None,
                       scale=alt.Scale(domain=models, range=cycled(SERIES, len(models))),
    )  # fmt: skip

    def of_task(name: str) -> alt.LayerChart:
        its = [row for row in rows if row["task"] == name]
        base = alt.Chart(data(its)).encode(
            x=alt.X("coverage:Q", title=words(_("coverage (answers kept), percent")),
                    scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("risk:Q", title=words(_("error, percent")),
                    scale=alt.Scale(zero=True)),
            color=colour,
        )  # fmt: skip
        last = base.transform_filter("datum.coverage == 100").mark_point(
            size=50, opacity=1, filled=True
        )
        shape = alt.Shape("model:N", sort=models, title=None,
                          scale=alt.Scale(domain=models, range=cycled(SHAPES, len(models))),
        )  # fmt: skip
        layers = [
            base.mark_line(strokeWidth=1.6, interpolate="step-after"),
            last.encode(shape=shape),
        ]
        return alt.layer(*layers, title=heading(name, 300)).properties(width=300, height=200)

    charts = [of_task(str(name)) for name in distinct(rows, "task")]
    return alt.concat(*charts, columns=3, spacing=30)
