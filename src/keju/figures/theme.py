"""The theme of all figures: few colours, distinguishable in greyscale too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from keju.figures.figure import AnyChart

FONT = (
    "Noto Sans CJK TC, Noto Sans TC, Source Han Sans TC, PingFang TC, Microsoft JhengHei, "
    "Heiti TC, PingFang SC, Microsoft YaHei, Songti TC, Songti SC, MingLiU, SimSun, MingLiU-ExtB, "
    "SimSun-ExtB, sans-serif"
)
"""Fonts with Han glyphs of Linux, macOS and Windows; the first that is installed is used. The last
ones have rare characters only."""

NUMBERS = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
"""The font of many numbers: without Han glyphs, layout is several times as fast."""

PAPER, INK, SOFT, RULE = "#ffffff", "#221d18", "#6d6459", "#ddd4c4"
ON_DARK, ON_LIGHT = "#fefefe", "#221d19"
"""Text colours on a coloured cell; unlike the ink they are the same in a page's dark mode."""

OWN, PAPERS = "#a62b1f", "#56707f"
"""The colours of a run's marks, filled, and those of a paper, hollow."""

FILL = "#8fb0c4"
"""The colour of a plain bar or box."""

SETTINGS = ("#c9dbe4", "#7ea6bd", "#2f5d79")
"""The colours of settings, from the image to the true text: light to dark."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#5b4b8a", "#7f7f7f")
"""Colours that people with colour blindness can distinguish (after Okabe and Ito), darkened for
white paper."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
          "triangle-left")  # fmt: skip

LOW_TO_HIGH = ("#f4efe3", "#b9cdd6", "#6f9bb3", "#2f6585", "#123a55")
"""A sequential scale, with even lightness so that it works in greyscale."""

LESS_TO_MORE = ("#8c4a12", "#e6c9a2", "#f4efe3", "#a9c6d3", "#22587a")
"""A diverging scale."""

SMALL, PLAIN, LARGE = 9, 11, 14
"""Font sizes."""

DARK = {
    PAPER: "var(--sheet)", INK: "var(--ink)", SOFT: "var(--soft)", RULE: "var(--rule)",
    OWN: "var(--seal)",
}  # fmt: skip
"""Colours that a page with a dark mode replaces with its own; those of data stay."""

PAPERS_MARK = " †"
"""The suffix of the name of a model whose numbers a paper printed."""


def themed(chart: AnyChart, title: str = "", lines: Sequence[str] = ()) -> dict[str, Any]:
    """The chart as a Vega-Lite specification in this theme, with title and lines if given."""
    if title:
        chart = chart.properties(
            title=alt.TitleParams(
                text=title, subtitle=list(lines), anchor="start", frame="group", fontSize=LARGE,
                fontWeight="normal", color=INK, subtitleColor=SOFT, subtitleFontSize=SMALL + 1,
                offset=12, subtitlePadding=6, subtitleLineHeight=14,
            )
        )  # fmt: skip
    spec: dict[str, Any] = chart.to_dict()
    return spec | {"config": _CONFIG, "background": PAPER, "padding": 14 if title else 4}


_LABELS = {"labelColor": INK, "titleColor": SOFT, "labelFontSize": PLAIN, "titleFontSize": PLAIN,
           "titleFontWeight": "normal", "labelLimit": 320}  # fmt: skip

_CONFIG: dict[str, Any] = {
    "font": FONT,
    "aria": False,
    "axis": _LABELS
    | {
        "domainColor": RULE, "tickColor": RULE, "gridColor": RULE, "gridOpacity": 0.6,
        "tickSize": 4, "labelPadding": 5, "titlePadding": 8,
    },
    "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleY": -8},
    "header": _LABELS | {"titleColor": INK, "labelFontWeight": "normal"},
    "legend": _LABELS | {"orient": "top", "direction": "horizontal", "titleOrient": "left",
                         "symbolSize": 70, "labelLimit": 300, "offset": 4, "title": None,
                         "columns": 4},
    "view": {"stroke": None},
    "text": {"fontSize": SMALL + 1, "color": INK},
    "facet": {"spacing": 14},
    "axisQuantitative": {"labelFont": NUMBERS},
}  # fmt: skip
