"""Distributions of a dataset's items: the numbers of the papers' charts, as one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from keju.texts import _

_LENGTHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_PIXELS = tuple(1000 * n for n in (0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000))
_RATIOS = (0, 0.1, 0.2, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 5, 10)
_SHARES = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_FEW = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

_WIDTH, _HEIGHT = pl.col("width").explode(), pl.col("height").explode()

PIXELS, ASPECT = _WIDTH * _HEIGHT, _WIDTH / _HEIGHT.clip(1)
"""Pixels of every image of the items, and its width over its height."""


class _Quantity(NamedTuple):
    """A quantity of items: its unit, the lower ends of its bins, and its values, some null."""

    unit: str
    bins: tuple[float, ...]
    values: pl.Expr


MEASURES: Mapping[str, _Quantity] = {
    "question": _Quantity(_("characters"), _LENGTHS, pl.col("question")),
    "answer": _Quantity(_("characters"), _LENGTHS, pl.col("answer")),
    "transcription": _Quantity(_("characters"), _LENGTHS, pl.col("transcription")),
    "pixels": _Quantity(_("pixels an image"), _PIXELS, PIXELS),
    "aspect": _Quantity(_("width / height"), _RATIOS, ASPECT),
    "images": _Quantity(_("an item"), _FEW, pl.col("path").list.len()),
    "options": _Quantity(_("an item"), _FEW, pl.col("options")),
    "lines": _Quantity(_("an item"), _FEW, pl.col("lines")),
    "boxes": _Quantity(_("an item"), _FEW, pl.col("boxes")),
    "box": _Quantity(_("share of the image"), _SHARES, pl.col("box_shares").explode()),
    "group": _Quantity(_("items a group"), _FEW, pl.col("group").drop_nulls().unique_counts()),
}

_WORDS = ("task", "format", "letter", "split", "draft")
"""The categorical columns. ``letter`` is the right one of multiple choice: all letters should be
about equally frequent."""


def distributions(items: pl.DataFrame) -> pl.DataFrame:
    """Counts by bin and by category, one row each, of a table of items (`item_table`).

    Columns: `measure`, `unit`, `name` (the bin, or the category), `low` (the bin's lower end,
    inclusive) and `high` (its upper end, exclusive; null for the last bin and for categories), and
    `count`. Lengths are in characters without white space. ``group`` counts groups by their number
    of items. Empty bins between full ones are rows too.
    """
    rows: list[dict[str, object]] = []
    for name, quantity in MEASURES.items():
        values = items.select(quantity.values.cast(pl.Float64).alias("value"))["value"].drop_nulls()
        bins = pl.Series(quantity.bins, dtype=pl.Float64)
        places = bins.search_sorted(values, side="right").cast(pl.Int64) - 1
        counts = dict(places.clip(0).value_counts().iter_rows())
        for place in range(min(counts, default=0), max(counts, default=-1) + 1):
            low, high = (*quantity.bins, None)[place : place + 2]
            shown = f"{low:,.12g} and more" if high is None else f"{low:,.12g} to {high:,.12g}"
            rows.append(
                {"measure": name, "unit": quantity.unit, "name": shown, "low": low, "high": high,
                 "count": counts.get(place, 0)}
            )  # fmt: skip
    for name in _WORDS:
        counted = items.drop_nulls(name).group_by(name, maintain_order=True).len("count")
        counted = counted.cast({name: pl.String})
        for word, count in (counted if name == "task" else counted.sort(name)).iter_rows():
            rows.append({"measure": name, "unit": "items", "name": word, "count": count})
    schema = {
        "measure": pl.String, "unit": pl.String, "name": pl.String,
        "low": pl.Float64, "high": pl.Float64, "count": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


class DistributionLine(NamedTuple):
    """A distribution in one line: its unit, and its bins or categories with their counts."""

    measure: str
    unit: str
    counts: str


def distribution_lines(frame: pl.DataFrame) -> list[DistributionLine]:
    """A line for each measure of `distributions`, without empty bins.

    Tasks have tables of their own.
    """
    return [
        DistributionLine(
            str(measure),
            str(unit),
            ", ".join(
                f"{name}: {count:,}"
                for name, count in zip(some["name"], some["count"], strict=True)
                if count
            ),
        )
        for (measure, unit), some in frame.group_by("measure", "unit", maintain_order=True)
        if measure != "task"
    ]
