"""`read_result`: one page transcribed by another program, as text, PAGE-XML, ALTO or hOCR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from keju.datasets.line_kinds import FLOW, has_known_kind
from keju.datasets.pages import Page
from keju.datasets.readers.base import plain_file, source_text
from keju.datasets.readers.pages.alto import read_alto
from keju.datasets.readers.pages.hocr import HOCR_SUFFIXES, is_hocr, read_hocr
from keju.datasets.readers.pages.page_items import has_other_shape, on_picture
from keju.datasets.readers.pages.page_xml import read_page
from keju.datasets.readers.pages.xml_roots import root_of_bytes
from keju.errors import DataError
from keju.items import ImageRef, Line
from keju.texts import _

T = TypeVar("T")

SUFFIXES = frozenset({"txt", "xml", *HOCR_SUFFIXES})
"""Suffixes of result files, in lower case, without the point."""

MOST_CHARACTERS = 1_000_000
"""Maximum length of the text of a page in characters."""

_HEAD = 1 << 20

# Any resolution will do: the page is scaled to the size of its image.
_ANY_DPI = 254.0

_READERS: Mapping[str, Callable[[Path], Page]] = {
    "PAGE-XML": read_page,
    "ALTO": partial(read_alto, dpi=_ANY_DPI),
    "hOCR": read_hocr,
}
_ROOTS = {"PcGts": "PAGE-XML", "alto": "ALTO"}
TEXT = "txt"
"""The format of a file with only the text."""


class ResultForm(NamedTuple):
    """The format of a result file; empty if it has none, and then `other` describes the file."""

    name: str
    other: str = ""


class PageResult(NamedTuple):
    """A page as transcribed by a program.

    `text` has one row for each line of the file, in its order, without lines that the file labels
    as marginal (header, page number, seal …); `marginal` are these. `page` has all lines and the
    image name in the file; None for plain text. `outlined` means that lines have positions.
    """

    text: str
    page: Page | None = None
    marginal: tuple[Line, ...] = ()
    outlined: bool = False

    @property
    def image_name(self) -> str:
        """The image name in the file, or an empty string."""
        return self.page.image_name if self.page else ""

    def is_unplaced_on(self, image: ImageRef) -> bool:
        """Whether the positions of the lines are useless, since the file is of another image."""
        return bool(self.page and self.outlined and has_other_shape(self.page, image))

    def lines_on(self, image: ImageRef) -> tuple[Line, ...]:
        """All lines in the file's order, with outlines in pixels of an image."""
        if self.page is None:
            return ()
        if not self.outlined:
            return self.page.lines
        if self.is_unplaced_on(image):
            return tuple(replace(line, polygon=()) for line in self.page.lines)
        return on_picture(self.page.lines, self.page, image)

    @property
    def summary(self) -> PageResult:
        """The same without the text and the lines, except marginal ones."""
        return self._replace(text="", page=replace(self.page, lines=()) if self.page else None)


def form_of(path: Path) -> ResultForm:
    """The format of a file with one of `SUFFIXES`.

    Raises:
        DataError: the file cannot be read.
    """
    suffix = path.suffix.casefold().lstrip(".")
    if suffix == "txt":
        return ResultForm(TEXT)
    with plain_file(path).open("rb") as stream:
        head = stream.read(_HEAD)
    if suffix in HOCR_SUFFIXES:
        return ResultForm("hOCR") if is_hocr(head) else ResultForm("", _("HTML without hOCR"))
    root = root_of_bytes(head)
    if root in _ROOTS:
        return ResultForm(_ROOTS[root])
    if root:
        return ResultForm("", _("{}, not PAGE-XML or ALTO", f"<{root[:40]}>"))
    return ResultForm("", _("not XML"))


def read_result(path: Path, form: str) -> PageResult:
    """Read one file, whose form is that of `form_of`.

    The text of PAGE-XML and ALTO is in the order that the file states, else in document order;
    geometry is never used, since the order is part of the program's result. Encodings of text files
    are detected as by an import.

    Raises:
        DataError: the file is damaged, has several pages, is too large, or is in no known encoding.
    """
    lines: tuple[Line, ...] = ()
    page: Page | None = None
    if form == TEXT:
        # Tesseract and pdftotext end a page with a form feed.
        text = _with_own_hint(source_text, path).strip("\n\f\t ")
    else:
        page = _with_own_hint(_READERS[form], path)
        lines = tuple(_in_text_if_unknown(line) for line in page.lines)
        page = replace(page, lines=lines)
        text = "\n".join(line.text for line in lines if line.text and line.kind in FLOW)
    size = len(text) + sum(len(line.text) + len(line.polygon) for line in lines)
    if size > 2 * MOST_CHARACTERS:
        raise DataError(
            "more than {:,} characters and points, too many for a page",
            MOST_CHARACTERS,
            file=path,
            hint="Keep one page per file",
        )
    return PageResult(
        text,
        page,
        marginal=tuple(line for line in lines if line.text and line.kind not in FLOW),
        outlined=any(line.polygon for line in lines),
    )


def _with_own_hint(read: Callable[[Path], T], path: Path) -> T:
    """The result of a reader; an error about an option of imports gets another hint."""
    try:
        return read(path)
    except DataError as error:
        if "--option" not in (error.hint or ""):
            raise
        raise DataError(
            error.problem,
            file=path,
            hint=_("Convert the file to UTF-8, for example: iconv -f ENCODING -t UTF-8 FILE > NEW"),
        ) from None


def _in_text_if_unknown(line: Line) -> Line:
    """The line, as main text where keju does not know its type."""
    unknown = line.kind == "other" and not has_known_kind(line.source_kind)
    return replace(line, kind="main") if unknown else line
