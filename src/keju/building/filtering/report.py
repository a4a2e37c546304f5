"""Quality report: the distribution of every measure, dropped items, the worst items."""

from __future__ import annotations

from array import array
from bisect import insort
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray

from keju.building.filtering.limits import MEASURES, UNKNOWN, LimitViolation, Worst
from keju.building.filtering.pictures import ImageMeasures
from keju.building.filtering.texts import TextMeasures
from keju.building.markdown import format_table
from keju.errors import number_of
from keju.items import Item

FILE = "quality.md"

WORST = 10
"""The number of items that the report names for each measure."""

_PLACES = (0, 5, 25, 50, 75, 95, 100)


class Distribution(Struct, frozen=True):
    """The distribution of a measure: its minimum, its percentiles, its maximum."""

    measure: str
    of: str
    what: str
    counted: int
    least: float
    p5: float
    p25: float
    median: float
    p75: float
    p95: float
    most: float


class Quality:
    """The data of the report, collected item by item; of an item, only numbers are kept.

    `listed` are the measures of items with listed words, `faults` every limit that an item exceeds.
    """

    def __init__(self, pictures: Mapping[str, ImageMeasures]) -> None:
        self.pictures = pictures
        self.items = self.dropped = 0
        self.listed: list[TextMeasures] = []
        self.faults: list[LimitViolation] = []
        self._values = {name: _Values(measure.worst) for name, measure in MEASURES.items()}
        self._shown_by: dict[str, str] = {}
        for seen in pictures.values():
            if not seen.error:
                self._add(seen, seen.path, "picture")

    def add(self, item: Item, text: TextMeasures) -> None:
        """Add the next item."""
        self.items += 1
        self._add(text, text.item, "text")
        if text.listed:
            self.listed.append(text)
        for ref in item.images:
            self._shown_by.setdefault(ref.path, item.id)

    def list_values(self, measure: str) -> NDArray[np.float64]:
        """List the values of a measure: once per image, or once per item."""
        return np.frombuffer(self._values[measure].numbers, np.float64)

    def list_worst(self, measure: str) -> list[tuple[float, str, str]]:
        """List the `WORST` values of a measure, each with its item, and its image if it has one."""
        return [
            (value, self._shown_by.get(name, name), name if name in self._shown_by else "")
            for value, name in self._values[measure].list_worst()
        ]

    def _add(self, measures: ImageMeasures | TextMeasures, name: str, of: str) -> None:
        for measure, values in self._values.items():
            if MEASURES[measure].of == of:
                value = float(getattr(measures, measure))
                if of == "picture" or value != UNKNOWN:
                    values.add(value, name)


class _Values:
    """The values of one measure, and the worst of them with their names."""

    def __init__(self, worst: Worst) -> None:
        self.numbers = array("d")
        self._sign = -1 if worst == "high" else 1
        self._worst: list[tuple[float, str]] = []

    def add(self, value: float, name: str) -> None:
        """Add the next value."""
        self.numbers.append(value)
        key = self._sign * value, name
        if len(self._worst) < WORST or key < self._worst[-1]:
            insort(self._worst, key)
            del self._worst[WORST:]

    def list_worst(self) -> list[tuple[float, str]]:
        """List the worst values with their names, the worst first."""
        return [(self._sign * key, name) for key, name in self._worst]


def compute_distributions(quality: Quality) -> list[Distribution]:
    """Compute the distribution of each measure with values."""
    found = []
    for name, measure in MEASURES.items():
        values = quality.list_values(name)
        if len(values):
            rounded = (round(float(cut), 4) for cut in np.percentile(values, _PLACES))
            found.append(Distribution(name, measure.of, measure.what, len(values), *rounded))
    return found


def render_quality_report(
    quality: Quality, distributions: Sequence[Distribution], name: str
) -> str:
    """Render the report as Markdown."""
    kept = quality.items - quality.dropped
    lines = [
        f"# Quality of {name}",
        "",
        f"{number_of(quality.items, 'item')} over "
        f"{number_of(len(quality.pictures), 'image')}; {kept:,} kept, "
        f"{quality.dropped:,} dropped.",
        "",
        "## Distributions",
        "",
        "Measures of images are counted once per image, those of texts once per item.",
        "",
        format_table(
            ["measure", "", "counted", "least", "5 %", "25 %", "median", "75 %", "95 %", "most"],
            ((row.measure, row.what, row.counted, *map(_format_value, astuple(row)[4:]))
             for row in distributions),
        ),
        "",
        *_render_dropped(quality),
        *_render_listed(quality),
        "## The worst of each measure",
        "",
    ]  # fmt: skip
    for measure in MEASURES:
        lines += _render_worst(quality, measure)
    return "\n".join(lines)


def _render_dropped(quality: Quality) -> list[str]:
    if not quality.faults:
        return []
    pairs = {(fault.measure, fault.limit, fault.item) for fault in quality.faults}
    items = Counter((measure, limit) for measure, limit, _ in pairs)
    rows = [(measure, limit, items[measure, limit]) for measure, limit in sorted(items)]
    return [
        "## Dropped",
        "",
        "An item can exceed several limits; tables/dropped lists all of them.",
        "",
        format_table(["measure", "limit", "items"], rows),
        "",
    ]


def _render_listed(quality: Quality) -> list[str]:
    """Render the number of items with listed words, by kind."""
    kinds: Counter[str] = Counter()
    for text in quality.listed:
        kinds.update(part.partition(": ")[0] for part in text.listed.split("; ") if part)
    if not kinds:
        return []
    return [
        "## Listed words",
        "",
        "A listed word does not mean that its text is wrong; tables/listed names the items.",
        "",
        format_table(["kind", "items"], kinds.most_common()),
        "",
    ]


def _render_worst(quality: Quality, measure: str) -> list[str]:
    values = quality.list_values(measure)
    if not len(values) or values.min() == values.max():
        return []
    rows = ((_format_value(value), *names) for value, *names in quality.list_worst(measure))
    return [f"### {measure}", "", format_table([measure, "item", "image"], rows), ""]


def _format_value(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
