"""Leaderboard figures: means with intervals, ranks, and differences between models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import altair as alt

from keju.analysis.leaderboard import Leaderboard
from keju.definitions import OWN_BENCHMARK
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import (
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    data,
    distinct,
    has_ranges,
    lower_end_note,
    named,
    of_source,
    points,
)
from keju.figures.theme import (
    INK,
    LESS_TO_MORE,
    NUMBERS,
    ON_DARK,
    ON_LIGHT,
    OWN,
    PAPER,
    PAPERS,
    RULE,
    SOFT,
)
from keju.files import slug
from keju.formatting import percent_range
from keju.items import Protocol
from keju.published import PrintedFigure, paper, papers, published_model, published_tables
from keju.texts import _, both, in_english, join_lines, recognised
from keju.words import Words

_SIDE = 32
_MOST_PAIRS = 30
"""Maximum number of models in a table of all pairs."""


def standings(source: OfRun) -> Iterator[Drawn]:
    """Overall means with their intervals, one figure per benchmark."""
    for board in source.boards:
        rows = standing_rows(board)
        yield Figure(
            kind="standings",
            of=slug(board.benchmark),
            title=_("{}: overall means", recognised(board.title)),
            caption=_build_caption(board, rows),
            rows=rows,
            draw=partial(
                _standings_chart,
                titles={in_english(group.title): group.title for group in board.groups},
            ),
        ).or_undrawn(_("no model has an overall mean"))


def _build_caption(board: Leaderboard, rows: Sequence[Row]) -> str:
    lines = [
        _(
            "{}, as a mean over pages, in percent. Lines are 95 % intervals by group (book, "
            "plate or bone). A line is missing if a task has fewer than 6 groups. A failed "
            "response counts as the metric's worst value.",
            both(board.heads),
        )
        if board.benchmark == OWN_BENCHMARK
        else _(
            "Plain means over tasks, then over domains, in percent. Lines are 95 % intervals by "
            "group (book, plate or bone). A line is missing if a task has fewer than 6 groups. A "
            "failed response counts as the metric's worst value."
        )
    ]
    if any(row["tasks"] != row["of"] for row in rows):
        lines.append(_("In brackets: the number of tasks with a value, if some have none."))
    if has_ranges(rows):
        lines.append(
            _(
                "Of two numbers, the lower one (where the mark is) has unclear answers as wrong, "
                "the higher one as right."
            )
        )
    return join_lines(lines)


def standing_rows(board: Leaderboard) -> list[Row]:
    """A row for each model and protocol, in the order of the leaderboard; all in percent."""
    rows: list[Row] = []
    for group in board.groups:
        for standing in group.rows:
            for protocol in board.protocols[::-1]:
                found = board.results.get((standing.model, protocol))
                value = points(found.overall.value) if found else None
                if found is None or value is None:
                    continue
                parts = [name for mean in found.domains.values() for name in mean.parts]
                missing = [name for mean in found.domains.values() for name in mean.missing]
                low, high = board.resampled[protocol].overall.get(standing.model, (None, None))
                rows.append(
                    {
                        "model": named(standing.model, OWN_SOURCE),
                        "role": in_english(group.title),
                        "protocol": protocol,
                        "value": value,
                        "value_if_right": points(found.overall.value_if_right),
                        "low": points(low),
                        "high": points(high),
                        "tasks": len(parts) - len(missing),
                        "of": len(parts),
                        "label": percent_range(found.overall.value, found.overall.value_if_right)
                        + (f" ({len(parts) - len(missing)}/{len(parts)})" if missing else ""),
                    }
                )
    return rows


_LOOKS = {"strict": ("circle", OWN, OWN), "official": ("diamond", PAPERS, PAPER)}
"""Shape, stroke and fill of a protocol's marks."""


