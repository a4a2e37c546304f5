"""HTML view of a page for notebooks: its image with numbered line outlines in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keju.errors import DataError, number_of
from keju.files import bounded_bytes
from keju.images import EXTENSIONS, thumbnail
from keju.items import Line
from keju.notebook import Markup, Outline, block, folded, picture, table

_SIDE = 1400
"""Maximum pixels of the longer side of a displayed image."""


def number_outlines(lines: Sequence[Line]) -> list[Outline]:
    """The outlines of lines with their numbers."""
    return [Outline(each.polygon, str(n), each.text) for n, each in enumerate(lines, start=1)]


def encode_for_notebook(image: bytes) -> bytes:
    """A JPEG of an image for a notebook.

    Raises:
        DataError: it is not an image.
    """
    return thumbnail(image, name="the image", max_side=_SIDE)


def page_html(
    ordered: Sequence[Line],
    *,
    file: str,
    image_name: str,
    size: tuple[float, float],
    image: bytes | None = None,
) -> Markup:
    """A page with its lines in reading order.

    Args:
        ordered: all lines of the page in reading order.
        file: the path of the transcription file, or "".
        image_name: the name of the image that the file states, or "".
        size: the width and height of the page; 0 is replaced by the extent of the outlines.
        image: the bytes of the image; None reads `image_name` from the file's directory, if it
            exists.
    """
    jpeg, lacking = (
        (encode_for_notebook(image), "") if image is not None else _beside(file, image_name)
    )
    points = [point for line in ordered for point in line.polygon]
    width = size[0] or max((x for x, _ in points), default=0)
    height = size[1] or max((y for _, y in points), default=0)
    name = image_name or Path(file).name or "Page"
    rows = [(n, line.text, line.kind) for n, line in enumerate(ordered, start=1)]
    return block(
        f"{name}: {number_of(len(rows), 'line')} in reading order",
        picture(width, height, number_outlines(ordered), jpeg),
        lacking,
        folded("Text of the lines", table(("", "text", "kind"), rows)),
    )


def _beside(file: str, image_name: str) -> tuple[bytes, str]:
    """The image of that name in the directory of a file, or the reason why it is not shown."""
    name = image_name.replace("\\", "/").rpartition("/")[2]
    path = Path(file).parent / name
    if not file or path.suffix.lower().lstrip(".") not in EXTENSIONS:
        return b"", ""
    try:
        return encode_for_notebook(bounded_bytes(path)), ""
    except (DataError, OSError):
        return b"", f"The image {name} is not beside the file. Name it: keju.show(page, PATH)"
