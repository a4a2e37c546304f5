"""FORMAT ``parquet``: keju's own items.parquet with its images, checked and hashed anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from keju.datasets.readers.base import (
    Options,
    Reader,
    inside,
    kept_inside,
    plain_file,
    source_bytes,
)
from keju.datasets.store import DatasetWriter, read_items
from keju.datasets.table import frame_of
from keju.errors import DataError
from keju.items import ImageRef

LAYOUT = """\
SRC/                      a folder
  items.parquet           items as keju writes them; columns with a default may be absent
  images/...              the images, by the paths that the items give; or
  images-*.parquet        tables of them: path, and image with its bytes, as keju exports them
Takes in a dataset whose items or images were changed by hand: sizes and hashes are made anew."""

_ITEMS = "items.parquet"
_TABLES = "images-*.parquet"


def read_parquet(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Copy the items and images of a dataset; yields how many images had changed.

    Raises:
        DataError: no items.parquet, a damaged one, an image that is missing or broken, or a path
            that leads out of the folder.
    """
    del options
    file = src / _ITEMS
    if not file.is_file():
        raise DataError(f"expected a folder with {_ITEMS}", file=src, mend="See: keju data formats")
    tables = sorted(kept_inside(path, src) for path in src.glob(_TABLES))
    stored = dict(_tabled(tables, writer))
    changed: set[str] = set()
    for item in read_items(kept_inside(file, src)):
        refs = []
        for ref in item.images:
            new = stored.get(ref.path)
            if new is None and tables:
                raise DataError(
                    f"the image {ref.path!r} is missing from the tables of images",
                    file=file,
                    item=item.id,
                    mend="Export the dataset again",
                )
            if new is None:
                path = inside(src, ref.path, file=file, item=item.id)
                new = stored[ref.path] = writer.add_image(source_bytes(path), str(path))
            if new != ref:
                changed.add(ref.path)
            refs.append(new)
        writer.add(replace(item, images=tuple(refs)))
    if changed:
        yield f"{len(changed)} images differ from what the items said; their hashes are made anew"


READER = Reader("parquet", "keju's own items and images", LAYOUT, read_parquet, {})


def _tabled(tables: list[Path], writer: DatasetWriter) -> Iterator[tuple[str, ImageRef]]:
    """The images of the tables by their paths, stored in the dataset; one table at a time."""
    for file in tables:
        frame = frame_of(plain_file(file))
        if not {"path", "image"} <= set(frame.columns):
            raise DataError(
                f"expected the columns path, image; found {', '.join(frame.columns)}",
                file=file,
                mend="Export the dataset again",
            )
        for number, row in enumerate(frame.iter_rows(named=True), start=1):
            data = row["image"]["bytes"] if isinstance(row["image"], dict) else None
            if not isinstance(data, bytes):
                raise DataError(
                    "no image in it", file=file, item=f"row {number}", mend="Export it again"
                )
            yield row["path"], writer.add_image(data, f"{file}: {row['path']}")
