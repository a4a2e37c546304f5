"""`rows`: the records of a JSON, CSV, parquet or XLSX file of any size, each with its place."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec
import polars as pl
import polars.selectors as cs

from keju.csv_files import FilledLines
from keju.datasets.import_log import check_time, count, import_log
from keju.datasets.readers.base import (
    MOST_TEXT,
    join_names,
    kept_inside,
    plain_file,
    reading,
    source_bytes,
    source_head,
    source_text,
)
from keju.datasets.readers.encodings import HEAD, UTF_8, codec_of, encoding_of, undecodable
from keju.datasets.readers.records import JsonObject, Place, place_words
from keju.datasets.readers.workbooks import SheetRow, read_sheets
from keju.errors import DataError, shortened
from keju.files import decode_json, json_problem
from keju.texts import Text, _, n_

T = TypeVar("T")

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
"""The suffixes of tables, in the order in which they are searched."""

Shape = Literal["list", "by-key"]
"""How a JSON value has its records.

``list``: a list of objects. ``by-key``: an object with one record under each key; the key becomes
the cell ``key``, and a value that is not an object the cell ``value``.
"""

MAX_CELL = 1 << 28
"""Maximum characters in a cell: 200 MB of image as base64. More means a quote that was never
closed."""

MOST_BYTES = 1 << 30
"""Maximum bytes in all cells that are in memory: a parquet file of 1 MB can unpack to more."""

MOST_COLUMNS = 10_000
"""Maximum columns of a CSV, TSV or XLSX file."""

_LINES = frozenset({".jsonl", ".ndjson"})
_JSON = frozenset({".json", *_LINES})
_BATCH = 64
"""The number of rows of a parquet file in memory: a row may be a page image."""
_HEAD_LINES = 10
"""The number of lines in which the line of column names is searched."""
_DEEPEST = 3
"""Levels of objects above the records of a JSON file, such as domain and task."""
_UNREADABLE_JSON = (msgspec.MsgspecError, UnicodeError, RecursionError)

_LIST = re.compile(r"\s*\[")
_BETWEEN = re.compile(r"[\s,]*")

csv.field_size_limit(MAX_CELL)


class Row(NamedTuple):
    """One record of a table: its cells by column, and its position."""

    place: Place
    cells: JsonObject


class Found(NamedTuple):
    """A list of records in a file: the keys above it, its shape, and its first rows."""

    key: tuple[str, ...]
    shape: Shape
    rows: list[Row]


def find_table(folder: Path, name: str) -> Path | None:
    """The table of that name in a directory, in any format; None if there is none.

    Raises:
        DataError: there are several, or it is a link that leads out of the directory.
    """
    files = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").exists()]
    if len(files) > 1:
        names = (files[0].name, files[1].name)
        raise DataError("both {} and {}", *names, file=folder, hint="Keep one of them")
    return kept_inside(files[0], folder) if files else None


def rows(
    file: Path,
    key: tuple[str, ...] = (),
    shape: Shape = "list",
    *,
    known: Collection[str] = (),
    formulas: bool = False,
) -> Iterator[Row]:
    """Yield the records of a table, in their order; a few are in memory.

    The cells of CSV, TSV and XLSX are texts; JSON and parquet keep numbers, lists and bytes. A JSON
    file may also have one object per line, JSON lines may be one list, and of a JSON object without
    a key the one list of objects under any of its keys is read. A JSON list or object is read at
    once. A file with none of the `SUFFIXES` is read as CSV.

    Args:
        file: the table.
        key: the keys of a JSON object above the records.
        shape: how the JSON value below the keys has its records.
        known: names of columns of a CSV, where others may contain a separator, such as ``a, b``.
        formulas: return the text of a workbook's formulas, not their values (`read_sheets`).

    Raises:
        DataError: it is not readable, has no columns or no records, or a record does not fit.
    """
    suffix = file.suffix.casefold()
    if suffix == ".parquet":
        records = _parquet_rows(file)
    elif suffix not in _JSON:
        records = _cell_rows(file, known, formulas=formulas)
    elif (content := _json_value(file, key)) is None:
        records = _object_rows(file)
    else:
        records = _json_rows(file, content, key, shape)
    empty = True
    for row in records:
        empty = False
        check_time()
        yield row
    if empty:
        raise DataError("the table has no lines", file=file, hint="Fill it in, or remove it")


def all_rows(file: Path, known: Collection[str] = ()) -> list[Row]:
    """All records of a table that `rows` yields, for a reader that needs them at once.

    Raises:
        DataError: as `rows`, or it is too large for the memory.
    """
    row_list: list[Row] = []
    size = 0
    for row in rows(file, known=known):
        row_list.append(row)
        size += _size_of(row.cells)
        if size > MOST_BYTES:
            raise _too_large(file, _("its cells have more than {} MB", MOST_BYTES >> 20))
    return row_list


def sheet_lines(file: Path, known: Collection[str] = ()) -> list[SheetRow]:
    """The lines of a table written by a person or a spreadsheet, the header line first.

    It is a workbook (``.xlsx``, its first sheet), or a text in any encoding that keju reads, with
    commas, semicolons or tabs between the cells. Empty lines are skipped, and lines may have more
    cells than the header, and in a text fewer. `known` is as in `rows`.

    Raises:
        DataError: it is not readable or too large, or its quotes are never closed.
    """
    with reading(file):
        size = plain_file(file).stat().st_size
    if size > MOST_TEXT:
        raise _too_large(file, _("{:,} MB, more than {:,} MB", size >> 20, MOST_TEXT >> 20))
    lines = next(filter(None, (list(sheet) for _name, sheet in _sheets(file, known))), [])
    width, pads = len(_without_empty_end(lines[0].cells)) if lines else 0, _is_workbook(file)
    return [SheetRow(number, _fitted(cells, width, pads=pads)) for number, cells in lines]


# ---- JSON


def lists_in(file: Path, most: int) -> list[Found]:
    """Every list of records in a file, with its first `most` rows.

    A file that is not a JSON object has one. In a JSON object every list of objects is one, in at
    most three levels of objects; where there is none, an object that has only objects with a text
    or number among their values has its records by key.

    Raises:
        DataError: the file is not readable, or has no list of records.
    """
    content = _json_value(file) if file.suffix.casefold() == ".json" else None
    if not isinstance(content, dict):
        return [Found((), "list", list(islice(rows(file), most)))]
    return [
        Found(key, shape, list(islice(_json_rows(file, content, key, shape), most)))
        for key, shape in _lists_below(file, content)
    ]


def _lists_below(
    file: Path, content: JsonObject, key: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], Shape]]:
    """The keys and the shape of each list of records in an object."""
    lists: list[tuple[tuple[str, ...], Shape]] = []
    for name, value in content.items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            lists.append(((*key, name), "list"))
        elif isinstance(value, dict) and len(key) < _DEEPEST:
            lists += _lists_below(file, value, (*key, name))
    if not lists and content and all(map(_is_record, content.values())):
        lists.append((key, "by-key"))
    if not lists and not key:
        problem = _("expected a list of objects; found {}", _kind(content))
        hint = _("Write [{…}, {…}]; of files with one record each: jq -s . *.json > all.json")
        raise DataError(problem, file=file, hint=hint)
    return lists


def _is_record(value: object) -> bool:
    """Whether a value is an object with a text or number among its values."""
    inner = value.values() if isinstance(value, dict) else ()
    return any(not isinstance(each, dict | list) for each in inner)


def _json_value(file: Path, key: tuple[str, ...] = ()) -> object:
    """The object or list that a JSON file is; None where it has an object on each line."""
    head, __ = _head(file)
    is_lines = file.suffix.casefold() != ".json" or _seem_lines(head)
    if is_lines and not key and not _LIST.match(head):
        return None
    size = file.stat().st_size
    if size > MOST_TEXT:
        place = "".join(f"[{json.dumps(name, ensure_ascii=False)}]" for name in key)
        command = f"jq -c '.{place}[]' {shlex.quote(file.name)} > TABLE.jsonl"
        problem = _("{:,} MB, more than {:,} MB", size >> 20, MOST_TEXT >> 20)
        raise DataError(problem, file=file, hint=_("Write one object per line: {}", command))
    return json_in(file, object)


def _seem_lines(text: str) -> bool:
    """Whether a text begins with a line that is an object by itself."""
    first, _, rest = text.strip().replace("\r", "\n").partition("\n")
    with suppress(*_UNREADABLE_JSON):
        decode_json(first, dict[str, object])
        return bool(rest)
    return False


def _json_rows(file: Path, content: object, key: tuple[str, ...], shape: Shape) -> Iterator[Row]:
    """Yield the records in a JSON value below some keys, or in the only list of an object."""
    if isinstance(content, dict) and not key and shape == "list":
        lists = [inner for inner, kind in _lists_below(file, content) if kind == "list"]
        if len(lists) != 1:
            names = join_names(map(".".join, lists)) or _kind(content)
            problem = _("several lists of objects: {}", names)
            raise DataError(problem, file=file, hint="Save the list to import as a separate file")
        key = lists[0]
    for number, name in enumerate(key):
        if not isinstance(content, dict) or name not in content:
            raise _unlike(file, key[:number], _("the key {!r}", name), content)
        content = content[name]
    above = "".join(f"{name}, " for name in map(shortened, key))
    if shape == "by-key" and isinstance(content, dict):
        for name, value in content.items():
            cells = value if isinstance(value, dict) else {"value": value}
            yield Row(Place(file, f"{above}{shortened(name)}"), {"key": name, **cells})
    elif shape == "list" and isinstance(content, list):
        for number, record in enumerate(content, start=1):
            place = Place(file, f"{above}object {number}")
            if not isinstance(record, dict):
                problem = _("expected an object; found {}", type(record).__name__)
                raise place.error(problem, _("Write {…}, or remove it"))
            yield Row(place, record)
    else:
        expected = _("a list of objects") if shape == "list" else _("an object")
        raise _unlike(file, key, expected, content)


def _unlike(file: Path, key: Sequence[str], expected: str, content: object) -> DataError:
    """The error of a JSON value below some keys that is not as expected."""
    problem = _("expected {}; found {}", expected, _kind(content))
    hint = _("Correct the keys and the shape of the table")
    return Place(file, ", ".join(map(shortened, key))).error(problem, hint)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with {join_names(map(shortened, value)) or 'nothing'}"
    return "something else"


def json_in(file: Path, shape: type[T]) -> T:
    """The content of a JSON file as `shape`, in any encoding.

    Raises:
        DataError: it is not readable, or has another shape.
    """
    text = source_text(file)
    try:
        return decode_json(text, shape)
    except _UNREADABLE_JSON as error:
        raise DataError(
            "not readable as JSON: {}",
            json_problem(error),
            file=file,
            item=_unreadable_object(file, text),
            hint="Fetch the file again",
        ) from None


def _unreadable_object(file: Path, text: str) -> Text | str | None:
    """The place of the first object of a list that is not readable; None in another value."""
    if not (start := _LIST.match(text)):
        return None
    decoder, position, number = json.JSONDecoder(), start.end(), 1
    with suppress(ValueError, *_UNREADABLE_JSON):
        while True:
            between = _BETWEEN.match(text, position)
            position = between.end() if between else position
            end = decoder.raw_decode(text, position)[1]
            decode_json(text[position:end])
            position, number = end, number + 1
    return place_words(f"{'record' if file.suffix.casefold() in _LINES else 'object'} {number}")


def _object_rows(file: Path) -> Iterator[Row]:
    """Yield the records of a text with an object on each line."""
    record = 0
    for number, line in enumerate(_text_lines(file), start=1):
        if not line.strip():
            continue
        record += 1
        try:
            cells = decode_json(line, dict[str, object])
        except _UNREADABLE_JSON as error:
            problem = _("not readable: {}", json_problem(error))
            hint = _("Correct the line, or remove it")
            raise Place(file, f"line {number}").error(problem, hint) from None
        yield Row(Place(file, f"record {record}"), cells)


# ---- texts


def _head(file: Path) -> tuple[str, str]:
    """The beginning of a text, and its encoding."""
    head = source_head(file, HEAD)
    encoding = import_log().encoding or encoding_of(head, file)
    return head.decode(codec_of(encoding), "ignore"), encoding


def _text_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a text, each of at most `MOST_TEXT` characters."""
    __, encoding = _head(file)
    count(files=1)
    if encoding != UTF_8:
        import_log().decoded(file, encoding)
    number = 0
    try:
        with reading(file), file.open(encoding=codec_of(encoding)) as stream:
            while line := stream.readline(MOST_TEXT + 1):
                number += 1
                if len(line) > MOST_TEXT:
                    problem = _("the line has more than {:,} MB", MOST_TEXT >> 20)
                    hint = _("Check whether the file is a table")
                    raise Place(file, f"line {number}").error(problem, hint)
                yield line
    except UnicodeError:
        error = undecodable(file, encoding)
        raise Place(file, f"after line {number}").error(error.problem, error.hint) from None


