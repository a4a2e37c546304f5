"""FORMAT ``parquet``: keju's own items, with the images in separate tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keju.datasets.definitions import write_definitions
from keju.datasets.packed import write_packed
from keju.datasets.store import Dataset, write_items
from keju.datasets.writers.base import Writer
from keju.files import write_json
from keju.items import Item

LAYOUT = """\
OUT/
  dataset.json            about the dataset: licence, source, hash, how it was made
  items.parquet           the items, exactly
  benchmark.toml          the definition of a benchmark of your own
  images-00000.parquet    path, and image as the hub keeps it (bytes, path), each image once
Nothing is skipped. The folder is itself a dataset, which keju runs and validates."""

ITEM_ROWS = 32
"""Rows in a group of items: one item is read in a millisecond or two."""


def write_parquet(dataset: Dataset, items: list[Item], out: Path) -> Iterator[str]:
    """Write items and images; nothing is skipped, so there are no notes.

    Raises:
        DataError: an image is missing or altered.
    """
    refs = {ref.path: ref for item in items for ref in item.images}
    write_packed(refs.values(), dataset.image_bytes, out)
    write_items(out / "items.parquet", items, rows=ITEM_ROWS)
    write_definitions(out, {item.benchmark for item in items})
    write_json(out / "dataset.json", dataset.manifest)
    yield from ()


WRITER = Writer("parquet", "keju's own items and images, in tables", LAYOUT, write_parquet)
