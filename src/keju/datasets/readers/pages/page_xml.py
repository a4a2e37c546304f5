"""`read_page`: a page in PAGE-XML (Transkribus, eScriptorium …), ALTO (libraries, kraken) or hOCR.

All versions of the namespaces are read in the same way: PAGE-XML of 2009 to 2019, with points as
attributes or as elements, and ALTO 1 to 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from lxml import etree

from keju.datasets.line_kinds import FLOW, is_specific, kind_of
from keju.datasets.pages import Page
from keju.datasets.readers.pages.hocr import parse_hocr
from keju.datasets.readers.xml_parsing import (
    Parsed,
    Row,
    box_around,
    children,
    id_of,
    join_words,
    name_of,
    number,
    parse_html,
    parse_xml,
    points,
    report_lost_text,
)
from keju.errors import DataError
from keju.items import Line, LineKind, Point
from keju.layout import group_columns
from keju.texts import _, n_

Kinds = Mapping[str, LineKind]
"""The user's meanings of line types, with priority over keju's table."""

ROOTS: Mapping[str, str] = {"PcGts": "PAGE-XML", "alto": "ALTO"}
"""The names of the forms, by the root element of their files."""


def read_page(
    path: Path, kinds: Kinds | None = None, *, form: str = "", dpi: float | None = None
) -> Page:
    """Read one PAGE-XML, ALTO or hOCR file of one page.

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

    hOCR: `parse_hocr`.

    Args:
        path: the file.
        kinds: the user's meanings of types.
        form: the form that the file must have: ``PAGE-XML``, ``ALTO`` or ``hOCR``; by default one
            of the first two.
        dpi: resolution of the scan, for ALTO that measures in 1/10 mm or 1/1200 inch.

    Raises:
        DataError: the file is not of the form, has not one page, something in it is not valid, or
            it uses a unit that cannot be converted to pixels.
    """
    root = parse_html(path) if form == "hOCR" else parse_xml(path)
    stated = "hOCR" if form == "hOCR" else ROOTS.get(name_of(root), "")
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
    try:
        if stated == "hOCR":
            parsed = parse_hocr(root)
        else:
            parsed = _alto(root, dpi) if stated == "ALTO" else _page_xml(root)
        rows, is_ordered = _in_stated_order(parsed.rows, root, kinds)
    except DataError as error:
        raise DataError(error.problem, file=path, item=error.item, hint=error.hint) from None
    report_lost_text(root, parsed, path)
    scale, (width, height) = parsed.scale, parsed.size
    lines = [
        Line(
            id=row.name,
            text=row.text,
            polygon=tuple((x * scale, y * scale) for x, y in row.outline),
            kind=kind_of(row.types, kinds),
            source_kind=_source_kind(row.types),
            confidence=row.confidence,
        )
        for row in rows
    ]
    return Page(
        file=str(path),
        image_name=parsed.image_name,
        width=width * scale,
        height=height * scale,
        lines=tuple(lines),
        explicit_order=is_ordered or parsed.has_order,
    )


def _source_kind(types: Sequence[str]) -> str:
    """The innermost meaningful type of a line, else the innermost one."""
    given = [word for word in reversed(types) if word]
    return next(filter(is_specific, given), "".join(given[:1]))


def _number(element: etree._Element, name: str) -> float:
    return number(element.get(name), id_of(element) or name_of(element))


# The order of lines

_ORDERED = frozenset({"OrderedGroup", "OrderedGroupIndexed"})


def _in_stated_order(
    rows: Sequence[Row], root: etree._Element, kinds: Kinds | None
) -> tuple[Sequence[Row], bool]:
    """The lines in the order of a file's ReadingOrder, if it has one, and whether it states one.

    An ordered group uses the index of its members, or document order where they have none (ALTO);
    unordered groups alone state no order. A line is placed by the first id in it, else the
    innermost one around it, that is referenced; unreferenced lines come last. An order that leaves
    half of the lines of the running text unplaced, as where regions were drawn or deleted later,
    states none.
    """
    groups = root.find(".//{*}ReadingOrder")
    if groups is None or _ORDERED.isdisjoint(map(name_of, groups.iter())):
        return rows, False
    refs = _refs(groups)
    rank = dict(zip(reversed(refs), range(len(refs), 0, -1), strict=True))
    rank_of: dict[etree._Element, float] = {}
    for element in {row.element for row in rows}:
        ids = map(id_of, chain(element.iter(), element.iterancestors()))
        rank_of[element] = next((rank[name] for name in ids if name in rank), math.inf)
    flow = [
        rank_of[row.element]
        for row in rows
        if row.text.strip() and kind_of(row.types, kinds) in FLOW
    ]
    unplaced = flow.count(math.inf)
    is_ordered = min(rank_of.values(), default=math.inf) < math.inf
    is_ordered = is_ordered and (not flow or 2 * unplaced < len(flow))
    return sorted(rows, key=lambda row: rank_of[row.element]), is_ordered


def _refs(group: etree._Element) -> list[str]:
    """The ids that a group refers to, in its order."""
    refs = (group.get("regionRef") or group.get("REF") or "").split()
    members = list(group)
    if name_of(group) in _ORDERED and any(member.get("index") for member in members):
        members.sort(key=lambda member: number(member.get("index"), "ReadingOrder"))
    return refs + [ref for member in members for ref in _refs(member)]


# PAGE-XML

_NO_REGIONS = frozenset({"TextLine", "TextEquiv", "Word", "Glyph", "Coords"})
"""Elements in a region that are not regions, cells or other elements with lines."""

_PARTS = ("Word", "Glyph", "Graphemes", "Grapheme", "GraphemeGroup", "NonPrintingChar")
"""Elements of which the text of a line or word consists."""


def _page_xml(root: etree._Element) -> Parsed:
    page = root.find("{*}Page")
    if page is None:
        raise DataError("the file has no Page element")
    regions = _regions(page)
    return Parsed(
        page.get("imageFilename", ""),
        (_number(page, "imageWidth"), _number(page, "imageHeight")),
        _page_rows(page, "", ()),
        lambda element: next(filter(str.strip, _versions(element)), ""),
        ("Metadata", "TextEquiv"),
        # Indices of the regions of a page, or of the lines of its only region, are an order too.
        has_order=bool(regions) and None not in map(_index_of, regions),
    )


def _page_rows(parent: etree._Element, prefix: str, types: tuple[str, ...]) -> list[Row]:
    """The lines in a page, region or cell: its own, then those of the elements inside it.

    Any element can contain lines, since a text region, table, chart or advertisement can contain
    others, and Transkribus puts the lines of tables into TableCell.
    """
    rows = list[Row]()
    for place, line in enumerate(_by_index(children(parent, "TextLine")), start=1):
        name = id_of(line) or f"{prefix}{place}"
        rows.append(Row(line, name, _text_of(line), _outline(line), types + _type_of(line)))
    for place, region in enumerate(_by_index(_regions(parent)), start=1):
        name = id_of(region) or f"{prefix}r{place}"
        rows += _page_rows(region, f"{name}.", types + _type_of(region))
    texts = [text for text in _text_of(parent).splitlines() if text.strip()]
    if not texts or any(row.text.strip() for row in rows):
        return rows
    # The text is that of the region, and its lines, if any, are outlines. A program may have
    # drawn them in another order than that of the text.
    if len(texts) == len(rows):
        outlines = [Line(id=str(place), polygon=row.outline) for place, row in enumerate(rows)]
        if [*chain.from_iterable(group_columns(outlines))] == outlines:
            return [row._replace(text=text) for row, text in zip(rows, texts, strict=True)]
    outline = _outline(parent) if len(texts) == 1 else ()
    return [
        Row(parent, f"{prefix or 'page.'}{place}", text, outline, types)
        for place, text in enumerate(texts, start=1)
    ]


def _regions(parent: etree._Element) -> list[etree._Element]:
    """The elements in a page or region that contain text, other than its own lines."""
    return [
        child
        for child in parent
        if name_of(child) not in _NO_REGIONS
        and next(child.iter("{*}TextLine", "{*}TextEquiv"), None) is not None
    ]


def _text_of(element: etree._Element) -> str:
    """The text of an element at the nearest level that has one."""
    own = next(_versions(element), "")
    if own.strip():
        return own
    parts = _by_index(children(element, *_PARTS))
    join = join_words if any(name_of(part) == "Word" for part in parts) else "".join
    text = join(list(map(_text_of, parts)))
    return text if text.strip() else own


def _versions(element: etree._Element) -> Iterator[str]:
    """The texts of an element's own TextEquivs, that which counts first, as in dinglehopper.

    That is the one of lowest index; if none has an index, the one of highest confidence, else the
    first one. Its text is its Unicode, else its PlainText.
    """
    for version in sorted(children(element, "TextEquiv"), key=_rank):
        forms = [*children(version, "Unicode"), *children(version, "PlainText")]
        texts = [str(form.xpath("string()")) for form in forms]
        yield next(filter(str.strip, texts), "".join(texts[:1]))


def _rank(version: etree._Element) -> tuple[float, float]:
    index = version.get("index", "")
    try:
        confidence = float(version.get("conf", ""))
    except ValueError:
        confidence = math.nan
    return (
        number(index, "TextEquiv") if index.strip() else math.inf,
        math.inf if math.isnan(confidence) else -confidence,
    )


def _outline(element: etree._Element) -> tuple[Point, ...]:
    return _coords(element) or box_around(map(_coords, children(element, "Word")))


def _coords(element: etree._Element) -> tuple[Point, ...]:
    coords = element.find("{*}Coords")
    if coords is None:
        return ()
    attribute = coords.get("points")
    if attribute is None:  # The versions of 2009 and 2010.
        corners = (point.get(name, "0") for point in coords for name in ("x", "y"))
        attribute = " ".join(corners)
    return points(attribute, id_of(element) or name_of(element))


def _type_of(element: etree._Element) -> tuple[str, ...]:
    kind = _custom(element, "structure", "type") or element.get("type")
    return (kind,) if kind else ()


def _custom(element: etree._Element, group: str, key: str) -> str:
    """A value of Transkribus's ``custom`` attribute, e.g. ``structure {type:Title;}``."""
    pattern = rf"\b{group}\s*\{{(?:[^{{}}]*;)?\s*{key}\s*:([^;{{}}]*)"
    match = re.search(pattern, element.get("custom", ""))
    return match[1].strip() if match else ""


