"""FORMAT ``parquet``: keju's own items.parquet with its images, checked and hashed again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from keju.datasets.packed import TABLES, Packed
from keju.datasets.readers.base import (
    Detection,
    Reader,
    inside,
    kept_inside,
    plain_file,
    source_bytes,
)
from keju.datasets.readers.listing import Listing
from keju.datasets.store import PARTITIONED, DatasetManifest, DatasetWriter, find_items, know_stored
from keju.datasets.table import iter_items, part_name, table_files
from keju.errors import DataError
from keju.files import read_json
from keju.items import ImageRef
from keju.settings import Settings
from keju.texts import _, n_

LAYOUT = """\
SRC/                      a folder
  items.parquet           items as keju writes them; columns with a default may be absent; or
  items/part-*.parquet    the same rows in parts, numbered from 00000
  images/...              the images, by the paths that the items give; or
  images-*.parquet        tables of them: path, and image with its bytes, as keju exports them
  dataset.json            may be absent; language and script are taken from it
  benchmark.toml          may be absent; the definition of a benchmark of your own
Reads a dataset whose items or images were changed by hand; sizes and hashes are computed again."""

_ITEMS = "items.parquet"
_MANIFEST = "dataset.json"


def read_parquet(src: Path, writer: DatasetWriter, settings: Settings) -> Iterator[str]:
    """Copy the items and images of a dataset; yields how many images had changed.

    Raises:
        DataError: no items.parquet, a damaged one, an image that is missing or broken, or a path
            that leads out of the folder.
    """
    del settings
    file = find_items(src)
    if not file.exists():
        raise DataError(
            "expected a folder with {}", _ITEMS, file=src, hint="See: keju data formats parquet"
        )
    know_stored(src)
    if (src / _MANIFEST).is_file():
        writer.resemble(read_json(kept_inside(src / _MANIFEST, src), DatasetManifest))
    for table in src.glob(TABLES):
        plain_file(kept_inside(table, src))
    tables = Packed(src)
    stored: dict[str, ImageRef] = {}
    changed: set[str] = set()
    for part in table_files(kept_inside(file, src)):
        plain_file(kept_inside(part, src))
    for item in iter_items(file):
        refs = []
        for ref in item.images:
            new = stored.get(ref.path)
            if new is None:
                data, name = _image(src, ref.path, tables, file, item.id)
                new = stored[ref.path] = writer.add_image(data, name)
            if new != ref:
                changed.add(ref.path)
            refs.append(new)
        writer.add(replace(item, images=tuple(refs)))
    if changed:
        yield n_(
            "{n:,} image differs from what the items said; hashes are computed again",
            "{n:,} images differ from what the items said; hashes are computed again",
            len(changed),
        )


def detect_parquet(listing: Listing) -> Detection | None:
    """Recognise keju's own items, in one table or in parts."""
    part = PurePosixPath(PARTITIONED, part_name(0))
    rows = listing.records(part if part in listing.files else PurePosixPath(_ITEMS), 1)
    if not rows or not {"id", "benchmark", "task"} <= set(rows[0]):
        return None
    finished = PurePosixPath(_MANIFEST) in listing.files
    return Detection(1.0, _("items of keju and a dataset.json") if finished else _("items of keju"))


READER = Reader(
    "parquet",
    "keju's own items and images",
    LAYOUT,
    read_parquet,
    Settings,
    detect_parquet,
    texts=False,
)


def _image(src: Path, name: str, tables: Packed, file: Path, item: str) -> tuple[bytes, str]:
    """The bytes of an image, from the tables where there are any, and its name in errors."""
    if not tables:
        path = inside(src, name, file=file, item=item)
        return source_bytes(path), str(path)
    if name not in tables:
        problem = _("the image {!r} is missing from the tables of images", name)
        raise DataError(problem, file=file, item=item, hint="Export the dataset again")
    return tables.image_bytes(name), f"{src}: {name}"
