"""Bar charts of missed options, and curves of accuracy by number of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from keju.analysis.asked_items import item_name
from keju.analysis.difficulty import option_errors
from keju.analysis.galleries import galleries, reduced_forms
from keju.analysis.labels import task_name
from keju.analysis.run_set import RunSet
from keju.definitions import options_of
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import (
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    Source,
    apart,
    cycled,
    data,
    distinct,
    format_number,
    has_ranges,
    lower_end_note,
    named,
    of_source,
    points,
    printed_marks_note,
)
from keju.figures.theme import FILL, INK, OWN, PAPERS, RULE, SHAPES
from keju.files import slug
from keju.formatting import NOTHING
from keju.items import MIXED_GALLERY, Score
from keju.published import ClassFigure, paper, papers, published_tables
from keju.scoring import ItemName
from keju.scoring.aggregate import task_value
from keju.texts import _, join_lines, p_
from keju.words import Words

_MOST_OPTIONS = 20
_LABEL_GAP = 4.5
"""Minimum distance, in percentage points, between two names at the ends of curves."""


def options(source: OfRun) -> Iterator[Drawn]:
    """How often each option is missed, and how often it is the right one, one figure per task."""
    tables = option_errors(source.run_set)
    official = {each["task"]: each for each in option_errors(source.run_set, "official")}
    if not tables:
        yield Undrawn(
            "options", "", _("no multiple-choice task has a reference option that occurs twice")
        )
    yield from _options_without_rows(source, {str(table["task"]) for table in tables})
    real = [n for n, v in source.run_set.by_model.items() if v.role != "baseline"]
    for table in tables:
        of = str(table["task"]).lower().replace("/", "-")
        rows = option_rows(table, source.run_set.models, real, official.get(table["task"]))
        caption = _(
            "Error rate of the items with this option as reference, by option text, most "
            "frequent first. Each dot is a model under strict, the black line the mean of "
            "the models. The blue-grey line is their mean under official. The numbers at the "
            "left count the items with this reference: rates of few items are unreliable."
        )
        ranges = has_ranges(rows, "error_rate", "error_rate_if_right")
        yield Figure(
            kind="options",
            of=of,
            title=_("{}: errors by option", table["task"]),
            caption=join_lines([caption, lower_end_note()] if ranges else [caption]),
            rows=rows,
            draw=_options_chart,
        ).or_undrawn(_("only baselines answered"))


def option_rows(
    table: Mapping[str, object],
    models: Sequence[str],
    real: Sequence[str],
    official: Mapping[str, object] | None = None,
) -> list[Row]:
    """A row for each option and model of a table of `option_errors`.

    `official_error_rate` is the paper's: an answer is right where the letter occurs in it. `mean`
    and `official_mean` are over the models, each of its column.
    """
    found: list[Row] = []
    printed = {
        (row[0], model): rate
        for row in (official or {}).get("rows", ())  # type: ignore[attr-defined]
        for model, rate in zip(models, row[2], strict=True)
    }
    rows: list[Sequence[Any]] = list(table["rows"])  # type: ignore[call-overload]
    for true, asked, rates, _instead, taken, rates_if_right in rows[:_MOST_OPTIONS]:
        if_right = dict(zip(models, rates_if_right, strict=True))
        known = {m: rate for m, rate in zip(models, rates, strict=True) if m in real}
        there = {model: rate for model, rate in known.items() if rate is not None}
        theirs = [printed[true, m] for m in known if printed.get((true, m)) is not None]
        found += [
            {
                "task": str(table["task"]),
                "option": true,
                "times_true": asked,
                "times_wrongly_taken": taken,
                "model": model,
                "error_rate": points(rate),
                "error_rate_if_right": points(if_right[model]),
                "official_error_rate": points(printed.get((true, model))),
                "mean": points(fmean(there.values())),
                "official_mean": points(fmean(theirs)) if theirs else None,
            }
            for model, rate in there.items()
        ]
    return found


def _options_without_rows(source: OfRun, drawn: set[str]) -> Iterator[Undrawn]:
    """The tasks with options of which each is the right one only once."""
    asked = {
        task_name(each.item.task, each.item.query)
        for each in source.run_set.asked
        if options_of(each.item)
    }
    for name in sorted(asked - drawn) if drawn else ():
        of = name.lower().replace("/", "-")
        yield Undrawn("options", of, _("each option is the reference only once"))


def _options_chart(rows: Sequence[Row], words: Words) -> alt.HConcatChart:
    order, models = distinct(rows, "option"), distinct(rows, "model")
    height = alt.Step(19)

    def base(some: Sequence[Row], axis: alt.Axis | None) -> alt.Chart:
        return alt.Chart(data(some)).encode(y=alt.Y("option:N", sort=order, title=None, axis=axis))

    # Not every model was run on every option.
    once = list({row["option"]: row for row in rows}.values())
    named_axis = alt.Axis(domain=False, ticks=False, labelLimit=260)
    counted = base(once, named_axis).encode(
        x=alt.X(
            "times_true:Q",
            title=words(p_("column", "items")),
            sort="descending",
            # The number to the left of the longest bar needs room before the option's name.
            scale=alt.Scale(domain=[0, 1.25 * max(float(row["times_true"] or 0) for row in once)]),
            axis=alt.Axis(tickMinStep=1, format="d", tickCount=4),
        )
    )
    counts = alt.layer(
        counted.mark_bar(color=FILL, height=12),
        counted.mark_text(align="right", dx=-4, fontSize=9).encode(text="times_true:Q"),
    )
    x = alt.X(
        "error_rate:Q",
        title=words(_("error rate, percent")),
        scale=alt.Scale(domain=[0, 100]),
    )
    shapes = alt.Scale(domain=models, range=cycled(SHAPES, len(models)))
    dots = base(rows, None).mark_point(size=34, opacity=1, fill="white", stroke=OWN)
    dots = dots.encode(x=x, shape=alt.Shape("model:N", sort=models, scale=shapes))
    mean = base(once, None).mark_tick(thickness=3, size=16, color=INK)
    layers = [mean.encode(x="mean:Q"), dots]
    if theirs := [row for row in once if row["official_mean"] is not None]:
        official = base(theirs, None).mark_tick(thickness=3, size=16, color=PAPERS)
        layers.insert(1, official.encode(x="official_mean:Q"))
    return alt.hconcat(
        counts.properties(width=90, height=height),
        alt.layer(*layers).properties(width=330, height=height),
        spacing=10,
        bounds="flush",
    )


def classes(source: OfRun) -> Iterator[Drawn]:
    """Accuracy against the number of classes, the run's with the published curve."""
    drawn = False
    for benchmark, form in _declared_figures():
        own = own_class_rows(source.run_set, form.task)
        for query in distinct(own, "query"):
            every = [*own, *paper_class_rows(benchmark, form)]
            rows = [row for row in every if row["query"] == query]
            drawn = True
            yield _classes(benchmark, rows, printed_marks_note())
    if not drawn:
        yield Undrawn(
            "classes", "", _("the run has no classification with several numbers of classes")
        )


