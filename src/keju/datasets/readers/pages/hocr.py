"""`parse_hocr`: hOCR 1.2 of Tesseract, Kraken and keju, HTML with positions in ``title``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from lxml import etree, html
from lxml.html import defs

from keju.datasets.readers.xml_parsing import (
    Parsed,
    Row,
    box_around,
    join_words,
    number,
    points,
)
from keju.errors import DataError
from keju.items import Point
from keju.texts import _

_LINES = frozenset(
    {"ocr_line", "ocrx_line", "ocr_caption", "ocr_header", "ocr_footer", "ocr_textfloat"}
)
"""Classes of lines; Tesseract writes the last ones for lines of headings, captions and pull-outs.
An element of these classes that contains another one is an area."""

_KINDS = {
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


def parse_hocr(root: html.HtmlElement) -> Parsed:
    """Parse hOCR of one page.

    Lines are in document order, which is hOCR's reading order: the innermost elements of a class of
    lines, and all text outside of these, one line for each paragraph, area or other block. The text
    of a line has no space between Chinese words; its outline is ``poly``, else ``bbox``, else the
    box around its words; its confidence is the mean of all ``x_wconf`` in it. A type is in
    ``data-kind`` (keju) or in the classes of the line and the areas around it (``ocr_header``).

    Raises:
        DataError: there is no ocr_page or several, or a position in it is not a list of numbers.
    """
    pages = root.find_class("ocr_page")
    if len(pages) != 1:
        hint = _("Keep one page per file, e.g. with hocr-split of hocr-tools")
        raise DataError("{} elements of class ocr_page", len(pages), hint=hint)
    page = pages[0]
    about = _properties(page)
    systems = root.xpath("//meta[@name='ocr-system']/@content")
    by_tesseract = any("tesseract" in system.casefold() for system in systems)
    _simplify(root)
    box = points(about.get("bbox", ""), "ocr_page")
    (x0, y0), (x1, y1) = box if len(box) == 2 else ((0.0, 0.0), (0.0, 0.0))
    return Parsed(
        about.get("image", "").strip("\"'"),
        (x1 - x0, y1 - y0),
        list(_rows(page, by_tesseract=by_tesseract)),
        has_order=True,
    )


_WORD_END = "\u2029"
"""The mark before and after the text of each word in a simplified tree."""


def _simplify(root: html.HtmlElement) -> None:
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


class _Chunk(NamedTuple):
    """Text that becomes a line: what is between two ends of lines or blocks, and its words.

    `container` is the innermost line or block around it. The text has single spaces, and none
    between Chinese words.
    """

    container: html.HtmlElement
    text: str
    words: list[html.HtmlElement]


def _chunks(page: html.HtmlElement, lines: Collection[html.HtmlElement]) -> Iterator[_Chunk]:
    around, raw, words = [page], "", list[html.HtmlElement]()
    for event, element in etree.iterwalk(page, events=("start", "end")):
        begins = event == "start"
        is_block = _is_block(element) and around[-1] not in lines and element is not page
        if is_block if begins else element is around[-1]:
            pieces = [" ".join(piece.split()) for piece in raw.split(_WORD_END)]
            yield _Chunk(around[-1], join_words(pieces), words)
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


def _rows(page: html.HtmlElement, *, by_tesseract: bool) -> Iterator[Row]:
    elements = [element for element in page.iter("*") if _LINES & _classes(element)]
    areas = {around for line in elements for around in line.iterancestors()}
    innermost = {line for line in elements if line not in areas}
    chunks = [
        chunk for chunk in _chunks(page, innermost) if chunk.text or chunk.container in innermost
    ]
    number_of = Counter(chunk.container for chunk in chunks)
    for place, chunk in enumerate(chunks, start=1):
        element = chunk.container
        # A name, a place and a confidence are those of a container with this text alone.
        is_own = element not in areas and element is not page and number_of[element] == 1
        own = _properties(element) if is_own else {}
        name = (element.get("id") if is_own else None) or f"page.{place}"
        of_words = [_properties(word) for word in chunk.words]
        outline = _outline(own, name) or box_around(_outline(word, name) for word in of_words)
        is_line = bool(_LINES & _classes(element)) and is_own
        types = [_kind(element, _TESSERACT_KINDS if by_tesseract and is_line else _KINDS)]
        types += (_kind(area, _KINDS) for area in element.iterancestors())
        values = filter(None, (about.get("x_wconf") for about in (*of_words, own)))
        shares = [number(value, name) / 100 for value in values]
        confidence = min(max(sum(shares) / len(shares), 0.0), 1.0) if shares else None
        words = [word for word in reversed(types) if word]
        yield Row(element, name, chunk.text, outline, words, confidence)


def _kind(element: html.HtmlElement, words: Mapping[str, str]) -> str:
    """The word for the kind of line: keju's own, else that of a class; empty for a plain one."""
    word = next((words[name] for name in words if name in _classes(element)), "")
    return str(element.get("data-kind", word))


def _properties(element: html.HtmlElement) -> dict[str, str]:
    """The properties in ``title``: names and values, separated by semicolons."""
    return {name: value.strip() for name, value in _PROPERTY.findall(element.get("title", ""))}


def _outline(about: Mapping[str, str], name: str) -> tuple[Point, ...]:
    if poly := about.get("poly"):
        return points(poly, name)
    box = points(about.get("bbox", ""), name)
    return box_around([box]) if len(box) == 2 else ()
