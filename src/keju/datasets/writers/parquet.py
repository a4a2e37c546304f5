"""FORMAT ``parquet``: keju's own items, with the images in tables of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from keju.datasets.store import Dataset, write_items
from keju.datasets.writers.base import Writer
from keju.files import write_json
from keju.items import ImageRef, Item

LAYOUT = """\
OUT/
  dataset.json            what the dataset says of itself: licence, source, hash, how it was made
  items.parquet           the items, exactly
  images-00000.parquet    path, and image as the hub keeps it (bytes, path), each image once
Nothing is left out."""

SHARD_BYTES = 256 << 20
"""Images of one table, in bytes: what a reader holds in memory at a time."""

ROWS = 100
"""Rows of a group: one image is read in about a millisecond; in one group for all, in a second."""

_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "path": pl.String,
    "image": pl.Struct({"bytes": pl.Binary, "path": pl.String}),
}
SCHEMA = pl.Schema(_COLUMNS)


def write_parquet(dataset: Dataset, items: list[Item], out: Path) -> Iterator[str]:
    """Write items and images; nothing is left out, so there are no notes.

    Raises:
        DataError: an image is missing or altered.
    """
    refs = {ref.path: ref for item in items for ref in item.images}
    for number, shard in enumerate(_shards(refs.values())):
        rows = [
            {"path": ref.path, "image": {"bytes": dataset.image_bytes(ref), "path": ref.path}}
            for ref in shard
        ]
        # Images are compressed already: packing them again makes reading slower, not smaller.
        pl.DataFrame(rows, schema=SCHEMA).write_parquet(
            out / f"images-{number:05d}.parquet",
            compression="uncompressed",
            row_group_size=ROWS,
            statistics=False,
        )
    write_items(out / "items.parquet", items)
    write_json(out / "dataset.json", dataset.manifest)
    yield from ()


WRITER = Writer("parquet", "keju's own items and images, in tables", LAYOUT, write_parquet)


def _shards(refs: Iterable[ImageRef]) -> Iterator[list[ImageRef]]:
    shard: list[ImageRef] = []
    size = 0
    for ref in refs:
        if shard and size + ref.size > SHARD_BYTES:
            yield shard
            shard, size = [], 0
        shard.append(ref)
        size += ref.size
    if shard:
        yield shard
