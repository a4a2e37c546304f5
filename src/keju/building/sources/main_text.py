"""The main text of a web page, without menus, small print and links to other pages."""

from __future__ import annotations

import re
from typing import NamedTuple

from lxml import etree
from lxml import html as lxml_html

from keju.errors import DataError
from keju.messages import message

_AROUND = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "button",
    "select", "iframe", "svg",
)  # fmt: skip
"""Elements that are not part of a page's main text."""
_NO_TEXT = ("figure", "sup")
_BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "li", "dd", "dt", "tr", "blockquote", "pre", "h1",
    "h2", "h3", "h4", "h5", "h6", "br", "ul", "ol", "table", "body", "td",
})  # fmt: skip
_PARAGRAPHS = ("p", "li", "dd", "blockquote", "pre", "td", "h2", "h3", "h4")
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs"}
"""Encodings that pages declare, and those in which they are actually written."""
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]+")


class WebText(NamedTuple):
    """A page's title, its main text, one paragraph per line, and its images outside menus."""

    title: str
    text: str
    images: tuple[str, ...] = ()


def page_text(data: bytes, *, name: str) -> WebText:
    """The title and main text of a page.

    The main text is that of the element whose own paragraphs have most characters outside links; an
    ``article`` or ``main`` with half of the page's is preferred.

    Raises:
        DataError: it is empty, not in its declared encoding, or nested too deeply.
    """
    # An encoding declaration inside is no longer true after decoding. Old pages open a font with
    # every paragraph and close none, so deep trees are common here.
    parser = lxml_html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = lxml_html.document_fromstring(_as_utf8(data, name), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        raise DataError(message("building.page-empty"), file=name) from None
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise DataError(message("building.html-nested-too-deep"), file=name)
    title = " ".join(str(root.xpath("string(//title)")).split())
    _drop(root, _AROUND)
    images = tuple(src for image in root.iter("img") if (src := image.get("src")))
    _drop(root, _NO_TEXT)
    return WebText(title, _lines(_main(root)), images)


def _drop(root: lxml_html.HtmlElement, names: tuple[str, ...]) -> None:
    for element in list(root.iter(*names)):
        if isinstance(element, lxml_html.HtmlElement):
            element.drop_tree()


def _as_utf8(data: bytes, name: str) -> bytes:
    """The page in UTF-8, decoded by its byte order mark, its declared encoding, or as UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        named = _CHARSET.search(data[:4096])
        encoding = named[1].decode("ascii").casefold() if named else "utf-8"
        encoding = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else encoding
    try:
        return data.decode(_WIDER.get(encoding, encoding)).encode()
    except (UnicodeError, LookupError):
        raise DataError(
            message("building.page-encoding-differs", encoding=encoding), file=name
        ) from None


def _main(root: lxml_html.HtmlElement) -> lxml_html.HtmlElement:
    """The element with most text: its paragraphs' characters, less those of links twice."""
    scores: dict[lxml_html.HtmlElement, float] = {}
    for paragraph in root.iter(*_PARAGRAPHS):
        worth = _length(paragraph) - 2 * sum(_length(link) for link in paragraph.iter("a"))
        for share, element in zip((1.0, 0.5, 0.25), paragraph.iterancestors(), strict=False):
            scores[element] = scores.get(element, 0.0) + share * max(0, worth)
    body = root.find("body")
    whole = body if body is not None else root
    half = _length(whole) / 2
    for element in root.iter("article", "main"):
        if _length(element) >= half:
            return element
    # Of equal elements the outermost is first in the document and is taken.
    return max(scores, key=lambda element: scores[element]) if any(scores.values()) else whole


def _length(element: lxml_html.HtmlElement) -> int:
    return sum(not char.isspace() for char in str(element.text_content()))


def _lines(element: lxml_html.HtmlElement) -> str:
    """The text of an element, one block per line."""
    parts: list[str] = []
    for event, each in etree.iterwalk(element, events=("start", "end")):
        if each.tag in _BLOCKS:
            parts.append("\n")
        if event == "start":
            parts.append(_flowing(each.text))
        elif each is not element:
            parts.append(_flowing(each.tail))
    lines = (_SPACE.sub(" ", line).strip() for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _flowing(text: str | None) -> str:
    """Text as displayed: a line break is a space, or nothing between Chinese characters."""
    return re.sub(r"(?<=[\u2e80-\uffef])\s*\n\s*(?=[\u2e80-\uffef])", "", text or "").replace(
        "\n", " "
    )
