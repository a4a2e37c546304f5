"""`read_page`: a page in PAGE-XML (Transkribus, eScriptorium, OCR-D …) or ALTO (libraries, kraken).

All versions of the namespaces are read in the same way: PAGE-XML of 2009 to 2019, with points as
attributes or as elements, and ALTO 1 to 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby, takewhile
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from keju.datasets.line_kinds import FLOW, kind_of, most_specific_word
from keju.datasets.pages import Page
from keju.datasets.readers.pages.lost_text import TextPart, report_lost_text, text_nodes
from keju.datasets.readers.xml_parsing import (
    box_around,
    children,
    join_words,
    name_of,
    number,
    parse_xml,
    points,
)
from keju.errors import DataError
from keju.items import Line, LineKind, Point
from keju.layout import group_columns
from keju.texts import _, n_

Kinds = Mapping[str, LineKind]
"""The user's meanings of line types, with priority over keju's table."""

ROOTS: Mapping[str, str] = {"PcGts": "PAGE-XML", "alto": "ALTO"}
"""The names of the forms, by the root element of their files."""


class _Row(NamedTuple):
    """The name, text and outline of a line, and the element that they are from."""

    element: etree._Element
    name: str
    text: str
    outline: tuple[Point, ...]


def read_page(
    path: Path, kinds: Kinds | None = None, *, form: str = "", dpi: float | None = None
) -> Page:
    """Read one PAGE-XML or ALTO file of one page.

    Lines are in the order that the file states: its ReadingOrder, or Transkribus's indices of
    regions and lines; else in document order, with `explicit_order` false. Text that is in none of
    the lines is recorded in the log of the import.

    PAGE-XML: the text of a line, unchanged, is its own TextEquiv, else that of its words, else that
    of its glyphs. Where no line of a region or table cell has a text, the rows of the region's own
    are its lines. Types come from ``type=`` and ``custom="structure {type:…;}"``.

    ALTO: the text of a line is the CONTENT of its strings, or of the glyphs of a string without
    one, hyphens included, a space for SP and between two words that are not Chinese. Strings
    outside of a line are one. Types come from the tags of the line and its blocks, and from the
    page margin that contains it.

    Args:
        path: the file.
        kinds: the user's meanings of types.
        form: the form that the file must have (``PAGE-XML`` or ``ALTO``), if only one is accepted.
        dpi: resolution of the scan, for ALTO that measures in 1/10 mm or 1/1200 inch.

    Raises:
        DataError: the file is not of the form, has not one page, something in it is not valid, or
            it uses a unit that cannot be converted to pixels.
    """
    root = parse_xml(path)
    stated = ROOTS.get(name_of(root), "")
    wanted = form or stated or "PAGE-XML"
    if stated != wanted:
        raise DataError(
            "the root element is <{}>, not <{}>, so this is not {}",
            name_of(root),
            "alto" if wanted == "ALTO" else "PcGts",
            wanted,
            file=path,
            hint=_(
                "Give a folder that contains only {} files, or use the format of this file", wanted
            ),
        )
    reader = _Alto(path, root, dpi) if stated == "ALTO" else _PageXml(path, root)
    rows = reader.rows(reader.page)
    lines = []
    for row in rows:
        inner = _below(reader.page, row.element)
        types = [word for element in reversed(inner) for word in reader.types_of(element)]
        lines.append(line_of(row.name, row.text, row.outline, types, kinds))
    elements = [row.element for row in rows]
    ordered, is_ordered = _in_stated_order(lines, elements, root, path)
    taken = {
        element: "".join(row.text for row in group)
        for element, group in groupby(rows, key=attrgetter("element"))
    }
    report_lost_text(reader.texts(root), taken, path)
    width, height = reader.size
    return Page(
        file=str(path),
        image_name=reader.image_name,
        width=width,
        height=height,
        lines=ordered,
        explicit_order=is_ordered or reader.is_indexed,
    )


def line_of(
    name: str, text: str, polygon: tuple[Point, ...], types: Sequence[str], kinds: Kinds | None
) -> Line:
    """A line with the kind that the types around it and its own mean, outermost first."""
    kind, source_kind = kind_of(types, kinds), most_specific_word(types)
    return Line(id=name, text=text, polygon=polygon, kind=kind, source_kind=source_kind)


def _below(page: etree._Element, element: etree._Element) -> list[etree._Element]:
    """An element and those around it inside the page."""
    return list(takewhile(lambda outer: outer is not page, (element, *element.iterancestors())))


def _id_of(element: etree._Element) -> str:
    return element.get("id") or element.get("ID") or ""


# The order of lines

_ORDERED = frozenset({"OrderedGroup", "OrderedGroupIndexed"})


def _in_stated_order(
    lines: Sequence[Line], elements: Sequence[etree._Element], root: etree._Element, file: Path
) -> tuple[tuple[Line, ...], bool]:
    """The lines in the order of a file's ReadingOrder, if it has one, and whether it states one.

    An ordered group uses the index of its members, or document order where they have none (ALTO);
    unordered groups alone state no order. A line is placed by the first id in it, else the
    innermost one around it, that is referenced; unreferenced lines come last. An order that leaves
    half of the lines of the running text unplaced, as where regions were drawn or deleted later,
    states none.

    Raises:
        DataError: an index is not a number.
    """
    groups = root.find(".//{*}ReadingOrder")
    if groups is None or _ORDERED.isdisjoint(map(name_of, groups.iter())):
        return tuple(lines), False
    rank: dict[str, int] = {}
    for ref in _refs(groups, file):
        rank.setdefault(ref, len(rank))
    rank_of = dict[etree._Element, int]()
    for element in set(elements):
        ids = map(_id_of, chain(element.iter(), element.iterancestors()))
        rank_of[element] = next((rank[id_] for id_ in ids if id_ in rank), len(rank))
    keys = [rank_of[element] for element in elements]
    placed = [
        key < len(rank)
        for line, key in zip(lines, keys, strict=True)
        if line.text.strip() and line.kind in FLOW
    ]
    is_ordered = any(key < len(rank) for key in keys)
    if placed and 2 * sum(placed) <= len(placed):
        is_ordered = False
    places = sorted(range(len(lines)), key=keys.__getitem__)
    return tuple(lines[place] for place in places), is_ordered


def _refs(group: etree._Element, file: Path) -> list[str]:
    """The ids that a group refers to, in its order."""
    refs = (group.get("regionRef") or group.get("REF") or "").split()
    members = list(group)
    if name_of(group) in _ORDERED and any(member.get("index") for member in members):
        members.sort(key=lambda member: number(member.get("index"), file=file, item="ReadingOrder"))
    return refs + [ref for member in members for ref in _refs(member, file)]


# PAGE-XML

_NO_REGIONS = frozenset({"TextLine", "TextEquiv", "Word", "Glyph", "Coords"})
"""Elements in a region that are not regions, cells or other elements with lines."""

_PARTS = ("Word", "Glyph", "Graphemes", "Grapheme", "GraphemeGroup", "NonPrintingChar")
"""Elements of which the text of a line or word consists."""


class _PageXml:
    """Reads the lines of a PAGE-XML file."""

    def __init__(self, path: Path, root: etree._Element) -> None:
        page = root.find("{*}Page")
        if page is None:
            raise DataError("the file has no Page element", file=path)
        self._path, self.page = path, page
        self.image_name = page.get("imageFilename", "")
        self.size = self._number(page, "imageWidth"), self._number(page, "imageHeight")
        # Indices of the regions of a page, or of the lines of its only region, are an order too.
        regions = _regions(page)
        self.is_indexed = bool(regions) and None not in map(_index_of, regions)

    def rows(self, parent: etree._Element) -> list[_Row]:
        """The lines in a page, region or cell: its own, then those of the elements inside it.

        Any element can contain lines, since a text region, table, chart or advertisement can
        contain others, and Transkribus puts the lines of tables into TableCell.
        """
        prefix = "" if parent is self.page else f"{parent.get('id')}."
        rows = list[_Row]()
        for place, line in enumerate(_by_index(list(children(parent, "TextLine"))), start=1):
            name = line.get("id") or f"{prefix}{place}"
            rows.append(_Row(line, name, self._text_of(line), self._outline(line)))
        for place, region in enumerate(_by_index(_regions(parent)), start=1):
            region.set("id", region.get("id") or f"{prefix}r{place}")
            rows += self.rows(region)
        texts = [text for text in self._text_of(parent).splitlines() if text.strip()]
        if not texts or any(row.text.strip() for row in rows):
            return rows
        # The text is that of the region, and its lines, if any, are outlines. A program may have
        # drawn them in another order than that of the text.
        if len(texts) == len(rows) and _are_in_order(rows):
            return [row._replace(text=text) for row, text in zip(rows, texts, strict=True)]
        outline = self._outline(parent) if len(texts) == 1 else ()
        return [
            _Row(parent, f"{prefix or 'page.'}{place}", text, outline)
            for place, text in enumerate(texts, start=1)
        ]

    def _text_of(self, element: etree._Element) -> str:
        """The text of an element at the nearest level that has one."""
        own = self._own_text(element)
        if own.strip():
            return own
        parts = _by_index(list(children(element, *_PARTS)))
        join = join_words if any(name_of(part) == "Word" for part in parts) else "".join
        text = join(list(map(self._text_of, parts)))
        return text if text.strip() else own

    def _own_text(self, element: etree._Element) -> str:
        """The text of the TextEquiv that counts, as in dinglehopper.

        That is the one of lowest index; if none has an index, the one of highest confidence, else
        the first one.
        """
        return next(map(_text_in, sorted(children(element, "TextEquiv"), key=self._rank)), "")

    def _rank(self, version: etree._Element) -> tuple[float, float]:
        has_index = bool(version.get("index", "").strip())
        index = self._number(version, "index") if has_index else math.inf
        try:
            confidence = float(version.get("conf", ""))
        except ValueError:
            confidence = math.nan
        return index, math.inf if math.isnan(confidence) else -confidence

    def texts(self, root: etree._Element) -> Iterator[TextPart]:
        """All texts of the file; of the versions of one text only that which counts."""
        for element in root.iter():
            versions = map(_text_in, sorted(children(element, "TextEquiv"), key=self._rank))
            yield element, next(filter(str.strip, versions), "")
        yield from text_nodes(root, outside=("Metadata", "TextEquiv"))

    def _outline(self, element: etree._Element) -> tuple[Point, ...]:
        return self._coords(element) or box_around(map(self._coords, children(element, "Word")))

    def _coords(self, element: etree._Element) -> tuple[Point, ...]:
        coords = element.find("{*}Coords")
        if coords is None:
            return ()
        if (attribute := coords.get("points")) is not None:
            return points(attribute, file=self._path, item=_id_of(element) or name_of(element))
        return tuple(
            (self._number(point, "x"), self._number(point, "y"))
            for point in children(coords, "Point")
        )

    def _number(self, element: etree._Element, name: str) -> float:
        return number(element.get(name), file=self._path, item=name_of(element))

    @staticmethod
    def types_of(element: etree._Element) -> list[str]:
        """The type of a line or region; none where it has no type."""
        kind = _custom(element, "structure", "type") or element.get("type", "")
        return [kind] if kind else []


def _regions(parent: etree._Element) -> list[etree._Element]:
    """The elements in a page or region that contain text, other than its own lines."""
    return [
        child
        for child in parent
        if name_of(child) not in _NO_REGIONS
        and next(child.iter("{*}TextLine", "{*}TextEquiv"), None) is not None
    ]


def _are_in_order(rows: Sequence[_Row]) -> bool:
    """Whether rows have outlines, and their order is that of the columns of the page."""
    lines = [Line(id=str(place), polygon=row.outline) for place, row in enumerate(rows)]
    return [line for column in group_columns(lines) for line in column] == lines


def _text_in(version: etree._Element) -> str:
    """The Unicode of a TextEquiv, else its PlainText."""
    forms = [*children(version, "Unicode"), *children(version, "PlainText")]
    texts = [str(form.xpath("string()")) for form in forms]
    return next(filter(str.strip, texts), "".join(texts[:1]))


def _custom(element: etree._Element, group: str, key: str) -> str:
    """A value of Transkribus's ``custom`` attribute, e.g. ``structure {type:Title;}``."""
    pattern = rf"\b{group}\s*\{{(?:[^{{}}]*;)?\s*{key}\s*:([^;{{}}]*)"
    match = re.search(pattern, element.get("custom", ""))
    return match[1].strip() if match else ""


