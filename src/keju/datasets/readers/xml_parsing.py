"""Parsing of untrusted XML and HTML, and what the parsers of PAGE-XML, ALTO and hOCR share."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from lxml import etree, html

from keju.datasets.import_log import import_log
from keju.datasets.readers.base import source_bytes, source_text
from keju.errors import DataError
from keju.items import Point
from keju.texts import _

MAX_BYTES = 64 << 20
"""Maximum size; a page's file has a few hundred kilobytes."""

LARGEST = 1e6
"""Maximum coordinate of a page, in any unit of these formats."""

BEGINNING = 1 << 16
"""Bytes in which `root_name` looks for the root element."""

_CJK = "\u2e80"


def parse_xml(path: Path) -> etree._Element:
    """The root of an XML file, parsed without entities, DTD, network or huge nodes.

    Raises:
        DataError: the file is missing, too large, not well formed, or contains a DOCTYPE, which
            neither PAGE-XML nor ALTO uses and by which a file can expand or access other files.
    """
    data = source_bytes(path, MAX_BYTES)
    if b"<!DOCTYPE" in data.replace(b"\0", b""):  # Without the zeros of UTF-16 and UTF-32.
        raise DataError("the XML has a DOCTYPE", file=path, hint="Remove the DOCTYPE")
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DataError(
            "not well-formed XML: {}", error.msg, file=path, hint="Export it again, as UTF-8"
        ) from None


def parse_html(path: Path) -> html.HtmlElement:
    """The root of an HTML file, parsed without DTD, entities or network.

    Raises:
        DataError: the file is missing, too large, in no known encoding, not HTML or cut off.
    """
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True
    )
    text = source_text(path, MAX_BYTES)
    try:
        root = html.document_fromstring(text.encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise DataError("not readable as HTML: {}", error, file=path) from None
    # The parser accepts truncated HTML silently.
    if "</html" not in text[-4096:].casefold():
        raise DataError("it ends without </html>", file=path, hint="Write the file again")
    return root


def root_name(data: bytes) -> str:
    """The name of the root element, from the beginning of an XML file; empty if there is none."""
    parser = etree.XMLPullParser(
        ["start"], resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False
    )
    with suppress(etree.XMLSyntaxError):
        parser.feed(data[:BEGINNING])
        parser.close()  # It keeps the last bytes back until then.
    elements = (element for _event, element in parser.read_events())
    return next((name_of(root) for root in elements if isinstance(root, etree._Element)), "")


class Row(NamedTuple):
    """A line: the element that it is from, and the types around it and its own, outermost first."""

    element: etree._Element
    name: str
    text: str
    outline: tuple[Point, ...]
    types: Sequence[str]
    confidence: float | None = None


TextPart = tuple[etree._Element, str]
"""An element, and the text that it has itself."""


class Parsed(NamedTuple):
    """A file: the image and size of the page, its lines, and all texts without alternative ones.

    `has_order` means that the order of the lines is the stated one, `scale` are the pixels of a
    unit of length.
    """

    image_name: str
    size: tuple[float, float]
    rows: Sequence[Row]
    texts: Iterable[TextPart]
    has_order: bool = False
    scale: float = 1.0


def name_of(element: etree._Element) -> str:
    """An element's name without its namespace, so that versions of a format do not differ."""
    return str(element.tag).rpartition("}")[2]


def children(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The children with those names, in any namespace."""
    return (child for child in element if name_of(child) in names)


def id_of(element: etree._Element) -> str:
    """The id of an element; empty if it has none."""
    return element.get("id") or element.get("ID") or ""


@contextmanager
def about_file(file: Path) -> Iterator[None]:
    """Name the file in the errors of the functions below."""
    try:
        yield
    except DataError as error:
        error.file = error.file or str(file)
        error.args = (error.render("en"),)
        raise


def number(value: str | None, item: str) -> float:
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


def points(text: str, item: str) -> tuple[Point, ...]:
    """Points written ``x,y x,y`` (PAGE-XML, ALTO) or ``x y x y`` (ALTO as kraken writes it).

    Raises:
        DataError: it is not a list of pairs.
    """
    values = [number(value, item) for value in re.split(r"[\s,]+", text) if value]
    if len(values) % 2:
        problem = _("the outline has an odd number of values")
        raise DataError(problem, item=item, hint="Draw it again")
    return tuple(zip(values[::2], values[1::2], strict=True))


def box_around(outlines: Iterable[tuple[Point, ...]]) -> tuple[Point, ...]:
    """The corners of the box around outlines; empty if it has no area."""
    corners = [point for outline in outlines for point in outline]
    if not corners:
        return ()
    xs, ys = zip(*corners, strict=True)
    x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1)) if x0 < x1 and y0 < y1 else ()


def join_words(words: Sequence[str]) -> str:
    """Words of one line as text: with a space between two only where neither is Chinese."""
    text = ""
    for word in filter(None, words):
        spaced = text and not text[-1].isspace() and not word[0].isspace()
        text += f" {word}" if spaced and text[-1] < _CJK and word[0] < _CJK else word
    return text


# Text that is lost


def report_lost_text(parsed: Parsed, file: Path) -> None:
    """Record in the log of the import which text of a file is not in its lines.

    Files give the same text at several levels, and are corrected at one of them. The text of
    another level is therefore lost only where it has more characters than the lines inside or
    around it, or mostly different ones. White space is not compared.
    """
    texts_of = defaultdict[etree._Element, list[str]](list)
    for line in parsed.rows:
        if line.text.strip():
            texts_of[line.element].append(line.text)
    taken = {element: "".join(texts) for element, texts in texts_of.items()}
    groups = defaultdict[TextPart, list[TextPart]](list)
    for element, text in parsed.texts:
        if element not in taken and text.strip():
            outer = (ancestor for ancestor in element.iterancestors() if ancestor in taken)
            groups[next(outer, element), name_of(element)].append((element, text))
    for (element, _level), group in groups.items():
        lines = taken.get(element) or "".join(taken.get(inner, "") for inner in element.iter())
        if missing := _missing("\n".join(text for _element, text in group), lines):
            rows = [(part, row) for part, text in group for row in text.splitlines() if row.strip()]
            # The rows that were taken are not an example of the lost text.
            part, row = next((pair for pair in rows if _missing(pair[1], lines)), rows[0])
            import_log().lost(file, _place_of(part), row, missing)


def text_nodes(root: etree._Element, outside: Iterable[str] = ()) -> Iterator[TextPart]:
    """The text nodes below an element, except in elements of the names `outside`."""
    walk = etree.iterwalk(root, events=("start",))
    for _event, element in walk:
        if name_of(element) in outside:
            walk.skip_subtree()
        else:
            tails = (child.tail for child in element)
            yield element, "".join(filter(None, [element.text, *tails]))


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
    if name := id_of(element):
        return f"{kind} {name}"
    outer = next(filter(None, map(id_of, element.iterancestors())), "")
    return f"{kind} in {outer}" if outer else kind
