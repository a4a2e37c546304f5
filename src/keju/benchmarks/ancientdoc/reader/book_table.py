"""``books.csv``: a table of the books of a release, to fill in before its import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from keju.benchmarks.ancientdoc.reader.images import tree_images
from keju.benchmarks.ancientdoc.reader.settings import AncientDocSettings
from keju.datasets.preview import PreviewWriter
from keju.datasets.readers.base import Read, Table, image_files
from keju.errors import DataError

_ALL = 1 << 40


def book_table(
    src: Path, settings: AncientDocSettings, *, read: Read[AncientDocSettings]
) -> Iterator[Table]:
    """Every book of a source, with dynasty and script as far as they are known.

    Args:
        src: the source.
        settings: of the import.
        read: reads a source that has no images in folders.

    Raises:
        DataError: no book is found.
    """
    known: dict[str, dict[str, str]] = {}
    root = src if src.is_dir() else src.parent
    if src.is_dir() and any(True for _ in image_files(root)):
        for image in tree_images(root):
            category, book = ("", "", *image.page.parts)[-3:-1]
            known.setdefault(book, {"category": category})
    else:
        writer = PreviewWriter(_ALL)
        for _ in read(src, writer, replace(settings, skip_missing=True)):
            continue
        for item in writer.items:
            known.setdefault(item.metadata.get("book", ""), dict(item.metadata))
    columns = ("book", "category", "dynasty", "script")
    rows = [(book, *(about.get(key, "") for key in columns[1:])) for book, about in known.items()]
    rows = sorted(row for row in rows if row[0])
    if not rows:
        raise DataError("no book is found in it", file=src, hint="Give the folder with imgs")
    yield Table("books", columns, rows, ("dynasty", "script"), ("books",))
