"""CSV files that spreadsheets open or have written."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import polars as pl

from keju.files import FORMULA, write_atomic

_NUMBER = r"^[+-][0-9]+(\.[0-9]+)?$"
_DECLARED = re.compile(r"\ufeff?\"?sep=(.|\\t)\"?[\t ]*\r?\n?", re.IGNORECASE)


class FilledLines:
    """The lines of a CSV or TSV that have a filled cell; `line_num` is the number of the last one.

    A first line ``sep=;`` sets the separator.
    """

    def __init__(self, lines: Iterable[str], separator: str) -> None:
        lines = iter(lines)
        first = next(lines, "")
        if declaration := _DECLARED.fullmatch(first):
            # An empty line in its place keeps the numbers of the others.
            first, separator = "\n", declaration[1].replace("\\t", "\t")
        self._reader = csv.reader(chain([first], lines), delimiter=separator, strict=True)

    @property
    def line_num(self) -> int:
        """The number of the line that was read last, from 1."""
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the cells of each line; a `csv.Error` is a quote that is never closed."""
        return (cells for cells in self._reader if any(map(str.strip, cells)))


def write_frame(frame: pl.DataFrame, path: Path) -> Path:
    """Write a CSV for spreadsheets (`encode_frame`), atomically."""
    write_atomic(path, encode_frame(frame))
    return path


def encode_frame(frame: pl.DataFrame) -> bytes:
    """A CSV for spreadsheets: UTF-8 with byte-order mark, which Excel needs for Chinese.

    Texts that a spreadsheet reads as formulas get an apostrophe; numbers with a sign do not.
    """
    texts = pl.col(pl.String)
    risky = texts.str.slice(0, 1).is_in(list(FORMULA)) & ~texts.str.contains(_NUMBER)
    safe = frame.with_columns(pl.when(risky).then(pl.lit("'") + texts).otherwise(texts).name.keep())
    return safe.write_csv(include_bom=True).encode()
