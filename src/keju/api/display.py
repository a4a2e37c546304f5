"""`show`: items and pages with their images, in a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from keju.api.data import lines_of
from keju.api.inputs import AnyPath, path_of
from keju.datasets import Dataset
from keju.datasets.pages import Page, page_in_reading_order
from keju.errors import number_of
from keju.files import bounded_bytes
from keju.images import probe_image, thumbnail
from keju.items import Item, Line
from keju.notebook import Markup, Outline, block, folded, picture, table

_MOST_IMAGES = 8

_SIDE = 1400
"""Maximum pixels of the longer side of a displayed image."""


@dataclass(frozen=True)
class View:
    """The output in a notebook; `html` is the same as text."""

    html: str
    title: str

    def __repr__(self) -> str:
        return f"View({self.title!r})"

    def _repr_html_(self) -> str:
        return self.html


def show(what: Page | Item | Iterable[Line], image: AnyPath | Dataset | None = None) -> View:
    """Show a page or an item with its image, the outlines and the numbers in reading order.

    Args:
        what: a page, the lines of a page in any order, or an item.
        image: the image of the page, or None; of an item, the dataset that has its images.

    Raises:
        TypeError: a value has another type.
        KejuError: the image does not exist or is damaged.
    """
    if isinstance(what, Item):
        if not isinstance(image, Dataset):
            raise TypeError("the images of an item are in its dataset: keju.show(item, dataset)")
        return View(_item_html(what, image), what.id)
    if isinstance(image, Dataset):
        raise TypeError("image is a Dataset. For a page, give the path of its image")
    data = None if image is None else bounded_bytes(path_of(image))
    if isinstance(what, Page):
        return View(_page_html(what, data), what.image_name)
    lines = lines_of(what)
    size = probe_image(data, name=os.fspath(image or "")) if data else None
    page = Page(
        file="", image_name=Path(path_of(image)).name if image is not None else "",
        width=size.width if size else 0, height=size.height if size else 0,
        lines=tuple(lines), explicit_order=False,
    )  # fmt: skip
    return View(_page_html(page, data), page.image_name or "lines")


def _page_html(page: Page, image: bytes | None) -> Markup:
    lines = page_in_reading_order(page)
    points = [point for line in lines for point in line.polygon]
    width = page.width or max((x for x, _ in points), default=0)
    height = page.height or max((y for _, y in points), default=0)
    name = page.image_name or Path(page.file).name or "Page"
    rows = [(number, line.text, line.kind) for number, line in enumerate(lines, start=1)]
    return block(
        f"{name}: {number_of(len(rows), 'line')} in reading order",
        picture(width, height, _outlines(lines), _jpeg(image) if image is not None else b""),
        folded("Text of the lines", table(("", "text", "kind"), rows)),
    )


def _outlines(lines: Sequence[Line]) -> list[Outline]:
    return [Outline(line.polygon, str(n), line.text) for n, line in enumerate(lines, start=1)]


def _jpeg(image: bytes) -> bytes:
    return thumbnail(image, name="the image", max_side=_SIDE)


def _item_html(item: Item, dataset: Dataset) -> Markup:
    parts: list[object] = []
    for place, ref in enumerate(item.images[:_MOST_IMAGES]):
        outlines = _outlines(item.lines) if not place else []
        if not place:
            corners = [((b.x0, b.y0), (b.x1, b.y0), (b.x1, b.y1), (b.x0, b.y1)) for b in item.boxes]
            outlines += [Outline(points, str(n)) for n, points in enumerate(corners, start=1)]
        if place in item.relevant:
            parts.append("relevant:")
        image = _jpeg(dataset.image_bytes(ref))
        parts.append(picture(ref.width, ref.height, outlines, image))
    if (more := len(item.images) - _MOST_IMAGES) > 0:
        parts.append(f"and {number_of(more, 'more image')}")
    return block(f"{item.id} ({item.task})", *parts, folded("Item", Markup(item._repr_html_())))