def _index_of(element: etree._Element) -> int | None:
    index = element.get("index") or _custom(element, "readingOrder", "index")
    return int(index) if re.fullmatch(r"\d{1,9}", index) else None


def _by_index(siblings: Iterable[etree._Element]) -> list[etree._Element]:
    """Siblings by their index if every one has one, else in document order."""
    elements = list(siblings)
    if None not in map(_index_of, elements):
        elements.sort(key=lambda element: _index_of(element) or 0)
    return elements


# ALTO

_TAGS = ("LayoutTag", "StructureTag", "RoleTag", "OtherTag")
_MARGINS = frozenset({"TopMargin", "BottomMargin", "LeftMargin", "RightMargin"})
_BOX = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}


def _alto(root: etree._Element, dpi: float | None) -> Parsed:
    pages = root.findall("{*}Layout[1]/{*}Page")
    if len(pages) != 1:
        raise DataError(
            n_(
                "the file has {n:,} page",
                "the file has {n:,} pages",
                len(pages),
                hint="Keep one page per file",
            )
        )
    unit = (root.findtext("{*}Description/{*}MeasurementUnit") or "").strip()
    if unit not in {"", "pixel", *_PER_INCH}:
        raise DataError("measurement unit {!r} is unknown", unit)
    if unit in _PER_INCH and dpi is None:
        raise DataError(
            "the file measures in {}, not in pixels",
            unit,
            hint="Give the resolution of the scans as dpi, e.g. dpi=300",
        )
    name = root.findtext("{*}Description/{*}sourceImageInformation/{*}fileName")
    tags = (tag for tag in root.iterfind("{*}Tags/*") if name_of(tag) in _TAGS)
    labels = {tag.get("ID", ""): tag.get("LABEL", "") for tag in tags}
    return Parsed(
        (name or "").strip(),
        (_number(pages[0], "WIDTH"), _number(pages[0], "HEIGHT")),
        list(_alto_rows(pages[0], labels)),
        lambda string: string.get("CONTENT", "").strip() or string.get("SUBS_CONTENT", ""),
        ("Description", "Styles", "Tags", "ReadingOrder", "Variant", "ALTERNATIVE"),
        scale=dpi / _PER_INCH[unit] if dpi and unit in _PER_INCH else 1.0,
    )


