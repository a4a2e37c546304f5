"""PAGE-XML, as written by Transkribus, eScriptorium, OCR-D, Calfa and others.

All versions of the namespace are read in the same way (2009 to 2019: points as attributes or as
elements).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from lxml import etree

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
from keju.errors import DataError
from keju.items import LineKind, Point
from keju.messages import message

_CUSTOM = re.compile(r"(\w+)\s*\{([^{}]*)\}")


def read_page(path: Path, kinds: Mapping[str, LineKind] | None = None) -> Page:
    """Read a PAGE-XML file; `kinds` are the user's meanings of types, before keju's table.

    Lines are in the file's reading order: its ReadingOrder, or Transkribus's indices of regions and
    lines; else in document order, with `explicit_order` false. The text of a line is its TextEquiv
    of lowest index, unchanged; for a line without one, its words are joined. Types come from
    ``type=`` and ``custom="structure {type:…;}"``.

    Raises:
        DataError: the file is not PAGE-XML, or something in it is not valid.
    """
    page = first(root_of(path, "PcGts", "PAGE-XML"), "Page")
    if page is None:
        raise DataError(message("datasets.no-page-element"), file=path)
    found = list(_lines(path, page, Around(), kinds))
    lines, explicit = in_stated_order(found, first(page, "ReadingOrder"), path)
    return Page(
        file=str(path),
        image_name=page.get("imageFilename", ""),
        width=number(page.get("imageWidth"), file=path, item="Page"),
        height=number(page.get("imageHeight"), file=path, item="Page"),
        lines=lines,
        explicit_order=explicit or _is_indexed(page),
    )


def _lines(
    path: Path, parent: etree._Element, around: Around, kinds: Mapping[str, LineKind] | None
) -> Iterator[FoundLine]:
    """The lines under a page or region: its own, then those of the regions inside it."""
    own = list(children(parent, "TextLine"))
    for place, element in enumerate(_by_index(own)):
        name = element.get("id") or _within(around, f"{place + 1}")
        text, outline = _text_of(element, path) or "", _outline(element, path, name)
        yield FoundLine(around.line(name, text, outline, kinds, [_type_of(element)]), around.ids)
    regions = [child for child in parent if name_of(child).endswith("Region")]
    if not own and not regions:
        yield from _loose_text(path, parent, around, kinds)
    for place, region in enumerate(_by_index(regions)):
        name = region.get("id") or _within(around, f"r{place + 1}")
        yield from _lines(path, region, around.inside(name, _type_of(region)), kinds)


def _within(around: Around, name: str) -> str:
    """A name for an element without one, from its region."""
    return f"{around.ids[0]}.{name}" if around.ids else name


def _loose_text(
    path: Path, region: etree._Element, around: Around, kinds: Mapping[str, LineKind] | None
) -> Iterator[FoundLine]:
    """The text of a region that is transcribed without lines."""
    text = _text_of(region, path) or ""
    rows = [row for row in text.splitlines() if row.strip()]
    for place, row in enumerate(rows):
        outline = _outline(region, path, _within(around, "text")) if len(rows) == 1 else ()
        yield FoundLine(around.line(f".{place + 1}", row, outline, kinds), around.ids)


def _text_of(element: etree._Element, path: Path) -> str | None:
    """The text of a line, word or glyph, or None where there is none."""
    name = element.get("id") or name_of(element)
    versions = sorted(
        children(element, "TextEquiv"),
        key=lambda version: number(version.get("index"), file=path, item=name),
    )
    for version in versions:
        for form in ("Unicode", "PlainText"):
            if (found := first(version, form)) is not None:
                return str(found.xpath("string()"))
    words = [_text_of(word, path) or "" for word in _by_index(list(children(element, "Word")))]
    if words:
        return join_words(words)
    glyphs = [_text_of(glyph, path) or "" for glyph in children(element, "Glyph")]
    return "".join(glyphs) if glyphs else None


def _outline(element: etree._Element, path: Path, name: str) -> tuple[Point, ...]:
    coords = first(element, "Coords")
    if coords is None:
        return ()
    if (given := coords.get("points")) is not None:
        return points(given, file=path, item=name)
    return tuple(
        (number(p.get("x"), file=path, item=name), number(p.get("y"), file=path, item=name))
        for p in children(coords, "Point")
    )


def _custom(element: etree._Element, group: str, key: str) -> str:
    """A value of Transkribus's ``custom`` attribute, e.g. ``structure {type:Title;}``."""
    for name, body in _CUSTOM.findall(element.get("custom", "")):
        if name == group:
            for pair in body.split(";"):
                found, _, value = pair.partition(":")
                if found.strip() == key:
                    return str(value.strip())
    return ""


def _type_of(element: etree._Element) -> str:
    return _custom(element, "structure", "type") or element.get("type", "")


def _index_of(element: etree._Element) -> int | None:
    given = element.get("index") or _custom(element, "readingOrder", "index")
    return int(given) if re.fullmatch(r"\d{1,9}", given) else None


def _by_index(siblings: Sequence[etree._Element]) -> list[etree._Element]:
    """Siblings by their index if every one with text has one, else in document order."""
    if not _all_indexed(siblings):
        return list(siblings)
    return sorted(siblings, key=lambda element: _index_of(element) or 0)


def _all_indexed(siblings: Sequence[etree._Element]) -> bool:
    holding = [one for one in siblings if not name_of(one).endswith("Region") or _holds_text(one)]
    return bool(holding) and all(_index_of(one) is not None for one in holding)


def _holds_text(region: etree._Element) -> bool:
    return any(name_of(part) in {"TextLine", "TextEquiv"} for part in region.iter())


def _is_indexed(page: etree._Element) -> bool:
    """Whether the regions of a page, or the lines of its only region, have indices."""
    return _all_indexed([child for child in page if name_of(child).endswith("Region")])


READER = Reader(
    "page-xml",
    "PAGE-XML, with or without the page images",
    page_layout("PAGE-XML"),
    partial(import_pages, read=read_page),
    PageSettings,
    detect_pages("PcGts", "PAGE-XML"),
    texts=False,  # XML declares its own encoding.
)
"""The reader of ``keju data import page-xml``."""
