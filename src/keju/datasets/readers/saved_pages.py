"""Saved web pages: ``NAME.html`` with ``NAME.html.toml``, read as text, address and licence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath
from typing import Annotated, NamedTuple
from urllib.parse import unquote

from lxml import etree
from lxml import html as lxml_html
from msgspec import Meta, Struct, field

from keju.datasets.readers.base import inside, source_bytes
from keju.errors import DataError
from keju.files import read_toml
from keju.images import probe_image
from keju.items import Provenance
from keju.settings import convert_settings
from keju.texts import n_

_SIDECAR = ".toml"


class Sidecar(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metadata of a saved page; `saved` is the day, in any notation."""

    address: Annotated[str, Meta(description="Address of the page.")] = ""
    licence: Annotated[str, Meta(description="Licence of the page.")] = ""
    title: Annotated[str, Meta(description="Title, if not the page's own.")] = ""
    saved: Annotated[str, Meta(description="Day on which the page was saved.")] = ""
    image: Annotated[str, Meta(description="Image that the page is about: a file beside it.")] = ""
    image_licence: Annotated[str, Meta(description="Licence of the image, if not the page's.")] = ""
    image_source: Annotated[str, Meta(description="Source of the image, if not the page.")] = ""
    task: Annotated[str, Meta(description="Task of the page's item, if not the source's.")] = ""
    fields: Annotated[
        dict[str, str],
        Meta(description="Values of the placeholders in the task's prompt, e.g. book of T44."),
    ] = field(default_factory=dict)


class SavedPage(NamedTuple):
    """A page's main text, its address and licence, and the rest of its sidecar.

    `images` are the addresses of the images outside its menus, as the page writes them.
    """

    file: Path
    title: str
    text: str
    address: str
    licence: str
    images: tuple[str, ...]
    sidecar: Sidecar

    @property
    def provenance(self) -> Provenance:
        """The provenance of material from the page."""
        return Provenance(step="web", source=self.address, licence=self.licence)


def get_sidecar_path(file: Path) -> Path:
    """Return the path of a page's sidecar."""
    return file.with_name(file.name + _SIDECAR)


def read_saved(file: Path, *, licence: str, address: str, shortest: int) -> SavedPage:
    """Read a saved page and its sidecar.

    `licence` and `address` are used if its sidecar has none; `shortest` is the minimum length of
    the text in characters.

    Raises:
        DataError: no licence, address or text, or the page cannot be read.
        UsageError: the sidecar cannot be read.
    """
    beside = get_sidecar_path(file)
    known = Sidecar()
    if beside.is_file():
        known = convert_settings(read_toml(beside, dict[str, object]), Sidecar, place=str(beside))
    if not (known.licence or licence):
        raise DataError("no licence is given. Add it to {} or to the recipe", beside.name)
    if not (known.address or address):
        raise DataError("no address is given. Add it to {} or to the recipe", beside.name)
    title, text, images = extract_page_text(source_bytes(file), name=str(file))
    if len(text) < shortest:
        raise DataError(
            n_("only {n:,} character of text", "only {n:,} characters of text", len(text))
        )
    return SavedPage(
        file,
        known.title or title,
        text,
        known.address or address,
        known.licence or licence,
        images,
        known,
    )


def find_image(page: SavedPage, folder: Path, *, own: bool) -> Path | None:
    """Find the image that a page is about: the one that its sidecar names, else its own largest.

    No image is taken from outside `folder`. `own`: the images that the page itself shows count too.

    Raises:
        DataError: the sidecar's image is missing or leads out of the folder, or `own` is set and
            the page shows no image that is saved in the folder.
    """
    if name := page.sidecar.image:
        path = _find_beside(page.file, name, folder)
        if path is None:
            raise DataError("no image {!r} beside {}", name, page.file.name, file=page.file)
        return path
    if not own:
        return None
    sizes = {path: pixels for path, pixels in _iter_saved_images(page, folder) if pixels}
    if not sizes:
        raise DataError(
            "no image is saved with the page. Save the page with its images, or name one in {}",
            get_sidecar_path(page.file).name,
        )
    return max(sizes, key=lambda path: sizes[path])


