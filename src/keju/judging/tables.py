"""CSV files that people and spreadsheets have had in hand."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from keju.errors import DataError, UsageError

CODE = "answer_code"
"""The column of a sample's sheet that names an answer without saying whose it is."""

_LETTER = "k"
_HEX = re.compile("[0-9a-f]{16}")


def sheet_code(code: str) -> str:
    """A code for a cell: with a letter before it, a spreadsheet never takes it for a number."""
    return _LETTER + code


def plain_code(cell: str) -> str:
    """The code in a cell, with or without the letter; sheets of earlier versions have none."""
    plain = cell.removeprefix(_LETTER)
    return plain if _HEX.fullmatch(plain) else cell


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by column, each with the number of its last line.

    Names of columns are trimmed and made small, values trimmed; rows without any value are
    passed over.

    Raises:
        UsageError: there is no such file.
        DataError: it is not UTF-8, has a column twice, or a row with more cells than columns.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    csv.field_size_limit(min(sys.maxsize, 1 << 30))
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            names = [name.strip() for name in next(reader, [])]
            names = [name if name.startswith("judge:") else name.lower() for name in names]
            if twice := {name for name in names if name and names.count(name) > 1}:
                raise DataError(f"column {min(twice)!r} is there twice", file=path)
            for row in reader:
                values = [cell.strip() for cell in row]
                if not any(values):
                    continue
                if len(values) > len(names):
                    raise DataError(
                        f"{len(values)} cells for {len(names)} columns",
                        file=path,
                        item=f"line {reader.line_num}",
                    )
                yield reader.line_num, dict(zip(names, values, strict=False))
    except UnicodeDecodeError:
        raise DataError("not UTF-8", file=path, mend="Save it as CSV UTF-8") from None
    except csv.Error as error:
        raise DataError(f"not a CSV file: {error}", file=path) from None
