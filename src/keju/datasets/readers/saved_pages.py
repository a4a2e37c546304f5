"""Saved web pages: ``NAME.html`` with ``NAME.html.toml``, read as text, address and licence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, NamedTuple

from lxml import etree
from lxml import html as lxml_html
from msgspec import Meta, Struct

from keju.datasets.readers.base import source_bytes
from keju.errors import DataError
from keju.files import read_toml
from keju.items import Provenance
from keju.settings import convert_settings
from keju.texts import _

_AROUND = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "button",
    "select", "iframe", "svg", "figure", "sup",
)  # fmt: skip
"""Elements that are not part of a page's main text."""
_BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "li", "dd", "dt", "tr", "blockquote", "pre", "h1",
    "h2", "h3", "h4", "h5", "h6", "br", "ul", "ol", "table", "body", "td",
})  # fmt: skip
_PARAGRAPHS = ("p", "li", "dd", "blockquote", "pre", "td", "h2", "h3", "h4")
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs"}
"""Encodings that pages declare, and those in which they are actually written."""
_BROKEN_LINE = re.compile(r"(?<=[\u2e80-\uffef])\s*\n\s*(?=[\u2e80-\uffef])")
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]+")


class Sidecar(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The facts about a saved page that its table does not have."""

    address: Annotated[str, Meta(description="Address of the page.")] = ""
    licence: Annotated[str, Meta(description="Licence of the page.")] = ""


class SavedPage(NamedTuple):
    """A page's main text, and the provenance of material from it."""

    text: str
    provenance: Provenance


def read_saved(file: Path, *, licence: str, address: str) -> SavedPage:
    """Read a saved page; `licence` and `address` are used if its sidecar has none.

    Raises:
        DataError: no licence, address or text, or the page cannot be read.
        UsageError: the sidecar cannot be read.
    """
    sidecar = file.with_name(f"{file.name}.toml")
    table = read_toml(sidecar, dict[str, object]) if sidecar.is_file() else {}
    facts = convert_settings(table, Sidecar, place=str(sidecar))
    licence, address = facts.licence or licence, facts.address or address
    for fact, name in ((licence, _("licence")), (address, _("address"))):
        if not fact:
            hint = _("Add it to {}", sidecar.name)
            raise DataError("the web page has no {}", name, file=file, hint=hint)
    text = extract_page_text(source_bytes(file), file)
    return SavedPage(text, Provenance(step="web", source=address, licence=licence))


def extract_page_text(data: bytes, file: Path) -> str:
    """The main text of a page, one paragraph per line.

    It is that of the element whose own paragraphs have most characters outside links; an
    ``article`` or ``main`` with half of the page's is preferred.

    Raises:
        DataError: it is empty, not in its declared encoding, or nested too deeply.
    """
    # After decoding, a declared encoding does not apply any more. Old pages open a font element in
    # every paragraph and close none, so deep trees are common.
    parser = lxml_html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = lxml_html.document_fromstring(_decode_to_utf8(data, file), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        raise DataError("the page is empty", file=file) from None
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise DataError("nested too deep to be read completely", file=file)
    etree.strip_elements(root, *_AROUND, with_tail=False)
    if text := _join_blocks(_find_main_element(root)):
        return text
    raise DataError("the page is empty", file=file)


def _decode_to_utf8(data: bytes, file: Path) -> bytes:
    """Convert to UTF-8: by the byte order mark, else the declared encoding, else as UTF-8."""
    charset = _CHARSET.search(data[:4096])
    encoding = charset[1].decode("ascii").casefold() if charset else "utf-8"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif data.startswith(b"\xef\xbb\xbf"):
        encoding = "utf-8-sig"
    try:
        return data.decode(_WIDER.get(encoding, encoding)).encode()
    except (UnicodeError, LookupError):
        raise DataError("not in its declared encoding, {}", encoding, file=file) from None


def _find_main_element(root: lxml_html.HtmlElement) -> lxml_html.HtmlElement:
    """Find the element with most text: the characters of its paragraphs, minus twice its links'."""
    scores: dict[lxml_html.HtmlElement, float] = {}
    for paragraph in root.iter(*_PARAGRAPHS):
        in_links = sum(map(_count_characters, paragraph.iter("a")))
        worth = max(0, _count_characters(paragraph) - 2 * in_links)
        for share, element in zip((1.0, 0.5, 0.25), paragraph.iterancestors(), strict=False):
            scores[element] = scores.get(element, 0.0) + share * worth
    body = root.find("body")
    page = root if body is None else body
    for element in root.iter("article", "main"):
        if 2 * _count_characters(element) >= _count_characters(page):
            return element
    # Of equal elements the outermost is first in the document and is chosen.
    return max(scores, key=scores.__getitem__) if any(scores.values()) else page


def _count_characters(element: lxml_html.HtmlElement) -> int:
    return sum(not char.isspace() for char in str(element.text_content()))


def _join_blocks(element: lxml_html.HtmlElement) -> str:
    """The text of an element, one block per line.

    A line break in a text is a space, as it is displayed; between Chinese characters it is nothing.
    """
    parts: list[str] = []
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        if inner.tag in _BLOCKS:
            parts.append("\n")
        text = inner.text if event == "start" else inner.tail
        if event == "start" or inner is not element:
            parts.append(_BROKEN_LINE.sub("", text or "").replace("\n", " "))
    lines = (_SPACE.sub(" ", line).strip() for line in "".join(parts).split("\n"))
    return "\n".join(filter(None, lines))
