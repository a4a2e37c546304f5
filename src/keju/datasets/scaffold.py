"""`scaffold`: write tables that a person completes for an import."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers import FORMATS
from keju.datasets.readers.base import NO_OPTIONS, Options, Table
from keju.datasets.readers.words import import_command
from keju.errors import UsageError
from keju.files import FORMULA, write_atomic

_BOM = "\ufeff"


class Scaffolded(NamedTuple):
    """A table that was written: the file, its rows, what to fill in, and the import to run next."""

    file: Path
    rows: int
    fill: tuple[str, ...]
    command: str


def scaffolded_formats() -> dict[str, str]:
    """The formats whose import accepts such tables, with the content of the tables."""
    return {each.name: each.tables.what for each in FORMATS.list_usable() if each.tables}


def scaffold(
    form: str, src: Path, folder: Path, options: Options = NO_OPTIONS
) -> Iterator[Scaffolded]:
    """Write the tables for a format's import, filled in as far as the source permits.

    `options` of the import determine random draws; they are in the command too.

    Raises:
        UsageError: the format has no tables, a table exists, an option is wrong.
        DataError: the source does not have the format's layout.
    """
    reader = FORMATS.get(form)
    if reader is None or reader.tables is None:
        known = ", ".join(scaffolded_formats())
        raise UsageError("format {!r} has no tables to fill in. Formats: {}", form, known)
    settings = reader.parse(options)
    if not src.exists():
        raise UsageError("{}: no such file or folder", src)
    for table in reader.tables.make(src, settings):
        file = folder / f"{table.name}.csv"
        if file.exists():
            raise UsageError("{} exists. Choose another folder with -o, or remove it", file)
        write_atomic(file, _csv(table))
        more = {name: str(file) for name in table.options}
        kept = {name: value for name, value in options.items() if name not in table.replaces}
        yield Scaffolded(file, len(table.rows), table.fill, import_command(form, src, kept | more))


def _csv(table: Table) -> str:
    """The table as UTF-8 with a byte-order mark and CRLF, as Excel opens it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(table.columns)
    writer.writerows(_safe(row, table.columns) for row in table.rows)
    return _BOM + out.getvalue()


def _safe(row: Iterable[str], columns: Sequence[str]) -> tuple[str, ...]:
    """A row whose cells no spreadsheet reads as formulas; an image keeps its path."""
    return tuple(
        (f"./{cell}" if column == "image" else f"'{cell}") if cell.startswith(FORMULA) else cell
        for cell, column in zip(row, columns, strict=True)
    )
