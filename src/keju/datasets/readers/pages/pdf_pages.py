"""`PdfReader`: the pages of PDF files as images; embedded scans unchanged, others rendered."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from keju.datasets.readers.base import plain_file
from keju.datasets.readers.time_limit import check_time
from keju.errors import DataError
from keju.images import MAX_PIXELS
from keju.texts import _

MOST_PAGES = 10_000
"""Maximum number of pages of one file; a longer one must be split."""

MOST_PIXELS = 60_000_000
"""Maximum pixels of a rendered page: A4 at 700 dpi."""

PAGE_SECONDS = 15.0
"""Maximum seconds for one page."""

_WORKER = Path(__file__).with_name("pdf_worker.py")


class PageImage(NamedTuple):
    """An image of a page: its bytes, and how it was made (``embedded`` or ``300 dpi``)."""

    data: bytes
    made: str


class PdfReader:
    """Reads PDF files in a process of its own, which is started for the first one.

    For a page that shows one JPEG or JPEG 2000 image as programs show its file, the result is that
    file, byte for byte; another page with one image is rendered at the resolution of that image;
    all others at 300 dpi.
    Invisible text of an OCR program over a scan is ignored.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._late = False

    def __enter__(self) -> PdfReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def length(self, file: Path) -> int:
        """The number of pages.

        Raises:
            DataError: the file is damaged, encrypted or empty, or has too many pages.
        """
        for head, __ in self._ask(file, (), None):
            return int(head["page"])
        raise AssertionError

    def images(
        self, file: Path, wanted: Collection[int], dpi: int | None
    ) -> Iterator[tuple[int, PageImage]]:
        """The images of some pages, numbered from 1; with `dpi`, all are rendered at it.

        Raises:
            DataError: as `length`, or a page is damaged, too large or takes too long.
        """
        for head, data in self._ask(file, sorted(wanted), dpi):
            check_time()
            yield head["page"], PageImage(data, head["made"])

    def _ask(
        self, file: Path, wanted: Collection[int], dpi: int | None
    ) -> Iterator[tuple[dict[str, Any], bytes]]:
        request = {
            "file": str(plain_file(file).resolve()),
            "wanted": list(wanted),
            "dpi": dpi,
            "most_pages": MOST_PAGES,
            "most_pixels": MOST_PIXELS,
            "most_in_image": MAX_PIXELS,
        }
        process = self._started()
        assert process.stdin
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        last = 0
        finished = False
        try:
            while not finished:
                head, data = self._answer(process)
                finished = head is None or "page" not in head or "problem" in head
                if head is None or "problem" in head:
                    raise self._fault(file, head, next((n for n in wanted if n > last), 0))
                if not finished:
                    last = head["page"]
                    yield head, data
        finally:
            if not finished:
                self._stop()

    def _answer(self, process: subprocess.Popen[bytes]) -> tuple[dict[str, Any] | None, bytes]:
        """The next answer; None if the process ended without one."""
        assert process.stdout
        timer = threading.Timer(PAGE_SECONDS, self._kill_late, [process])
        timer.start()
        try:
            line = process.stdout.readline()
            head = json.loads(line) if line.endswith(b"\n") else None
            data = process.stdout.read(head.get("size", 0)) if head else b""
        finally:
            timer.cancel()
        return (head if head and len(data) == head.get("size", 0) else None), data

    def _kill_late(self, process: subprocess.Popen[bytes]) -> None:
        self._late = True
        process.kill()

    def _fault(self, file: Path, head: dict[str, Any] | None, page: int) -> DataError:
        if head:
            item = f"page {head['page']}" if head["page"] else ""
            return DataError(head["problem"], file=file, item=item, hint=head["hint"])
        late, self._late = self._late, False
        self._stop()
        wrong = _("takes more than {:.0f} seconds", PAGE_SECONDS) if late else _("cannot be read")
        return DataError(
            "the {} {}",
            _("page") if page else _("PDF"),
            wrong,
            file=file,
            item=f"page {page}" if page else "",
            hint="Give its pages as images",
        )

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own program
                [sys.executable, "-P", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()
