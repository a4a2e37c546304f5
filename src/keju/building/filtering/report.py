"""Quality report: the distribution of every measure, dropped items, the worst items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from keju.building.filtering.limits import MEASURES, UNKNOWN, LimitViolation
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


class Quality(NamedTuple):
    """The data of the report."""

    items: Sequence[Item]
    pictures: Sequence[ImageMeasures]
    texts: Sequence[TextMeasures]
    faults: Sequence[LimitViolation]
    dropped: int


def compute_distributions(quality: Quality) -> list[Distribution]:
    """Compute the distribution of each measure with values."""
    found = []
    for name, measure in MEASURES.items():
        values = [value for value, _ in _iter_values(quality, name)]
        if values:
            cuts = np.percentile(np.array(values, float), _PLACES)
            rounded = (round(float(cut), 4) for cut in cuts)
            found.append(Distribution(name, measure.of, measure.what, len(values), *rounded))
    return found


def render_quality_report(quality: Quality, name: str) -> str:
    """Render the report as Markdown."""
    kept = len(quality.items) - quality.dropped
    lines = [
        f"# Quality of {name}",
        "",
        f"{number_of(len(quality.items), 'item')} over "
        f"{number_of(len(quality.pictures), 'image')}; {kept:,} kept, "
        f"{quality.dropped:,} dropped.",
        "",
        "## Distributions",
        "",
        "Measures of images are counted once per image, those of texts once per item.",
        "",
        format_table(
            ["measure", "", "counted", "least", "5 %", "25 %", "median", "75 %", "95 %", "most"],
            ((row.measure, row.what, row.counted, *map(_format_value, _list_cuts(row)))
             for row in compute_distributions(quality)),
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


def _list_cuts(row: Distribution) -> tuple[float, ...]:
    return (row.least, row.p5, row.p25, row.median, row.p75, row.p95, row.most)


def _iter_values(quality: Quality, measure: str) -> Iterator[tuple[float, str]]:
    """Yield the values of a measure, each with its item or image."""
    if MEASURES[measure].of == "picture":
        for seen in quality.pictures:
            if not seen.error:
                yield float(getattr(seen, measure)), seen.path
        return
    for text in quality.texts:
        value = float(getattr(text, measure))
        if value != UNKNOWN:
            yield value, text.item


def _render_dropped(quality: Quality) -> list[str]:
    if not quality.faults:
        return []
    by_limit = Counter((fault.measure, fault.limit) for fault in quality.faults)
    items = {
        key: len({fault.item for fault in quality.faults if (fault.measure, fault.limit) == key})
        for key in by_limit
    }
    rows = [(measure, limit, items[measure, limit]) for measure, limit in sorted(by_limit)]
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
    for text in quality.texts:
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
    values = list(_iter_values(quality, measure))
    if len({value for value, _ in values}) < 2:
        return []
    high = MEASURES[measure].worst == "high"
    shown_by: Mapping[str, str] = {
        ref.path: item.id for item in reversed(quality.items) for ref in item.images
    }
    ranked = sorted(values, key=lambda each: (-each[0] if high else each[0], each[1]))[:WORST]
    rows = ((_format_value(value), shown_by.get(name, name), name if name in shown_by else "")
            for value, name in ranked)  # fmt: skip
    return [f"### {measure}", "", format_table([measure, "item", "image"], rows), ""]


def _format_value(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
