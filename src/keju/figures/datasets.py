"""Charts of a dataset, and of the papers' tables about their data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import altair as alt

from keju.analysis.labels import is_numbered
from keju.datasets.stats import OVERALL, Stats
from keju.definitions import has_task, task
from keju.figures.figure import Drawn, Figure, Row
from keju.figures.parts import data, distinct, heading
from keju.figures.theme import FILL, INK, PAPERS, SOFT
from keju.files import slug
from keju.published import Column, paper, papers, published_tables
from keju.texts import _, join_lines
from keju.words import Words

_MOST_STRATA = 30
_BAR = 16
_MEASURES = ("n_q", "avg_q", "avg_a", "avg_pv", "max_pv", "min_pv", "avg_ar", "max_ar", "min_ar")


class OfDataset(NamedTuple):
    """The data for figures of a dataset."""

    name: str
    stats: Stats


def questions(source: OfDataset) -> Iterator[Drawn]:
    """Questions of each task, with the mean lengths of question and answer."""
    rows = [
        _question_row(row["task"], {name: row[name] for name in _MEASURES})
        for row in source.stats.tasks.iter_rows(named=True)
    ]
    yield _questions(source.name, "", rows, [])


def published_questions() -> Iterator[Drawn]:
    """The papers' tables of their tasks."""
    renamed = {"n_q": "n_questions", "avg_q": "avg_q_len", "avg_a": "avg_a_len"}
    for benchmark in papers():
        if not (form := paper(benchmark).figures.questions):
            continue
        table = published_tables(benchmark)[form.tables[0]]
        columns = {each: table.columns.get(renamed.get(each, each)) for each in _MEASURES}
        rows = [
            _question_row(name, _read_printed(columns, name))
            for name in table.rows
            if has_task(name)
        ]
        yield _questions(benchmark, slug(benchmark), rows, [_("As printed in the paper.")])


def _read_printed(columns: Mapping[str, Column | None], row: str) -> dict[str, float | None]:
    return {name: column.values.get(row) if column else None for name, column in columns.items()}


def _question_row(name: str, values: Mapping[str, float | None]) -> Row:
    known = task(name)
    count = int(values["n_q"] or 0)
    lengths = [f"{values[each]:,.0f}" for each in ("avg_q", "avg_a") if values[each] is not None]
    return {
        "domain": known.domain,
        "task": name,
        "name_en": known.name_en,
        "name_zh": known.name_zh,
        **values,
        "n_q": count,
        "label": f"{count:,}",
        "lengths": " → ".join(lengths),
    }


def _questions(name: str, of: str, rows: list[Row], notes: Sequence[str]) -> Drawn:
    return Figure(
        kind="questions",
        of=of,
        title=_("{}: questions of each task", name),
        caption=join_lines(
            [
                _(
                    "The number at each bar is a count; the grey number behind it is the mean "
                    "length of question → answer, in characters without white space."
                ),
                *notes,
            ]
        ),
        rows=rows,
        draw=_questions_chart,
    ).or_undrawn(_("no items"))


def _questions_chart(rows: Sequence[Row], words: Words) -> alt.VConcatChart:
    most = max(int(row["n_q"] or 0) for row in rows)
    scale = alt.Scale(domain=[0, most * 1.02])
    key = "name_zh" if words.language == "zh" else "name_en"
    shown = [
        {**row, "name": f"{row['task']} {row[key]}"
         if is_numbered(str(row["task"])) else str(row[key])}
        for row in rows
    ]  # fmt: skip
    domains = distinct(shown, "domain")

    def of_domain(domain: str) -> alt.LayerChart:
        its = [row for row in shown if row["domain"] == domain]
        last = domain == domains[-1]
        title = words(_("questions")) if last else None
        axis = alt.Axis(labels=last, ticks=last, domain=last, title=title)
        base = alt.Chart(data(its)).encode(
            y=alt.Y("name:N", sort=distinct(its, "name"), title=None,
                    axis=alt.Axis(domain=False, ticks=False, minExtent=200)),
            x=alt.X("n_q:Q", scale=scale, axis=axis),
        )  # fmt: skip
        far = base.transform_calculate(shown="datum.label + ' · ' + datum.lengths")
        text = {"align": "left", "dx": 5, "fontSize": 9}
        layers = [
            base.mark_bar(color=FILL),
            far.mark_text(**text, color=SOFT).encode(text="shown:N"),
            base.mark_text(**text, color=INK).encode(text="label:N"),
        ]
        above = heading(words(str(domain)), 400)
        return alt.layer(*layers, title=above).properties(width=400, height=alt.Step(_BAR))

    return alt.vconcat(*[of_domain(domain) for domain in domains], spacing=12)


