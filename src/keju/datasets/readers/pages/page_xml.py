"""`read_page`: a page in PAGE-XML (Transkribus, eScriptorium …), ALTO (libraries, kraken) or hOCR.

All versions of the namespaces are read in the same way: PAGE-XML of 2009 to 2019, with points as
attributes or as elements, ALTO 1 to 4, and hOCR 1.2 of Tesseract, Kraken and keju, which is HTML
with positions in ``title``.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from lxml import etree, html
from lxml.html import defs

from keju.datasets.import_log import import_log
from keju.datasets.line_kinds import FLOW, kind_of
from keju.datasets.pages import Page
from keju.datasets.readers.xml_parsing import LARGEST, children, name_of, parse_html, parse_xml
from keju.errors import DataError
from keju.items import Line, LineKind, Point
from keju.layout import group_columns
from keju.texts import _, n_

Kinds = Mapping[str, LineKind]
"""The user's meanings of line types, with priority over keju's table."""

ROOTS: Mapping[str, str] = {"PcGts": "PAGE-XML", "alto": "ALTO"}
"""The names of the forms, by the root element of their files."""

_CJK = "\u2e80"


class _Row(NamedTuple):
    """A line: the element that it is from, and the types around it and its own, outermost first."""

    element: etree._Element
    name: str
    text: str
    outline: tuple[Point, ...]
    types: Sequence[str]
    confidence: float | None = None


class _Parsed(NamedTuple):
    """A file: the image and size of the page, and its lines.

    `own_text` is the text that the attributes or versions of an element state; the text nodes of an
    element whose name is in `skipped` are not of the page, or an alternative text. `has_order`
    means that the order of the lines is the stated one, `scale` are the pixels of a unit of length.
    """

    image_name: str
    size: Sequence[float]
    rows: Sequence[_Row]
    own_text: Callable[[etree._Element], str] = lambda _element: ""
    skipped: tuple[str, ...] = ()
    has_order: bool = False
    scale: float = 1.0


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

    hOCR: the lines are the innermost elements of a class of lines, and all text outside of these,
    one line for each paragraph, area or other block, in document order. The text of a line has no
    space between Chinese words; its outline is ``poly``, else ``bbox``, else the box around its
    words; its confidence is the mean of all ``x_wconf`` in it. A type is in ``data-kind`` (keju) or
    in the classes of the line and the areas around it (``ocr_header``).

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
            parsed = _hocr(root)
        else:
            parsed = _alto(root, dpi) if stated == "ALTO" else _page_xml(root)
        lines = [_line_of(row, parsed.scale, kinds) for row in parsed.rows]
        ordered, is_ordered = _in_stated_order(lines, parsed.rows, root)
    except DataError as error:
        raise DataError(error.problem, file=path, item=error.item, hint=error.hint) from None
    _report_lost_text(root, parsed, path)
    return Page(
        file=str(path),
        image_name=parsed.image_name,
        width=parsed.size[0] * parsed.scale,
        height=parsed.size[1] * parsed.scale,
        lines=ordered,
        explicit_order=is_ordered or parsed.has_order,
    )


def _line_of(row: _Row, scale: float, kinds: Kinds | None) -> Line:
    kind, word = kind_of(row.types, kinds)
    return Line(
        id=row.name,
        text=row.text,
        polygon=tuple((x * scale, y * scale) for x, y in row.outline),
        kind=kind,
        source_kind=word,
        confidence=row.confidence,
    )


# Values that the forms share


def _id_of(element: etree._Element) -> str:
    """The id of an element; empty if it has none."""
    return element.get("id") or element.get("ID") or ""


def _number(value: str | None, item: str) -> float:
    """A number from an attribute, of a size that a page can have; an absent or empty one is 0.

    Raises:
        DataError: it is not a number, or too large.
    """
    if value is None or not value.strip():
        return 0.0
    try:
        result = float(value)
    except ValueError:
        result = math.nan
    if math.isnan(result):
        hint = _("Write a number of pixels")
        raise DataError("{!r} is not a number", value[:40], item=item, hint=hint)
    if abs(result) > LARGEST:
        raise DataError("{!r} is too large for a page", value[:40], item=item, hint="Draw it again")
    return result


def _numbers(element: etree._Element, *names: str) -> list[float]:
    """The numbers in attributes of an element."""
    return [_number(element.get(name), _id_of(element) or name_of(element)) for name in names]


def _points(text: str, item: str) -> tuple[Point, ...]:
    """Points written ``x,y x,y`` (PAGE-XML, ALTO) or ``x y x y`` (ALTO as kraken writes it).

    Raises:
        DataError: it is not a list of pairs.
    """
    values = [_number(value, item) for value in re.split(r"[\s,]+", text) if value]
    if len(values) % 2:
        problem = _("the outline has an odd number of values")
        raise DataError(problem, item=item, hint="Draw it again")
    return tuple(zip(values[::2], values[1::2], strict=True))


def _box_around(outlines: Iterable[tuple[Point, ...]]) -> tuple[Point, ...]:
    """The corners of the box around outlines; empty if it has no area."""
    corners = [point for outline in outlines for point in outline]
    if not corners:
        return ()
    xs, ys = zip(*corners, strict=True)
    x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1)) if x0 < x1 and y0 < y1 else ()


def _join_words(words: Sequence[str]) -> str:
    """Words of one line as text: with a space between two only where neither is Chinese."""
    text = ""
    for word in filter(None, words):
        spaced = text and not text[-1].isspace() and not word[0].isspace()
        text += f" {word}" if spaced and text[-1] < _CJK and word[0] < _CJK else word
    return text


# The order of lines

_ORDERED = frozenset({"OrderedGroup", "OrderedGroupIndexed"})


def _in_stated_order(
    lines: Sequence[Line], rows: Sequence[_Row], root: etree._Element
) -> tuple[tuple[Line, ...], bool]:
    """The lines in the order of a file's ReadingOrder, if it has one, and whether it states one.

    An ordered group uses the index of its members, or document order where they have none (ALTO);
    unordered groups alone state no order. A line is placed by the first id in it, else the
    innermost one around it, that is referenced; unreferenced lines come last. An order that leaves
    half of the lines of the running text unplaced, as where regions were drawn or deleted later,
    states none.
    """
    groups = root.find(".//{*}ReadingOrder")
    if groups is None or _ORDERED.isdisjoint(map(name_of, groups.iter())):
        return tuple(lines), False
    refs = _refs(groups)
    rank = dict(zip(reversed(refs), range(len(refs), 0, -1), strict=True))
    rank_of: dict[etree._Element, float] = {}
    for element in {row.element for row in rows}:
        ids = map(_id_of, chain(element.iter(), element.iterancestors()))
        rank_of[element] = next((rank[name] for name in ids if name in rank), math.inf)
    ranked = [(rank_of[row.element], line) for row, line in zip(rows, lines, strict=True)]
    flow = [place for place, line in ranked if line.text.strip() and line.kind in FLOW]
    is_ordered = min(rank_of.values(), default=math.inf) < math.inf
    is_ordered = is_ordered and (not flow or 2 * flow.count(math.inf) < len(flow))
    ranked.sort(key=itemgetter(0))
    return tuple(line for _rank, line in ranked), is_ordered


def _refs(group: etree._Element) -> list[str]:
    """The ids that a group refers to, in its order."""
    refs = (group.get("regionRef") or group.get("REF") or "").split()
    members = list(group)
    if name_of(group) in _ORDERED and any(member.get("index") for member in members):
        members.sort(key=lambda member: _number(member.get("index"), "ReadingOrder"))
    return refs + [ref for member in members for ref in _refs(member)]


# PAGE-XML

_NO_REGIONS = frozenset({"TextLine", "TextEquiv", "Word", "Glyph", "Coords"})
"""Elements in a region that are not regions, cells or other elements with lines."""

_PARTS = ("Word", "Glyph", "Graphemes", "Grapheme", "GraphemeGroup", "NonPrintingChar")
"""Elements of which the text of a line or word consists."""


def _page_xml(root: etree._Element) -> _Parsed:
    page = root.find("{*}Page")
    if page is None:
        raise DataError("the file has no Page element")
    regions = _regions(page)
    return _Parsed(
        page.get("imageFilename", ""),
        _numbers(page, "imageWidth", "imageHeight"),
        _page_rows(page, "", ()),
        lambda element: next(filter(str.strip, _versions(element)), ""),
        ("Metadata", "TextEquiv"),
        # Indices of the regions of a page, or of the lines of its only region, are an order too.
        has_order=bool(regions) and None not in map(_index_of, regions),
    )


def _page_rows(parent: etree._Element, prefix: str, types: tuple[str, ...]) -> list[_Row]:
    """The lines in a page, region or cell: its own, then those of the elements inside it.

    Any element can contain lines, since a text region, table, chart or advertisement can contain
    others, and Transkribus puts the lines of tables into TableCell.
    """
    rows = list[_Row]()
    for place, line in enumerate(_by_index(children(parent, "TextLine")), start=1):
        name = _id_of(line) or f"{prefix}{place}"
        rows.append(_Row(line, name, _text_of(line), _outline(line), types + _type_of(line)))
    for place, region in enumerate(_by_index(_regions(parent)), start=1):
        name = _id_of(region) or f"{prefix}r{place}"
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
        _Row(parent, f"{prefix or 'page.'}{place}", text, outline, types)
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
    join = _join_words if any(name_of(part) == "Word" for part in parts) else "".join
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
        _number(index, "TextEquiv") if index.strip() else math.inf,
        math.inf if math.isnan(confidence) else -confidence,
    )


def _outline(element: etree._Element) -> tuple[Point, ...]:
    return _coords(element) or _box_around(map(_coords, children(element, "Word")))


def _coords(element: etree._Element) -> tuple[Point, ...]:
    coords = element.find("{*}Coords")
    if coords is None:
        return ()
    attribute = coords.get("points")
    if attribute is None:  # The versions of 2009 and 2010.
        corners = (point.get(name, "0") for point in coords for name in ("x", "y"))
        attribute = " ".join(corners)
    return _points(attribute, _id_of(element) or name_of(element))


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


def _alto(root: etree._Element, dpi: float | None) -> _Parsed:
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
    return _Parsed(
        (name or "").strip(),
        _numbers(pages[0], "WIDTH", "HEIGHT"),
        list(_alto_rows(pages[0], labels)),
        lambda string: string.get("CONTENT", "").strip() or string.get("SUBS_CONTENT", ""),
        ("Description", "Styles", "Tags", "ReadingOrder", "Variant", "ALTERNATIVE"),
        scale=dpi / _PER_INCH[unit] if dpi and unit in _PER_INCH else 1.0,
    )


def _alto_rows(page: etree._Element, labels: Mapping[str, str]) -> Iterator[_Row]:
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
                block_name = _id_of(element) or block_name
        name = _id_of(line) or f"{block_name}.{place_of[line]}"
        yield _Row(line, name, _text_of_strings(line), _shape(line), tuple(types))


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
    return _join_words(pieces)


def _shape(line: etree._Element) -> tuple[Point, ...]:
    """The outline of a line, else the box around its strings; empty where none has a size."""
    polygon = line.find("{*}Shape/{*}Polygon")
    corners = polygon.get("POINTS", "") if polygon is not None else ""
    outline = _points(corners, _id_of(line) or "line") or _box(line)
    return outline or _box_around(map(_box, children(line, "String")))


def _box(element: etree._Element) -> tuple[Point, ...]:
    if not all(element.get(name, "").strip() for name in _BOX):
        return ()
    left, top, width, height = _numbers(element, *_BOX)
    return _box_around([((left, top), (left + width, top + height))])


# hOCR

_LINES = frozenset(
    {"ocr_line", "ocrx_line", "ocr_caption", "ocr_header", "ocr_footer", "ocr_textfloat"}
)
"""Classes of lines; Tesseract writes the last ones for lines of headings, captions and pull-outs.
An element of these classes that contains another one is an area."""

_HOCR_KINDS = {
    "ocr_caption": "caption",
    "ocr_header": "header",
    "ocr_footer": "footer",
    "ocr_pageno": "page-number",
    "ocr_title": "title",
    "ocr_author": "author",
}
"""The words for the kinds of line that classes state."""

_TESSERACT_KINDS = {"ocr_caption": "", "ocr_header": "heading"}
"""The same for single lines in files of Tesseract, which has no page headers: it calls headings
`ocr_header` and captions `ocr_caption`, and both are in its text."""

_WORD = "ocrx_word"
_CHARACTERS = frozenset({"ocrx_cinfo", "ocr_cinfo", "ocr_glyph", "ocr_glyphs"})
_INLINE = frozenset({_WORD, *_CHARACTERS, "ocr_symbol", "ocr_dropcap", "ocr_math", "ocr_chem"})
_BLOCK_TAGS = frozenset({*defs.block_tags, "body", "br", "td", "th"})
_NO_TEXT = frozenset({"script", "style", "head"})
"""Elements whose text is not shown."""

_PROPERTY = re.compile(r'([\w-]+)((?:[^;"]|"[^"]*")*)')


def _hocr(root: html.HtmlElement) -> _Parsed:
    pages = root.find_class("ocr_page")
    if len(pages) != 1:
        hint = _("Keep one page per file, e.g. with hocr-split of hocr-tools")
        raise DataError("{} elements of class ocr_page", len(pages), hint=hint)
    page = pages[0]
    about = _properties(page)
    systems = root.xpath("//meta[@name='ocr-system']/@content")
    by_tesseract = any("tesseract" in system.casefold() for system in systems)
    _simplify_hocr(root)
    box = _points(about.get("bbox", ""), "ocr_page")
    (x0, y0), (x1, y1) = box if len(box) == 2 else ((0.0, 0.0), (0.0, 0.0))
    return _Parsed(
        about.get("image", "").strip("\"'"),
        (x1 - x0, y1 - y0),
        list(_hocr_rows(page, by_tesseract=by_tesseract)),
        has_order=True,
    )


_WORD_END = "\u2029"
"""The mark before and after the text of each word in a simplified tree."""


def _simplify_hocr(root: html.HtmlElement) -> None:
    """Remove what is not read from a tree, and replace the content of each word by its text.

    Other readings than the best are not read: Tesseract writes those among which it chose into the
    word (`lstm_choice_mode`); hOCR has ``<del class="alt">``.
    """
    for element in list(root.iter("*")):
        classes = _classes(element)
        is_choice = (
            (element.tag == "del" and "alt" in classes)
            or "ocr_symbol" in classes
            or element.get("id", "").startswith(("lstm_choices_", "timestep", "choice_"))
        )
        if element.tag in _NO_TEXT or is_choice:
            element.drop_tree()
    for word in root.find_class(_WORD):
        of_characters = any(_CHARACTERS & _classes(part) for part in word.iter("*"))
        text = ("" if of_characters else " ").join(word.text_content().split())
        for part in list(word):
            word.remove(part)
        word.text = f"{_WORD_END}{text}{_WORD_END}"


_Chunk = tuple[html.HtmlElement, str, list[html.HtmlElement]]
"""Text between two ends of lines or blocks, which becomes a line: the innermost line or block
around it, the text with single spaces and none between Chinese words, and its words."""


def _chunks(page: html.HtmlElement, lines: Collection[html.HtmlElement]) -> Iterator[_Chunk]:
    around, raw, words = [page], "", list[html.HtmlElement]()
    for event, element in etree.iterwalk(page, events=("start", "end")):
        begins = event == "start"
        is_block = _is_block(element) and around[-1] not in lines and element is not page
        if is_block if begins else element is around[-1]:
            text = _join_words([" ".join(piece.split()) for piece in raw.split(_WORD_END)])
            if text or around[-1] in lines:
                yield around[-1], text, words
            raw, words = "", []
            if begins:
                around.append(element)
            else:
                around.pop()
        if begins:
            raw += " " if element.tag == "br" else element.text or ""
            words += [element] if _WORD in _classes(element) else []
        elif element is not page:
            raw += element.tail or ""


def _is_block(element: html.HtmlElement) -> bool:
    """Whether text before, in and after an element is not one line."""
    named = {name for name in _classes(element) if name.startswith("ocr")}
    return bool(named - _INLINE) or element.tag in _BLOCK_TAGS


def _classes(element: html.HtmlElement) -> set[str]:
    return set(element.get("class", "").split())


def _hocr_rows(page: html.HtmlElement, *, by_tesseract: bool) -> Iterator[_Row]:
    elements = [element for element in page.iter("*") if _LINES & _classes(element)]
    areas = {around for line in elements for around in line.iterancestors()}
    innermost = {line for line in elements if line not in areas}
    chunks = list(_chunks(page, innermost))
    number_of = Counter(element for element, _text, _words in chunks)
    for place, (element, text, words) in enumerate(chunks, start=1):
        # A name, a place and a confidence are those of a container with this text alone.
        is_own = element not in areas and element is not page and number_of[element] == 1
        own = _properties(element) if is_own else {}
        name = (element.get("id") if is_own else None) or f"page.{place}"
        of_words = [_properties(word) for word in words]
        outline = _hocr_outline(own, name) or _box_around(
            _hocr_outline(word, name) for word in of_words
        )
        values = filter(None, (about.get("x_wconf") for about in (*of_words, own)))
        shares = [_number(value, name) / 100 for value in values]
        confidence = min(max(sum(shares) / len(shares), 0.0), 1.0) if shares else None
        is_line = bool(_LINES & _classes(element)) and is_own
        types = [_hocr_kind(element, _TESSERACT_KINDS if by_tesseract and is_line else _HOCR_KINDS)]
        types += (_hocr_kind(area, _HOCR_KINDS) for area in element.iterancestors())
        yield _Row(element, name, text, outline, types[::-1], confidence)


def _hocr_kind(element: html.HtmlElement, words: Mapping[str, str]) -> str:
    """The word for the kind of line: keju's own, else that of a class; empty for a plain one."""
    word = next((words[name] for name in words if name in _classes(element)), "")
    return str(element.get("data-kind", word))