def published_classes() -> Iterator[Drawn]:
    """The curves that papers print."""
    for benchmark, form in _declared_figures():
        rows = paper_class_rows(benchmark, form)
        yield _classes(benchmark, rows, _("As printed. Lines only connect measured points."))


def _declared_figures() -> Iterator[tuple[str, ClassFigure]]:
    """The benchmarks whose papers print such curves."""
    for benchmark in papers():
        if form := paper(benchmark).figures.classes:
            yield benchmark, form


def _classes(benchmark: str, rows: Sequence[Row], note: str) -> Figure:
    return Figure(
        kind="classes",
        of=slug(str(rows[0]["query"])),
        title=_("{}: scores by number of classes", f"{benchmark} {rows[0]['query']}"),
        caption=join_lines([_("Acc@1 in percent; guessing one of N scores 100/N (dotted)."), note]),
        rows=_place_names(rows),
        draw=_classes_chart,
    )


def _place_names(rows: Sequence[Row]) -> list[Row]:
    """The rows, the last of each curve with the position of its name."""
    last = {row["model"]: n for n, row in enumerate(rows)}
    places = apart([float(rows[n]["value"] or 0) for n in last.values()], _LABEL_GAP)
    at = dict(zip(last.values(), places, strict=True))
    return [{**row, "label_at": at.get(n)} for n, row in enumerate(rows)]


