"""Tesseract, if installed: by default with Debian's model for vertical traditional Chinese."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from keju.errors import PrerequisiteError, UsageError
from keju.files import sha256_file
from keju.items import ImageRef, Line, Point
from keju.models.base import AskError, ModelOptions
from keju.models.engine import Engine, PageReading
from keju.models.request_pixels import picture
from keju.texts import _

_INSTALL = "apt-get install tesseract-ocr tesseract-ocr-{}"
_LANGUAGE_NAME = re.compile(r"[A-Za-z0-9_]+")
_ORIENTATION = "osd"
_LINE, _WORD = "4", "5"
_box = itemgetter("left", "top", "width", "height")
_line = itemgetter("page_num", "block_num", "par_num", "line_num")


class _Settings(NamedTuple):
    """The options of a model string, with what measurements favour (docs/choosing-ocr.md)."""

    lang: str = "chi_tra_vert"
    psm: str = "3"


_DEFAULT = _Settings()
_SEGMENTATIONS = tuple(str(mode) for mode in (1, *range(3, 14)))
"""The page segmentation modes that recognise text; 0 and 2 do not."""
_WITH_ORIENTATION = ("1", "12")
"""The modes that also need the data for orientation and script (`_ORIENTATION`)."""


class Tesseract(Engine):
    """Transcribes page images with the ``tesseract`` program.

    The model string is ``tesseract``, or ``tesseract:lang=NAME,psm=N`` with the language data and
    the mode of page segmentation. Tesseract orders lines itself, vertical ones from right to left,
    so its own order is kept whether or not ``reading_order`` is on.

    Raises:
        PrerequisiteError: the program or its language data is not installed.
    """

    program = "tesseract"

    def __init__(self, options: ModelOptions, settings: _Settings = _DEFAULT) -> None:
        self.concurrency = os.cpu_count() or 1  # One process per core, each with one thread.
        self._settings = settings
        self._timeout = options.timeout
        self._installed = _find(self._settings)

    @property
    def name(self) -> str:
        """The model string, with the options that are not the default ones."""
        values = zip(_Settings._fields, self._settings, _DEFAULT, strict=True)
        options = ",".join(f"{name}={value}" for name, value, usual in values if value != usual)
        return f"tesseract:{options}" if options else "tesseract"

    @cached_property
    def identity(self) -> dict[str, str]:
        """The program's version, its page segmentation, and the hash of its language data."""
        orientation = self._installed.orientation
        return {
            "kind": "tesseract",
            "tesseract": self._installed.version,
            "language": self._settings.lang,
            "language_data": sha256_file(self._installed.data),
            "page_segmentation": self._settings.psm,
            **({"orientation_data": sha256_file(orientation)} if orientation else {}),
        }

    async def read(self, data: bytes, ref: ImageRef, name: str) -> PageReading:
        """The lines of one image.

        Raises:
            AskError: the image cannot be read, or the program failed or took too long.
        """
        del ref
        png = await asyncio.to_thread(_as_png, data, name)
        return PageReading(list(_lines(await self._run(png))))

    async def _run(self, picture: bytes) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                self._installed.program,
                *("stdin", "stdout", "-l", self._settings.lang, "--psm", self._settings.psm, "tsv"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            )
        except OSError as error:
            raise AskError("engine", _("tesseract does not start: {}", error)) from None
        try:
            talk = process.communicate(picture)
            table, complaint = await asyncio.wait_for(talk, self._timeout)
        except TimeoutError:
            raise AskError("timeout", _("tesseract took more than {:g} s", self._timeout)) from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            said = " ".join(complaint.decode(errors="replace").split())
            said = said or _signal_name(process.returncode) or _("no reason given")
            raise AskError(
                "engine",
                _("tesseract ended with {}: {}", process.returncode, said[:500]),
            )
        return table.decode(errors="replace")


