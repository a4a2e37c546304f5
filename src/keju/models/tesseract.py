"""Tesseract, if installed: by default with Debian's model for vertical traditional Chinese."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from keju.errors import PrerequisiteError, UsageError
from keju.files import sha256_file
from keju.images import open_image
from keju.items import Line, Point
from keju.models.base import AskError, ModelOptions
from keju.models.engine import Engine, PageReading
from keju.texts import _

_OPTIONS = {"lang": re.compile(r"[A-Za-z0-9_]+"), "psm": re.compile("[3-9]|1[013]")}
"""The options of a model string: the name of one language, and the modes of page segmentation that
recognise text without the data for orientation."""

_DEFAULTS = {"lang": "chi_tra_vert", "psm": "3"}
"""The defaults, which measurements favour (docs/choosing-ocr.md)."""

_NO_OPTIONS = ModelOptions()

# Levels and columns of the table (TSV) of results.
_LINE, _WORD = "4", "5"
_line_of = itemgetter("page_num", "block_num", "par_num", "line_num")
_box_of = itemgetter("left", "top", "width", "height")


class Tesseract(Engine):
    """Transcribes page images with the ``tesseract`` program.

    The model string is ``tesseract``, or ``tesseract:lang=NAME,psm=N`` with the language data and
    the mode of page segmentation. Tesseract orders lines itself, vertical ones from right to left,
    so its own order is kept whether or not ``reading_order`` is on.
    """

    program = "tesseract"

    def __init__(self, text: str, options: ModelOptions = _NO_OPTIONS) -> None:
        self._settings = _read_settings(text)
        language = self._settings["lang"]
        package = language.replace("_", "-").lower()
        self._install = f"apt-get install tesseract-ocr tesseract-ocr-{package}"
        self.concurrency = os.cpu_count() or 1  # One process per core, each with one thread.
        unusual = sorted(self._settings.items() - _DEFAULTS.items())
        text = ",".join(f"{name}={value}" for name, value in unusual)
        self.name = f"tesseract:{text}" if text else "tesseract"
        self._timeout = options.timeout
        self._version = self._print("--version").partition("\n")[0].strip()
        languages = self._print("--list-langs")
        folder = re.search(r'"([^"]+)"', languages)
        self._data = Path(folder[1] if folder else "") / f"{language}.traineddata"
        if language not in languages.split() or not self._data.is_file():
            missing = _("the language {} of the OCR engine 'tesseract'", language)
            raise PrerequisiteError(missing, self._install)

    @cached_property
    def identity(self) -> dict[str, str]:
        """The program's version, its page segmentation, and the hash of its language data."""
        return {
            "kind": "tesseract",
            "tesseract": self._version,
            "language": self._settings["lang"],
            "language_data": sha256_file(self._data),
            "page_segmentation": self._settings["psm"],
        }

    def read(self, data: bytes, name: str) -> PageReading:
        """The lines of one image."""
        upright_png = io.BytesIO()
        open_image(data, name=name).save(upright_png, "PNG", compress_level=1)
        options = ("-l", self._settings["lang"], "--psm", self._settings["psm"])
        try:
            process = subprocess.run(  # noqa: S603 - checked options
                [self.program, "stdin", "stdout", *options, "tsv"],
                input=upright_png.getvalue(),
                capture_output=True,
                check=False,
                timeout=self._timeout,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            )
        except subprocess.TimeoutExpired:
            raise AskError("timeout", _("tesseract took more than {:g} s", self._timeout)) from None
        if process.returncode:
            reason = " ".join(process.stderr.decode(errors="replace").split())[:500]
            if not reason and -process.returncode in set(signal.Signals):
                reason = signal.Signals(-process.returncode).name
            reason = reason or _("no reason given")
            raise AskError("engine", _("tesseract ended with {}: {}", process.returncode, reason))
        return PageReading(list(_lines(process.stdout.decode(errors="replace"))))

    def _print(self, option: str) -> str:
        try:
            process = subprocess.run(  # noqa: S603 - an option of ours
                [self.program, option], capture_output=True, check=True, timeout=30, text=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise PrerequisiteError(_("a working tesseract ({})", error), self._install) from None
        return process.stdout or process.stderr


def _read_settings(text: str) -> dict[str, str]:
    """The options of ``lang=NAME,psm=N``."""
    values: dict[str, str] = {}
    for part in text.split(",") if text else ():
        name, __, value = (word.strip() for word in part.partition("="))
        if name not in _OPTIONS or name in values or not _OPTIONS[name].fullmatch(value):
            raise UsageError(
                "tesseract has no option {!r}",
                part.strip(),
                hint="Use lang=NAME, the name of one language, and psm=N, a page segmentation that "
                "reads text (3 to 11, or 13): tesseract:lang=chi_tra,psm=6",
            )
        values[name] = value
    return _DEFAULTS | values


def _lines(table: str) -> Iterator[Line]:
    """The lines of the table, in its order; lines without text are skipped."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    for __, line in groupby(rows, _line_of):
        words: list[str] = []
        shares: list[float] = []
        polygon: tuple[Point, ...] = ()
        for row in line:
            if row["level"] == _LINE:
                left, top, width, height = map(float, _box_of(row))
                right, bottom = left + width, top + height
                polygon = ((left, top), (right, top), (right, bottom), (left, bottom))
            elif row["level"] == _WORD and row["text"]:
                words.append(row["text"].strip())
                shares.append(float(row["conf"]))
        if text := "".join(words):
            confidence = max(0.0, sum(shares) / len(shares) / 100)
            yield Line(id="", text=text, polygon=polygon, confidence=confidence)