def strata(source: OfDataset) -> Iterator[Drawn]:
    """The items by metadata: kinds of book, dynasties, scripts, subsets."""
    rows: list[Row] = []
    for (kind,), frame in source.stats.strata.group_by("stratum", maintain_order=True):
        counts = [(str(row["name"]), int(row["questions"])) for row in frame.iter_rows(named=True)]
        rows += _build_stratum_rows(str(kind), counts)
    yield _strata(source.name, "", rows, "questions", [])


def published_strata() -> Iterator[Drawn]:
    """The papers' numbers of the kinds, dynasties and scripts of their data."""
    for benchmark in papers():
        if not (form := paper(benchmark).figures.strata):
            continue
        rows: list[Row] = []
        for kind, name in form.tables.items():
            values = published_tables(benchmark)[name].columns[form.column].values
            counts = sorted(((n, int(v)) for n, v in values.items()), key=lambda e: -e[1])
            rows += _build_stratum_rows(kind, counts)
        yield _strata(
            benchmark, slug(benchmark), rows, form.column, [_("As printed in the paper.")]
        )


def _build_stratum_rows(kind: str, counts: Sequence[tuple[str, int]]) -> list[Row]:
    """One row per value, the largest first; the rest of a long list is one row."""
    whole = sum(count for _, count in counts)
    shown = [*counts[:_MOST_STRATA]]
    if rest := counts[_MOST_STRATA:]:
        shown.append((f"{len(rest)} others", sum(count for _, count in rest)))
    return [
        {
            "stratum": kind,
            "name": name,
            "count": count,
            "share": round(100 * count / whole, 2) if whole else None,
            "label": f"{count:,} · {100 * count / whole:.0f} %" if whole else f"{count:,}",
        }
        for name, count in shown
    ]


def _strata(name: str, of: str, rows: list[Row], what: str, notes: Sequence[str]) -> Drawn:
    counts = (
        _("Numbers of pages, and their share of the pages with this information.")
        if what == "pages"
        else _("Numbers of questions, and their share of the questions with this information.")
    )
    return Figure(
        kind="strata",
        of=of,
        title=_("{}: content", name),
        caption=join_lines([counts, *notes]),
        rows=rows,
        draw=_strata_chart,
    ).or_undrawn(_("the items have no metadata on category, dynasty, script or subset"))


def _strata_chart(rows: Sequence[Row], words: Words) -> alt.ConcatChart:
    def of_kind(kind: str) -> alt.LayerChart:
        its = [row for row in rows if row["stratum"] == kind]
        chart = _count_bars(its, dx=5, labelLimit=230)
        return chart.properties(width=240, height=alt.Step(_BAR), title=heading(words(kind), 240))

    return alt.concat(
        *[of_kind(str(kind)) for kind in distinct(rows, "stratum")], columns=2, spacing=34
    )


def _count_bars(rows: Sequence[Row], *, dx: int, **labels: int) -> alt.LayerChart:
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("name:N", sort=distinct(rows, "name"), title=None,
                axis=alt.Axis(domain=False, ticks=False, **labels)),
        x=alt.X("count:Q", axis=None),
    )  # fmt: skip
    text = base.mark_text(align="left", dx=dx, fontSize=9).encode(text="label:N")
    return alt.layer(base.mark_bar(color=FILL), text)


def distributions(source: OfDataset) -> Iterator[Drawn]:
    """Distributions of lengths, sizes and counts."""
    rows: list[Row] = [
        {**row, "label": f"{row['count']:,}"}
        for row in source.stats.distributions.iter_rows(named=True)
        if row["low"] is not None
    ]
    yield Figure(
        kind="distributions",
        of="",
        title=_("{}: lengths, sizes and counts", source.name),
        caption=_(
            "The number of items (images, boxes, groups) between two limits; the first limit "
            "belongs to its step, the second to the next. Lengths in characters without white "
            "space. Steps are not equally wide."
        ),
        rows=rows,
        draw=_distributions_chart,
    ).or_undrawn(_("no items"))


