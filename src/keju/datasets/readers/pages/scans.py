"""`Scan`: a file with page images (an image, a PDF, a TIFF with several frames), and `Texts`."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple, TypeVar

from PIL import Image

from keju.datasets.readers.base import check_time, plain_file, source_bytes, source_text
from keju.datasets.readers.pages.pdf_pages import PageImage, PdfReader
from keju.errors import DataError
from keju.images import (
    EXTENSIONS,
    MAX_PIXELS,
    decoding,
    frames_of,
    open_header,
    upright,
)
from keju.texts import _, n_

MOST_TEXT = 32 << 20
"""Maximum size in bytes of the text of a page or a scan; reading one takes up to 20 times as much.
"""

_AFTER = re.compile(r"(.+?)[-_. ](?:page|p)?[-_. ]?0*(\d{1,6})")
_NUMBER = re.compile(r"(?:page|p)?[-_. ]?0*(\d{1,6})", re.IGNORECASE)
_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16"})

AnyPath = TypeVar("AnyPath", bound=PurePath)

Pages = Mapping[int, tuple[Path, str]]
"""Texts of pages by their number, each with its file."""

TRUTH, PREDICTION = ".gt", ".pred"
"""The endings before ``.txt`` of tesstrain, kraken and OCR4all: the text, and an engine's."""


class Scan(NamedTuple):
    """A file with page images: its path, and its number of pages; None: it is an image itself."""

    file: Path
    pages: int | None

    @property
    def stem(self) -> Path:
        """The path without suffix."""
        return self.file.with_suffix("")

    @property
    def numbers(self) -> range:
        """The numbers of its pages."""
        return range(1, (self.pages or 1) + 1)

    def name(self, number: int) -> str:
        """The name of a page, for messages and ids: ``book/003``; ``book`` of an image."""
        width = max(3, len(str(self.pages)))
        return self.stem.name if self.pages is None else f"{self.stem.name}/{number:0{width}}"


def scan_of(file: Path, pdfs: PdfReader) -> Scan:
    """The scan in a file.

    Raises:
        DataError: a PDF or TIFF is damaged, or has too many pages.
    """
    suffix = file.suffix.casefold()
    if suffix == ".pdf":
        return Scan(file, pdfs.length(file))
    frames = 1
    if suffix in {".tif", ".tiff"}:
        with decoding(plain_file(file), str(file)):
            frames = len(frames_of(open_header(file, name=str(file)), name=str(file)))
    return Scan(file, frames if frames > 1 else None)


def images_of(
    scan: Scan, wanted: Collection[int], dpi: int | None, pdfs: PdfReader
) -> Iterator[tuple[int, PageImage]]:
    """The images of some pages of a scan, numbered from 1.

    Raises:
        DataError: the file is damaged, or a page has too many pixels.
    """
    if scan.pages is None:
        yield 1, PageImage(source_bytes(scan.file), "")
    elif scan.file.suffix.casefold() == ".pdf":
        yield from pdfs.images(scan.file, wanted, dpi)
    else:
        yield from _frame_images(scan.file, source_bytes(scan.file), wanted)


def _frame_images(
    file: Path, data: bytes, wanted: Collection[int]
) -> Iterator[tuple[int, PageImage]]:
    with decoding(data, str(file)):
        frames = frames_of(open_header(data, name=str(file)), name=str(file))
    for number in sorted(wanted):
        check_time()
        with decoding(data, f"{file}: page {number}"):
            image = open_header(data, name=str(file))
            image.seek(frames[number - 1])
            if image.width * image.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            image.load()
            frame = upright(image)
            out = io.BytesIO()
            (frame if frame.mode in _PNG_MODES else frame.convert("RGB")).save(out, "PNG")
        yield number, PageImage(out.getvalue(), "")


def stems_of_text(text: AnyPath) -> Iterator[AnyPath]:
    """The paths, without suffix, of the scans that a text may belong to, the likeliest first.

    ``001.gt.txt`` and ``001.png.txt`` belong to ``001``, ``book/001.txt`` also to ``book``, and
    ``001.pred.txt`` belongs to none.
    """
    stem = text.with_suffix("")
    ending = stem.suffix.casefold()
    if ending == PREDICTION:
        return
    yield stem
    while ending == TRUTH or ending.lstrip(".") in EXTENSIONS:
        stem = stem.with_suffix("")
        ending = stem.suffix.casefold()
        yield stem
    if _NUMBER.fullmatch(stem.name):
        yield stem.parent


