"""Bar charts by input setting: of a run, and of papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import altair as alt

from keju.analysis.input_settings import StepTable, step_tables
from keju.definitions import task
from keju.figures.figure import Drawn, Figure, Row, Undrawn
from keju.figures.parts import (
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    data,
    distinct,
    has_ranges,
    heading,
    line_note,
    named,
    points,
)
from keju.figures.theme import PAPERS, SETTINGS, SOFT
from keju.files import slug
from keju.formatting import percent, percent_range
from keju.items import Setting
from keju.published import SettingFigure, SettingMean, paper, papers, published_tables
from keju.texts import _, join_lines, listed, recognised
from keju.words import Words

THREE: tuple[Setting, ...] = ("image", "own-ocr", "gold-ocr")
"""The image, with the model's own transcription, and with the true text."""


def settings(source: OfRun) -> Iterator[Drawn]:
    """Each model in the three settings: `strict`, then in the form of a paper's figure."""
    tables = step_tables(source.run_set, THREE)
    rows = setting_rows(tables)
    if not rows:
        yield Undrawn("settings", "", _("no model answered in two of {}", listed(THREE)))
        return
    notes = [line_note()] if has_ranges(rows) else []
    yield Figure(
        kind="settings",
        of="",
        title=_(
            "Scores by input: image, image with own transcription, image with reference "
            "transcription"
        ),
        caption=join_lines(
            [
                _(
                    "Main metrics under strict, in percent, over the items that the model answered "
                    "in every setting. From image to own-ocr, the difference is the effect of "
                    "transcribing first; from own-ocr to gold-ocr, the cost of OCR errors."
                ),
                *notes,
            ]
        ),
        rows=rows,
        draw=_settings_chart,
    )
    for benchmark in papers():
        form = paper(benchmark).figures.settings_of_run
        if form and (rows := mean_rows(tables, form)):
            yield Figure(
                kind="settings",
                of=f"{slug(benchmark)}-official",
                title=form.title,
                caption=form.caption,
                rows=rows,
                draw=_settings_chart,
            )


def mean_rows(tables: Sequence[StepTable], form: SettingMean) -> list[Row]:
    """A row for each model, task and setting under `official`, and the means over the tasks."""
    found: list[Row] = []
    for table in tables:
        rows = {row.task: row for row in table.rows if row.task in form.tasks}
        if table.protocol != "official" or not rows:
            continue
        columns = [each for each in table.columns if "→" not in each]
        valued = [
            (f"{name} {rows[name].metric}", rows[name].items, rows[name].values)
            for name in form.tasks
            if name in rows
        ]
        if len(valued) == len(form.tasks):
            by_setting = zip(*(values for _, _, values in valued), strict=True)
            means = tuple(_mean_of_all(values) for values in by_setting)
            valued.append((form.mean, sum(items for _, items, _ in valued), means))
        found += [
            {
                "model": table.model,
                "source": OWN_SOURCE,
                "task": name,
                "setting": setting,
                "value": points(value),
                "items": items,
                "label": f"{100 * value:.1f}",
            }
            for name, items, values in valued
            for setting, value in zip(columns, values, strict=True)
            if value is not None
        ]
    return found


def _mean_of_all(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if len(there) == len(values) else None


def setting_rows(tables: Sequence[StepTable]) -> list[Row]:
    """A row for each model, task and setting, as in the report's table."""
    return [
        {
            "model": table.model,
            "source": OWN_SOURCE,
            "task": f"{row.task} {row.metric}",
            "setting": setting,
            "value": float(percent(value)),
            "value_if_right": None if if_right is None else float(percent(if_right)),
            "items": row.items,
            "label": percent_range(value, if_right),
        }
        for table in tables
        if table.protocol == "strict"
        for row in table.rows
        for setting, value, if_right in zip(
            table.columns, row.values, row.values_if_right or row.values, strict=False
        )
        if value is not None
    ]


def published_settings() -> Iterator[Drawn]:
    """The papers' values of models with transcriptions, and of models with the image."""
    for benchmark in papers():
        if form := paper(benchmark).figures.settings:
            yield _build_printed(benchmark, form)


def _build_printed(benchmark: str, form: SettingFigure) -> Figure:
    tables = published_tables(benchmark)
    rows: list[Row] = [
        {
            "model": named(model, PAPER_SOURCE),
            "source": PAPER_SOURCE,
            "task": f"{column.task} {column.metric}, from {'text' if column.subset else 'images'}",
            "setting": form.inputs.get(column.subset, column.subset),
            "value": value,
            "items": task(column.task).count,
            "label": f"{value:.2f}",
        }
        for name in form.tables
        for column in tables[name].columns.values()
        for model, value in column.values.items()
    ]
    order = [*dict.fromkeys([*form.inputs.values(), *(str(row["setting"]) for row in rows)])][::-1]
    rows.sort(key=lambda row: (row["task"], order.index(str(row["setting"]))))
    return Figure(
        kind="settings",
        of=slug(benchmark),
        title=_("{} {}", benchmark, recognised(form.title)),
        caption=form.caption,
        rows=rows,
        draw=_settings_chart,
    )


def _from_zero(rows: Sequence[Row]) -> alt.Scale:
    """The scale of a task's bars; if all are zero the axis still begins at the left."""
    return alt.Scale() if any(row["value"] for row in rows) else alt.Scale(domain=[0, 1])


def _settings_chart(rows: Sequence[Row], words: Words) -> alt.ConcatChart:
    found = distinct(rows, "setting")
    shades = (*SETTINGS, PAPERS)[-len(found) :] if len(found) > len(SETTINGS) else SETTINGS
    fill = alt.Fill("setting:N", legend=None, sort=found,
                    scale=alt.Scale(domain=found, range=list(shades[: len(found)])))  # fmt: skip

    def of_task(name: str) -> alt.LayerChart:
        its = [row for row in rows if row["task"] == name]
        base = alt.Chart(data(its)).encode(
            x=alt.X("value:Q", title=words(_("percent")), scale=_from_zero(its)),
            y=alt.Y("model:N", title=None, sort=distinct(its, "model"),
                    scale=alt.Scale(paddingInner=0.25),
                    axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
            yOffset=alt.YOffset("setting:N", sort=distinct(its, "setting")),
        )  # fmt: skip
        bars = base.mark_bar(stroke=SETTINGS[-1], strokeWidth=0.6).encode(fill=fill)
        lines = base.transform_filter("isValid(datum.value_if_right)").mark_rule(color=SOFT)
        named_bars = base.transform_calculate(shown="datum.label + ' · ' + datum.setting")
        named_bars = named_bars.transform_calculate(
            end="max(datum.value, isValid(datum.value_if_right) ? datum.value_if_right : 0)"
        )
        text = named_bars.mark_text(align="left", dx=4, fontSize=8).encode(
            x=alt.X("end:Q", title=words(_("percent"))), text="shown:N", color=alt.value(SOFT)
        )
        layers = [bars, lines.encode(x2="value_if_right:Q"), text]
        return alt.layer(*layers, title=heading(name, 230)).properties(
            width=230, height=alt.Step(13)
        )

    charts = [of_task(str(name)) for name in distinct(rows, "task")]
    return alt.concat(*charts, columns=3, spacing=30).resolve_scale(yOffset="independent")
