"""Quality report: the distribution of every measure, dropped items, the worst items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from keju.building.filtering.limits import MEASURES, UNKNOWN, Fault
from keju.building.filtering.pictures import PictureMeasures
from keju.building.filtering.texts import TextMeasures
from keju.building.markdown import table
from keju.errors import number_of
from keju.items import Item

FILE = "quality.md"

WORST = 10
"""The number of items that the report names for each measure."""

_PLACES = (0, 5, 25, 50, 75, 95, 100)


class Spread(Struct, frozen=True):
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
    pictures: Sequence[PictureMeasures]
    texts: Sequence[TextMeasures]
    faults: Sequence[Fault]
    dropped: int


def spreads(quality: Quality) -> list[Spread]:
    """A row for each measure with values."""
    found = []
    for name, measure in MEASURES.items():
        values = [value for value, _ in _values(quality, name)]
        if values:
            cuts = np.percentile(np.array(values, float), _PLACES)
            rounded = (round(float(cut), 4) for cut in cuts)
            found.append(Spread(name, measure.of, measure.what, len(values), *rounded))
    return found


def quality_report(quality: Quality, name: str) -> str:
    """The report as Markdown."""
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
        "Measures of pictures are counted once an image, those of texts once an item.",
        "",
        table(
            ["measure", "", "counted", "least", "5 %", "25 %", "median", "75 %", "95 %", "most"],
            ((row.measure, row.what, row.counted, *map(_plain, _cuts(row)))
             for row in spreads(quality)),
        ),
        "",
        *_dropped(quality),
        *_listed(quality),
        "## The worst of each measure",
        "",
    ]  # fmt: skip
    for measure in MEASURES:
        lines += _worst(quality, measure)
    return "\n".join(lines)


def _cuts(row: Spread) -> tuple[float, ...]:
    return (row.least, row.p5, row.p25, row.median, row.p75, row.p95, row.most)


def _values(quality: Quality, measure: str) -> Iterator[tuple[float, str]]:
    """The values of a measure, each with its item or image."""
    if MEASURES[measure].of == "picture":
        for seen in quality.pictures:
            if not seen.error:
                yield float(getattr(seen, measure)), seen.path
        return
    for text in quality.texts:
        value = float(getattr(text, measure))
        if value != UNKNOWN:
            yield value, text.item


def _dropped(quality: Quality) -> list[str]:
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
        "An item may break several limits; tables/dropped has every one.",
        "",
        table(["measure", "limit", "items"], rows),
        "",
    ]


def _listed(quality: Quality) -> list[str]:
    """The number of items with listed words, by kind."""
    kinds: Counter[str] = Counter()
    for text in quality.texts:
        kinds.update(part.partition(": ")[0] for part in text.listed.split("; ") if part)
    if not kinds:
        return []
    return [
        "## Words to look at",
        "",
        "That a word is listed is no verdict on the text it stands in; tables/listed names them.",
        "",
        table(["kind", "items"], kinds.most_common()),
        "",
    ]


def _worst(quality: Quality, measure: str) -> list[str]:
    values = list(_values(quality, measure))
    if len({value for value, _ in values}) < 2:
        return []
    high = MEASURES[measure].worst == "high"
    shown_by: Mapping[str, str] = {
        ref.path: item.id for item in reversed(quality.items) for ref in item.images
    }
    ranked = sorted(values, key=lambda each: (-each[0] if high else each[0], each[1]))[:WORST]
    rows = ((_plain(value), shown_by.get(name, name), name if name in shown_by else "")
            for value, name in ranked)  # fmt: skip
    return [f"### {measure}", "", table([measure, "item", "image"], rows), ""]


def _plain(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