def scan_pages(path: AnyPath) -> Iterator[tuple[AnyPath, int]]:
    """The scans without suffix, and the page numbers, that an engine's result may belong to.

    ``book/001.txt``, ``book-001.txt``, ``book_1.txt`` and ``book.001.txt`` are page 1 of ``book``.
    """
    stem = path.with_suffix("")
    if number := _NUMBER.fullmatch(stem.name):
        yield stem.parent, int(number[1])
    if after := _AFTER.fullmatch(stem.name):
        yield stem.parent / after[1], int(after[2])


class Texts:
    """The text files of a directory, by the scan that they belong to.

    The text of ``001.png`` is ``001.gt.txt``, else ``001.txt`` or ``001.png.txt``. Files beside a
    text with ``.gt`` and those with ``.pred``, an engine's texts, are `ignored`.

    A scan of several pages has one text with a form feed between pages (as pdftotext writes it), or
    one file per page in a directory with its name: ``book/001.txt``, ``book/page_1.txt``.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self.ignored: list[Path] = []
        self._of_stem: dict[Path, list[Path]] = {}
        self._used: dict[Path, Scan] = {}
        for file in files:
            stems = list(stems_of_text(file))
            for stem in stems:
                self._of_stem.setdefault(stem, []).append(file)
            if not stems:
                self.ignored.append(file)

    def of(self, scan: Scan) -> Pages:
        """The text of each page that has one, and its file.

        Raises:
            DataError: a text has another number of pages than its scan, belongs to two scans, or is
                in no known encoding; or two texts are equally right.
        """
        files = self._of_stem.get(scan.stem, [])
        neighbours = [file for file in files if file.parent == scan.file.parent]
        if not neighbours:
            text_of_page: dict[int, Path] = {}
            for file in files if scan.pages else ():
                match = _NUMBER.fullmatch(file.name.partition(".")[0])
                number = int(match[1]) if match else 0
                if number in scan.numbers and (number not in text_of_page or _is_truth(file)):
                    text_of_page[number] = file
            return {
                number: (file, self._text(file, scan))
                for number, file in sorted(text_of_page.items())
            }
        file, *rivals = list(filter(_is_truth, neighbours)) or neighbours
        if rivals:
            raise DataError(
                "two texts for this image: {} and {}",
                file.name,
                rivals[0].name,
                file=scan.file,
                hint="Keep one of them",
            )
        parts = [self._text(file, scan)]
        self.ignored += [text for text in neighbours if text not in self._used]
        if scan.pages is not None:
            parts = parts[0].split("\f")
            if len(parts) > 1 and not parts[-1].strip():
                parts.pop()
        if len(parts) != len(scan.numbers):
            raise DataError(
                n_(
                    "the text has {n:,} page (separated by form feeds), but {} has {}",
                    "the text has {n:,} pages (separated by form feeds), but {} has {}",
                    len(parts),
                    scan.file.name,
                    scan.pages,
                    hint=_(
                        "Put a form feed between the texts of two pages, or write one file "
                        "per page: {0}/1.txt, {0}/2.txt …",
                        scan.stem.name,
                    ),
                ),
                file=file,
            )
        return {number: (file, part) for number, part in enumerate(parts, start=1)}

    def _text(self, file: Path, scan: Scan) -> str:
        if (other := self._used.setdefault(file, scan)) != scan:
            raise two_images(other, scan)
        return source_text(file, MOST_TEXT)

    def unused(self) -> list[Path]:
        """The texts that belong to no scan."""
        files = {file for files in self._of_stem.values() for file in files}
        return sorted(files - self._used.keys() - set(self.ignored))


def _is_truth(text: Path) -> bool:
    return Path(text.stem).suffix.casefold() == TRUTH


def two_images(scan: Scan, other: Scan) -> DataError:
    """The error of two scans with one text."""
    return DataError(
        "two images for one text: {} and {}",
        scan.file.name,
        other.file.name,
        file=other.file.parent,
        hint="Keep one of them",
    )