class TesseractWithOptions(Tesseract):
    """Tesseract with the options of a model string.

    Raises:
        UsageError: the options are not valid.
        PrerequisiteError: the program or its language data is not installed.
    """

    def __init__(self, given: str, options: ModelOptions) -> None:
        super().__init__(options, _read_settings(given))


class _Installed(NamedTuple):
    program: str
    version: str
    data: Path
    orientation: Path | None


def _signal_name(code: int) -> str:
    """The signal that ended a process, such as ``SIGKILL``; empty where none did."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return ""


def check_settings(given: str) -> None:
    """Check the options of a model string before there is a dataset.

    Raises:
        UsageError, PrerequisiteError: as of `TesseractWithOptions`.
    """
    _find(_read_settings(given))


def _read_settings(given: str) -> _Settings:
    """The options of ``lang=NAME,psm=N``."""
    values: dict[str, str] = {}
    for part in given.split(",") if given else ():
        name, __, value = part.strip().partition("=")
        if name not in _Settings._fields or not value or name in values:
            raise UsageError(
                "tesseract has no option {!r}",
                part.strip(),
                hint="Use lang=NAME and psm=N, separated by a comma: tesseract:lang=chi_tra,psm=6",
            )
        values[name] = value.strip()
    settings = _Settings(**values)
    if settings.psm not in _SEGMENTATIONS:
        numbers = ", ".join(_SEGMENTATIONS)
        raise UsageError(
            "psm={} is not a page segmentation of tesseract that reads text ({})",
            settings.psm,
            numbers,
        )
    if not _LANGUAGE_NAME.fullmatch(settings.lang):
        raise UsageError(
            "lang={} is not the name of one language of tesseract, such as chi_tra_vert",
            settings.lang,
        )
    return settings


def _find(settings: _Settings) -> _Installed:
    """The program, its version and the files of its data."""
    install = _INSTALL.format(settings.lang.replace("_", "-").lower())
    program = shutil.which("tesseract")
    if program is None:
        raise PrerequisiteError(_("the OCR engine 'tesseract'"), install)
    listed = _say(program, "--list-langs", install)
    folder = re.search(r'"([^"]+)"', listed)
    languages = listed.split()

    def data_of(language: str) -> Path:
        data = Path(folder.group(1) if folder else "") / f"{language}.traineddata"
        if language not in languages or not data.is_file():
            wanted = _INSTALL.format(language.replace("_", "-").lower())
            raise PrerequisiteError(
                _("the language {} of the OCR engine 'tesseract'", language), wanted
            )
        return data

    orientation = data_of(_ORIENTATION) if settings.psm in _WITH_ORIENTATION else None
    version = _say(program, "--version", install).partition("\n")[0].strip()
    return _Installed(program, version, data_of(settings.lang), orientation)


def _say(program: str, option: str, install: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the program found, with an option of ours
            [program, option], capture_output=True, check=True, timeout=30, text=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise PrerequisiteError(_("a working tesseract ({})", error), install) from None
    return done.stdout or done.stderr


def _as_png(data: bytes, name: str) -> bytes:
    """The image as Tesseract needs it: upright, RGB."""
    image = picture(data, name)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def _lines(table: str) -> Iterator[Line]:
    """The lines of Tesseract's table (TSV), in its order; lines without text are skipped."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    for __, line in groupby(rows, _line):
        words: list[str] = []
        shares: list[float] = []
        polygon: tuple[Point, ...] = ()
        for row in line:
            if row["level"] == _LINE:
                left, top, width, height = map(float, _box(row))
                right, bottom = left + width, top + height
                polygon = ((left, top), (right, top), (right, bottom), (left, bottom))
            elif row["level"] == _WORD and row["text"]:
                words.append(row["text"].strip())
                shares.append(float(row["conf"]))
        if text := "".join(words):
            confidence = max(0.0, sum(shares) / len(shares) / 100)
            yield Line(id="", text=text, polygon=polygon, confidence=confidence)
