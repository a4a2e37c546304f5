"""HTML view of a page for notebooks: its image with numbered line outlines in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from keju.errors import DataError, number_of
from keju.files import bounded_bytes
from keju.images import EXTENSIONS, thumbnail
from keju.items import Line
from keju.notebook import Markup, Outline, block, folded, picture, table

if TYPE_CHECKING:
    from keju.datasets.pages import Page

_SIDE = 1400
"""Maximum pixels of the longer side of a displayed image."""


def outlines_of(lines: Sequence[Line]) -> list[Outline]:
    """The outlines of lines with their numbers."""
    return [Outline(each.polygon, str(n), each.text) for n, each in enumerate(lines, start=1)]


def small(image: bytes) -> bytes:
    """A JPEG of an image for a notebook.

    Raises:
        DataError: it is not an image.
    """
    return thumbnail(image, name="the image", max_side=_SIDE)


def page_html(page: Page, ordered: Sequence[Line], image: bytes | None = None) -> Markup:
    """A page with its lines in reading order.

    Args:
        page: the page.
        ordered: its lines in reading order.
        image: the bytes of its image; None uses the image that the file names, if it is beside the
            file.
    """
    jpeg, lacking = (small(image), "") if image is not None else _beside(page)
    points = [point for line in page.lines for point in line.polygon]
    width = page.width or max((x for x, _ in points), default=0)
    height = page.height or max((y for _, y in points), default=0)
    name = page.image_name or Path(page.file).name or "Page"
    rows = [(n, line.text, line.kind) for n, line in enumerate(ordered, start=1)]
    return block(
        f"{name}: {number_of(len(rows), 'line')} in reading order",
        picture(width, height, outlines_of(ordered), jpeg),
        lacking,
        folded("Text of the lines", table(("", "text", "kind"), rows)),
    )


def _beside(page: Page) -> tuple[bytes, str]:
    """The image that a page names, if it exists in the page's own directory."""
    name = page.image_name.replace("\\", "/").rpartition("/")[2]
    path = Path(page.file).parent / name
    if not page.file or path.suffix.lower().lstrip(".") not in EXTENSIONS:
        return b"", ""
    try:
        return small(bounded_bytes(path)), ""
    except (DataError, OSError):
        return (
            b"",
            f"No image {name} beside the file. Give it: keju.show(page, PATH)",
        )