def own_class_rows(run_set: RunSet, task: str) -> list[Row]:
    """Acc@1 (`official`) of each model on a task by the number of candidates; at least two numbers.

    A model that was run on several datasets has one curve through all of them. The paper's
    galleries are mixed; those of one source have curves that name it. Items in a reduced form are
    excluded.
    """
    reduced = reduced_forms(run_set)
    found = {
        place: gallery
        for place, gallery in galleries(run_set).items()
        if place[0] == task and place not in reduced
    }
    scores: dict[tuple[str, str, str], dict[int, list[Score]]] = {}
    names = _curves(run_set)
    for score in run_set.scores:
        gallery = found.get((score.task, score.query, score.item))
        if gallery and (score.protocol, score.metric) == ("official", "Acc@1"):
            curve = scores.setdefault((names[score.model], score.query, gallery.of), {})
            curve.setdefault(gallery.size, []).append(score)
    curves = {key: by_number for key, by_number in scores.items() if len(by_number) > 1}
    several = len({of for _, _, of in curves}) > 1
    return [
        _class_row(
            _curve_name(model, of, several=several),
            OWN_SOURCE,
            task_name(task, query),
            n,
            100 * value,
        )
        for (model, query, of), by_number in sorted(curves.items())
        for n, its in sorted(by_number.items())
        if (value := task_value([s for s in its if s.value is not None])) is not None
    ]


def _curve_name(model: str, of: str, *, several: bool) -> str:
    named_source = of != MIXED_GALLERY and (of or several)
    return f"{model} · {of or NOTHING}" if named_source else model


def _curves(run_set: RunSet) -> dict[str, str]:
    """The names of curves by the names of the report.

    A model's runs on different items form one curve; its settings, and two runs of it on the same
    items, have a curve each.
    """
    asked: dict[str, set[ItemName]] = {}
    for each in run_set.asked:
        for answer in each.answers:
            asked.setdefault(answer.model, set()).add(item_name(each.item))
    curves: dict[tuple[str, str], list[str]] = {}
    for name, model_responses in run_set.by_model.items():
        curves.setdefault((model_responses.model, model_responses.setting), []).append(name)
    models = Counter(model for model, _ in curves)
    named = {name: name for name in asked}
    for (model, setting), names in curves.items():
        all_keys = [key for name in names for key in asked.get(name, ())]
        if len(set(all_keys)) == len(all_keys):
            joined = model if models[model] == 1 else f"{model} · {setting}"
            named |= dict.fromkeys(names, joined)
    return named


def paper_class_rows(benchmark: str, form: ClassFigure) -> list[Row]:
    """The paper's curve."""
    return [
        _class_row(
            model,
            PAPER_SOURCE,
            task_name(form.task, column.query),
            int(column.subset.split()[0]),
            value,
        )
        for column in published_tables(benchmark)[form.table].columns.values()
        for model, value in column.values.items()
    ]


def _class_row(model: str, source: Source, query: str, number: int, value: float) -> Row:
    return {
        "model": named(model, source),
        "source": source,
        "query": query,
        "classes": number,
        "value": round(value, 4),
        "guessing": round(100 / number, 4),
        "label": format_number(value),
    }


def _classes_chart(rows: Sequence[Row], words: Words) -> alt.LayerChart:
    models = distinct(rows, "model")
    x = alt.X("classes:Q", title=words(_("number of classes")),
              axis=alt.Axis(values=sorted(distinct(rows, "classes"))),
              scale=alt.Scale(type="log", nice=False))  # fmt: skip
    base = alt.Chart(data(rows)).encode(
        x=x, y=alt.Y("value:Q", title="Acc@1", scale=alt.Scale(domain=[0, 100]))
    )
    colour = {
        "stroke": alt.condition(alt.datum.source == OWN_SOURCE, alt.value(OWN), alt.value(PAPERS))
    }
    lines = base.mark_line(strokeWidth=1.4).encode(detail="model:N", **colour)
    marks = base.mark_point(size=50, opacity=1).encode(
        shape=alt.Shape("model:N", legend=None, sort=models,
                        scale=alt.Scale(domain=models, range=cycled(SHAPES, len(models)))),
        **of_source(),
    )  # fmt: skip
    names = base.transform_filter("isValid(datum.label_at)").mark_text(align="left", dx=9)
    names = names.encode(y="label_at:Q", text="model:N")
    guess = (
        base.transform_aggregate(guess="max(guessing)", groupby=["classes"])
        .mark_line(strokeDash=[2, 3], color=RULE, strokeWidth=2)
        .encode(y="guess:Q")
    )
    return alt.layer(guess, lines, marks, names).properties(width=420, height=300)
