"""`read_page`: a page in PAGE-XML (Transkribus, eScriptorium, OCR-D …) or ALTO (libraries, kraken).

All versions of the namespaces are read in the same way: PAGE-XML of 2009 to 2019, with points as
attributes or as elements, and ALTO 1 to 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from lxml import etree
from msgspec.structs import replace

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

_ORDERED = frozenset({"OrderedGroup", "OrderedGroupIndexed"})


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
    reader = _Alto(path, kinds, root, dpi) if stated == "ALTO" else _PageXml(path, kinds, root)
    lines, explicit = _in_stated_order(reader.rows(reader.page, reader.around), reader.order, path)
    report_lost_text(reader.texts(root), reader.taken, path)
    width, height = reader.size
    return Page(
        file=str(path),
        image_name=reader.image_name,
        width=width,
        height=height,
        lines=lines,
        explicit_order=explicit or reader.is_indexed,
    )


class _Row(NamedTuple):
    """A line, and the ids of itself and the regions around it, innermost first."""

    line: Line
    ids: tuple[str, ...]


class _Around(NamedTuple):
    """The regions around a line: ids, innermost first, and types, outermost first."""

    ids: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def inside(self, id_: str, *types: str) -> _Around:
        """The context of lines in a region inside this one."""
        return _Around((*filter(None, [id_]), *self.ids), (*self.types, *types))

    def name(self, place: object) -> str:
        """The name of an element without one, from its region."""
        return f"{self.ids[0]}.{place}" if self.ids else str(place)


def line_of(
    name: str, text: str, polygon: tuple[Point, ...], types: Sequence[str], kinds: Kinds | None
) -> Line:
    """A line with the kind that the types around it and its own mean, outermost first."""
    return Line(
        id=name,
        text=text,
        polygon=polygon,
        kind=kind_of(types, kinds),
        source_kind=most_specific_word(types),
    )


class _Reader:
    """Reads the lines of a file; `taken` has the text of each element that they came from.

    A subclass has `rows`, the lines in an element in document order, and `texts`, all texts of the
    file without alternative readings.
    """

    page: etree._Element
    order: etree._Element | None
    image_name: str
    size: tuple[float, float]
    around = _Around()
    is_indexed = False

    def __init__(self, path: Path, kinds: Kinds | None) -> None:
        self._path = path
        self._kinds = kinds
        self.taken: dict[etree._Element, str] = {}

    def _row(
        self, name: str, text: str, outline: tuple[Point, ...], around: _Around, *types: str
    ) -> _Row:
        line = line_of(name, text, outline, (*around.types, *types), self._kinds)
        return _Row(line, around.ids)

    def _number(self, element: etree._Element, name: str, item: str = "") -> float:
        return number(element.get(name), file=self._path, item=item or name_of(element))


# The order of lines


def _in_stated_order(
    rows: Sequence[_Row], reading_order: etree._Element | None, file: Path
) -> tuple[tuple[Line, ...], bool]:
    """The lines in the order of a file's ReadingOrder, if it has one, and whether it states one.

    An ordered group uses the index of its members, or document order where they have none (ALTO);
    unordered groups alone state no order. A line is placed by the innermost id that is referenced;
    unreferenced lines come last. An order that leaves half of the lines of the running text
    unplaced, as where regions were drawn or deleted later, states none.

    Raises:
        DataError: an index is not a number.
    """
    rank: dict[str, int] = {}
    if reading_order is not None and any(
        name_of(group) in _ORDERED for group in reading_order.iter()
    ):
        for ref in _refs(reading_order, file):
            rank.setdefault(ref, len(rank))
    keys = [next((rank[id_] for id_ in row.ids if id_ in rank), len(rank)) for row in rows]
    order = sorted(range(len(rows)), key=keys.__getitem__)
    flow = [
        key < len(rank)
        for row, key in zip(rows, keys, strict=True)
        if row.line.text.strip() and row.line.kind in FLOW
    ]
    states = any(key < len(rank) for key in keys) and (not flow or 2 * sum(flow) > len(flow))
    return tuple(rows[place].line for place in order), states


def _refs(group: etree._Element, file: Path) -> list[str]:
    """The ids that a group refers to, in its order."""
    refs = (group.get("regionRef") or group.get("REF") or "").split()
    members = list(group)
    if name_of(group) in _ORDERED:
        indices = [member.get("index") for member in members]
        keys = [
            place if index is None else number(index, file=file, item="ReadingOrder")
            for place, index in enumerate(indices)
        ]
        members = [members[place] for place in sorted(range(len(members)), key=keys.__getitem__)]
    return refs + [ref for member in members for ref in _refs(member, file)]


# PAGE-XML

_NO_REGIONS = frozenset({"TextLine", "TextEquiv", "Word", "Glyph", "Coords"})
"""Elements in a region that are not regions, cells or other elements with lines."""

_PARTS = ("Word", "Glyph", "Graphemes", "Grapheme", "GraphemeGroup", "NonPrintingChar")
"""Elements of which the text of a line or word consists."""


class _PageXml(_Reader):
    def __init__(self, path: Path, kinds: Kinds | None, root: etree._Element) -> None:
        super().__init__(path, kinds)
        page = root.find("{*}Page")
        if page is None:
            raise DataError("the file has no Page element", file=path)
        self.page, self.order = page, page.find("{*}ReadingOrder")
        self.image_name = page.get("imageFilename", "")
        self.size = self._number(page, "imageWidth"), self._number(page, "imageHeight")
        # Indices of the regions of a page, or of the lines of its only region, are an order too.
        self.is_indexed = _all_indexed(
            [child for child in page if name_of(child).endswith("Region")]
        )

    def rows(self, parent: etree._Element, around: _Around) -> list[_Row]:
        """The lines in a page, region or cell: its own, then those of the elements inside it.

        Any element can contain lines, since a text region, table, chart or advertisement can
        contain others, and Transkribus puts the lines of tables into TableCell.
        """
        rows = list[_Row]()
        for place, element in enumerate(_by_index(list(children(parent, "TextLine")))):
            name = element.get("id") or around.name(place + 1)
            text, outline = self._text_of(element) or "", self._outline(element, name)
            rows.append(self._row(name, text, outline, around, _type_of(element)))
        inner = [
            child for child in parent if name_of(child) not in _NO_REGIONS and _holds_text(child)
        ]
        for place, region in enumerate(_by_index(inner)):
            name = region.get("id") or around.name(f"r{place + 1}")
            rows += self.rows(region, around.inside(name, _type_of(region)))
        if any(row.line.text.strip() for row in rows):
            return rows
        return self._rows_of_region(parent, around, [row.line for row in rows]) or rows

    def _rows_of_region(
        self, region: etree._Element, around: _Around, lines: Sequence[Line]
    ) -> list[_Row]:
        """The text of a region without lines, or whose lines are only outlines.

        Rows get the outlines if there is one for each, in the order in which columns are read.
        Otherwise a program drew them in another order than that of the text.
        """
        texts = [row for row in (self._text_of(region) or "").splitlines() if row.strip()]
        if len(texts) == len(lines) and _are_in_order(lines):
            pairs = zip(lines, texts, strict=True)
            return [_Row(replace(line, text=text), around.ids) for line, text in pairs]
        outline = self._outline(region, around.name("text")) if len(texts) == 1 else ()
        if not around.ids:
            around = around.inside("page")
        return [
            self._row(around.name(place), text, outline, around)
            for place, text in enumerate(texts, 1)
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
        indices = [
            self._number(version, "index") if version.get("index", "").strip() else math.inf
            for version in versions
        ]
        ranks = (
            indices if min(indices) < math.inf else [-_confidence(version) for version in versions]
        )
        return _forms_of(versions[ranks.index(min(ranks))])

    def texts(self, root: etree._Element) -> Iterator[TextPart]:
        """All texts of the file; of the versions of one text only that which counts."""
        for element in root.iter():
            versions = list(children(element, "TextEquiv"))
            texts = [self._own_text(element) or "", *map(_forms_of, versions)]
            if text := next(filter(str.strip, texts), ""):
                yield TextPart(element, text, repeats=True)
        yield from text_nodes(root, outside=("Metadata", "TextEquiv"))

    def _outline(self, element: etree._Element, name: str) -> tuple[Point, ...]:
        return self._coords(element, name) or box_around(
            self._coords(word, name) for word in children(element, "Word")
        )

    def _coords(self, element: etree._Element, name: str) -> tuple[Point, ...]:
        coords = element.find("{*}Coords")
        if coords is None:
            return ()
        if (attribute := coords.get("points")) is not None:
            return points(attribute, file=self._path, item=name)
        return tuple(
            (self._number(point, "x", name), self._number(point, "y", name))
            for point in children(coords, "Point")
        )


def _are_in_order(lines: Sequence[Line]) -> bool:
    """Whether lines have outlines, and their order is that of the columns of the page."""
    ordered = [line.id for column in group_columns(lines) for line in column]
    return ordered == [line.id for line in lines]


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
    pattern = rf"\b{group}\s*\{{(?:[^{{}}]*;)?\s*{key}\s*:([^;{{}}]*)"
    match = re.search(pattern, element.get("custom", ""))
    return match[1].strip() if match else ""


def _type_of(element: etree._Element) -> str:
    return _custom(element, "structure", "type") or element.get("type", "")


def _index_of(element: etree._Element) -> int | None:
    index = element.get("index") or _custom(element, "readingOrder", "index")
    return int(index) if re.fullmatch(r"\d{1,9}", index) else None


def _by_index(siblings: Sequence[etree._Element]) -> list[etree._Element]:
    """Siblings by their index if every one with text has one, else in document order."""
    if not _all_indexed(siblings):
        return list(siblings)
    return sorted(siblings, key=lambda element: _index_of(element) or 0)


def _all_indexed(siblings: Sequence[etree._Element]) -> bool:
    with_text = [one for one in siblings if not name_of(one).endswith("Region") or _holds_text(one)]
    return bool(with_text) and all(_index_of(one) is not None for one in with_text)


def _holds_text(region: etree._Element) -> bool:
    return any(name_of(part) in {"TextLine", "TextEquiv"} for part in region.iter())


# ALTO

_TAGS = ("LayoutTag", "StructureTag", "RoleTag", "OtherTag")
_MARGINS = frozenset({"TopMargin", "BottomMargin", "LeftMargin", "RightMargin"})
_IN_LINES = frozenset({"String", "SP", "HYP"})
_BOX = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}


class _Alto(_Reader):
    around = _Around(("page",))

    def __init__(
        self, path: Path, kinds: Kinds | None, root: etree._Element, dpi: float | None
    ) -> None:
        super().__init__(path, kinds)
        layout, tags = root.find("{*}Layout"), root.find("{*}Tags")
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
        self.page, self.order = pages[0], root.find("{*}ReadingOrder")
        self._labels = {
            tag.get("ID", ""): tag.get("LABEL", "")
            for tag in (children(tags, *_TAGS) if tags is not None else ())
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

    def rows(self, parent: etree._Element, around: _Around) -> list[_Row]:
        """The lines in a block or margin, and in those inside it."""
        rows = list[_Row]()
        for place, child in enumerate(parent):
            own, kind, before = child.get("ID", ""), name_of(child), child.getprevious()
            labels = [self._labels.get(ref) for ref in child.get("TAGREFS", "").split()]
            types = [label for label in labels if label is not None]
            if kind == "TextLine":
                parts = list(child)
            elif kind not in _IN_LINES:
                margin = [kind] if kind in _MARGINS else []
                rows += self.rows(child, around.inside(own, *margin, *types))
                continue
            elif before is not None and name_of(before) in _IN_LINES:
                continue
            else:
                siblings = (child, *child.itersiblings())
                parts = list(takewhile(lambda sibling: name_of(sibling) in _IN_LINES, siblings))
            name, text = own or around.name(place + 1), self._text_of(parts)
            row = self._row(name, text, self._outline(child, parts), around, *types)
            ids = (id_ for part in (*parts, child) if (id_ := part.get("ID")))
            rows.append(_Row(row.line, (*ids, *row.ids)))
        return rows

    def _text_of(self, parts: Sequence[etree._Element]) -> str:
        pieces: list[str] = []
        for part in parts:
            content = part.get("CONTENT", "")
            if name_of(part) == "SP":
                pieces.append(" ")
            elif name_of(part) == "HYP" and pieces:
                pieces[-1] += content
            elif name_of(part) in {"String", "HYP"}:
                if not content.strip():
                    glyphs = {each: each.get("CONTENT", "") for each in children(part, "Glyph")}
                    self.taken |= glyphs
                    content = "".join(glyphs.values()) or content
                pieces.append(content)
            if content.strip():
                self.taken[part] = content
        return join_words(pieces)

    def texts(self, root: etree._Element) -> Iterator[TextPart]:
        """All texts of the file, without alternative readings of a word or glyph."""
        for element in root.iter():
            if name_of(element) != "Variant":
                content = element.get("CONTENT", "")
                text = content if content.strip() else element.get("SUBS_CONTENT", "")
                yield TextPart(element, text, repeats=True)
        for layout in children(root, "Layout"):
            yield from text_nodes(layout, outside=("ALTERNATIVE",))

    def _outline(self, line: etree._Element, parts: Sequence[etree._Element]) -> tuple[Point, ...]:
        """The outline of a line, else the box around its strings; empty where none has a size."""
        polygon = line.find("{*}Shape/{*}Polygon")
        corners = polygon.get("POINTS", "") if polygon is not None else ""
        if shape := points(corners, file=self._path, item=line.get("ID") or "line"):
            return tuple((x * self._scale, y * self._scale) for x, y in shape)
        own = self._box(line) if name_of(line) == "TextLine" else ()
        return own or box_around(self._box(part) for part in parts if name_of(part) == "String")

    def _box(self, element: etree._Element) -> tuple[Point, ...]:
        if not all(element.get(name, "").strip() for name in _BOX):
            return ()
        left, top, width, height = (self._length(element, name) for name in _BOX)
        return box_around([((left, top), (left + width, top + height))])

    def _length(self, element: etree._Element, name: str) -> float:
        return self._scale * self._number(element, name, element.get("ID", ""))
