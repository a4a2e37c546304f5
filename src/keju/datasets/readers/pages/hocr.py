"""hOCR 1.2, as written by Tesseract, Kraken and keju: HTML with line positions in ``title``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from lxml import etree, html
from msgspec.structs import replace

from keju.datasets.pages import Page
from keju.datasets.readers.base import Detection, Reader, plain_file, source_text
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.page_items import (
    PageSettings,
    import_pages,
    page_layout,
)
from keju.datasets.readers.pages.page_lines import Around
from keju.datasets.readers.xml_parsing import MAX_BYTES, join_words, number, points
from keju.errors import DataError
from keju.items import Line, LineKind, Point
from keju.messages import message

LINES = frozenset({"ocr_line", "ocr_caption", "ocr_header", "ocr_footer", "ocr_textfloat"})
"""Classes of lines; Tesseract writes the last four for captions, headers, footers and floats."""

HOCR_SUFFIXES = ("hocr", "html", "htm", "xhtml")
"""Suffixes of hOCR files, in lower case, without the point."""

_WORDS = {"ocr_caption": "caption", "ocr_header": "header", "ocr_footer": "footer"}
_WORD = "ocrx_word"
_PROPERTY = re.compile(r'([\w-]+)((?:[^;"]|"[^"]*")*)')


def is_hocr(data: bytes) -> bool:
    """Whether an HTML file is hOCR, that is, contains a page."""
    return b"ocr_page" in data


def read_hocr(path: Path, kinds: Mapping[str, LineKind] | None = None) -> Page:
    """Read an hOCR file of one page; `kinds` are the user's meanings of types, before keju's table.

    Lines are in document order, which is hOCR's reading order. The text of a line is that of its
    words, else all text in it; its outline is ``poly``, else ``bbox``; its confidence is the mean
    of all ``x_wconf`` in it. A kind is in ``data-kind`` (keju) or in the class (``ocr_header``).

    Raises:
        DataError: the file has no ocr_page or several, or a position in it is not a list of
            numbers.
    """
    pages = _root(path).find_class("ocr_page")
    if len(pages) != 1:
        raise DataError(message("datasets.hocr-several-pages", count=len(pages)), file=path)
    page = pages[0]
    about = _properties(page)
    corners = _outline({"bbox": about.get("bbox", "")}, path, "ocr_page") or ((0.0, 0.0),) * 4
    return Page(
        file=str(path),
        image_name=about.get("image", "").strip("\"'"),
        width=corners[2][0] - corners[0][0],
        height=corners[2][1] - corners[0][1],
        lines=tuple(_lines(page, path, kinds)),
        explicit_order=True,
    )


def _root(path: Path) -> html.HtmlElement:
    """The document, parsed without DTD, entities or network."""
    if (size := plain_file(path).stat().st_size) > MAX_BYTES:
        raise DataError(message("datasets.hocr-too-large", size=size, most=MAX_BYTES), file=path)
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True
    )
    text = source_text(path)
    try:
        root = html.document_fromstring(text.encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise DataError(message("datasets.not-html", error=error), file=path) from None
    if "</html" not in text[-_END:].casefold():
        # The parser accepts truncated HTML silently.
        raise DataError(message("datasets.hocr-unfinished"), file=path)
    return root


_END = 4096
"""Characters at the end of a file that must contain the end of the document."""


def _lines(
    page: html.HtmlElement, path: Path, kinds: Mapping[str, LineKind] | None
) -> Iterator[Line]:
    found = (each for each in page.iter("*") if LINES & set(each.get("class", "").split()))
    for place, element in enumerate(found, start=1):
        name = element.get("id") or f".{place}"
        words = element.find_class(_WORD)
        texts = [" ".join(word.text_content().split()) for word in words or [element]]
        own = _properties(element)
        outline = _outline(own, path, name)
        line = Around().line(name, join_words(texts), outline, kinds, [_kind(element)])
        given = [_properties(word).get("x_wconf") for word in words] + [own.get("x_wconf")]
        sure = [number(value, file=path, item=name) for value in given if value]
        share = min(max(sum(sure) / len(sure) / 100, 0.0), 1.0) if sure else None
        yield replace(line, confidence=share)


def _kind(line: html.HtmlElement) -> str:
    """The word for a line's kind: keju's own, else that of its class; empty for a plain line."""
    classes = line.get("class", "").split()
    word = next((_WORDS[name] for name in classes if name in _WORDS), "")
    return str(line.get("data-kind", word))


def _properties(element: html.HtmlElement) -> dict[str, str]:
    """The properties in ``title``: names and values, separated by semicolons."""
    return {name: value.strip() for name, value in _PROPERTY.findall(element.get("title", ""))}


def _outline(about: Mapping[str, str], path: Path, name: str) -> tuple[Point, ...]:
    if poly := about.get("poly"):
        return points(poly, file=path, item=name)
    box = points(about.get("bbox", ""), file=path, item=name)
    if len(box) != 2:
        return ()
    (x0, y0), (x1, y1) = box
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def _detect(listing: Listing) -> Detection | None:
    pages = listing.ending("html", "htm", "xhtml")[:_SAMPLE]
    found = [*listing.ending("hocr"), *(path for path in pages if is_hocr(listing.head(path)))]
    if not found:
        return None
    images = len(listing.images)
    what = f"{len(found)} hOCR file{'s'[: len(found) > 1]}, "
    what += f"{images or 'no'} image{'s'[: images != 1]}"
    return Detection(len(found) / (len(found) + len(listing.ending("xml", "txt"))), what)


_SAMPLE = 40
"""The number of HTML files that are opened to detect hOCR."""


READER = Reader(
    "hocr",
    "pages in hOCR 1.2, with or without their images",
    page_layout("hOCR").replace(".xml ", ".hocr"),
    partial(import_pages, read=read_hocr, suffixes=HOCR_SUFFIXES),
    PageSettings,
    _detect,
)
"""The reader of ``keju data import hocr``."""
