"""ALTO 2 to 4, as written by libraries' OCR, kraken and eScriptorium."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

from lxml import etree
from msgspec import Meta

from keju.datasets.pages import Page
from keju.datasets.readers.base import Reader
from keju.datasets.readers.pages.page_items import (
    PageSettings,
    import_pages,
    page_layout,
)
from keju.datasets.readers.pages.page_lines import Around, FoundLine, in_stated_order, root_of
from keju.datasets.readers.pages.xml_roots import detect_pages
from keju.datasets.readers.xml_parsing import children, first, join_words, name_of, number, points
from keju.datasets.store import DatasetWriter
from keju.errors import DataError
from keju.items import LineKind, Point
from keju.messages import message

_TAGS = ("LayoutTag", "StructureTag", "RoleTag", "OtherTag")
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}


class AltoSettings(PageSettings, frozen=True, kw_only=True):
    """The settings of the import of ALTO files; `dpi` is in pixels per inch."""

    dpi: Annotated[
        float | None,
        Meta(
            description="resolution of the scans, where the files measure in mm or inches",
            ge=1,
            le=100_000,
        ),
    ] = None


def _import(src: Path, writer: DatasetWriter, settings: AltoSettings) -> list[str]:
    return import_pages(src, writer, settings, read=partial(read_alto, dpi=settings.dpi))


def read_alto(
    path: Path, kinds: Mapping[str, LineKind] | None = None, *, dpi: float | None = None
) -> Page:
    """Read one ALTO file of one page.

    Lines are in the order of its ReadingOrder (ALTO 4.3), else in document order with
    `explicit_order` false. The text of a line is the CONTENT of its strings, hyphens included, a
    space for SP and between two words that are not Chinese. Types come from the tags of the line
    and its blocks, and from the page margin that contains it.

    Args:
        path: the file.
        kinds: the user's meanings of types, with priority over keju's table.
        dpi: resolution of the scan, for files that measure in 1/10 mm or 1/1200 inch.

    Raises:
        DataError: the file is not ALTO, has several pages, or uses a unit that cannot be converted
            to pixels.
    """
    root = root_of(path, "alto", "ALTO")
    layout = first(root, "Layout")
    pages = list(children(layout, "Page")) if layout is not None else []
    if len(pages) != 1:
        raise DataError(message("datasets.several-pages-in-file", count=len(pages)), file=path)
    context = _Context(path, _tags(root), kinds, _scale(root, path, dpi))
    found = [
        line for space in pages[0] for line in _lines(context, space, Around((), _place(space)))
    ]
    lines, explicit = in_stated_order(found, first(root, "ReadingOrder"), path)
    image = first(root, "Description", "sourceImageInformation", "fileName")
    return Page(
        file=str(path),
        image_name=(image.text or "").strip() if image is not None else "",
        width=context.length(pages[0], "WIDTH"),
        height=context.length(pages[0], "HEIGHT"),
        lines=lines,
        explicit_order=explicit,
    )


class _Context(NamedTuple):
    """The context of reading one file; `scale` converts its unit to pixels."""

    path: Path
    tags: Mapping[str, str]
    kinds: Mapping[str, LineKind] | None
    scale: float

    def length(self, element: etree._Element, name: str) -> float:
        item = element.get("ID") or name_of(element)
        return self.scale * number(element.get(name), file=self.path, item=item)


def _lines(context: _Context, parent: etree._Element, around: Around) -> Iterator[FoundLine]:
    for child in parent:
        types = [
            context.tags[ref] for ref in child.get("TAGREFS", "").split() if ref in context.tags
        ]
        own = child.get("ID", "")
        if name_of(child) == "TextLine":
            name, text = own or f".{parent.index(child) + 1}", _text_of(child)
            line = around.line(name, text, _outline(context, child), context.kinds, types)
            strings = [id_ for part in child if (id_ := part.get("ID"))]
            yield FoundLine(line, (*strings, *filter(None, [own]), *around.ids))
        elif name_of(child) in {"TextBlock", "ComposedBlock"}:
            yield from _lines(context, child, around.inside(own, *types))


def _place(space: etree._Element) -> tuple[str, ...]:
    """The margin as a type of the lines in it; the print space is not a type."""
    name = name_of(space)
    return () if name == "PrintSpace" else (name,)


def _text_of(line: etree._Element) -> str:
    pieces: list[str] = []
    for part in line:
        if name_of(part) == "String":
            pieces.append(part.get("CONTENT", ""))
        elif name_of(part) == "SP":
            pieces.append(" ")
        elif name_of(part) == "HYP" and pieces:
            pieces[-1] += part.get("CONTENT", "")
    return join_words(pieces)


def _outline(context: _Context, line: etree._Element) -> tuple[Point, ...]:
    polygon = first(line, "Shape", "Polygon")
    if polygon is not None:
        given = points(polygon.get("POINTS", ""), file=context.path, item=line.get("ID") or "line")
        return tuple((x * context.scale, y * context.scale) for x, y in given)
    if not all(line.get(name) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT")):
        return ()
    left, top = context.length(line, "HPOS"), context.length(line, "VPOS")
    right = left + context.length(line, "WIDTH")
    bottom = top + context.length(line, "HEIGHT")
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def _tags(root: etree._Element) -> dict[str, str]:
    """The labels of tags for blocks and lines, by id."""
    tags = first(root, "Tags")
    if tags is None:
        return {}
    return {tag.get("ID", ""): tag.get("LABEL", "") for tag in children(tags, *_TAGS)}


def _scale(root: etree._Element, path: Path, dpi: float | None) -> float:
    element = first(root, "Description", "MeasurementUnit")
    unit = (element.text or "").strip() if element is not None else "pixel"
    if unit == "pixel":
        return 1.0
    if unit not in _PER_INCH:
        raise DataError(message("datasets.alto-unit-unknown", unit=unit), file=path)
    if dpi is None:
        raise DataError(message("datasets.alto-unit-not-pixels", unit=unit), file=path)
    return dpi / _PER_INCH[unit]


READER = Reader(
    "alto",
    "ALTO 2 to 4, with or without the page images",
    page_layout("ALTO"),
    _import,
    AltoSettings,
    detect_pages("alto", "ALTO"),
    texts=False,  # XML declares its own encoding.
)
"""The reader of ``keju data import alto``."""
