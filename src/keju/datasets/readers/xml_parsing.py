"""Parsing of untrusted XML, and helpers shared by PAGE-XML, ALTO and hOCR."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from lxml import etree

from keju.datasets.readers.base import source_bytes
from keju.errors import DataError
from keju.items import Point

MAX_BYTES = 64 << 20
"""Maximum size; a page's file has a few hundred kilobytes."""

LARGEST = 1e6
"""Maximum coordinate of a page, in any unit of these formats."""

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


BEGINNING = 1 << 16
"""Bytes in which `root_name` looks for the root element."""


def name_of(element: etree._Element) -> str:
    """An element's name without its namespace, so that versions of a format do not differ."""
    return str(element.tag).rpartition("}")[2]


def children(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The children with those names, in any namespace."""
    return (child for child in element if name_of(child) in names)


def number(value: str | None, *, file: Path, item: str) -> float:
    """A number from an attribute, of a size that a page can have; an absent or empty one is 0.

    Raises:
        DataError: it is not a number, or too large.
    """
    if value is None or not value.strip():
        return 0.0
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if math.isnan(found):
        raise DataError(
            "{!r} is not a number",
            value[:40],
            file=file,
            item=item,
            hint="Write a number of pixels",
        )
    if abs(found) > LARGEST:
        raise DataError(
            "{!r} is too large for a page", value[:40], file=file, item=item, hint="Draw it again"
        )
    return found


def points(text: str, *, file: Path, item: str) -> tuple[Point, ...]:
    """Points written ``x,y x,y`` (PAGE-XML, ALTO) or ``x y x y`` (ALTO as kraken writes it).

    Raises:
        DataError: it is not a list of pairs.
    """
    values = [
        number(value, file=file, item=item)
        for value in re.split(r"[\s,]+", text.strip(" \t\r\n,"))
        if value
    ]
    if len(values) % 2:
        raise DataError(
            "the outline has an odd number of values", file=file, item=item, hint="Draw it again"
        )
    return tuple(zip(values[::2], values[1::2], strict=True))


def box_around(outlines: Iterable[tuple[Point, ...]]) -> tuple[Point, ...]:
    """The corners of the box around outlines; empty if it has no area."""
    corners = [point for outline in outlines for point in outline]
    if not corners:
        return ()
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1)) if x0 < x1 and y0 < y1 else ()


def join_words(words: Sequence[str]) -> str:
    """Words of one line as text: with a space between two only where neither is Chinese."""
    text = ""
    for word in filter(None, words):
        spaced = text and not text[-1].isspace() and not word[0].isspace()
        text += f" {word}" if spaced and text[-1] < _CJK and word[0] < _CJK else word
    return text
