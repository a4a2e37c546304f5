"""FORMAT ``parquet``: keju's own items, with the images in separate tables."""

from __future__ import annotations

from pathlib import Path

from keju.datasets.packed import write_packed
from keju.datasets.store import MANIFEST, Dataset, items_writer, write_definitions
from keju.datasets.table import BATCH_ROWS
from keju.datasets.writers.base import Writer
from keju.files import write_json
from keju.items import ImageRef

LAYOUT = """\
OUT/
  dataset.json            about the dataset: licence, source, hash, how it was made
  items.parquet           the items, exactly; or items/part-00000.parquet and so on
  benchmark.toml          the definition of a benchmark of your own
  images-00000.parquet    path, and image as the hub keeps it (bytes, path), each image once
Nothing is skipped. The folder is itself a dataset, which keju runs and validates."""

ITEM_ROWS = 32
"""Rows in a group of items: a viewer of the table reads a few of them without the others."""

MANY_ITEMS = 50_000
"""With more items the groups are larger: each adds about 4 KB to what every reader loads first."""


def write_parquet(dataset: Dataset, out: Path) -> tuple[str, ...]:
    """Write items and images; nothing is skipped, so there are no notes."""
    benchmarks = set()
    refs: dict[str, ImageRef] = {}
    rows = BATCH_ROWS if len(dataset) > MANY_ITEMS else ITEM_ROWS
    with items_writer(out, rows=rows) as writer:
        for item in dataset:
            writer.add(item)
            benchmarks.add(item.benchmark)
            refs.update((ref.path, ref) for ref in item.images)
    write_packed(refs.values(), dataset.image_bytes, out)
    write_definitions(out, benchmarks)
    write_json(out / MANIFEST, dataset.manifest)
    return ()


WRITER = Writer("parquet", "keju's own items and images, in tables", LAYOUT, write_parquet)
