"""Parsing of untrusted XML and HTML, and what the parsers of PAGE-XML, ALTO and hOCR share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lxml import etree, html

from keju.datasets.readers.base import source_bytes, source_text
from keju.errors import DataError

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


def name_of(element: etree._Element) -> str:
    """An element's name without its namespace, so that versions of a format do not differ."""
    return str(element.tag).rpartition("}")[2]


def children(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The children with those names, in any namespace."""
    return (child for child in element if name_of(child) in names)
