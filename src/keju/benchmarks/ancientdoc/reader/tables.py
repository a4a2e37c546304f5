"""Which kind of AncientDoc's tables a file is: long, wide, images alone, or a table of books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from keju.benchmarks.ancientdoc.reader.columns import (
    WIDE_FIELDS,
    wide_columns,
    without_task_columns,
)
from keju.benchmarks.ancientdoc.reader.long import FIELDS
from keju.benchmarks.ancientdoc.reader.settings import AncientDocSettings
from keju.benchmarks.ancientdoc.reader.strata import is_book_table
from keju.datasets.readers.base import files_under
from keju.datasets.readers.records import JsonObject, map_fields
from keju.datasets.readers.tables import SUFFIXES, Row, read_table
from keju.errors import DataError

Kind = Literal["long", "wide", "images", "books"]


class Table(NamedTuple):
    """A table of the source, and how it is read."""

    file: Path
    kind: Kind
    rows: Sequence[Row]


def image_in(cells: JsonObject) -> Mapping[object, object] | bytes:
    """The cell of a record that contains an image; empty if there is none."""
    return next((each for each in cells.values() if isinstance(each, Mapping | bytes)), {})


def tables_in(src: Path, settings: AncientDocSettings) -> Iterator[Table]:
    """The tables of a source; of a folder every file that can be one.

    The table that option `books` names is not among them; another table of books in the folder is.

    Raises:
        DataError: a file cannot be read, or is of no kind.
    """
    suffixes = {suffix.lstrip(".") for suffix in SUFFIXES}
    books = settings.books.resolve() if settings.books else None
    for file in [src] if src.is_file() else list(files_under(src, suffixes)):
        if file.resolve() != books:
            rows = read_table(file)
            records = [row.cells for row in rows]
            kind = kind_of(records, settings.field)
            if kind is None and src.is_dir() and is_book_table(records):
                kind = "books"
            yield Table(file, kind or _no_kind(file, records, settings.field), rows)


def kind_of(records: Sequence[JsonObject], given: Mapping[str, str] | None = None) -> Kind | None:
    """The kind of table with these records; None if it is none of AncientDoc's.

    `given` are the names of columns by role, from the options ``field.ROLE=NAME``.
    """
    try:
        map_fields(Path(), records, FIELDS, _of_roles(given or {}, FIELDS))
    except DataError:
        pass
    else:
        return "long"
    names = list(dict.fromkeys(key for record in records for key in record))
    inside = any(isinstance(cell, Mapping | bytes) for cell in records[0].values())
    if wide_columns(names, given):
        try:
            map_fields(Path(), records, WIDE_FIELDS, _of_roles(given or {}, WIDE_FIELDS))
        except DataError:
            return "wide" if inside else None
        return "wide"
    return "images" if inside else None


def _no_kind(file: Path, records: Sequence[JsonObject], given: Mapping[str, str]) -> Kind:
    # Raises, with the field that is missing.
    map_fields(file, records, FIELDS, without_task_columns(given))
    return "long"


def _of_roles(given: Mapping[str, str], roles: Iterable[str]) -> dict[str, str]:
    wanted = set(roles)
    return {role: name for role, name in given.items() if role in wanted}