# ---- lines of cells: the first one has the names of the columns


def _cell_rows(file: Path, known: Collection[str], *, formulas: bool) -> Iterator[Row]:
    """Yield the rows of all sheets of a table, whose columns must be the same."""
    sheets, pads = _sheets(file, known, formulas=formulas), _is_workbook(file)
    first: tuple[str, list[str]] | None = None
    for name, lines in sheets:
        head = next(lines, None)
        if head is None:
            continue
        heads = _heads(file, head.cells)
        first = first or (name, heads)
        if heads != first[1]:
            problem = _("sheets with different columns: {}", join_names((first[0], name)))
            raise DataError(problem, file=file, hint="Save the sheet to import as a separate file")
        within = f"sheet {name}, " if len(sheets) > 1 else ""
        for number, cells in lines:
            place = Place(file, f"{within}line {number}")
            yield _row(place, heads, _fitted(cells, len(heads), pads=pads))


def _sheets(
    file: Path, known: Collection[str], *, formulas: bool = False
) -> list[tuple[str, Iterator[SheetRow]]]:
    """The sheets of a table with their filled lines, a few of which are in memory."""
    if _is_workbook(file):
        return read_sheets(file, source_bytes(file), formulas=formulas)
    return [("", _separated(file, known))]


def _separated(file: Path, known: Collection[str]) -> Iterator[SheetRow]:
    """Yield the filled lines of a CSV or TSV.

    The separator is a tab in a ``.tsv`` file, else the one that gives the header line most of the
    `known` names of columns, then most cells, the comma first. A first line ``sep=;`` counts for
    more.
    """
    lines = _text_lines(file)
    first = list(islice(lines, _HEAD_LINES))
    head = "".join(first).lstrip("\n").partition("\n")[0]

    def fit(separator: str) -> tuple[bool, int, int]:
        cells: list[str] = []
        with suppress(csv.Error):
            cells = next(csv.reader([head], delimiter=separator), [])
        is_tsv = separator == "\t" in head and file.suffix.casefold() == ".tsv"
        return is_tsv, len({cell.strip() for cell in cells}.intersection(known)), len(cells)

    reader = FilledLines(chain(first, lines), max(",;\t", key=fit))
    try:
        for cells in reader:
            yield SheetRow(reader.line_num, cells)
    except csv.Error as error:
        problem = _("not readable as a table: {}", error)
        hint = _('Close the quotes "…", and double a quote inside them')
        raise Place(file, f"line {reader.line_num}").error(problem, hint) from None