def _iter_saved_images(page: SavedPage, folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the readable images of a page that are saved in the folder, each with its pixels."""
    for name in dict.fromkeys(page.images):
        try:
            path = _find_beside(page.file, unquote(name.partition("?")[0]), folder)
            if path is not None:
                facts = probe_image(source_bytes(path), name=str(path))
                yield path, facts.width * facts.height
        except DataError:
            continue


def _find_beside(file: Path, name: str, folder: Path) -> Path | None:
    """Return a file by its path relative to the page, or None if it does not exist."""
    within = normpath((file.parent.relative_to(folder) / name).as_posix())
    path = inside(folder, within, file=file, item=name)
    return path if path.is_file() else None


# ---- the main text of a page

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


def extract_page_text(data: bytes, *, name: str) -> tuple[str, str, tuple[str, ...]]:
    """Extract a page's title, main text (one paragraph per line) and images outside menus.

    The main text is that of the element whose own paragraphs have most characters outside links; an
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
        root = lxml_html.document_fromstring(_decode_to_utf8(data, name), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        raise DataError("the page is empty", file=name) from None
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise DataError("nested too deep to be read completely", file=name)
    title = " ".join(str(root.xpath("string(//title)")).split())
    _remove_elements(root, _AROUND)
    images = tuple(src for image in root.iter("img") if (src := image.get("src")))
    _remove_elements(root, _NO_TEXT)
    return title, _join_blocks(_find_main_element(root)), images


def _remove_elements(root: lxml_html.HtmlElement, names: tuple[str, ...]) -> None:
    for element in list(root.iter(*names)):
        if isinstance(element, lxml_html.HtmlElement):
            element.drop_tree()


def _decode_to_utf8(data: bytes, name: str) -> bytes:
    """Convert to UTF-8: by the byte order mark, else the declared encoding, else as UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        charset = _CHARSET.search(data[:4096])
        encoding = charset[1].decode("ascii").casefold() if charset else "utf-8"
        encoding = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else encoding
    try:
        return data.decode(_WIDER.get(encoding, encoding)).encode()
    except (UnicodeError, LookupError):
        raise DataError("not in its declared encoding, {}", encoding, file=name) from None


def _find_main_element(root: lxml_html.HtmlElement) -> lxml_html.HtmlElement:
    """Find the element with most text: the characters of its paragraphs, minus twice its links'."""
    scores: dict[lxml_html.HtmlElement, float] = {}
    for paragraph in root.iter(*_PARAGRAPHS):
        worth = _count_characters(paragraph) - 2 * sum(
            _count_characters(link) for link in paragraph.iter("a")
        )
        for share, element in zip((1.0, 0.5, 0.25), paragraph.iterancestors(), strict=False):
            scores[element] = scores.get(element, 0.0) + share * max(0, worth)
    body = root.find("body")
    page_element = body if body is not None else root
    half = _count_characters(page_element) / 2
    for element in root.iter("article", "main"):
        if _count_characters(element) >= half:
            return element
    # Of equal elements the outermost is first in the document and is chosen.
    return max(scores, key=scores.__getitem__) if any(scores.values()) else page_element


def _count_characters(element: lxml_html.HtmlElement) -> int:
    return sum(not char.isspace() for char in str(element.text_content()))


def _join_blocks(element: lxml_html.HtmlElement) -> str:
    """Return the text of an element, one block per line."""
    parts: list[str] = []
    for event, each in etree.iterwalk(element, events=("start", "end")):
        if each.tag in _BLOCKS:
            parts.append("\n")
        if event == "start":
            parts.append(_join_lines(each.text))
        elif each is not element:
            parts.append(_join_lines(each.tail))
    lines = (_SPACE.sub(" ", line).strip() for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _join_lines(text: str | None) -> str:
    """Return text as displayed: a line break is a space, or nothing between Chinese characters."""
    return re.sub(r"(?<=[\u2e80-\uffef])\s*\n\s*(?=[\u2e80-\uffef])", "", text or "").replace(
        "\n", " "
    )
