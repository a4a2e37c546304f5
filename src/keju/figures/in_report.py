"""The figures inside the report, as SVG in the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from keju.figures.catalogue import of_run
from keju.figures.drawing import caption, embedded, title
from keju.figures.figure import Undrawn
from keju.figures.parts import OfRun
from keju.words import Words

_KINDS = ("standings", "differences", "heatmap", "settings", "costs")
_OFFICIAL = "-official"
"""Figures of both protocols are shown only under strict."""
_MOST_MODELS = 24


class ReportFigure(NamedTuple):
    """A figure of the report, in its language."""

    name: str
    title: str
    caption: str
    drawing: Markup


def report_figures(source: OfRun, words: Words) -> Iterator[ReportFigure]:
    """Figures that compare models; none for a single model, nor for more than a page can show."""
    if not 2 <= len(source.run_set.by_model) <= _MOST_MODELS:
        return
    for figure in of_run(source, _KINDS):
        if not isinstance(figure, Undrawn) and not figure.name.endswith(_OFFICIAL):
            yield ReportFigure(
                figure.name,
                title(figure, words),
                caption(figure, words),
                Markup(embedded(figure, words)),  # noqa: S704 - its texts are escaped by the drawer
            )
