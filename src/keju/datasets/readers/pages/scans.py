"""`Scan`: a file with page images (an image, a PDF, a TIFF with several frames), and its texts."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeVar

from PIL import Image

from keju.datasets.import_log import check_time
from keju.datasets.readers.base import plain_file, source_bytes
from keju.errors import DataError
from keju.images import (
    EXTENSIONS,
    MAX_PIXELS,
    decoding,
    frames_of,
    open_header,
    upright,
)
from keju.texts import _

MOST_TEXT = 32 << 20
"""Maximum size in bytes of the text of a page or a scan; reading one takes up to 20 times as much.
"""

PAGE_SECONDS = 15.0
"""Maximum seconds for one page of a PDF."""

_WORKER = Path(__file__).with_name("pdf_worker.py")

_AFTER = re.compile(r"(.+?)[-_. ](?:page|p)?[-_. ]?0*(\d{1,6})")
_NUMBER = re.compile(r"(?:page|p)?[-_. ]?0*(\d{1,6})", re.IGNORECASE)
_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16"})

AnyPath = TypeVar("AnyPath", bound=PurePath)

WHOLE, NO_PAGE = 0, -1
"""The page numbers of a text of all pages of a scan, and of one that is of none."""

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

    def page_of(self, text: Path) -> int:
        """The number of the page that a text belongs to, or `WHOLE` or `NO_PAGE`.

        A text beside the scan is that of all its pages. A directory with the scan's name has one
        for each: ``book/001.txt``, ``book/page_1.txt``.
        """
        if text.parent == self.file.parent:
            return WHOLE
        match = _NUMBER.fullmatch(text.name.partition(".")[0])
        number = int(match[1]) if match and self.pages else NO_PAGE
        return number if number in self.numbers else NO_PAGE

    def name(self, number: int) -> str:
        """The name of a page, for messages and ids: ``book/003``; ``book`` of an image."""
        width = max(3, len(str(self.pages)))
        return self.stem.name if self.pages is None else f"{self.stem.name}/{number:0{width}}"


def scan_of(file: Path) -> Scan:
    """The scan in a file.

    Raises:
        DataError: a PDF is damaged, encrypted or empty, a TIFF is damaged, or one has too many
            pages.
    """
    suffix = file.suffix.casefold()
    if suffix == ".pdf":
        ((head, _data),) = _ask_worker(file, (), None)
        return Scan(file, head["pages"])
    frames = 1
    if suffix in {".tif", ".tiff"}:
        with decoding(plain_file(file), str(file)):
            frames = len(frames_of(open_header(file, name=str(file)), name=str(file)))
    return Scan(file, frames if frames > 1 else None)


def images_of(
    scan: Scan, wanted: Collection[int], dpi: int | None
) -> Iterator[tuple[int, bytes, str]]:
    """The images of some pages of a scan: their numbers from 1, files, and how they were made.

    For a page of a PDF that shows one JPEG or JPEG 2000 image as programs show its file, it is that
    file, byte for byte (``embedded``). Another page with one image is rendered at the resolution of
    that image, all others at 300 dpi; with `dpi`, all at it (``300 dpi``). Invisible text of an OCR
    program over a scan is ignored.

    Raises:
        DataError: the file is damaged, or a page has too many pixels or takes too long.
    """
    numbers, name = sorted(wanted), str(scan.file)
    if scan.file.suffix.casefold() == ".pdf":
        answers = _ask_worker(scan.file, numbers, dpi) if numbers else ()
        for number, (head, data) in zip(numbers, answers, strict=True):
            yield number, data, head["made"]
    elif scan.pages is None and numbers:
        yield 1, source_bytes(scan.file), ""
    elif numbers:
        data = source_bytes(scan.file)
        with decoding(data, name):
            frames = frames_of(open_header(data, name=name), name=name)
        for number in numbers:
            check_time()
            with decoding(data, f"{name}: page {number}"):
                image = open_header(data, name=name)
                image.seek(frames[number - 1])
                if image.width * image.height > MAX_PIXELS:
                    raise Image.DecompressionBombError
                image.load()
                frame = upright(image)
                out = io.BytesIO()
                (frame if frame.mode in _PNG_MODES else frame.convert("RGB")).save(out, "PNG")
            yield number, out.getvalue(), ""


def _ask_worker(
    file: Path, pages: Sequence[int], dpi: int | None
) -> Iterator[tuple[dict[str, Any], bytes]]:
    """The answers of a process of its own about the pages of a PDF, or about the whole file.

    Raises:
        DataError: the process answers with a problem, ends, or takes too long for one page.
    """
    path = str(plain_file(file).resolve())
    request = {"file": path, "pages": pages, "dpi": dpi, "most_in_image": MAX_PIXELS}
    with subprocess.Popen(  # noqa: S603 - this interpreter, our own program
        [sys.executable, "-P", str(_WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            for page in pages or (0,):
                check_time()
                head: dict[str, Any] = {"size": 1}
                data = b""
                begun = time.monotonic()
                timer = threading.Timer(PAGE_SECONDS, process.kill)
                timer.start()
                with suppress(ValueError):  # The process has ended.
                    head = json.loads(process.stdout.readline())
                    data = process.stdout.read(head["size"])
                timer.cancel()
                item = f"page {page}" if page else ""
                if len(data) < head["size"]:
                    late = time.monotonic() - begun >= PAGE_SECONDS
                    raise DataError(
                        "the {} {}",
                        _("page") if page else _("PDF"),
                        _("takes more than {:.0f} seconds", PAGE_SECONDS)
                        if late
                        else _("cannot be read"),
                        file=file,
                        item=item,
                        hint="Give its pages as images",
                    )
                if "problem" in head:
                    problem, values = head["problem"], head["values"]
                    raise DataError(problem, *values, file=file, item=item, hint=head["hint"])
                yield head, data
        finally:
            process.kill()


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


def is_truth(text: Path) -> bool:
    """Whether a text file is marked as the true text of an image (``.gt.txt``)."""
    return Path(text.stem).suffix.casefold() == TRUTH