def _alto_rows(page: etree._Element, labels: Mapping[str, str]) -> Iterator[Row]:
    """The lines of the page in document order. Strings outside of a line become one."""
    line = None
    for part in list(page.iter("{*}String", "{*}SP", "{*}HYP")):
        parent = part.getparent()
        if parent is not None and name_of(parent) != "TextLine":
            if line is None or part.getprevious() is not line:
                line = etree.Element("TextLine")
                part.addprevious(line)
            line.append(part)
    place_of = {line: place for block in page.iter() for place, line in enumerate(block, start=1)}
    for line in page.iter("{*}TextLine"):
        types, block_name = list[str](), "page"
        for element in [line, *line.iterancestors()][::-1]:
            types += [name_of(element)] if name_of(element) in _MARGINS else []
            types += (labels[ref] for ref in element.get("TAGREFS", "").split() if ref in labels)
            if element is not line and name_of(element) != "Page":
                block_name = id_of(element) or block_name
        name = id_of(line) or f"{block_name}.{place_of[line]}"
        yield Row(line, name, _text_of_strings(line), _shape(line), tuple(types))


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


def _shape(line: etree._Element) -> tuple[Point, ...]:
    """The outline of a line, else the box around its strings; empty where none has a size."""
    polygon = line.find("{*}Shape/{*}Polygon")
    corners = polygon.get("POINTS", "") if polygon is not None else ""
    outline = points(corners, id_of(line) or "line") or _box(line)
    return outline or box_around(map(_box, children(line, "String")))


def _box(element: etree._Element) -> tuple[Point, ...]:
    if not all(element.get(name, "").strip() for name in _BOX):
        return ()
    left, top, width, height = (_number(element, name) for name in _BOX)
    return box_around([((left, top), (left + width, top + height))])
