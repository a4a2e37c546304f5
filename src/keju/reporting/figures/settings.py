"""Bars by input setting: MCS-Bench's Figure 5, and its Tables 8 and 9."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import altair as alt

from keju.definitions import task
from keju.items import Setting
from keju.published import published_tables
from keju.reporting.figures.figure import Drawn, Figure, Row, Undrawn
from keju.reporting.figures.parts import (
    OWN_SOURCE,
    PAPER_SOURCE,
    OfRun,
    data,
    distinct,
    heading,
    named,
    points,
)
from keju.reporting.figures.theme import PAPERS, SETTINGS, SOFT
from keju.reporting.labels import NOTHING
from keju.reporting.steps import StepTable, step_tables
from keju.reporting.words import Words

FIGURE_5: tuple[Setting, ...] = ("image", "own-ocr", "gold-ocr")
"""The settings 1, 2 and 3 of MCS-Bench 4.4."""


_FIGURE_5_TASKS = ("T2", "T3", "T4", "T5", "T6")
_FIGURE_5_MEAN = "T2 to T6, mean"


def settings(source: OfRun) -> Iterator[Drawn]:
    """Each model in the three settings of MCS-Bench 4.4: `strict`, then Figure 5 as printed."""
    tables = list(step_tables(source.gathered, FIGURE_5))
    rows = setting_rows(tables)
    if not rows:
        yield Undrawn("settings", "", f"no model answered in two of {', '.join(FIGURE_5)}")
        return
    yield Figure(
        kind="settings",
        of="",
        title="The image alone, with the model's own transcription, and with the true text",
        caption="Main metrics under strict, in percent, over the items that were asked in every "
        "setting of the model. The step from image to own-ocr shows the value of reading first; "
        "from own-ocr to gold-ocr, the cost of reading errors.",
        rows=rows,
        draw=_settings_chart,
    )
    if rows := figure_5_rows(tables):
        yield Figure(
            kind="settings",
            of="mcs-bench-official",
            title="In the form of MCS-Bench Figure 5: image, with the model's own text, "
            "with the true text",
            caption="Main metrics under official, in percent, over the items that were asked in "
            "every setting of the model. The mean of T2 to T6 needs a value of all five.",
            rows=rows,
            draw=_settings_chart,
        )


def figure_5_rows(tables: Sequence[StepTable]) -> list[Row]:
    """A row for each model, task of T2 to T6 and setting under `official`, and their means."""
    found: list[Row] = []
    for table in tables:
        rows = {row.task: row for row in table.rows if row.task in _FIGURE_5_TASKS}
        if table.protocol != "official" or not rows:
            continue
        columns = [each for each in table.columns if "→" not in each]
        valued = [
            (f"{name} {rows[name].metric}", rows[name].items, rows[name].values)
            for name in _FIGURE_5_TASKS
            if name in rows
        ]
        if len(valued) == len(_FIGURE_5_TASKS):
            by_setting = zip(*(values for _, _, values in valued), strict=True)
            means = tuple(_mean_of_all(values) for values in by_setting)
            valued.append((_FIGURE_5_MEAN, sum(items for _, items, _ in valued), means))
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
    """A row for each model, task and setting, as the report's table has it."""
    return [
        {
            "model": table.model,
            "source": OWN_SOURCE,
            "task": f"{row.task} {row.metric}",
            "setting": setting,
            "value": float(cell.value),
            "items": row.items,
            "label": cell.value,
        }
        for table in tables
        if table.protocol == "strict"
        for row in table.rows
        for setting, cell in zip(table.columns, row.cells, strict=True)
        if "→" not in setting and cell.value != NOTHING
    ]


def published_settings() -> Iterator[Drawn]:
    """MCS-Bench's Tables 8 and 9: translation by text models of three readings, and of images."""
    tables = published_tables("MCS-Bench")
    shown = {"GT": "true text", "KanDianGuji": "KanDianGuji's reading",
             "PaddleOCR": "PaddleOCR's reading", "": "image"}  # fmt: skip
    rows: list[Row] = [
        {
            "model": named(model, PAPER_SOURCE),
            "source": PAPER_SOURCE,
            "task": f"{column.task} {column.metric}, from {'text' if column.subset else 'images'}",
            "setting": shown[column.subset],
            "value": value,
            "items": task(column.task).count,
            "label": f"{value:.2f}",
        }
        for name in ("Table 8", "Table 9")
        for column in tables[name].columns.values()
        for model, value in column.values.items()
    ]
    order = list(shown.values())[::-1]
    rows.sort(key=lambda row: (row["task"], order.index(str(row["setting"]))))
    yield Figure(
        kind="settings",
        of="mcs-bench",
        title="MCS-Bench T2: translating an image, two engines' readings, and the true text",
        caption="BLEU in percent as printed in Tables 8 (text models) and 9 (models that see the "
        "image): no model was tried in both ways.",
        rows=rows,
        draw=_settings_chart,
    )


def _from_zero(rows: Sequence[Row]) -> alt.Scale:
    """The scale of a task's bars; where all are zero the axis still begins at the left."""
    return alt.Scale() if any(row["value"] for row in rows) else alt.Scale(domain=[0, 1])


def _settings_chart(rows: Sequence[Row], words: Words) -> alt.ConcatChart:
    found = distinct(rows, "setting")
    shades = (*SETTINGS, PAPERS)[-len(found) :] if len(found) > len(SETTINGS) else SETTINGS
    fill = alt.Fill("setting:N", legend=None, sort=found,
                    scale=alt.Scale(domain=found, range=list(shades[: len(found)])))  # fmt: skip

    def of_task(name: str) -> alt.LayerChart:
        its = [row for row in rows if row["task"] == name]
        base = alt.Chart(data(its)).encode(
            x=alt.X("value:Q", title=words("percent"), scale=_from_zero(its)),
            y=alt.Y("model:N", title=None, sort=distinct(its, "model"),
                    scale=alt.Scale(paddingInner=0.25),
                    axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
            yOffset=alt.YOffset("setting:N", sort=distinct(its, "setting")),
        )  # fmt: skip
        bars = base.mark_bar(stroke=SETTINGS[-1], strokeWidth=0.6).encode(fill=fill)
        said = base.transform_calculate(said="datum.label + ' · ' + datum.setting")
        text = said.mark_text(align="left", dx=4, fontSize=8).encode(
            text="said:N", color=alt.value(SOFT)
        )
        return alt.layer(bars, text, title=heading(name, 230)).properties(
            width=230, height=alt.Step(13)
        )

    charts = [of_task(str(name)) for name in distinct(rows, "task")]
    return alt.concat(*charts, columns=3, spacing=30).resolve_scale(yOffset="independent")