def _without_empty_end(cells: list[str], least: int = 0) -> list[str]:
    """The cells without empty ones at the end, which spreadsheets add, but at least so many."""
    size = len(cells)
    while size > least and not cells[size - 1].strip():
        size -= 1
    return cells[:size]


def _fitted(cells: list[str], width: int, *, pads: bool) -> list[str]:
    """The cells of a line without empty ones behind the last column.

    `pads`: it is a line of a workbook, which does not store the empty cells at the end of it.
    """
    cells = _without_empty_end(cells, width)
    return cells + [""] * (width - len(cells)) if pads else cells


def _is_workbook(file: Path) -> bool:
    return file.suffix.casefold() == ".xlsx"


def _heads(file: Path, cells: list[str]) -> list[str]:
    """The names of the columns in the first line of a table."""
    heads = _without_empty_end([head.strip() for head in cells])
    if len(heads) > MOST_COLUMNS:
        raise _too_large(file, _("it has more than {:,} columns", MOST_COLUMNS))
    twice = sorted(head for head, count in Counter(heads).items() if count > 1)
    if not heads or twice:
        problem = _("no line of column names")
        if twice:
            problem = _("two columns are called {!r}", twice[0])
        raise DataError(problem, file=file, hint=_("Give every column its own name"))
    return heads


