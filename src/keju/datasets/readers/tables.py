"""`read_table`: the records of a JSON, CSV, parquet or XLSX file, each with its place."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from keju.csv_files import FilledLines
from keju.datasets.parts import is_parquet
from keju.datasets.readers.base import (
    join_names,
    kept_inside,
    plain_file,
    source_bytes,
    source_text,
)
from keju.datasets.readers.json_records import lines_in, objects_in
from keju.datasets.readers.records import JsonObject, Place, text_of
from keju.datasets.readers.time_limit import check_time
from keju.datasets.readers.workbooks import Sheet, SheetRow, Workbook
from keju.errors import DataError
from keju.texts import _, n_

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
"""The suffixes of tables, in the order in which they are searched."""

MAX_CELL = 1 << 28
"""Maximum characters in a cell: 200 MB of image as base64. More means a quote that was never
closed."""

MOST_CELLS = 5_000_000
"""Maximum rows times columns of a parquet file."""

MOST_BYTES = 1 << 30
"""Maximum bytes in all cells of a parquet file, including images. A file of 1 MB can unpack to
more."""

MOST_COLUMNS = 10_000
"""Maximum columns of a CSV, TSV or XLSX file."""

csv.field_size_limit(MAX_CELL)


class Row(NamedTuple):
    """One record of a table: its cells by column, and its position."""

    place: Place
    cells: JsonObject


def find_table(folder: Path, name: str) -> Path | None:
    """The table of that name in a directory, in any format; None if there is none.

    Raises:
        DataError: there are several, or it is a link that leads out of the directory.
    """
    found = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").exists()]
    if len(found) > 1:
        raise DataError(
            "both {} and {}", found[0].name, found[1].name, file=folder, hint="Keep one of them"
        )
    return kept_inside(found[0], folder) if found else None


def read_table(file: Path) -> list[Row]:
    """All records of a table, in their order.

    JSON may be a list of objects, an object with one such list under any key, or one object per
    line. The cells of CSV, TSV and XLSX are texts; JSON and parquet keep numbers, lists and bytes.
    A file with none of the `SUFFIXES` is read as CSV.

    Raises:
        DataError: it is not readable, has no columns or no records, or a record does not fit.
    """
    suffix = file.suffix.casefold()
    if suffix == ".json":
        rows = _numbered(file, "object", objects_in(file))
    elif suffix in {".jsonl", ".ndjson"}:
        rows = _numbered(file, "record", lines_in(file))
    elif suffix == ".parquet":
        rows = _numbered(file, "record", _parquet(file))
    elif suffix == ".xlsx":
        rows = list(workbook_rows(file))
    else:
        text = source_text(file)
        rows = list(delimited(file, io.StringIO(text, newline=""), separator_of(file, text)))
    if not rows:
        raise DataError("the table has no lines", file=file, hint="Fill it in, or remove it")
    return rows


def sheet_lines(file: Path, known: Collection[str] = ()) -> list[SheetRow]:
    """The lines of a table written by a person or a spreadsheet, the header line first.

    It is a workbook (``.xlsx``, its first sheet), or a text in any encoding that keju reads, with
    commas, semicolons or tabs between the cells. Empty lines are skipped, and lines may have fewer
    or more cells than the header.

    Args:
        file: the table.
        known: names of columns, by which the separator is found where a column name contains
            separators.

    Raises:
        DataError: it is not readable, or its quotes are never closed.
    """
    if file.suffix.casefold() == ".xlsx":
        sheets = Workbook(file, source_bytes(file)).sheets()
        lines = sheets[0].rows if sheets else []
        # Empty cells at the end of a line are not stored in a workbook.
        return [
            SheetRow(number, cells + [""] * (len(lines[0].cells) - len(cells)))
            for number, cells in lines
        ]
    text = source_text(file)
    reader = FilledLines(io.StringIO(text, newline=""), separator_of(file, text, known))
    rows: list[SheetRow] = []
    try:
        for cells in reader:
            width = len(rows[0].cells) if rows else 0
            rows.append(SheetRow(reader.line_num, _without_empty_end(cells, width)))
    except csv.Error as error:
        raise _unclosed(file, error, reader.line_num) from None
    return rows


def separator_of(file: Path, text: str, known: Collection[str] = ()) -> str:
    """The separator between the cells of a table.

    The separator that gives most of the known column names, else the most frequent one in the
    header line, the comma first; a tab in a ``.tsv`` file. A first line ``sep=;`` counts for more:
    `delimited` reads it.
    """
    head = text.lstrip("\r\n").partition("\n")[0]
    if file.suffix.casefold() == ".tsv" and "\t" in head:
        return "\t"
    if known:
        return max(",;\t", key=lambda each: (_found(head, each, known), head.count(each)))
    return max(",;\t", key=head.count)


def _found(head: str, separator: str, known: Collection[str]) -> int:
    """The number of known column names in a header line, split by that separator."""
    with suppress(csv.Error):
        heads = {each.strip() for line in csv.reader([head], delimiter=separator) for each in line}
        return len(heads.intersection(known))
    return 0


def _numbered(file: Path, word: str, records: Iterable[JsonObject]) -> list[Row]:
    return [Row(Place(file, f"{word} {n}"), cells) for n, cells in enumerate(records, start=1)]


def delimited(file: Path, lines: Iterable[str], separator: str) -> Iterator[Row]:
    """The rows of a CSV or TSV, from its lines.

    Raises:
        DataError: quotes that are never closed, no header, a column name that occurs twice, a line
            with more or fewer cells than the header.
    """
    reader = FilledLines(lines, separator)
    rows = iter(reader)
    try:
        heads = _without_empty_end([head.strip() for head in next(rows, [])])
        _check_heads(file, heads)
        for line in rows:
            cells = _without_empty_end(line, len(heads))
            place = Place(file, f"line {reader.line_num}")
            if len(cells) != len(heads):
                raise DataError(
                    "{}, but there should be {}",
                    n_("{n:,} cell", "{n:,} cells", len(cells)),
                    n_("{n:,} column", "{n:,} columns", len(heads)),
                    file=file,
                    item=place.item,
                    hint='Put cells that contain the separator or a line break into quotes "…"',
                )
            yield Row(place, dict(zip(heads, cells, strict=True)))
    except csv.Error as error:
        raise _unclosed(file, error, reader.line_num) from None


def _without_empty_end(cells: list[str], least: int = 0) -> list[str]:
    """The cells without empty ones at the end, which spreadsheets add, but at least so many."""
    size = len(cells)
    while size > least and not cells[size - 1].strip():
        size -= 1
    return cells[:size]


def _unclosed(file: Path, error: csv.Error, line: int) -> DataError:
    return DataError(
        "not readable as a table: {}",
        error,
        file=file,
        item=f"line {line}",
        hint='Close the quotes "…", and double a quote inside them',
    )


def _check_heads(file: Path, heads: list[str]) -> None:
    if len(heads) > MOST_COLUMNS:
        raise _too_large(file, _("it has more than {:,} columns", MOST_COLUMNS))
    twice = sorted(head for head, count in Counter(heads).items() if count > 1)
    if not heads or twice:
        wrong = (
            _("two columns are called {!r}", twice[0], hint="Give every column its own name")
            if twice
            else _("no line of column names", hint="Give every column its own name")
        )
        raise DataError(wrong, file=file)


def workbook_rows(file: Path, *, formulas: bool = False) -> Iterator[Row]:
    """Yield the rows of all sheets, a few of which are in memory; the columns must be the same.

    Args:
        file: the workbook.
        formulas: return the text of formulas, not their values (`Workbook`).

    Raises:
        DataError: it is not readable as a workbook, the sheets differ, or a row has a cell outside
            the columns.
    """
    book = Workbook(file, source_bytes(file), formulas=formulas)
    sheets = book.sheets(1)
    heads = [_heads(file, sheet) for sheet in sheets]
    if any(each != heads[0] for each in heads):
        raise DataError(
            "sheets with different columns: {}",
            join_names(sheet.name for sheet in sheets),
            file=file,
            hint="Save the sheet to import as a separate file",
        )
    for name, rows in book.iter_sheets():
        within = f"sheet {name}, " if len(sheets) > 1 else ""
        for number, line in islice(rows, 1, None):
            cells = _without_empty_end(line, len(heads[0]))
            place = Place(file, f"{within}line {number}")
            if len(cells) > len(heads[0]):
                raise DataError(
                    "{}, but there should be {}",
                    n_("{n:,} cell", "{n:,} cells", len(cells)),
                    n_("{n:,} column", "{n:,} columns", len(heads[0])),
                    file=file,
                    item=place.item,
                    hint="Give every column a name in the first line",
                )
            padded = cells + [""] * (len(heads[0]) - len(cells))
            yield Row(place, dict(zip(heads[0], padded, strict=True)))


def _heads(file: Path, sheet: Sheet) -> list[str]:
    heads = _without_empty_end([head.strip() for head in sheet.rows[0].cells])
    _check_heads(file, heads)
    return heads


def _parquet(file: Path) -> list[JsonObject]:
    """The records of a parquet file; images in it are bytes."""
    try:
        # Empty if it is not parquet, so that a large file is not read.
        data = source_bytes(file, MOST_BYTES) if is_parquet(plain_file(file)) else b""
        scan = pl.scan_parquet(io.BytesIO(data))
        columns = scan.collect_schema()
        cells = int(scan.select(pl.len()).collect().item()) * len(columns)
        if cells > MOST_CELLS:
            raise _too_large(file, _("it has more than {:,} cells", MOST_CELLS))
        frame = scan.collect()
        _check_bytes(file, frame)
        return _without_nan(frame).to_dicts()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).splitlines()), "")
        raise DataError(
            "not readable as parquet: {}", reason, file=file, hint="Fetch the file again"
        ) from None


def parquet_rows(file: Path, most: int) -> Iterator[Row]:
    """Yield the records that `read_table` returns, at most `most` and `MOST_BYTES` bytes in memory.

    Raises:
        DataError: as `read_table`, but there is no limit to the size of the file.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    number = 0
    try:
        with ParquetFile(file) as table:
            for batch in table.iter_batches(most, use_threads=False):
                check_time()
                frame = pl.DataFrame(pa.Table.from_batches([batch]))
                _check_bytes(file, frame)
                for cells in _without_nan(frame).iter_rows(named=True):
                    number += 1
                    yield Row(Place(file, f"record {number}"), cells)
    except (pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException,
            OSError) as error:  # fmt: skip
        reason = next(iter(str(error).splitlines()), "")
        raise DataError(
            "not readable as parquet: {}", reason, file=file, hint="Fetch the file again"
        ) from None
    if not number:
        raise DataError("the table has no lines", file=file, hint="Fill it in, or remove it")


