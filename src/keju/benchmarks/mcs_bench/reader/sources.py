"""The files of a release that have records, and the records of each with the words of its path."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.benchmarks.mcs_bench.reader.conversations import has_conversation
from keju.benchmarks.mcs_bench.reader.words import has_role, script_in
from keju.datasets.readers.base import files_under, plain_file, source_text
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.tables import Row, read_table
from keju.errors import DataError
from keju.files import decode_json
from keju.items import Script

SUFFIXES = frozenset({"json", "jsonl", "ndjson", "csv", "tsv", "xlsx", "parquet"})

_DEEPEST = 3
"""Levels of objects above the records of a JSON file, such as domain and task."""


class Table(NamedTuple):
    """Records that belong together: those of one file, or of one list in it.

    `words` are what its place says, from the inside out: keys inside the file, the file's stem,
    and the names of the folders. `near` are those of them that are inside the source.
    """

    file: Path
    rows: list[Row]
    words: tuple[str, ...]

    @property
    def script(self) -> Script | None:
        """The script that the file's place names."""
        return next(filter(None, map(script_in, self.words)), None)


def tables_in(src: Path) -> tuple[list[Table], list[str]]:
    """Every table of records in a source, and the names of files that have no questions.

    Raises:
        DataError: a file does not exist, or is not readable.
    """
    if src.is_file():
        return list(_tables(src, (src.stem, src.parent.name))), []
    _check_folders(src)
    found: list[Table] = []
    others: list[tuple[Path, list[Table]]] = []
    refused: list[tuple[Path, DataError]] = []
    for file in files_under(src, SUFFIXES):
        inner = file.relative_to(src).parent.parts
        words = (file.stem, *reversed(inner), src.name)
        try:
            tables = list(_tables(file, words))
        except _NoRecordsError as error:
            refused.append((file, error))
            continue
        asking = [each for each in tables if any(asks(row.cells) for row in each.rows[:20])]
        found += asking
        if not asking:
            others.append((file, tables))
    if not found and others:
        return [table for _, tables in others for table in tables], []
    if not found and refused:
        raise refused[0][1]
    if not found:
        raise DataError(
            "expected a .json, .jsonl, .csv, .tsv, .xlsx or .parquet file; found none",
            file=src,
            hint="See: keju data formats mcs-bench",
        )
    return found, [file.relative_to(src).as_posix() for file, _ in (*others, *refused)]


def _check_folders(src: Path) -> None:
    """Refuse an empty folder that is called as a table, such as ``T7.csv``.

    Raises:
        DataError: there is one.
    """
    for place, folders, _ in os.walk(src):
        for name in sorted(folders):
            path = Path(place, name)
            if path.suffix.casefold().lstrip(".") in SUFFIXES and not any(path.iterdir()):
                plain_file(path)


class _NoRecordsError(DataError):
    """A sound JSON file that is not a table."""


def asks(record: Mapping[str, object]) -> bool:
    """Whether a record has a question, by the names of its fields."""
    roles = ("question", "question_simplified", "question_traditional")
    return has_role(record, *roles) or has_conversation(record)


def _tables(file: Path, words: tuple[str, ...]) -> Iterator[Table]:
    content = _json_object(file) if file.suffix.casefold() == ".json" else None
    if content is None:
        yield Table(file, read_table(file), words)
        return
    for keys, records in _lists(file, content):
        within = ", ".join(keys)
        rows = [
            Row(Place(file, f"{within}, object {n}" if within else f"object {n}"), record)
            for n, record in enumerate(records, start=1)
        ]
        yield Table(file, rows, (*reversed(keys), *words))


def _json_object(file: Path) -> JsonObject | None:
    """The content of a JSON file that is an object; None for any other, sound or not."""
    text = source_text(file)
    if not text.lstrip().startswith("{"):
        return None
    try:
        return decode_json(text, dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _lists(
    file: Path, content: JsonObject, keys: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], list[JsonObject]]]:
    """The lists of records in a JSON object, each with the keys above it.

    Seen as such are ``{"data": […]}``, ``{"T1": […], "T2": […]}``, the same a level deeper, records
    by their ID, one record, and pandas' ``{"ID": {"0": …}}`` and ``{"ID": […]}``.

    Raises:
        DataError: there are none.
    """
    if _asks_by_name(content):
        columns = _columns(content)
        return [(keys, [content] if columns is None else columns)]
    found: list[tuple[tuple[str, ...], list[JsonObject]]] = []
    by_name: list[JsonObject] = []
    for key, value in content.items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            found.append(((*keys, key), value))
        elif isinstance(value, dict) and _asks_by_name(value) and _columns(value) is None:
            by_name.append(value if has_role(value, "id") else {"ID": key, **value})
        elif isinstance(value, dict) and len(keys) < _DEEPEST:
            try:
                found += _lists(file, value, (*keys, key))
            except _NoRecordsError:
                continue
    if by_name:
        found.append((keys, by_name))
    if not found:
        named = ", ".join(list(content)[:5]) or "nothing"
        raise _NoRecordsError(
            "expected a list of objects; found an object with {}",
            named[:200],
            file=file,
            hint="Write [{…}, {…}]",
        )
    return found


def _asks_by_name(record: Mapping[str, object]) -> bool:
    return has_role(record, "question") or has_conversation(record)


def _columns(content: JsonObject) -> list[JsonObject] | None:
    """Records of a table that was written by column, as pandas does; None if it was not."""
    if has_conversation(content) or not content:
        return None
    values = list(content.values())
    if all(isinstance(each, dict) for each in values):
        by_row = [each for each in values if isinstance(each, dict)]
        places = list(dict.fromkeys(place for each in by_row for place in each))
        return [
            {key: column.get(place) for key, column in zip(content, by_row, strict=True)}
            for place in places
        ]
    return _from_lists(list(content), values)


def _from_lists(heads: Sequence[str], values: Sequence[object]) -> list[JsonObject] | None:
    columns = [each for each in values if isinstance(each, list)]
    if len(columns) < len(heads) or len({len(each) for each in columns}) != 1:
        return None
    return [dict(zip(heads, cells, strict=True)) for cells in zip(*columns, strict=True)]
