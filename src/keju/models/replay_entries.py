"""`entries_in`: the entries of a response file of any supported format."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from keju.csv_files import declared_separator
from keju.datasets.readers.encodings import decode
from keju.datasets.readers.records import Place
from keju.datasets.readers.tables import delimited, read_table, separator_of
from keju.errors import DataError
from keju.files import decode_json
from keju.models.lmms_samples import LmmsSample, lmms_answers
from keju.models.other_harnesses import (
    Entry,
    archive,
    columns_of,
    inspect_log,
    row_of,
    table_answers,
)
from keju.text import read_content

LONGEST_HEAD = 1 << 20
"""The number of characters in which the column names of a table are searched."""

_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"


def entries_in(path: Path, data: bytes) -> Iterator[Entry]:
    """The entries of a file of any supported format."""
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = table_text(path, data).encode()
    start = data[:4096].lstrip()
    if start.startswith(b"PK\x03\x04"):
        yield from archive(path, data)
    elif start.startswith(b"PAR1"):
        rows = read_table(path)
        yield from table_answers(path, list(rows[0].cells), rows)
    elif start.startswith(b"["):
        yield from _list(path, data)
    elif start.startswith(_OLD_WORKBOOK):
        raise DataError(
            "the old Excel format (.xls) is not supported",
            file=path,
            hint="Save it as .xlsx, .tsv or .json",
        )
    elif path.suffix == ".pkl":
        raise DataError(
            "a pickle file can run programs, so keju does not read it",
            file=path,
            hint="Save it as .xlsx, .tsv or .json",
        )
    elif not start.startswith(b"{") and (
        separator := separator_in(path, text := table_text(path, data))
    ):
        if rows := list(delimited(path, io.StringIO(text, newline=""), separator)):
            yield from table_answers(path, list(rows[0].cells), rows)
    elif (log := inspect_log(data)) is not None:
        yield from log
    else:
        yield from _json_lines(path, data)


def table_text(path: Path, data: bytes) -> str:
    """The text of a table in any encoding; a response may contain damaged UTF-8."""
    try:
        return decode(data, path).text
    except DataError:
        return data.decode("utf-8", "replace")


def separator_in(path: Path, text: str) -> str:
    """The column separator of a text table; empty for a file of another kind."""
    line = next(iter(text[:LONGEST_HEAD].lstrip("\r\n").splitlines()), "")
    if declared := declared_separator(line):
        return declared
    if "\t" in line:
        return "\t"
    return separator_of(path, line) if path.suffix.casefold() == ".csv" else ""


def _json_lines(path: Path, data: bytes) -> Iterator[Entry]:
    samples: list[LmmsSample] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            if b'"filtered_resps"' in line and b'"doc_id"' in line:
                samples.append(decode_json(line, LmmsSample))
                samples[-1].to_answer()
            elif b'"text"' not in line and (row := _row_in(line)):
                yield row_of(row, Place(path, f"row {number}"))
            else:
                yield decode_json(line, Entry)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise DataError(
                "not an object with item and text: {}",
                error,
                file=path,
                item=f"line {number}",
                hint=(
                    "docs/running.md lists the forms that are read. JSON lines need item and "
                    "text, tables (.csv, .tsv, .xlsx, .parquet, .json) id and prediction"
                ),
            ) from None
    yield from lmms_answers(samples)


def _row_in(line: bytes) -> dict[str, Any] | None:
    """The row of a table of responses in a line of JSON; None for any other line."""
    row: object = decode_json(line)
    return row if isinstance(row, dict) and columns_of(row) else None


def _list(path: Path, data: bytes) -> Iterator[Entry]:
    """A list of objects: with ``ID`` and ``Response``, or a table such as VLMEvalKit's."""
    try:
        rows = decode_json(data, list[dict[str, Any]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError("not a list of objects: {}", error, file=path) from None
    for number, row in enumerate(rows, start=1):
        if "prediction" in row or ("ID" not in row and columns_of(row)):
            yield row_of(row, Place(path, f"row {number}"))
            continue
        name = row.get("ID")
        if not isinstance(name, str | int):
            raise DataError(
                "an object needs an ID",
                file=path,
                item=f"object {number}",
                hint=(
                    "docs/running.md lists the forms that are read. JSON lines need item and "
                    "text, tables (.csv, .tsv, .xlsx, .parquet, .json) id and prediction"
                ),
            )
        if "Response" in row:
            content = read_content(row["Response"])
            yield Entry(
                item=name,
                text=content.text,
                not_text=content.not_text,
                authors=True,
                task=_task_of(row.get("Task_ID")),
            )


def _task_of(value: object) -> str:
    """The task of a ``Task_ID``: 7, "7", "T7" or 7.0; empty if it is none of these."""
    digits = str(value).strip().upper().removeprefix("T").removesuffix(".0")
    return f"T{int(digits)}" if digits.isascii() and digits.isdigit() and len(digits) < 4 else ""
