"""Format ``pages-tsv``: a table of page images and transcriptions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import keju
from keju.plugins import (
    DataError,
    DatasetWriter,
    Detection,
    Item,
    Listing,
    Meta,
    Settings,
    inside,
    source_bytes,
    source_text,
)

LAYOUT = """\
SRC/pages.tsv             two columns without a head: file of the image, transcription
SRC/IMAGES"""


def detect(listing: Listing) -> Detection | None:
    """A folder with pages.tsv."""
    if any(file.as_posix() == "pages.tsv" for file in listing.files):
        return Detection(1, "a table pages.tsv")
    return None


class PagesSettings(Settings, frozen=True, kw_only=True):
    """The options of the format."""

    skip_empty: Annotated[bool, Meta(description="yes: skip pages without a text (default no)")] = (
        False
    )


@keju.reader(
    "pages-tsv",
    summary="a table of page images and texts",
    layout=LAYOUT,
    settings=PagesSettings,
    detect=detect,
)
def read_pages(src: Path, writer: DatasetWriter, settings: PagesSettings) -> Iterable[str]:
    """Read a table of pages.

    Raises:
        DataError: a line does not have two columns, or its image is not below the folder.
    """
    table = inside(src, "pages.tsv", file=src, item="pages.tsv")
    lines = source_text(table).splitlines()
    for number, line in enumerate(lines, 1):
        name, tab, text = line.partition("\t")
        if not tab:
            raise DataError("expected two columns", file=table, item=f"line {number}")
        if settings.skip_empty and not text.strip():
            continue
        image = inside(src, name, file=table, item=f"line {number}")
        ref = writer.add_image(source_bytes(image), name)
        writer.add(
            Item(
                id=name, benchmark="pages", task="page_ocr", images=(ref,), answer=text, group=name
            )
        )
    return [f"{len(lines)} pages"]
