"""`rows_of`: the rows of sheets that people filled in, in any format that a spreadsheet writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from keju.datasets.readers.tables import sheet_lines
from keju.datasets.readers.workbooks import SheetRow
from keju.errors import DataError, UsageError
from keju.local_paths import check_local
from keju.texts import n_

CODE = "answer_code"
"""The column of a sample's sheet that identifies an answer without naming its model."""

COLUMNS = ("item", "task", "model", "rater", "score", "query", "setting", "round", "group", CODE)
"""Known columns, by which the separator of a sheet is found."""

_LETTER = "k"
_HEX = re.compile("[0-9a-f]{16}")


def sheet_code(code: str) -> str:
    """A code for a cell, with a letter before it so that spreadsheets do not read a number."""
    return _LETTER + code


def plain_code(cell: str) -> str:
    """The code in a cell, with or without the letter; ratings of `keju serve` have none."""
    plain = cell.removeprefix(_LETTER)
    return plain if _HEX.fullmatch(plain) else cell


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet by column, each with the number of its line.

    Sheets have the formats that `sheet_lines` reads. Names of columns are trimmed and in lower
    case, values trimmed; rows without any value are skipped.

    Raises:
        UsageError: there is no such file, or it is an address.
        DataError: it is not readable, has a column twice, or a row with more cells than columns.
    """
    check_local(path)
    if not path.is_file():
        raise UsageError("{}: no such file", path)
    lines = iter(sheet_lines(path, COLUMNS))
    names = [name.strip() for _, heads in [next(lines, SheetRow(1, []))] for name in heads]
    names = [name if name.startswith("judge:") else name.lower() for name in names]
    if twice := {name for name in names if name and names.count(name) > 1}:
        raise DataError("column {!r} exists twice", min(twice), file=path)
    for number, cells in lines:
        if len(cells) > len(names):
            raise DataError(
                n_(
                    "{n:,} cell for {} columns",
                    "{n:,} cells for {} columns",
                    len(cells),
                    len(names),
                ),
                file=path,
                item=f"line {number}",
            )
        yield number, dict(zip(names, map(str.strip, cells), strict=False))