def _without_nan(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with null for NaN, which pandas stores where a column of numbers has a gap."""
    return frame.with_columns(cs.float().fill_nan(None))


def _check_bytes(file: Path, frame: pl.DataFrame) -> None:
    if sum(map(_bytes_in, frame)) > MOST_BYTES:
        raise _too_large(file, _("its cells have more than {} MB", MOST_BYTES >> 20))


def _bytes_in(column: pl.Series) -> int:
    """The bytes of all texts and images in a column, each counted as often as it is used."""
    if isinstance(column.dtype, pl.Struct):
        return sum(_bytes_in(column.struct.field(each.name)) for each in column.dtype.fields)
    if isinstance(column.dtype, pl.List | pl.Array):
        return _bytes_in(column.explode())
    if column.dtype == pl.String:
        return int(column.str.len_bytes().sum() or 0)
    if column.dtype == pl.Binary:
        return int(column.bin.size().sum() or 0)
    return 8 * len(column)


def _too_large(file: Path, problem: str) -> DataError:
    return DataError(
        "the table is too large: {}", problem, file=file, hint="Split it into several files"
    )


def number_in(cells: JsonObject, key: str, place: Place) -> float:
    """The number in a cell.

    Raises:
        DataError: there is none, or not one that an image could have.
    """
    value = cells.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        value = text_of(cells, key, place).strip()
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not abs(found) < _LARGEST:
        raise place.error(
            _(
                "{!r} in {!r} is not a coordinate",
                str(value)[:40],
                key,
                hint="Write a number of pixels",
            )
        )
    return found


_LARGEST = 1e6
