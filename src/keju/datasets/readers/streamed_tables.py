"""`iter_table`: the records of large JSON-lines, CSV and parquet files, a few in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from keju.datasets.import_progress import count
from keju.datasets.parts import is_parquet
from keju.datasets.readers.base import plain_file
from keju.datasets.readers.encodings import HEAD, UTF_8, codec_of
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.json_records import begins_with_list, iter_lines
from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import Row, delimited, parquet_rows, read_table, separator_of
from keju.datasets.readers.time_limit import check_time
from keju.errors import DataError
from keju.messages import message

STREAMED_BYTES = 8 << 20
"""Size in bytes from which a table is read line by line."""

_LINES = {".jsonl", ".ndjson"}
_CELLS = {".csv", ".tsv"}
_PARQUET = ".parquet"
_ROWS = 64
"""The number of rows of a parquet file in memory: a row may be a page image."""


def can_stream(files: list[Path]) -> bool:
    """Whether tables are read piece by piece: JSON lines, CSV or TSV in UTF-8, parquet; if large.

    Raises:
        UsageError: the user named an encoding that does not exist.
        DataError: a file is not readable, or is in none of the known encodings.
    """
    known = {*_LINES, *_CELLS, _PARQUET}
    if any(file.suffix.casefold() not in known or not file.is_file() for file in files):
        return False
    size = sum(file.stat().st_size for file in files)
    return size > STREAMED_BYTES and all(map(_is_streamable, files))


def iter_table(file: Path) -> Iterator[Row]:
    """Yield the records that `read_table` returns, from a file that `can_stream`.

    Raises:
        DataError: as `read_table`.
    """
    check_time()
    count(files=1)
    empty = True
    if file.suffix.casefold() == _PARQUET:
        yield from parquet_rows(file, _ROWS)
        return
    try:
        with plain_file(file).open(encoding=UTF_8) as lines:
            for row in _iter_rows(file, lines):
                empty = False
                yield row
    except UnicodeDecodeError:
        # The whole text is needed to say what is wrong with it.
        yield from read_table(file)
        return
    except OSError as error:
        raise DataError(
            message("datasets.not-readable", reason=error.strerror or error), file=file
        ) from None
    if empty:
        raise DataError(message("datasets.table-without-lines"), file=file)


def _iter_rows(file: Path, lines: Iterator[str]) -> Iterator[Row]:
    if file.suffix.casefold() in _CELLS:
        head = next(lines, "")
        yield from delimited(file, chain([head], lines), separator_of(file, head))
        return
    for number, cells in enumerate(iter_lines(file, lines), start=1):
        check_time()
        yield Row(Place(file, f"record {number}"), cells)


def _is_streamable(file: Path) -> bool:
    try:
        if file.suffix.casefold() == _PARQUET:
            return is_parquet(file)
        with file.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return False
    if codec_of(head, file, import_log().encoding) != UTF_8:
        return False
    return not begins_with_list(head.decode(UTF_8, "ignore"))
