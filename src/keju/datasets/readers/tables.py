"""Tables that go with a source: CSV, TSV, JSON or JSON lines, read as records with their places."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from keju.datasets.readers.base import kept_inside, source_text
from keju.datasets.readers.records import JsonObject, Place, lines_in, objects_in, text_of
from keju.errors import DataError

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl")
"""The forms of a table, in the order in which they are looked for."""

MAX_CELL = 1 << 28
"""Characters in a cell: 200 MB of picture as base64. More is a quote that was never closed."""

csv.field_size_limit(MAX_CELL)


class Row(NamedTuple):
    """One line of a table: its cells by column, and where it stands."""

    place: Place
    cells: JsonObject


def find_table(folder: Path, name: str) -> Path | None:
    """The table of that name in a folder, whichever form it has; None if there is none.

    Raises:
        DataError: there are several, or it is a link that leads out of the folder.
    """
    found = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").exists()]
    if len(found) > 1:
        raise DataError(
            f"both {found[0].name} and {found[1].name}", file=folder, mend="Keep one of them"
        )
    return kept_inside(found[0], folder) if found else None


def read_table(file: Path) -> list[Row]:
    """All lines of a table, in their order.

    Raises:
        DataError: it is not readable, has no columns or no lines, or a line does not fit.
    """
    if file.suffix == ".json":
        rows = [
            Row(Place(file, f"object {n}"), cells) for n, cells in enumerate(objects_in(file), 1)
        ]
    elif file.suffix == ".jsonl":
        rows = [Row(Place(file, f"record {n}"), cells) for n, cells in enumerate(lines_in(file), 1)]
    else:
        text = source_text(file)
        rows = list(delimited(file, io.StringIO(text, newline=""), _separator(file, text)))
    if not rows:
        raise DataError("a table without lines", file=file, mend="Fill it, or take it away")
    return rows


def _separator(file: Path, text: str) -> str:
    """What parts the cells where commas part no heads, as some spreadsheets write it; else empty.

    A file that is called TSV is one.
    """
    head = text.partition("\n")[0]
    if file.suffix == ".tsv" or "," in head:
        return ""
    return max((";", "\t"), key=head.count) if ";" in head or "\t" in head else ""


def delimited(file: Path, lines: Iterable[str], separator: str = "") -> Iterator[Row]:
    """The lines of a CSV, or of a TSV where the file is called so, under its line of heads.

    Args:
        file: where they are from.
        lines: its lines.
        separator: what parts the cells, where the file's name doesn't say it.

    Raises:
        DataError: quotes that are never closed, no heads, a head that stands twice, a line with
            more or fewer cells than there are heads.
    """
    separator = separator or ("\t" if file.suffix == ".tsv" else ",")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        heads = [head.strip() for head in next(reader, [])]
        _check_heads(file, heads)
        for cells in reader:
            if not any(cells):
                continue
            place = Place(file, f"line {reader.line_num}")
            if len(cells) != len(heads):
                raise DataError(
                    f"{len(cells)} cells, but there are {len(heads)} columns",
                    file=file,
                    item=place.item,
                    mend='Put cells that hold the separator into quotes "…"',
                )
            yield Row(place, dict(zip(heads, cells, strict=True)))
    except csv.Error as error:
        raise DataError(
            f"not readable as a table: {error}",
            file=file,
            item=f"line {reader.line_num}",
            mend='Close the quotes "…", and double a quote inside them',
        ) from None


def _check_heads(file: Path, heads: list[str]) -> None:
    twice = sorted(head for head, count in Counter(heads).items() if count > 1)
    if not heads or twice:
        wrong = f"two columns are called {twice[0]!r}" if twice else "no line of column names"
        raise DataError(wrong, file=file, mend="Give every column a name of its own")


def number_in(cells: JsonObject, key: str, place: Place) -> float:
    """The number in a cell.

    Raises:
        DataError: there is none, or none that a picture could have.
    """
    value = cells.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        value = text_of(cells, key, place).strip()
    try:
        found = float(value)
    except ValueError:
        found = float("nan")
    if not abs(found) < _LARGEST:
        raise DataError(
            f"{str(value)[:40]!r} in {key!r} is no coordinate",
            file=place.file,
            item=place.item,
            mend="Write pixels, as a number",
        )
    return found


_LARGEST = 1e6
