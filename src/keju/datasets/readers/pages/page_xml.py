"""PAGE-XML, as written by Transkribus, eScriptorium, OCR-D, Calfa and others.

All versions of the namespace are read in the same way (2009 to 2019: points as attributes or as
elements).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from lxml import etree
from msgspec.structs import replace

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
from keju.errors import DataError
from keju.items import Line, LineKind, Point
from keju.layout import group_columns

_NO_REGIONS = frozenset({"TextLine", "TextEquiv", "Word", "Glyph", "Coords"})
"""Elements in a region that are not regions, cells or other elements with lines."""

_PARTS = ("Word", "Glyph", "Graphemes", "Grapheme", "GraphemeGroup", "NonPrintingChar")
"""Elements of which the text of a line or word consists."""

_CUSTOM = re.compile(r"(\w+)\s*\{([^{}]*)\}")


def read_page(path: Path, kinds: Mapping[str, LineKind] | None = None) -> Page:
    """Read a PAGE-XML file; `kinds` are the user's meanings of types, before keju's table.

    Lines are in the file's reading order: its ReadingOrder, or Transkribus's indices of regions and
    lines; else in document order, with `explicit_order` false. The text of a line, unchanged, is
    its own TextEquiv, else that of its words, else that of its glyphs. Where no line of a region or
    table cell has a text, the rows of the region's own are its lines. Types come from ``type=`` and
    ``custom="structure {type:…;}"``. Text that is in none of the lines is recorded in the log.

    Raises:
        DataError: the file is not PAGE-XML, or something in it is not valid.
    """
    root = root_of(path, "PcGts", "PAGE-XML")
    page = first(root, "Page")
    if page is None:
        raise DataError("the file has no Page element", file=path)
    reader = _PageReader(path, kinds)
    lines, explicit = in_stated_order(
        reader.lines(page, Around()), first(page, "ReadingOrder"), path
    )
    report_lost_text(reader.texts(root), reader.taken, path)
    return Page(
        file=str(path),
        image_name=page.get("imageFilename", ""),
        width=number(page.get("imageWidth"), file=path, item="Page"),
        height=number(page.get("imageHeight"), file=path, item="Page"),
        lines=lines,
        explicit_order=explicit or _is_indexed(page),
    )


class _PageReader:
    """Reads the lines of a file; `taken` has the text of each element that they came from."""

    def __init__(self, path: Path, kinds: Mapping[str, LineKind] | None) -> None:
        self._path = path
        self._kinds = kinds
        self.taken: dict[etree._Element, str] = {}

    def lines(self, parent: etree._Element, around: Around) -> list[FoundLine]:
        """The lines in a page, region or cell: its own, then those of the elements inside it.

        Any element can contain lines, since a text region, table, chart or advertisement can
        contain others, and Transkribus puts the lines of tables into TableCell.
        """
        found = list[FoundLine]()
        for place, element in enumerate(_by_index(list(children(parent, "TextLine")))):
            name = element.get("id") or _within(around, f"{place + 1}")
            text, outline = self._text_of(element) or "", self._outline(element, name)
            line = around.line(name, text, outline, self._kinds, [_type_of(element)])
            found.append(FoundLine(line, around.ids))
        inner = [
            child for child in parent if name_of(child) not in _NO_REGIONS and _holds_text(child)
        ]
        for place, region in enumerate(_by_index(inner)):
            name = region.get("id") or _within(around, f"r{place + 1}")
            found += self.lines(region, around.inside(name, _type_of(region)))
        if any(each.line.text.strip() for each in found):
            return found
        return self._rows(parent, around, found) or found

    def _rows(
        self, region: etree._Element, around: Around, outlines: Sequence[FoundLine]
    ) -> list[FoundLine]:
        """The text of a region without lines, or whose lines are only outlines.

        Rows get the outlines if there is one for each, in the order in which columns are read.
        Otherwise a program drew them in another order than that of the text.
        """
        rows = [row for row in (self._text_of(region) or "").splitlines() if row.strip()]
        lines = [each.line for each in outlines]
        if len(rows) == len(lines) and _are_in_order(lines):
            return [
                each._replace(line=replace(each.line, text=row))
                for each, row in zip(outlines, rows, strict=True)
            ]
        outline = self._outline(region, _within(around, "text")) if len(rows) == 1 else ()
        return [
            FoundLine(around.line(f".{place}", row, outline, self._kinds), around.ids)
            for place, row in enumerate(rows, start=1)
        ]

    def _text_of(self, element: etree._Element) -> str | None:
        """The text of an element at the nearest level that has one, or None where there is none."""
        own = self._own_text(element)
        if own is None or not own.strip():
            parts = _by_index(list(children(element, *_PARTS)))
            texts = [text for part in parts if (text := self._text_of(part)) is not None]
            join = join_words if any(name_of(part) == "Word" for part in parts) else "".join
            return join(texts) if texts and any(map(str.strip, texts)) else own
        self.taken[element] = own
        return own

    def _own_text(self, element: etree._Element) -> str | None:
        """The text of the TextEquiv that counts, as in dinglehopper; None where there is none.

        That is the one of lowest index; if none has an index, the one of highest confidence, else
        the first one.
        """
        versions = list(children(element, "TextEquiv"))
        if not versions:
            return None
        indices = [self._index(version) for version in versions]
        if any(index is not None for index in indices):
            ranks = [math.inf if index is None else index for index in indices]
        else:
            ranks = [-_confidence(version) for version in versions]
        return _forms_of(versions[ranks.index(min(ranks))])

    def _index(self, version: etree._Element) -> float | None:
        given = version.get("index", "").strip()
        return number(given, file=self._path, item="TextEquiv") if given else None

    def texts(self, root: etree._Element) -> Iterator[TextPart]:
        """All texts of the file; of the versions of one text only that which counts."""
        for element in root.iter():
            versions = list(children(element, "TextEquiv"))
            texts = [self._own_text(element) or "", *map(_forms_of, versions)]
            if text := next(filter(str.strip, texts), ""):
                yield TextPart(element, name_of(element), text, repeats=True)
        yield from text_nodes(root, outside=("Metadata", "TextEquiv"))

    def _outline(self, element: etree._Element, name: str) -> tuple[Point, ...]:
        return self._coords(element, name) or box_around(
            self._coords(word, name) for word in children(element, "Word")
        )

    def _coords(self, element: etree._Element, name: str) -> tuple[Point, ...]:
        coords = first(element, "Coords")
        if coords is None:
            return ()
        if (given := coords.get("points")) is not None:
            return points(given, file=self._path, item=name)
        return tuple(
            (
                number(point.get("x"), file=self._path, item=name),
                number(point.get("y"), file=self._path, item=name),
            )
            for point in children(coords, "Point")
        )


def _are_in_order(lines: Sequence[Line]) -> bool:
    """Whether lines have outlines, and their order is that of the columns of the page."""
    ordered = [line.id for column in group_columns(lines) for line in column]
    return ordered == [line.id for line in lines]


def _within(around: Around, name: str) -> str:
    """A name for an element without one, from its region."""
    return f"{around.ids[0]}.{name}" if around.ids else name


def _forms_of(version: etree._Element) -> str:
    """The Unicode of a TextEquiv, else its PlainText, else whatever text is in it."""
    forms = [*children(version, "Unicode"), *children(version, "PlainText")]
    texts = [str(form.xpath("string()")) for form in (*forms, version)]
    return next(filter(str.strip, texts), texts[0])


def _confidence(version: etree._Element) -> float:
    """The confidence of a TextEquiv; one without, or with no number, is less than any other."""
    try:
        confidence = float(version.get("conf", ""))
    except ValueError:
        return -math.inf
    return -math.inf if math.isnan(confidence) else confidence


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
