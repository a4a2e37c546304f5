"""`records_in`: the records of a source as its mapping describes them, each with its columns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from keju.datasets.readers.base import files_under, image_files, join_names, source_text
from keju.datasets.readers.json_records import json_in, seem_lines
from keju.datasets.readers.mapped.mapping import Columns, Mapping
from keju.datasets.readers.records import JsonObject, Place
from keju.datasets.readers.streamed_tables import can_stream, has_header, iter_table
from keju.datasets.readers.tables import SUFFIXES, Row, read_table
from keju.errors import DataError, UsageError, shortened
from keju.texts import _, either

_DEEPEST = 5
_SEPARATOR = "."

SECONDS = 20.0
"""Time limit for all names of one source."""

# Python cannot interrupt a match, but a separate process can be ended.
_PROGRAM = """
import json, re, sys
pattern, names = json.load(sys.stdin)
try:
    expression = re.compile(pattern)
except (re.error, OverflowError, RecursionError) as error:
    json.dump({"error": str(error)}, sys.stdout)
else:
    matches = (expression.fullmatch(name) for name in names)
    found = [match and match.groupdict(default="") for match in matches]
    json.dump({"groups": list(expression.groupindex), "found": found}, sys.stdout)
"""


def as_tuple(columns: Columns) -> tuple[str, ...]:
    """One column or several, as a tuple."""
    return (columns,) if isinstance(columns, str) else columns


def place_columns(path: PurePosixPath) -> JsonObject:
    """The columns derived from a path: file, folder, name and stem."""
    folder = path.parent.as_posix()
    name = {"file": path.as_posix(), "name": path.name, "stem": path.stem}
    return {**name, "folder": "" if folder == "." else folder}


def image_records(src: Path) -> list[Row]:
    """A record for each image of a directory.

    Raises:
        DataError: there are no images, or one is a link to outside.
    """
    root = src if src.is_dir() else src.parent
    files = list(image_files(src)) if src.is_dir() else [src]
    if not files:
        raise DataError(
            "no images, and the mapping names no tables", file=src, hint="Set [source] tables"
        )
    paths = [PurePosixPath(file.relative_to(root).as_posix()) for file in files]
    return [
        Row(Place(file, path.as_posix()), place_columns(path))
        for file, path in zip(files, paths, strict=True)
    ]


class _Tables:
    """The records of tables; each iteration reads the files again."""

    def __init__(
        self, tables: list[tuple[Path, JsonObject]], mapping: Mapping, *, streamed: bool
    ) -> None:
        self._tables = tables
        self._mapping = mapping
        self._streamed = streamed
        self._begun: Iterator[Row] | None = None

    def __iter__(self) -> Iterator[Row]:
        for file, above in self._tables:
            begun, self._begun = self._begun, None
            yield from begun or self._rows(file, above)

    def _rows(self, file: Path, above: JsonObject) -> Iterator[Row]:
        source = self._mapping.source
        for place, cells in iter_table(file) if self._streamed else _whole(file, source.json):
            row = Row(place, dict(flatten(cells)))
            for inner_place, inner in _each(row, source.each):
                yield Row(inner_place, {**above, **inner})

    def columns(self) -> Iterator[str]:
        """Yield the columns of all records; of tables with a header only one record is read."""
        for file, above in self._tables:
            rows = self._rows(file, above)
            if has_header(file):
                several = list(islice(rows, 1))
                # Opening a workbook takes long. With several, each one would stay in memory.
                self._begun = chain(several, rows) if len(self._tables) == 1 else None
                rows = iter(several)
            for row in rows:
                yield from row.cells


def columns_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """The columns of all records, in the order in which they occur first."""
    every = (
        rows.columns() if isinstance(rows, _Tables) else (key for row in rows for key in row.cells)
    )
    return tuple(dict.fromkeys(every))


def table_records(src: Path, mapping: Mapping) -> Iterable[Row]:
    """The records of the tables that the mapping names, which can be read more than once.

    Raises:
        DataError: there is no such table, or one is not readable.
    """
    files = _tables(src, mapping)
    root = src if src.is_dir() else src.parent
    paths = [file.relative_to(root).as_posix() for file in files]
    named = _groups(mapping.source.table_names, paths, "table_names")
    tables = [
        (file, {**place_columns(PurePosixPath(path)), **groups})
        for file, path, groups in zip(files, paths, named, strict=True)
        if groups is not None
    ]
    if can_stream([file for file, _ in tables]):
        return _Tables(tables, mapping, streamed=True)
    found = list(_Tables(tables, mapping, streamed=False))
    if not found:
        raise DataError(
            "the tables have no records", file=src, hint="Check [source] tables and table_names"
        )
    return found


def with_groups(rows: Sequence[Row], names: Sequence[str], pattern: str) -> list[Row]:
    """The records with the named groups of their images' paths; those without a match are dropped.

    Raises:
        UsageError: the expression cannot be used, or a group has the name of a column.
    """
    if not pattern:
        return list(rows)
    found = _groups(pattern, names, "names")
    for row, groups in zip(rows, found, strict=True):
        if twice := [name for name in groups or () if name in row.cells]:
            raise UsageError(
                "the group {!r} of [source] names is also a column. Rename the group", twice[0]
            )
    return [
        Row(row.place, {**row.cells, **groups})
        for row, groups in zip(rows, found, strict=True)
        if groups is not None
    ]


def _groups(pattern: str, names: Sequence[str], key: str) -> Sequence[dict[str, str] | None]:
    if not pattern:
        return [{} for _ in names]
    try:
        return named_groups(pattern, names)[1]
    except UsageError as error:
        raise UsageError("[source] {}: {}", key, error) from None


def named_groups(
    pattern: str, names: Sequence[str], *, seconds: float = SECONDS
) -> tuple[tuple[str, ...], list[dict[str, str] | None]]:
    """The names of the groups and, for each name, its groups, or None where it does not match.

    The expression must match the whole name.

    Raises:
        UsageError: it is not a regular expression, has no named group, or takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with a program of our own
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps([pattern, list(names)]).encode(),
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(
            "the regular expression takes more than {:g} s. Write [^/]+ instead of .*, and no "
            "repetition inside a repetition, such as (a+)+",
            seconds,
        ) from None
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UsageError("the regular expression cannot be used: {}", last) from None
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise UsageError("not a regular expression: {}", answer["error"])
    if not answer["groups"]:
        raise UsageError("the regular expression has no named group, such as (?P<book>[^/]+)")
    return tuple(answer["groups"]), answer["found"]


