"""`PdfReader`: the pages of PDF files as images; embedded scans unchanged, others rendered."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from keju.datasets.readers.base import check_time, plain_file
from keju.errors import DataError
from keju.images import MAX_PIXELS
from keju.texts import _

PAGE_SECONDS = 15.0
"""Maximum seconds for one page."""

_WORKER = Path(__file__).with_name("pdf_worker.py")


class PdfReader:
    """Reads PDF files in a process of its own, which is started for the first one.

    For a page that shows one JPEG or JPEG 2000 image as programs show its file, the result is that
    file, byte for byte; another page with one image is rendered at the resolution of that image;
    all others at 300 dpi.
    Invisible text of an OCR program over a scan is ignored.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> PdfReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def length(self, file: Path) -> int:
        """The number of pages.

        Raises:
            DataError: the file is damaged, encrypted or empty, or has too many pages.
        """
        return int(self._ask(file)[0]["pages"])

    def image(self, file: Path, page: int, dpi: int | None) -> tuple[bytes, str]:
        """The image of a page, numbered from 1, and ``embedded`` or the resolution of a rendering.

        With `dpi`, the page is rendered at it.

        Raises:
            DataError: as `length`, or the page is damaged, too large or takes too long.
        """
        check_time()
        head, data = self._ask(file, page, dpi)
        return data, str(head["made"])

    def _ask(
        self, file: Path, page: int = 0, dpi: int | None = None
    ) -> tuple[dict[str, Any], bytes]:
        """The answer of the process about a page, or about the file."""
        path = str(plain_file(file).resolve())
        request = {"file": path, "page": page, "dpi": dpi, "most_in_image": MAX_PIXELS}
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own program
                [sys.executable, "-P", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        process = self._process
        assert process.stdin
        assert process.stdout
        timer = threading.Timer(PAGE_SECONDS, process.kill)
        begun = time.monotonic()
        timer.start()
        head: dict[str, Any] = {}
        data = b""
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            head = json.loads(process.stdout.readline())
            data = process.stdout.read(head["size"])
        except (BrokenPipeError, ValueError):
            pass  # The process has ended.
        finally:
            timer.cancel()
            is_answered = bool(head) and len(data) == head["size"]
            if not is_answered:
                self._stop()
        item = f"page {page}" if page else ""
        if not is_answered:
            late = time.monotonic() - begun >= PAGE_SECONDS
            raise DataError(
                "the {} {}",
                _("page") if page else _("PDF"),
                _("takes more than {:.0f} seconds", PAGE_SECONDS) if late else _("cannot be read"),
                file=file,
                item=item,
                hint="Give its pages as images",
            )
        if "problem" in head:
            problem, values = head["problem"], head["values"]
            raise DataError(problem, *values, file=file, item=item, hint=head["hint"])
        return head, data

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()