def _distributions_chart(rows: Sequence[Row], words: Words) -> alt.ConcatChart:
    def of_measure(measure: str) -> alt.LayerChart:
        its = [row for row in rows if row["measure"] == measure]
        unit = str(its[0]["unit"])
        title = words(unit) if unit.startswith(measure) else f"{words(measure)}, {words(unit)}"
        return _count_bars(its, dx=4, labelFontSize=9).properties(
            width=150, height=alt.Step(13), title=heading(title, 190)
        )

    charts = [of_measure(str(name)) for name in distinct(rows, "measure")]
    return alt.concat(*charts, columns=3, spacing=30)


def pictures(source: OfDataset) -> Iterator[Drawn]:
    """Pixels and aspect ratios of each domain's images: minimum, mean and maximum."""
    frame = source.stats.domains
    rows = [
        row
        for each in frame.iter_rows(named=True)
        if each["domain"] != OVERALL
        for row in _size_rows(each["domain"], each)
    ]
    yield _pictures(source.name, "", rows, [])


def published_pictures() -> Iterator[Drawn]:
    """The papers' tables of their images."""
    for benchmark in papers():
        if not (form := paper(benchmark).figures.pictures):
            continue
        table = published_tables(benchmark)[form.tables[0]]
        columns = {each: table.columns.get(each) for each in _MEASURES}
        rows = [
            row
            for domain in table.rows
            if domain != OVERALL
            for row in _size_rows(domain, _read_printed(columns, domain))
        ]
        yield _pictures(benchmark, slug(benchmark), rows, [_("As printed in the paper.")])


def _size_rows(domain: str, values: Mapping[str, float | None]) -> Iterator[Row]:
    for measure, suffix, scale in ((_("megapixels"), "pv", 1e6), (_("width / height"), "ar", 1.0)):
        least, mean, most = (values[f"{which}_{suffix}"] for which in ("min", "avg", "max"))
        if least and mean and most:
            yield {
                "domain": domain,
                "measure": measure,
                "least": least / scale,
                "mean": mean / scale,
                "most": most / scale,
                "label": f"{mean / scale:.2f}",
            }


def _pictures(name: str, of: str, rows: list[Row], notes: Sequence[str]) -> Drawn:
    return Figure(
        kind="pictures",
        of=of,
        title=_("{}: image sizes and shapes", name),
        caption=join_lines(
            [
                _(
                    "From the smallest to the largest image of each domain; the dot is the mean "
                    "over questions."
                ),
                *notes,
            ]
        ),
        rows=rows,
        draw=_pictures_chart,
    ).or_undrawn(_("no image sizes are known"))


def _pictures_chart(rows: Sequence[Row], words: Words) -> alt.HConcatChart:
    def of_measure(measure: str) -> alt.LayerChart:
        its = [row for row in rows if row["measure"] == measure]
        first = measure == rows[0]["measure"]
        base = alt.Chart(data(its)).encode(
            y=alt.Y("domain:N", sort=distinct(rows, "domain"), title=None,
                    axis=alt.Axis(domain=False, ticks=False) if first else None),
        )  # fmt: skip
        axis = alt.Axis(tickCount=4, grid=True, labelOverlap=True)
        x = alt.X("least:Q", title=words(measure), scale=alt.Scale(type="log"), axis=axis)
        layers = [
            base.mark_rule(strokeWidth=3, strokeCap="round", color=FILL).encode(x=x, x2="most:Q"),
            base.mark_point(size=60, filled=True, color=PAPERS, opacity=1).encode(x="mean:Q"),
            base.mark_text(dy=-9, fontSize=9).encode(x="mean:Q", text="label:N"),
        ]
        return alt.layer(*layers).properties(width=270, height=alt.Step(28))

    charts = [of_measure(str(name)) for name in distinct(rows, "measure")]
    return alt.hconcat(*charts, spacing=24, bounds="flush")