def _standings_chart(
    rows: Sequence[Row], words: Words, *, titles: Mapping[str, str]
) -> alt.FacetChart:
    """The chart; `titles` are the titles of the groups by their English texts."""
    domain = [each for each in _LOOKS if each in distinct(rows, "protocol")]
    shapes, strokes, fills = zip(*(_LOOKS[each] for each in domain), strict=True)
    stroke = alt.Stroke("protocol:N", scale=alt.Scale(domain=domain, range=strokes))
    place = {
        "y": alt.Y("model:N", sort=distinct(rows, "model"), title=None,
                   axis=alt.Axis(domain=False, ticks=False, grid=True, gridDash=[1, 3])),
        "yOffset": alt.YOffset("protocol:N", sort=domain),
    }  # fmt: skip
    base = alt.Chart(height=alt.Step(13)).encode(**place)
    x = alt.X("low:Q", title=words(_("percent")), scale=alt.Scale(nice=True))
    lines = base.mark_rule(strokeWidth=1.6).encode(x=x, x2="high:Q", stroke=stroke)
    marks = base.mark_point(size=46, strokeWidth=1.6, opacity=1).encode(
        x="value:Q",
        shape=alt.Shape("protocol:N", scale=alt.Scale(domain=domain, range=shapes)),
        stroke=stroke,
        fill=alt.Fill("protocol:N", scale=alt.Scale(domain=domain, range=fills)),
    )
    text = base.mark_text(align="left", dx=7, baseline="middle", fontSize=9).encode(
        x=alt.X("end:Q"), text="label:N", color=alt.value(SOFT)
    )
    ends = text.transform_calculate(end="isValid(datum.high) ? datum.high : datum.value")
    roles = distinct(rows, "role")
    header = alt.Header(
        labelAngle=0, labelAlign="left", labelOrient="top", labelAnchor="start", labelColor=SOFT,
        labelExpr=_translate_labels({role: titles[role] for role in roles}, words),
    )  # fmt: skip
    return (
        alt.layer(lines, marks, ends, data=data(rows))
        .properties(width=430)
        .facet(row=alt.Row("role:N", sort=roles, title=None, header=header))
        .resolve_scale(y="independent")
    )


def _translate_labels(titles: Mapping[str, str], words: Words) -> str:
    """A Vega expression that translates a label to the report's language.

    The titles are keju's own.
    """
    table = ", ".join(f"'{name}': '{words(title)}'" for name, title in titles.items())
    return f"({{{table}}})[datum.label]"


def ranks(source: OfRun) -> Iterator[Drawn]:
    """Ranks with the other possible ranks, one figure per benchmark and protocol."""
    for board in source.boards:
        for protocol in board.protocols[::-1]:
            yield Figure(
                kind="ranks",
                of=f"{slug(board.benchmark)}-{protocol}",
                title=_("{}: ranks by overall mean ({})", recognised(board.title), protocol),
                caption=_describe_ranks(board, protocol),
                rows=rank_rows(board, protocol),
                draw=_ranks_chart,
            ).or_undrawn(_("fewer than two models are ranked"), fewest=2)


def _describe_ranks(board: Leaderboard, protocol: Protocol) -> str:
    """The caption, with the models that have no rank because of their items."""
    unranked = board.resampled[protocol].unranked
    reasons = [_("{}: {}", model, recognised(why)) for model, why in unranked.items()]
    return join_lines(
        [
            _(
                "The rank by printed value, and the ranks that remain possible after paired tests "
                "of all models (groups: books, plates, bones; Holm, p ≤ .05). If two bars "
                "overlap, the order of the two models is not known."
            ),
            *reasons,
        ]
    )


def rank_rows(board: Leaderboard, protocol: Protocol) -> list[Row]:
    """A row for each ranked model, the best first; `first` and `last` are None where untested."""
    found = board.resampled[protocol].ranks
    return [
        {
            "model": model,
            "protocol": protocol,
            "rank": rank,
            "first": span[0] if span else None,
            "last": span[1] if span else None,
            "label": str(rank),
        }
        for model, (rank, span) in sorted(
            found.items(), key=lambda ranked: (ranked[1][0], ranked[0])
        )
    ]


def _ranks_chart(rows: Sequence[Row], words: Words) -> alt.LayerChart:
    axis = alt.Axis(values=list(range(1, len(rows) + 1)), format="d", orient="top")
    scale = alt.Scale(domain=[0.4, len(rows) + 0.6], nice=False)
    y = alt.Y("model:N", sort=distinct(rows, "model"), title=None,
              axis=alt.Axis(domain=False, ticks=False))  # fmt: skip
    base = alt.Chart(data(rows)).encode(y=y)
    bars = (
        base.transform_calculate(start="datum.first - 0.4", end="datum.last + 0.4")
        .mark_bar(height=15, cornerRadius=7, color=RULE)
        .encode(x=alt.X("start:Q", title=words(_("rank")), axis=axis, scale=scale), x2="end:Q")
    )
    marks = base.mark_point(size=190, filled=True, color=OWN, opacity=1).encode(x="rank:Q")
    text = base.mark_text(color=ON_DARK, fontSize=10).encode(x="rank:Q", text="label:N")
    width = max(160, min(640, 42 * len(rows)))
    return alt.layer(bars, marks, text).properties(width=width, height=alt.Step(21))


