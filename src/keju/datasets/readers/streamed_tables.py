"""`iter_table`: the records of large JSON, CSV, parquet and XLSX files, a few in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from keju.datasets.import_progress import count
from keju.datasets.parts import is_parquet
from keju.datasets.readers.base import MOST_TEXT, plain_file
from keju.datasets.readers.encodings import HEAD, UTF_8, codec_of
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.json_records import begins_with_list, iter_lines, iter_list
from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import (
    Row,
    delimited,
    parquet_rows,
    read_table,
    separator_of,
    workbook_rows,
)
from keju.datasets.readers.time_limit import check_time
from keju.errors import DataError

STREAMED_BYTES = 8 << 20
"""Size in bytes from which a table is read line by line."""

_LINES = {".jsonl", ".ndjson"}
_JSON = {".json", *_LINES}
_CELLS = {".csv", ".tsv"}
_PARQUET = ".parquet"
_WORKBOOK = ".xlsx"
_ROWS = 64
"""The number of rows of a parquet file in memory: a row may be a page image."""
_HEAD = 10
"""The number of lines in which the line of column names is searched."""
_PIECE = 1 << 20
"""The number of characters of a JSON list that are read at a time."""


def can_stream(files: list[Path]) -> bool:
    """Whether tables are read piece by piece, if they are large.

    These are JSON lines, lists of JSON objects, CSV and TSV in UTF-8, parquet, and XLSX.

    Raises:
        UsageError: the user named an encoding that does not exist.
        DataError: a file is not readable, or is in none of the known encodings.
    """
    known = {*_JSON, *_CELLS, _PARQUET, _WORKBOOK}
    if any(file.suffix.casefold() not in known or not file.is_file() for file in files):
        return False
    return sum(map(_size, files)) > STREAMED_BYTES and all(map(_is_streamable, files))


def has_header(file: Path) -> bool:
    """Whether all records of a table have the columns of its first one."""
    return file.suffix.casefold() in {*_CELLS, _WORKBOOK}


def iter_table(file: Path) -> Iterator[Row]:
    """Yield the records that `read_table` returns, from a file that `can_stream`.

    Raises:
        DataError: as `read_table`.
    """
    check_time()
    empty = True
    for row in _rows(file):
        empty = False
        yield row
    if empty:
        raise DataError("the table has no lines", file=file, hint="Fill it in, or remove it")


def _rows(file: Path) -> Iterator[Row]:
    suffix = file.suffix.casefold()
    if suffix == _WORKBOOK:
        yield from workbook_rows(file)
        return
    count(files=1)
    yield from parquet_rows(file, _ROWS) if suffix == _PARQUET else _text_rows(file)


def _text_rows(file: Path) -> Iterator[Row]:
    read = 0
    try:
        with plain_file(file).open(encoding=UTF_8) as lines:
            for row in _iter_rows(file, lines):
                read += 1
                yield row
    except ValueError as error:
        if file.stat().st_size > MOST_TEXT and file.suffix.casefold() in _JSON:
            raise DataError(
                "not readable as JSON: {}",
                error,
                file=file,
                item=f"after record {read}",
                hint="Fetch the file again",
            ) from None
        # The whole text is needed to say what is wrong with it.
        yield from islice(read_table(file), read, None)
    except OSError as error:
        raise DataError(
            "not readable: {}",
            error.strerror or error,
            file=file,
            hint="Replace it by a readable file",
        ) from None


def _iter_rows(file: Path, lines: TextIO) -> Iterator[Row]:
    suffix = file.suffix.casefold()
    if suffix in _CELLS:
        head = list(islice(lines, _HEAD))
        yield from delimited(file, chain(head, lines), separator_of(file, "".join(head)))
        return
    is_list = begins_with_list(lines.read(HEAD))
    lines.seek(0)
    pieces = iter(partial(lines.read, _PIECE), "")
    records = iter_list(pieces) if is_list else iter_lines(file, lines)
    word = "object" if suffix == ".json" else "record"
    for number, cells in enumerate(records, start=1):
        check_time()
        yield Row(Place(file, f"{word} {number}"), cells)


def _size(file: Path) -> int:
    """The size of a file in bytes; of a workbook after unpacking."""
    if file.suffix.casefold() == _WORKBOOK:
        with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(file) as pack:
            return sum(each.file_size for each in pack.infolist())
    return file.stat().st_size


def _is_streamable(file: Path) -> bool:
    suffix = file.suffix.casefold()
    try:
        if suffix in {_PARQUET, _WORKBOOK}:
            return suffix == _WORKBOOK or is_parquet(file)
        with file.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return False
    if codec_of(head, file, import_log().encoding) != UTF_8:
        return False
    return suffix != ".json" or begins_with_list(head.decode(UTF_8, "ignore"))
