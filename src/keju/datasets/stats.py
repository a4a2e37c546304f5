"""Statistics of a dataset: the columns with which papers describe a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from keju.datasets.distributions import distributions, is_unasked, text_length
from keju.datasets.store import Dataset
from keju.datasets.values import value_label
from keju.definitions import UnitCounter, missing_reference, prompt_of, task
from keju.errors import DataError, UsageError, error_text
from keju.items import MIXED_GALLERY, ImageRef, Item
from keju.texts import _

OVERALL = "OverAll"

_Columns = dict[str, pl.DataType | type[pl.DataType]]

_ITEMS: _Columns = {
    "benchmark": pl.String, "domain": pl.String, "task": pl.String,
    "name_zh": pl.String, "name_en": pl.String, "format": pl.String,
    "q": pl.Int64, "a": pl.Int64, "reference": pl.Boolean,
    "pv": pl.List(pl.Int64), "ar": pl.List(pl.Float64),
}  # fmt: skip
_IMAGES: _Columns = {
    "source": pl.String, "type": pl.String, "task": pl.String, "path": pl.String,
    "width": pl.Int64, "height": pl.Int64, "boxes": pl.Int64,
}  # fmt: skip
_STRATA: _Columns = {"stratum": pl.String, "name": pl.String, "path": pl.String}

_KINDS = ("category", "dynasty", "script", "subset")

_BATCH = 5000


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

    Raises:
        UsageError: there is no dataset at that path.
        DataError: it is damaged, or an item's task is unknown.
    """
    dataset = Dataset.open(path)
    rows, pictures, strata = _Rows(_ITEMS), _Rows(_IMAGES), _Rows(_STRATA)
    counter = UnitCounter()

    def collected() -> Iterator[Item]:
        for item in dataset:
            rows.add(_item_row(item))
            pictures.extend(_image_rows(item, dataset.manifest.name))
            strata.extend(_stratum_rows(item))
            counter.add(item)
            yield item

    measured = distributions(collected())
    table = rows.to_frame()
    return Stats(
        domains=_domains(table),
        tasks=_tasks(table),
        sources=_sources(pictures.to_frame()),
        strata=_strata(strata.to_frame()),
        distributions=measured,
        units=pl.DataFrame([counter.units(dataset.manifest.unit)._asdict()]),
    )


class _Rows:
    """Rows of a table, of which only a batch are Python objects."""

    def __init__(self, schema: _Columns) -> None:
        self._schema = schema
        self._waiting: list[dict[str, object]] = []
        self._frames: list[pl.DataFrame] = []

    def add(self, row: dict[str, object]) -> None:
        """Add the next row."""
        self._waiting.append(row)
        if len(self._waiting) >= _BATCH:
            self._flush()

    def extend(self, rows: Iterable[dict[str, object]]) -> None:
        """Add the next rows."""
        for row in rows:
            self.add(row)

    def to_frame(self) -> pl.DataFrame:
        """The table of all rows."""
        self._flush()
        return pl.concat(self._frames)

    def _flush(self) -> None:
        self._frames.append(pl.DataFrame(self._waiting, schema=self._schema))
        self._waiting = []


def _item_row(item: Item) -> dict[str, object]:
    try:
        kind = task(item.task)
    except UsageError as error:
        raise DataError(
            error_text(error), item=item.id, hint=_("See: keju data validate")
        ) from None
    return {
        "benchmark": kind.benchmark,
        "domain": kind.domain,
        "task": kind.id,
        "name_zh": kind.name_zh,
        "name_en": kind.name_en,
        "format": kind.format,
        "q": None if is_unasked(item) else text_length(prompt_of(item)),
        "a": None if missing_reference(item) else text_length(item.answer),
        "reference": item.split == "reference",
        "pv": [ref.width * ref.height for ref in item.images],
        "ar": [ref.width / max(1, ref.height) for ref in item.images],
    }


def _measures() -> list[pl.Expr]:
    pixels, ratio = pl.col("pv").explode(), pl.col("ar").explode()
    return [
        pl.len().alias("n_q"),
        pl.col("reference").sum().cast(pl.Int64).alias("n_reference"),
        pl.col("q").mean().alias("avg_q"),
        pl.col("a").mean().alias("avg_a"),
        pixels.mean().alias("avg_pv"),
        pixels.max().alias("max_pv"),
        pixels.min().alias("min_pv"),
        ratio.mean().alias("avg_ar"),
        ratio.max().alias("max_ar"),
        ratio.min().alias("min_ar"),
    ]


def _domains(rows: pl.DataFrame) -> pl.DataFrame:
    multiple_choice = pl.col("format") == "MCQ"
    counts = [
        pl.col("task").n_unique().alias("n_task"),
        pl.col("task").filter(multiple_choice).n_unique().alias("n_mcq_task"),
        pl.col("task").filter(~multiple_choice).n_unique().alias("n_qa_task"),
    ]
    by_domain = rows.group_by("benchmark", "domain", maintain_order=True).agg(*counts, *_measures())
    whole = rows.select(
        pl.lit("").alias("benchmark"), pl.lit(OVERALL).alias("domain"), *counts, *_measures()
    )
    return pl.concat([by_domain, whole])


def _tasks(rows: pl.DataFrame) -> pl.DataFrame:
    names = ["benchmark", "domain", "task", "name_zh", "name_en", "format"]
    return rows.group_by(names, maintain_order=True).agg(*_measures())


def _image_rows(item: Item, name: str) -> Iterator[dict[str, object]]:
    # Later steps only processed the image.
    first = next((step.source for step in item.provenance if step.source), "")
    for ref in _of_its_source(item):
        yield {
            "source": item.metadata.get("source") or first or name,
            "type": item.metadata.get("type", ""),
            "task": item.task,
            "path": ref.path,
            "width": ref.width,
            "height": ref.height,
            "boxes": len(item.boxes) or None,
        }


def _of_its_source(item: Item) -> Sequence[ImageRef]:
    """An item's images; in a mixed gallery only those of its own class."""
    if item.metadata.get("gallery") != MIXED_GALLERY:
        return item.images
    return (item.images[0], *(item.images[place] for place in item.relevant))


def _sources(pictures: pl.DataFrame) -> pl.DataFrame:
    keys = ["source", "type", "task"]
    one_each = pictures.group_by(*keys, "path", maintain_order=True).agg(
        pl.col("width", "height").first(), pl.col("boxes").max()
    )
    return one_each.group_by(keys, maintain_order=True).agg(
        pl.len().alias("images"), pl.col("width", "height", "boxes").mean()
    )


def _stratum_rows(item: Item) -> Iterator[dict[str, object]]:
    for kind in _KINDS:
        if name := item.metadata.get(kind):
            path = item.images[0].path if item.images else None
            yield {"stratum": kind, "name": value_label(kind, name), "path": path}


def _strata(rows: pl.DataFrame) -> pl.DataFrame:
    """Questions and images of each stratum, the kinds in their order, the largest first."""
    counted = rows.group_by("stratum", "name", maintain_order=True).agg(
        pl.len().alias("questions"), pl.col("path").drop_nulls().n_unique().alias("images")
    )
    order = pl.col("stratum").replace_strict(dict(zip(_KINDS, range(len(_KINDS)), strict=True)))
    return counted.sort(order, -pl.col("questions").cast(pl.Int64), "name")