def _properties(element: html.HtmlElement) -> dict[str, str]:
    """The properties in ``title``: names and values, separated by semicolons."""
    return {name: value.strip() for name, value in _PROPERTY.findall(element.get("title", ""))}


def _hocr_outline(about: Mapping[str, str], name: str) -> tuple[Point, ...]:
    if poly := about.get("poly"):
        return _points(poly, name)
    box = _points(about.get("bbox", ""), name)
    return _box_around([box]) if len(box) == 2 else ()


# Text that is lost


def _report_lost_text(root: etree._Element, parsed: _Parsed, file: Path) -> None:
    """Record in the log of the import which text of a file is not in its lines.

    Files give the same text at several levels, and are corrected at one of them. The text of
    another level is therefore lost only where it has more characters than the lines inside or
    around it, or mostly different ones. White space is not compared.
    """
    taken = defaultdict[etree._Element, str](str)
    for line in parsed.rows:
        taken[line.element] += line.text.strip() and line.text
    levels = defaultdict[tuple[etree._Element, str], list[tuple[etree._Element, str]]](list)
    walk = etree.iterwalk(root, events=("start",))
    for _event, element in walk:
        if name_of(element) in parsed.skipped:
            walk.skip_subtree()
            continue
        nodes = "".join(filter(None, [element.text, *(child.tail for child in element)]))
        for text in (parsed.own_text(element), nodes):
            if text.strip() and not taken.get(element):
                outer = next((up for up in element.iterancestors() if taken.get(up)), element)
                levels[outer, name_of(element)].append((element, text))
    for (outer, _level), parts in levels.items():
        lines = taken.get(outer) or "".join(taken.get(inner, "") for inner in outer.iter())
        if missing := _missing("\n".join(text for _element, text in parts), lines):
            rows = [(part, row) for part, text in parts for row in text.splitlines() if row.strip()]
            # The rows that were taken are not an example of the lost text.
            part, row = next((pair for pair in rows if _missing(pair[1], lines)), rows[0])
            import_log().lost(file, _place_of(part), row, missing)


def _missing(text: str, taken: str) -> int:
    """How many characters of a text were not taken; 0 for another reading of the taken text."""
    text_counts, taken_counts = (
        Counter("".join(unicodedata.normalize("NFC", content).split())) for content in (text, taken)
    )
    shortage, surplus = (text_counts - taken_counts).total(), (taken_counts - text_counts).total()
    return shortage if shortage > surplus or 2 * shortage > text_counts.total() else 0


def _place_of(element: etree._Element) -> str:
    """The class (hOCR) or name of an element and its id, or that of the nearest one around it."""
    classes = element.get("class", "").split()
    kind = next((name for name in classes if name.startswith("ocr")), name_of(element))
    if name := _id_of(element):
        return f"{kind} {name}"
    outer = next(filter(None, map(_id_of, element.iterancestors())), "")
    return f"{kind} in {outer}" if outer else kind