def differences(source: OfRun) -> Iterator[Drawn]:
    """The tested difference of every two ranked models, one figure per benchmark and protocol."""
    for board in source.boards:
        for protocol in board.protocols[::-1]:
            of = f"{slug(board.benchmark)}-{protocol}"
            rows = difference_rows(board, protocol)
            models = len(distinct(rows, "above"))
            if not rows or models > _MOST_PAIRS:
                why = _("{} models are too many", models) if rows else _("no two models to compare")
                yield Undrawn("differences", of, why)
                continue
            caption = _(
                "The overall mean of the model of the row minus that of the column, in "
                "points. Significant differences have a frame: paired randomisation test "
                "over groups (books, plates, bones), adjusted for all pairs (Holm), p ≤ .05."
            )
            ranges = has_ranges(rows, "difference_least", "difference_most")
            yield Figure(
                kind="differences",
                of=of,
                title=_("{}: which models differ ({})", recognised(board.title), protocol),
                caption=join_lines([caption, lower_end_note()] if ranges else [caption]),
                rows=rows,
                draw=_differences_chart,
            )


def difference_rows(board: Leaderboard, protocol: Protocol) -> list[Row]:
    """A row for each pair of ranked models, in both orders; `difference` in points."""
    known = board.resampled[protocol]
    order = sorted(known.ranks, key=lambda model: (known.ranks[model][0], model))
    return [
        {
            "above": one,
            "below": other,
            "protocol": protocol,
            "difference": round(100 * gap.difference, 2),
            "difference_least": round(100 * gap.least, 2),
            "difference_most": round(100 * gap.most, 2),
            "p": gap.p_holm,
            "significant": gap.significant,
            "label": f"{100 * gap.difference:+.1f}",
        }
        for one in order
        for other in order
        if (gap := known.gaps.get((one, other)))
    ]


def _differences_chart(rows: Sequence[Row], _words: Words) -> alt.LayerChart:
    order = distinct(rows, "above")
    plain = {"domain": False, "ticks": False}
    base = alt.Chart(data(rows)).encode(
        x=alt.X("below:N", sort=order, title=None,
                axis=alt.Axis(**plain, orient="top", labelAngle=-40, labelAlign="left")),
        y=alt.Y("above:N", sort=order, title=None, axis=alt.Axis(**plain)),
    )  # fmt: skip
    most = max(abs(float(row["difference"] or 0)) for row in rows) or 1.0
    scale = alt.Scale(domain=[-most, 0, most], range=[LESS_TO_MORE[n] for n in (0, 2, 4)])
    cells = base.mark_rect(strokeWidth=1.5, width=_SIDE - 3, height=19).encode(
        color=alt.Color("difference:Q", scale=scale, legend=None),
        stroke=alt.condition(alt.datum.significant, alt.value(INK), alt.value(PAPER)),
    )
    far = f"abs(datum.difference) > {0.6 * most}"
    ink = alt.condition(far, alt.value(ON_DARK), alt.value(ON_LIGHT))
    text = base.mark_text(fontSize=9, font=NUMBERS).encode(text="label:N", color=ink)
    return alt.layer(cells, text).properties(width=alt.Step(_SIDE), height=alt.Step(22))


def published_standings() -> Iterator[Drawn]:
    """The overall means that a paper prints, best first, without intervals."""
    for benchmark in papers():
        if form := paper(benchmark).figures.standings:
            yield _build_printed(benchmark, form)


def _build_printed(benchmark: str, form: PrintedFigure) -> Figure:
    table = published_tables(benchmark)[form.tables[0]]
    values = table.columns[form.column].values
    rows: list[Row] = [
        {
            "model": named(model, PAPER_SOURCE),
            "source": PAPER_SOURCE,
            "table": table.name,
            "value": value,
            "label": f"{value:.2f}",
        }
        for model, value in sorted(values.items(), key=lambda each: -each[1])
        if published_model(benchmark, model)
    ]
    return Figure(
        kind="standings",
        of=slug(benchmark),
        title=_("{}: overall means as printed", benchmark),
        caption=form.caption,
        rows=rows,
        draw=_printed_chart,
    )


def _printed_chart(rows: Sequence[Row], words: Words) -> alt.LayerChart:
    y = alt.Y("model:N", sort=distinct(rows, "model"), title=None,
              axis=alt.Axis(domain=False, ticks=False, grid=True, gridDash=[1, 3]))  # fmt: skip
    base = alt.Chart(data(rows)).encode(
        y=y, x=alt.X("value:Q", title=words(_("percent")), scale=alt.Scale(zero=False))
    )
    marks = base.mark_point(size=52, strokeWidth=1.6, opacity=1).encode(**of_source())
    text = base.mark_text(align="left", dx=8, fontSize=9).encode(text="label:N")
    return alt.layer(marks, text).properties(width=430, height=alt.Step(17))
