"""Common parts of several figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import altair as alt

from keju.analysis.leaderboard import Leaderboard
from keju.analysis.run_set import RunSet
from keju.datasets.thumbnails import Thumbnails
from keju.figures.figure import AnyChart, Row
from keju.figures.theme import INK, OWN, PAPER, PAPERS, PAPERS_MARK
from keju.running.prices import Prices
from keju.texts import Text, _

Source = Literal["this run", "paper"]
"""The origin of a value: the run or the paper."""

OWN_SOURCE: Source = "this run"
PAPER_SOURCE: Source = "paper"


def printed_marks_note() -> Text:
    """The note of figures whose marks of a paper's models differ from those of a run's."""
    return _("Filled marks are of this run; hollow marks with † are as the paper printed them.")


def line_note() -> Text:
    """The note of figures with `range_lines`."""
    return _("A thin line ends at the value if every unclear answer were right.")


def lower_end_note() -> Text:
    """The note of figures that show one end of the values with unclear answers."""
    return _(
        "Unclear answers are drawn as wrong. The report's tables and the figure's CSV have both "
        "ends of each value."
    )


def has_ranges(
    rows: Iterable[Row], value: str = "value", other_end: str = "value_if_right"
) -> bool:
    """Whether unclear answers make a value of the rows a range."""
    return any(row.get(other_end) not in (None, row.get(value)) for row in rows)


class OfRun(NamedTuple):
    """The data for figures of a run.

    `images` has small copies of the images, by the directory of their run. `published` adds the
    papers' models.
    """

    run_set: RunSet
    boards: Sequence[Leaderboard]
    images: Mapping[Path, Thumbnails] = MappingProxyType({})
    published: bool = False
    prices: Prices | None = None


def named(model: str, source: Source) -> str:
    """The name of a model in a figure."""
    return model + PAPERS_MARK if source == PAPER_SOURCE else model


def points(value: float | None) -> float | None:
    """A fraction in percent, to four digits; None if it is not a number."""
    return None if value is None or not isfinite(value) else round(100 * value, 4)


def format_number(value: float | None, digits: int = 1) -> str:
    """Format a number for a figure."""
    return "" if value is None else f"{value:.{digits}f}".replace("-", "−")


def distinct(rows: Iterable[Row], key: str) -> list[Any]:
    """The distinct values of a key, in the rows' order."""
    return list(dict.fromkeys(row[key] for row in rows))


def models_axis(rows: Sequence[Row]) -> alt.Axis:
    """Axis with the models' names at the left; a run's are emphasised beside those of a paper."""
    axis = alt.Axis(domain=False, ticks=False)
    if {PAPER_SOURCE, OWN_SOURCE} <= {row.get("source") for row in rows}:
        of_paper = f"indexof(datum.label, '{PAPERS_MARK}') >= 0"
        axis.labelColor = alt.condition(of_paper, alt.value(INK), alt.value(OWN))
        axis.labelFontWeight = alt.condition(of_paper, alt.value("normal"), alt.value("bold"))
    return axis


def data(rows: Iterable[Row]) -> alt.InlineData:
    """Rows for a chart; also without any row."""
    return alt.InlineData(values=[dict(row) for row in rows])


def of_source() -> dict[str, Any]:
    """The marks of a run and of a paper: filled and dark, or hollow and grey."""
    own = alt.datum.source == OWN_SOURCE
    return {
        "fill": alt.condition(own, alt.value(OWN), alt.value(PAPER)),
        "stroke": alt.condition(own, alt.value(OWN), alt.value(PAPERS)),
    }


def by_domain(
    rows: Sequence[Row], part: Callable[[Sequence[Row], bool], AnyChart]
) -> alt.HConcatChart:
    """Charts of each domain side by side; only the first has labels at the left."""
    domains = distinct(rows, "domain")
    charts = [
        part([row for row in rows if row["domain"] == domain], place == 0)
        for place, domain in enumerate(domains)
    ]
    return alt.hconcat(*charts, spacing=6, bounds="flush")


def heading(text: str, width: float) -> alt.TitleParams:
    """A title above a part, on several lines where it is narrow."""
    words, lines = text.split(" "), [""]
    for word in words:
        if lines[-1] and 6.2 * (len(lines[-1]) + 1 + len(word)) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return alt.TitleParams(
        text=lines,
        fontSize=10,
        fontWeight="normal",
        anchor="start",
        frame="group",
        baseline="bottom",
        color=INK,
        offset=4,
    )


def cycled(marks: Sequence[str], count: int) -> list[str]:
    """`count` marks, repeated from the first if there are fewer."""
    return [marks[place % len(marks)] for place in range(count)]


def apart(values: Sequence[float], gap: float) -> list[float]:
    """Positions of labels close to their values, at least `gap` apart, in their order."""
    order = sorted(range(len(values)), key=lambda n: values[n])
    blocks: list[tuple[list[int], float]] = []
    for n in order:
        members, middle = [n], values[n]
        while blocks and middle - blocks[-1][1] < gap * (len(members) + len(blocks[-1][0])) / 2:
            members = blocks.pop()[0] + members
            middle = sum(values[m] for m in members) / len(members)
        blocks.append((members, middle))
    places = [0.0] * len(values)
    for members, middle in blocks:
        for place, n in enumerate(members):
            places[n] = middle + gap * (place - (len(members) - 1) / 2)
    return places
