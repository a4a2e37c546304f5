"""ALTO 1 to 4, as written by libraries' OCR, kraken and eScriptorium."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Annotated, NamedTuple

from lxml import etree
from msgspec import Meta

from keju.datasets.pages import Page
from keju.datasets.readers.base import Reader
from keju.datasets.readers.pages.lost_text import TextPart, report_lost_text, text_nodes
from keju.datasets.readers.pages.page_items import (
    PageSettings,
    import_pages,
    page_layout,
)
from keju.datasets.readers.pages.page_lines import Around, FoundLine, in_stated_order, root_of
from keju.datasets.readers.pages.xml_roots import detect_pages
from keju.datasets.readers.xml_parsing import (
    box_around,
    children,
    first,
    join_words,
    name_of,
    number,
    points,
)
from keju.datasets.store import DatasetWriter
from keju.errors import DataError
from keju.items import LineKind, Point
from keju.texts import n_

_TAGS = ("LayoutTag", "StructureTag", "RoleTag", "OtherTag")
_MARGINS = frozenset({"TopMargin", "BottomMargin", "LeftMargin", "RightMargin"})
_IN_LINES = frozenset({"String", "SP", "HYP"})
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
    `explicit_order` false. The text of a line is the CONTENT of its strings, or of the glyphs of a
    string without one, hyphens included, a space for SP and between two words that are not Chinese.
    Strings outside of a line are one. Types come from the tags of the line and its blocks, and from
    the page margin that contains it. Text that is in none of the lines is recorded in the log.

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
        raise DataError(
            n_(
                "the file has {n:,} page",
                "the file has {n:,} pages",
                len(pages),
                hint="Keep one page per file",
            ),
            file=path,
        )
    context = _Context(path, _tags(root), kinds, _scale(root, path, dpi), {})
    lines_found = list(_lines(context, pages[0], Around()))
    lines, explicit = in_stated_order(lines_found, first(root, "ReadingOrder"), path)
    report_lost_text(_texts(root), context.taken, path)
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
    """The context of reading one file.

    `scale` converts its unit to pixels; `taken` collects the text of each element.
    """

    path: Path
    tags: Mapping[str, str]
    kinds: Mapping[str, LineKind] | None
    scale: float
    taken: dict[etree._Element, str]

    def length(self, element: etree._Element, name: str) -> float:
        item = element.get("ID") or name_of(element)
        return self.scale * number(element.get(name), file=self.path, item=item)


def _lines(context: _Context, parent: etree._Element, around: Around) -> Iterator[FoundLine]:
    for place, child in enumerate(parent):
        own = child.get("ID", "")
        types = [
            context.tags[ref] for ref in child.get("TAGREFS", "").split() if ref in context.tags
        ]
        if name_of(child) == "TextLine" or _begins_strings(child):
            parts = list(child) if name_of(child) == "TextLine" else _strings_from(child)
            name = own or f".{place + 1}"
            outline = _outline(context, child, parts)
            line = around.line(name, _text_of(context, parts), outline, context.kinds, types)
            strings = [id_ for part in parts if (id_ := part.get("ID"))]
            yield FoundLine(line, (*strings, *filter(None, [own]), *around.ids))
        elif name_of(child) not in _IN_LINES:
            space = [name_of(child)] if name_of(child) in _MARGINS else []
            yield from _lines(context, child, around.inside(own, *space, *types))


def _begins_strings(element: etree._Element) -> bool:
    """Whether an element is the first of strings that are in no line."""
    before = element.getprevious()
    return name_of(element) in _IN_LINES and (before is None or name_of(before) not in _IN_LINES)


def _strings_from(element: etree._Element) -> list[etree._Element]:
    """An element and the following ones that can be in a line."""
    following = takewhile(lambda each: name_of(each) in _IN_LINES, element.itersiblings())
    return [element, *following]


def _text_of(context: _Context, parts: Sequence[etree._Element]) -> str:
    pieces: list[str] = []
    for part in parts:
        content = part.get("CONTENT", "")
        if name_of(part) == "SP":
            pieces.append(" ")
        elif name_of(part) == "HYP" and pieces:
            pieces[-1] += content
        elif name_of(part) in {"String", "HYP"}:
            if not content.strip():
                glyphs = list(children(part, "Glyph"))
                context.taken.update((glyph, glyph.get("CONTENT", "")) for glyph in glyphs)
                content = "".join(glyph.get("CONTENT", "") for glyph in glyphs) or content
            pieces.append(content)
        if content.strip():
            context.taken[part] = content
    return join_words(pieces)


def _texts(root: etree._Element) -> Iterator[TextPart]:
    """All texts of the file, without alternative readings of a word or glyph."""
    for element in root.iter():
        if name_of(element) != "Variant":
            content = element.get("CONTENT", "")
            text = content if content.strip() else element.get("SUBS_CONTENT", "")
            yield TextPart(element, name_of(element), text, repeats=True)
    for layout in children(root, "Layout"):
        yield from text_nodes(layout, outside=("ALTERNATIVE",))


def _outline(
    context: _Context, line: etree._Element, parts: Sequence[etree._Element]
) -> tuple[Point, ...]:
    """The outline of a line, else the box around its strings; empty where none has a size."""
    polygon = first(line, "Shape", "Polygon")
    corners = polygon.get("POINTS", "") if polygon is not None else ""
    if shape := points(corners, file=context.path, item=line.get("ID") or "line"):
        return tuple((x * context.scale, y * context.scale) for x, y in shape)
    own = _box(context, line) if name_of(line) == "TextLine" else ()
    return own or box_around(_box(context, part) for part in parts if name_of(part) == "String")


def _box(context: _Context, element: etree._Element) -> tuple[Point, ...]:
    if not all(element.get(name, "").strip() for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT")):
        return ()
    left, top = context.length(element, "HPOS"), context.length(element, "VPOS")
    right = left + context.length(element, "WIDTH")
    bottom = top + context.length(element, "HEIGHT")
    return box_around([((left, top), (right, bottom))])


def _tags(root: etree._Element) -> dict[str, str]:
    """The labels of tags for blocks and lines, by id."""
    tags = first(root, "Tags")
    if tags is None:
        return {}
    return {tag.get("ID", ""): tag.get("LABEL", "") for tag in children(tags, *_TAGS)}


def _scale(root: etree._Element, path: Path, dpi: float | None) -> float:
    element = first(root, "Description", "MeasurementUnit")
    unit = (element.text or "").strip() if element is not None else ""
    if unit in {"", "pixel"}:
        return 1.0
    if unit not in _PER_INCH:
        raise DataError("measurement unit {!r} is unknown", unit, file=path)
    if dpi is None:
        raise DataError(
            "the file measures in {}, not in pixels",
            unit,
            file=path,
            hint="Give the resolution of the scans as dpi, e.g. dpi=300",
        )
    return dpi / _PER_INCH[unit]


READER = Reader(
    "alto",
    "ALTO 1 to 4, with or without the page images",
    page_layout("ALTO"),
    _import,
    AltoSettings,
    detect_pages("alto", "ALTO"),
    texts=False,  # XML declares its own encoding.
)
"""The reader of ``keju data import alto``."""