def _row(place: Place, heads: list[str], cells: list[str]) -> Row:
    if len(cells) != len(heads):
        problem = _(
            "{}, but there should be {}",
            n_("{n:,} cell", "{n:,} cells", len(cells)),
            n_("{n:,} column", "{n:,} columns", len(heads)),
        )
        hint = _(
            "Give every column a name in the first line, and put cells that contain the separator "
            'or a line break into quotes "…"'
        )
        raise place.error(problem, hint)
    return Row(place, dict(zip(heads, cells, strict=True)))


# ---- parquet


def _parquet_rows(file: Path) -> Iterator[Row]:
    """Yield the records of a parquet file, with bytes for images; a few rows are in memory."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - slow to import

    count(files=1)
    number = 0
    try:
        source_head(file, HEAD)
        with ParquetFile(file) as table:
            for batch in table.iter_batches(_BATCH, use_threads=False):
                frame = pl.DataFrame(pa.Table.from_batches([batch]))
                if frame.estimated_size() > MOST_BYTES:
                    raise _too_large(file, _("its cells have more than {} MB", MOST_BYTES >> 20))
                # pandas stores NaN where a column of numbers has a gap.
                for cells in frame.with_columns(cs.float().fill_nan(None)).iter_rows(named=True):
                    number += 1
                    yield Row(Place(file, f"record {number}"), cells)
    except (pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException,
            OSError) as error:  # fmt: skip
        reason = next(iter(str(error).splitlines()), "")
        raise DataError(
            "not readable as parquet: {}", reason, file=file, hint="Fetch the file again"
        ) from None


def _size_of(value: object) -> int:
    """About the bytes of a cell in memory."""
    if isinstance(value, dict | list):
        return sum(map(_size_of, value.values() if isinstance(value, dict) else value))
    return 64 + (len(value) if isinstance(value, str | bytes) else 0)


def _too_large(file: Path, problem: str) -> DataError:
    return DataError(
        "the table is too large: {}", problem, file=file, hint="Split it into several files"
    )