def _index_of(element: etree._Element) -> int | None:
    index = element.get("index") or _custom(element, "readingOrder", "index")
    return int(index) if re.fullmatch(r"\d{1,9}", index) else None


def _by_index(siblings: Sequence[etree._Element]) -> list[etree._Element]:
    """Siblings by their index if every one has one, else in document order."""
    if any(_index_of(element) is None for element in siblings):
        return list(siblings)
    return sorted(siblings, key=lambda element: _index_of(element) or 0)


# ALTO

_TAGS = ("LayoutTag", "StructureTag", "RoleTag", "OtherTag")
_MARGINS = frozenset({"TopMargin", "BottomMargin", "LeftMargin", "RightMargin"})
_BOX = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}


class _Alto:
    """Reads the lines of an ALTO file."""

    is_indexed = False

    def __init__(self, path: Path, root: etree._Element, dpi: float | None) -> None:
        pages = root.findall("{*}Layout[1]/{*}Page")
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
        self._path, self.page = path, pages[0]
        tags = root.iterfind("{*}Tags/*")
        self._labels = {
            tag.get("ID"): tag.get("LABEL", "") for tag in tags if name_of(tag) in _TAGS
        }
        name = root.findtext("{*}Description/{*}sourceImageInformation/{*}fileName")
        unit = root.findtext("{*}Description/{*}MeasurementUnit")
        self.image_name = (name or "").strip()
        self._scale = self._pixels_per_unit((unit or "").strip(), dpi)
        self.size = self._length(self.page, "WIDTH"), self._length(self.page, "HEIGHT")

    def _pixels_per_unit(self, unit: str, dpi: float | None) -> float:
        if unit in {"", "pixel"}:
            return 1.0
        if unit not in _PER_INCH:
            raise DataError("measurement unit {!r} is unknown", unit, file=self._path)
        if dpi is None:
            raise DataError(
                "the file measures in {}, not in pixels",
                unit,
                file=self._path,
                hint="Give the resolution of the scans as dpi, e.g. dpi=300",
            )
        return dpi / _PER_INCH[unit]

    def rows(self, page: etree._Element) -> list[_Row]:
        """The lines of the page in document order. Strings outside of a line become one."""
        line = None
        for part in list(page.iter("{*}String", "{*}SP", "{*}HYP")):
            parent = part.getparent()
            if parent is not None and name_of(parent) != "TextLine":
                if line is None or part.getprevious() is not line:
                    line = etree.Element("TextLine")
                    part.addprevious(line)
                line.append(part)
        place_of = {line: place for block in page.iter() for place, line in enumerate(block, 1)}
        rows = []
        for line in page.iter("{*}TextLine"):
            blocks = (block.get("ID") for block in _below(page, line) if block.get("ID"))
            name = line.get("ID") or f"{next(blocks, 'page')}.{place_of[line]}"
            rows.append(_Row(line, name, _text_of_strings(line), self._outline(line)))
        return rows

    def texts(self, root: etree._Element) -> Iterator[TextPart]:
        """All texts of the file, without alternative readings of a word or glyph."""
        for element in root.iter():
            if name_of(element) != "Variant":
                content = element.get("CONTENT", "")
                text = content if content.strip() else element.get("SUBS_CONTENT", "")
                yield element, text
        for layout in children(root, "Layout"):
            yield from text_nodes(layout, outside=("ALTERNATIVE",))

    def types_of(self, element: etree._Element) -> list[str]:
        """The margin, if the element is one, and the labels of its tags."""
        margin = [name_of(element)] if name_of(element) in _MARGINS else []
        refs = element.get("TAGREFS", "").split()
        return margin + [self._labels[ref] for ref in refs if ref in self._labels]

    def _outline(self, line: etree._Element) -> tuple[Point, ...]:
        """The outline of a line, else the box around its strings; empty where none has a size."""
        polygon = line.find("{*}Shape/{*}Polygon")
        corners = polygon.get("POINTS", "") if polygon is not None else ""
        if shape := points(corners, file=self._path, item=_id_of(line) or "line"):
            return tuple((x * self._scale, y * self._scale) for x, y in shape)
        return self._box(line) or box_around(map(self._box, children(line, "String")))

    def _box(self, element: etree._Element) -> tuple[Point, ...]:
        if not all(element.get(name, "").strip() for name in _BOX):
            return ()
        left, top, width, height = (self._length(element, name) for name in _BOX)
        return box_around([((left, top), (left + width, top + height))])

    def _length(self, element: etree._Element, name: str) -> float:
        item = _id_of(element) or name_of(element)
        return self._scale * number(element.get(name), file=self._path, item=item)


def _text_of_strings(line: etree._Element) -> str:
    pieces: list[str] = []
    for part in line:
        content = part.get("CONTENT", "")
        if name_of(part) == "SP":
            pieces.append(" ")
        elif name_of(part) == "HYP" and pieces:
            pieces[-1] += content
        elif name_of(part) in {"String", "HYP"}:
            glyphs = "".join(glyph.get("CONTENT", "") for glyph in children(part, "Glyph"))
            pieces.append(content if content.strip() else glyphs or content)
    return join_words(pieces)
