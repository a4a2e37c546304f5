"""`read_sheets`: the cells of XLSX workbooks as text, with limited time and memory.

openpyxl reads a sheet as a stream of rows. python-calamine is ten times as fast, but it allocates
every cell between the first and the last one: a workbook of 2 kB with the cells A1 and XFD1048576
ends the process. Untrusted workbooks must not, so the streaming library was chosen.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from keju.datasets.import_log import check_time
from keju.errors import DataError
from keju.texts import _

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

MOST_BYTES = 256 << 20
"""Maximum size of a workbook in bytes after unpacking."""

MOST_TAGS = 6_000_000
"""Maximum number of XML tags in a workbook: about 750,000 cells, which take ten seconds to read."""

MOST_ROWS = 1 << 20
"""Maximum rows of a sheet, as in the file format."""

MOST_TEXT = 1 << 28
"""Maximum characters in the cells of a sheet; many cells may use a text that is stored once."""

_ESCAPED = re.compile("_x((?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")
"""A character as Excel writes it: ``_x000D_``. A lone surrogate stays as it is written."""

_CHUNK = 1 << 20
_ROWS = 256
"""The number of rows of a sheet that are in memory."""
_NEGATIVE = re.compile(rb"""\bt=["']s["'][^<>]*>\s*<(?:\w+:)?v>\s*-""")
"""A cell with a negative index of a shared string, for which openpyxl uses the last one."""


class SheetRow(NamedTuple):
    """The cells of a row as text, without empty ones at the end, and its number, from 1."""

    number: int
    cells: list[str]


def read_sheets(
    file: Path, data: bytes, *, formulas: bool = False
) -> list[tuple[str, Iterator[SheetRow]]]:
    """The visible sheets of a workbook: the name of each, and its rows that have filled cells.

    Numbers become their shortest form (``1``, ``0.5``), dates their ISO form, formulas the value
    that was stored with them.

    Args:
        file: the workbook's name, for errors.
        data: its bytes.
        formulas: return the text of formulas, not their values. A program that writes tables stores
            an answer that begins with = as a formula.

    Raises:
        DataError: it is damaged, or larger than the limits of this module; also while rows are
            read.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 - slow to import

    _check_archive(file, data)
    with _reporting(file):
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=not formulas)
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    return [(sheet.title, _rows_in(file, sheet)) for sheet in sheets]


def _rows_in(file: Path, sheet: Worksheet) -> Iterator[SheetRow]:
    """The filled rows of a sheet, a few of which are in memory."""
    with _reporting(file):
        sheet.reset_dimensions()  # The declared size is not used.
        rows = enumerate(sheet.iter_rows(values_only=True), start=1)
    size = 0
    while True:
        check_time()
        with _reporting(file):
            several = list(islice(rows, _ROWS))
        if not several:
            return
        for number, values in several:
            if number > MOST_ROWS:
                raise _too_large(file, _("sheet {!r} has too many rows", sheet.title))
            cells = [cell_text(value) for value in values]
            while cells and not cells[-1].strip():
                cells.pop()
            size += sum(map(len, cells))
            if size > MOST_TEXT:
                raise _too_large(file, _("its cells have too much text"))
            if cells:
                yield SheetRow(number, cells)


@contextmanager
def _reporting(file: Path) -> Iterator[None]:
    """Report any error of the library as damage, without its warnings."""
    try:
        with warnings.catch_warnings():
            # The warnings (styles, extensions) do not affect cells.
            warnings.simplefilter("ignore")
            yield
    except Exception as error:  # noqa: BLE001 - the library raises almost anything on damaged files
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(
            "not readable as a workbook: {}", reason, file=file, hint="Save it as CSV (UTF-8)"
        ) from None


def _check_archive(file: Path, data: bytes) -> None:
    """Refuse a file that is not a workbook, or takes too much memory or time, before parsing."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as pack:
            if sum(each.file_size for each in pack.infolist()) > MOST_BYTES:
                raise _too_large(file, _("it unpacks to more than {} MB", MOST_BYTES >> 20))
            tags = 0
            for part in pack.infolist():
                with pack.open(part) as stream:
                    tags += _count_tags(file, part.filename, stream)
                if tags > MOST_TAGS:
                    raise _too_large(file, _("it has more than {:,} XML tags", MOST_TAGS))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise DataError(
            "not readable as a workbook: {}", error, file=file, hint="Fetch the file again"
        ) from None


def _count_tags(file: Path, name: str, stream: IO[bytes]) -> int:
    tags = 0
    tail = b""
    while chunk := stream.read(_CHUNK):
        plain = tail + chunk.replace(b"\0", b"")  # UTF-16 is searched like UTF-8
        if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
            problem = _("{!r} declares XML entities", name)
            raise DataError(problem, file=file, hint="Save the table as CSV (UTF-8)")
        if _NEGATIVE.search(plain):
            problem = _("{!r} has a cell with a negative shared string", name)
            raise DataError(problem, file=file, hint="Save the table as CSV (UTF-8)")
        tags += chunk.count(b"<")
        tail = plain[-64:]
    return tags


def cell_text(value: object) -> str:
    """The text of a cell, as in a CSV file of the same table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time | datetime):
        return value.isoformat()
    # For a formula over several cells, the object has the text.
    text = str(getattr(value, "text", value))
    return _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)


def _too_large(file: Path, problem: str) -> DataError:
    return DataError(
        "the workbook is too large: {}", problem, file=file, hint="Save the table as CSV (UTF-8)"
    )
