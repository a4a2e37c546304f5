"""Statistics of a dataset: the columns and distributions with which papers describe a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from keju.datasets.store import Dataset
from keju.datasets.values import value_label
from keju.definitions import (
    UnitCounter,
    has_reference,
    missing_reference,
    prompt_of,
    query_of,
    task,
)
from keju.errors import DataError, UsageError, error_text
from keju.items import MIXED_GALLERY, Item
from keju.texts import _

OVERALL = "OverAll"

_KINDS = ("category", "dynasty", "script", "subset")

_TASK = ("benchmark", "domain", "task", "name_zh", "name_en", "format")

# A million items fit in memory: a word that items share is stored once, a path as its hash.
_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(_TASK, pl.Categorical),
    "split": pl.Categorical, "draft": pl.Categorical, "letter": pl.Categorical,
    "source": pl.Categorical, "type": pl.Categorical, **dict.fromkeys(_KINDS, pl.Categorical),
    "group": pl.Int64, "question": pl.Int32, "answer": pl.Int32, "transcription": pl.Int32,
    "options": pl.Int32, "lines": pl.Int32, "boxes": pl.Int32, "box_shares": pl.List(pl.Float64),
    "path": pl.List(pl.Int64), "width": pl.List(pl.Int32), "height": pl.List(pl.Int32),
    "of_source": pl.List(pl.Boolean),
}  # fmt: skip

_BATCH = 5000

_LENGTHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_SIZES = tuple(1000 * n for n in (0, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000))
_RATIOS = (0, 0.1, 0.2, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 5, 10)
_SHARES = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_FEW = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

_WIDTH, _HEIGHT = pl.col("width").explode(), pl.col("height").explode()
_PIXELS, _ASPECT = _WIDTH.cast(pl.Int64) * _HEIGHT, _WIDTH / _HEIGHT.clip(1)


class _Quantity(NamedTuple):
    """A quantity of items: its unit, the lower ends of its bins, and its values, some null."""

    unit: str
    bins: tuple[float, ...]
    values: pl.Expr


MEASURES: Mapping[str, _Quantity] = {
    "question": _Quantity(_("characters"), _LENGTHS, pl.col("question")),
    "answer": _Quantity(_("characters"), _LENGTHS, pl.col("answer")),
    "transcription": _Quantity(_("characters"), _LENGTHS, pl.col("transcription")),
    "pixels": _Quantity(_("pixels an image"), _SIZES, _PIXELS),
    "aspect": _Quantity(_("width / height"), _RATIOS, _ASPECT),
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


class Stats(NamedTuple):
    """Statistics of a dataset, one frame per table.

    `domains` has a last row ``OverAll``; `tasks` has one row per task. Both: `n_q` questions, of
    them `n_reference` labelled examples without a question; `avg_q` and `avg_a`, mean length of
    prompt and answer in characters without white space; `avg_pv`, `max_pv`, `min_pv`, pixels per
    image; `avg_ar`, `max_ar`, `min_ar`, width over height. Means are over questions, so an image
    counts once per question, as in printed tables. `sources` has a row for each source, type and
    task: `images`, mean `width` and `height` in pixels, and `boxes`, the mean number on images that
    have any. An item's source is that of its metadata, else the first of its provenance, else the
    dataset's name. `strata` counts `questions` and `images` by the items' metadata: category,
    dynasty, script, subset; by canonical value (`value_label`). `distributions` counts items and
    images by bin or category (`distributions`). `units` has one row, the units of independence
    (`Units`).
    """

    domains: pl.DataFrame
    tasks: pl.DataFrame
    sources: pl.DataFrame
    strata: pl.DataFrame
    distributions: pl.DataFrame
    units: pl.DataFrame


def stats(path: Path) -> Stats:
    """Compute the statistics of a dataset from its items; reads no image.

    Raises what `Dataset.open` raises, and `DataError` if an item's task is unknown.
    """
    dataset = Dataset.open(path)
    counter = UnitCounter()

    def counted() -> Iterator[Item]:
        for item in dataset:
            counter.add(item)
            yield item

    items = item_table(counted(), dataset.manifest.name)
    return Stats(
        domains=_domains(items),
        tasks=_with_texts(_measured(items, _TASK, _measures())),
        sources=_sources(items),
        strata=_strata(items),
        distributions=distributions(items),
        units=pl.DataFrame([counter.units(dataset.manifest.unit)._asdict()]),
    )


def item_table(items: Iterable[Item], name: str = "") -> pl.DataFrame:
    """A row for each item, with what statistics need; of it a batch are Python objects.

    Lengths are in characters without white space; numbers of options, lines and boxes are null
    where there are none. ``of_source`` is true for images that are of the source of the item;
    `name` is the source of items that state none.
    """
    rows = (_row(item, name) for item in items)
    frames = [pl.DataFrame(schema=_COLUMNS)]
    while batch := list(islice(rows, _BATCH)):
        frames.append(pl.DataFrame(batch, _COLUMNS, orient="row"))
    return pl.concat(frames)


def _row(item: Item, name: str) -> tuple[object, ...]:
    try:
        kind = task(item.task)
    except UsageError as error:
        raise DataError(
            error_text(error), item=item.id, hint=_("See: keju data validate")
        ) from None
    # A labelled image of a pair task has no question.
    asked = item.split != "reference" or not kind.of_pairs
    has_letter = asked and has_reference(item) and query_of(item).form == "letter"
    # Later steps only processed the image.
    first_source = next((step.source for step in item.provenance if step.source), "")
    areas = [(box.x1 - box.x0) * (box.y1 - box.y0) for box in item.boxes] if item.images else []
    mixed = item.metadata.get("gallery") == MIXED_GALLERY
    return (
        *(getattr(kind, "id" if name == "task" else name) for name in _TASK),
        item.split,
        "draft" if item.draft else "accepted",
        item.answer if has_letter else None,
        item.metadata.get("source") or first_source or name,
        item.metadata.get("type", ""),
        *(value_label(name, item.metadata.get(name, "")) or None for name in _KINDS),
        hash(item.group) if item.group else None,
        _length(prompt_of(item)) if asked else None,
        None if missing_reference(item) else _length(item.answer),
        None if item.transcription is None else _length(item.transcription),
        *(len(parts) or None for parts in (item.options, item.lines, item.boxes)),
        [area / max(1, item.images[0].width * item.images[0].height) for area in areas],
        [hash(ref.path) for ref in item.images],
        [ref.width for ref in item.images],
        [ref.height for ref in item.images],
        [not mixed or place == 0 or place in item.relevant for place in range(len(item.images))],
    )


def _length(text: str) -> int:
    return len("".join(text.split()))


def _measures() -> list[pl.Expr]:
    measures = [
        pl.len().alias("n_q"),
        (pl.col("split") == "reference").sum().cast(pl.Int64).alias("n_reference"),
        pl.col("question").mean().alias("avg_q"),
        pl.col("answer").mean().alias("avg_a"),
    ]
    for name, values in {"pv": _PIXELS, "ar": _ASPECT}.items():
        numbers = {"avg": values.mean(), "max": values.max(), "min": values.min()}
        measures += [number.alias(f"{word}_{name}") for word, number in numbers.items()]
    return measures


def _domains(items: pl.DataFrame) -> pl.DataFrame:
    names, is_choice = pl.col("task"), pl.col("format") == "MCQ"
    measures = [
        names.n_unique().alias("n_task"),
        names.filter(is_choice).n_unique().alias("n_mcq_task"),
        names.filter(~is_choice).n_unique().alias("n_qa_task"),
        *_measures(),
    ]
    domains = _measured(items, ("benchmark", "domain"), measures)
    total = items.select(pl.lit("").alias("benchmark"), pl.lit(OVERALL).alias("domain"), *measures)
    return pl.concat([_with_texts(domains), total])


def _measured(
    items: pl.DataFrame, keys: Sequence[str], measures: Sequence[pl.Expr]
) -> pl.DataFrame:
    """Measures of each group; one by one, since grouping would copy all lists of images at once."""
    columns = [*(pl.col(key).first() for key in keys), *measures]
    groups = items.select(keys).unique(maintain_order=True).iter_rows(named=True)
    # A filter copies all columns of the table.
    measured = items.select({name for column in columns for name in column.meta.root_names()})
    rows = (
        measured.filter(*(pl.col(key) == value for key, value in group.items())).select(columns)
        for group in groups
    )
    return pl.concat([items.clear().select(columns).clear(), *rows])


def _sources(items: pl.DataFrame) -> pl.DataFrame:
    """Images of each source, type and task, each once, with their mean size and boxes."""
    keys, lists = ("source", "type", "task"), ("path", "width", "height", "of_source")
    images = items.select(*keys, "boxes", *lists).explode(lists).filter("of_source")
    images = images.group_by(*keys, "path", maintain_order=True).agg(
        pl.col("width", "height").first(), pl.col("boxes").max()
    )
    sources = images.group_by(keys, maintain_order=True).agg(
        pl.len().alias("images"), pl.col("width", "height", "boxes").mean()
    )
    return _with_texts(sources)


def _strata(items: pl.DataFrame) -> pl.DataFrame:
    """Questions and images of each stratum, the kinds in their order, the largest first."""
    tables = []
    image = pl.col("path").list.first()
    counts = pl.len().alias("questions"), pl.col("path").drop_nulls().n_unique().alias("images")
    for kind in _KINDS:
        # Only these columns: to drop rows of the table would copy all of it.
        rows = items.select(pl.col(kind).alias("name"), image).drop_nulls("name")
        counted = _with_texts(rows.group_by("name").agg(counts))
        counted = counted.sort("questions", "name", descending=[True, False])
        tables.append(counted.select(pl.lit(kind).alias("stratum"), pl.all()))
    return pl.concat(tables)


def _with_texts(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(cs.categorical().cast(pl.String))


def distributions(items: pl.DataFrame) -> pl.DataFrame:
    """Counts by bin and by category, one row each, of a table of items (`item_table`).

    Columns: `measure`, `unit`, `name` (the bin, or the category), `low` (the bin's lower end,
    inclusive) and `high` (its upper end, exclusive; null for the last bin and for categories), and
    `count`. Lengths are in characters without white space. ``group`` counts groups by their number
    of items. Empty bins between full ones are rows too.
    """
    rows: list[tuple[object, ...]] = []
    for name, quantity in MEASURES.items():
        values = items.select(quantity.values.cast(pl.Float64).alias("value"))["value"].drop_nulls()
        bins = pl.Series(quantity.bins, dtype=pl.Float64)
        places = bins.search_sorted(values, side="right").cast(pl.Int64) - 1
        counts = dict(places.clip(0).value_counts().iter_rows())
        for place in range(min(counts, default=0), max(counts, default=-1) + 1):
            low, high = (*quantity.bins, None)[place : place + 2]
            bin_name = f"{low:,.12g} and more" if high is None else f"{low:,.12g} to {high:,.12g}"
            rows.append((name, quantity.unit, bin_name, low, high, counts.get(place, 0)))
    for name in _WORDS:
        counted = items.select(name).drop_nulls().group_by(name, maintain_order=True).len("count")
        counted = counted.cast({name: pl.String})
        for word, count in (counted if name == "task" else counted.sort(name)).iter_rows():
            rows.append((name, "items", word, None, None, count))
    schema = {
        **dict.fromkeys(("measure", "unit", "name"), pl.String),
        **dict.fromkeys(("low", "high"), pl.Float64),
        "count": pl.Int64,
    }
    return pl.DataFrame(rows, schema, orient="row")


def distribution_lines(frame: pl.DataFrame) -> list[tuple[str, str, str]]:
    """The measure, the unit and the counts of each distribution, without empty bins.

    Tasks have tables of their own.
    """
    lines = []
    for (measure, unit), rows in frame.group_by("measure", "unit", maintain_order=True):
        names = zip(rows["name"], rows["count"], strict=True)
        counts = ", ".join(f"{name}: {count:,}" for name, count in names if count)
        if measure != "task":
            lines.append((str(measure), str(unit), counts))
    return lines
