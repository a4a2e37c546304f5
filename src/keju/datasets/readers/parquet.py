"""FORMAT ``parquet``: keju's own items.parquet with its images, checked and hashed anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from keju.datasets.readers.base import Options, Reader, inside, source_bytes
from keju.datasets.store import DatasetWriter, read_items
from keju.errors import DataError

LAYOUT = """\
SRC/                      a folder
  items.parquet           items as keju writes them; columns with a default may be absent
  images/...              the images, by the paths that the items give
Takes in a dataset whose items or images were changed by hand: sizes and hashes are made anew."""

_ITEMS = "items.parquet"


def read_parquet(src: Path, writer: DatasetWriter, options: Options) -> Iterator[str]:
    """Copy the items and images of a dataset; yields how many images had changed.

    Raises:
        DataError: no items.parquet, a damaged one, an image that is missing or broken, or a path
            that leads out of the folder.
    """
    del options
    file = src / _ITEMS
    if not file.is_file():
        raise DataError(f"expected a folder with {_ITEMS}", file=src)
    changed: set[str] = set()
    for item in read_items(file):
        refs = []
        for ref in item.images:
            path = inside(src, ref.path, file=file, item=item.id)
            new = writer.add_image(source_bytes(path), str(path))
            if new != ref:
                changed.add(ref.path)
            refs.append(new)
        writer.add(replace(item, images=tuple(refs)))
    if changed:
        yield f"{len(changed)} images differ from what the items said; their hashes are made anew"


READER = Reader("parquet", "keju's own items and images", LAYOUT, read_parquet, {})