def _tables(src: Path, mapping: Mapping) -> list[Path]:
    if src.is_file():
        return [src]
    patterns = as_tuple(mapping.source.tables)
    every = list(files_under(src, {suffix.lstrip(".") for suffix in SUFFIXES}))
    found = [
        file
        for file in every
        if any(fnmatch(file.relative_to(src).as_posix(), pattern) for pattern in patterns)
    ]
    if not found:
        names = join_names(shortened(file.relative_to(src).as_posix()) for file in every)
        raise DataError(
            "no table is called {}; found {}",
            either(patterns),
            names or _("no tables"),
            file=src,
            hint="Correct [source] tables",
        )
    return found


def _whole(file: Path, form: str) -> Iterator[Row]:
    if file.suffix.casefold() != ".json" or form == "list" or seem_lines(source_text(file)):
        yield from read_table(file)
        return
    content = json_in(file, object)
    if not isinstance(content, dict):
        yield from read_table(file)
        return
    objects = bool(content) and all(isinstance(value, dict) for value in content.values())
    if form == "by-key" or (not form and objects):
        for key, value in content.items():
            cells = value if isinstance(value, dict) else {"value": value}
            yield Row(Place(file, shortened(key)), {"key": key, **cells})
    elif not form and any(_is_records(value) for value in content.values()):
        yield from read_table(file)
    else:
        yield Row(Place(file, "object"), content)


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def flatten(cells: JsonObject, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The columns of a record: a field of an object in it is ``OUTER.INNER``; images stay whole."""
    for key, value in cells.items():
        if isinstance(value, dict) and depth < _DEEPEST and not _is_image(value):
            yield from flatten(value, f"{prefix}{key}{_SEPARATOR}", depth + 1)
        else:
            yield f"{prefix}{key}", value


def _is_image(value: JsonObject) -> bool:
    """Whether an object is an image as in Hugging Face's tables: its bytes and its path."""
    return {"bytes", "path"} >= set(value) and isinstance(value.get("bytes"), bytes)


def _each(row: Row, column: str) -> Iterator[Row]:
    if not column:
        yield row
        return
    inner = row.cells.get(column)
    if not _is_records(inner) or not isinstance(inner, list):
        raise row.place.error(
            _("{!r} does not contain a list of objects", column, hint="Correct [source] each")
        )
    others = {key: value for key, value in row.cells.items() if key != column}
    for number, record in enumerate(inner, start=1):
        place = Place(row.place.file, f"{row.place.item}, {column} {number}")
        yield Row(place, {**others, **dict(flatten(record, f"{column}{_SEPARATOR}"))})
