"""`records_of`: the records of a source as its mapping describes them, each with its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePosixPath

import polars as pl

from keju.datasets.readers.base import files_under, image_files, join_names, source_text
from keju.datasets.readers.cells import (
    Record,
    flat,
    named_columns,
)
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.mapping import Columns, Lookup, Mapping, Table, as_tuple
from keju.datasets.readers.records import JsonObject, Place, cell_text
from keju.datasets.readers.tables import SUFFIXES, rows
from keju.errors import DataError, UsageError, did_you_mean, nearest_names, shortened
from keju.images import EXTENSIONS
from keju.texts import _, n_

OCCURRENCE = "occurrence"

PLACE_COLUMNS = frozenset(
    {"file", "folder", "name", "stem", "source_name", "text", "task", "number", OCCURRENCE}
)
"""Columns that keju adds: parts of a path, the name of the source's folder, the text of a record's
file, the id of the task, the number of the record among those of the task, and in an id its number
among the ids that are the same without it."""

_BATCH = 250
"""Records that are matched with a regular expression at once; each may have images in its cells."""

_FIRST = 20
"""Records in which the columns of a mapping are looked for before any is imported."""


# ---- the records of a source


def records_of(src: Path, mapping: Mapping) -> Iterator[Record]:
    """Yield the records of the tables of a mapping; of one without tables, each image.

    Raises:
        DataError: a table is missing, unreadable, or neither mapped nor ignored, there are no
            images, a pattern matches no text, or a record has not the form that the mapping says.
        UsageError: a regular expression cannot be used.
    """
    root = src if src.is_dir() else src.parent
    records = _table_records(src, root, mapping) if mapping.tables else _images(src, root)
    for column, pattern in mapping.split.items():
        records = with_groups(records, _cell_of(column), pattern, f"split.{column}")
    for lookup in mapping.lookup:
        records = _looked_up(root, records, lookup)
    if mapping.columns:
        records = (_with_columns(record, mapping) for record in records)
    if mapping.only:
        texts = mapping.only.items()
        records = (r for r in records if all(r.cell(column) == text for column, text in texts))
    return records


def _cell_of(column: str) -> Callable[[Record], str]:
    return lambda record: str({**record.added, **record.cells}.get(column, ""))


def _with_columns(record: Record, mapping: Mapping) -> Record:
    """A record with the columns that the mapping makes of others."""
    for name, column in mapping.columns.items():
        text = record.text(column)
        record = record.with_cells({name: mapping.values.get(name, {}).get(text.strip(), text)})
    return record


def _table_records(src: Path, root: Path, mapping: Mapping) -> Iterator[Record]:
    for table, files in _files(src, root, mapping):
        for file in files:
            parts = _place_columns(file, root)
            for place, cells in rows(file, as_tuple(table.key), table.shape):
                yield Record(place, flat(cells), parts, table.task)


def _files(src: Path, root: Path, mapping: Mapping) -> list[tuple[Table, list[Path]]]:
    """The tables of a mapping with their files; every other table must be ignored."""
    files = [src] if src.is_file() else files_under(src, {s.lstrip(".") for s in SUFFIXES})
    paths = {file.relative_to(root).as_posix(): file for file in files}
    tables: list[tuple[Table, list[Path]]] = []
    for table in mapping.tables:
        fitting = [file for path, file in paths.items() if fnmatchcase(path, table.path)]
        if not fitting and src.is_file() and len(mapping.tables) == 1:
            fitting = [src]  # A renamed file, of a mapping for one file.
        if not fitting:
            raise DataError(
                "no table is called {}; found {}",
                table.path,
                join_names(map(shortened, paths)) or _("no tables"),
                file=src,
                hint="Correct path in [[tables]]",
            )
        tables.append((table, fitting))
    patterns = [*mapping.ignored, *(lookup.path for lookup in mapping.lookup)]
    patterns += [table.path for table in mapping.tables]
    unnamed = [path for path in paths if not _is_among(path, patterns)]
    if unnamed and src.is_dir():
        raise DataError(
            n_(
                "{n:,} table of the source is neither mapped nor ignored: {}",
                "{n:,} tables of the source are neither mapped nor ignored: {}",
                len(unnamed),
                join_names(map(shortened, unnamed)),
            ),
            file=src,
            hint=_('Add [[tables]] path = "{0}", or ignored = ["{0}"]', shortened(unnamed[0])),
        )
    return tables


def _is_among(name: str, patterns: Iterable[str]) -> bool:
    """Whether a column or a table is one of some names or patterns."""
    return any(name == text or fnmatchcase(name, text) for text in patterns)


def _images(src: Path, root: Path) -> Iterator[Record]:
    files = list(image_files(src)) if src.is_dir() else [src]
    if not files:
        raise DataError(
            "no images, and the mapping names no tables", file=src, hint="Add [[tables]]"
        )
    for file in files:
        parts = _place_columns(file, root)
        yield Record(Place(file, str(parts["file"])), {}, parts)


def _place_columns(file: Path, root: Path) -> JsonObject:
    """The columns that a path gives: file, folder, name and stem, and the name of the source."""
    path = PurePosixPath(file.relative_to(root).as_posix())
    folder = path.parent.as_posix()
    return {
        "file": path.as_posix(), "folder": "" if folder == "." else folder, "name": path.name,
        "stem": path.stem, "source_name": root.resolve().name,
    }  # fmt: skip


def with_groups(
    records: Iterable[Record],
    text_of: Callable[[Record], str],
    pattern: str,
    key: str,
    skipped: Counter[bool] | None = None,
) -> Iterator[Record]:
    """The records with the named groups of a text of each as columns.

    The expression must match the whole text. polars matches in linear time, so that no expression
    of an untrusted mapping can stop an import; it has neither look-around nor back references.

    Args:
        records: the records.
        text_of: the text of one.
        pattern: the regular expression.
        key: where the mapping has it, for errors.
        skipped: counts records by whether the pattern matches; those that it does not match are
            skipped. None: they stay as they are.

    Raises:
        DataError: the expression matches no text.
        UsageError: the expression cannot be used, or a group has the name of a column.
    """
    iterator = iter(records)
    first: Record | None = None
    count, is_matched = 0, False
    while batch := list(islice(iterator, _BATCH)):
        first, count = first or batch[0], count + len(batch)
        for record, groups in zip(batch, _groups(pattern, map(text_of, batch), key), strict=True):
            if skipped is not None:
                skipped[groups is None] += 1
            if groups is not None:
                is_matched = True
                if columns := groups.keys() & (record.cells.keys() | record.added.keys()):
                    raise UsageError(
                        "the group {!r} of {} is also a column. Rename the group", min(columns), key
                    )
                yield record.with_cells(dict(groups))
            elif skipped is None:
                yield record
    if first and not is_matched:
        problem = _("{} matches none of {:,} texts, e.g. {!r}", key, count, text_of(first))
        hint = _("Edit the pattern of {} in the mapping", key)
        raise DataError(problem, file=first.place.file, hint=hint)


def _groups(pattern: str, texts: Iterable[str], key: str) -> list[dict[str, str] | None]:
    """The named groups of each text, empty where they have none; None: it does not match."""
    # A name of a file may have bytes that are not UTF-8.
    column = pl.Series([text.encode(errors="replace").decode() for text in texts])
    expression = rf"\A(?:{pattern})\z"
    try:
        groups = column.str.extract_groups(expression).struct.unnest()
        is_match = column.str.contains(expression)
    except pl.exceptions.ComputeError as error:
        reason = str(error).strip().rpartition("\n")[2]
        raise UsageError("{}: not a regular expression: {}", key, reason) from None
    groups = groups.select(name for name in groups.columns if not name.isdigit())
    if not groups.width:
        raise UsageError(
            "{}: the regular expression has no named group, such as (?P<book>[^/]+)", key
        )
    records = groups.fill_null("").iter_rows(named=True)
    return [row if match else None for row, match in zip(records, is_match, strict=True)]


def _looked_up(root: Path, records: Iterable[Record], lookup: Lookup) -> Iterator[Record]:
    """The records with the columns of a second table."""
    lines: dict[str, JsonObject] = {}
    for place, cells in _lookup_rows(root, lookup.path):
        if lookup.key not in cells:
            problem = _("no column {!r}", lookup.key)
            raise place.error(problem, _("Columns: {}", ", ".join(list(cells)[:30])))
        key = cell_text(cells.pop(lookup.key), lookup.key, place).strip()
        if lines.setdefault(key, cells) != cells:
            problem = _("two different lines have the {} {!r}", lookup.key, shortened(key))
            raise place.error(problem, _("Keep one of them"))
    is_found = False
    for record in records:
        line = lines.get(record.text(lookup.by).strip())
        is_found = is_found or line is not None
        yield record._replace(cells={**(line or {}), **record.cells})
    if lines and not is_found:
        problem = _("no record has its {!r} in {!r}", lookup.key, lookup.by)
        raise DataError(problem, file=root / lookup.path, hint="Correct key and by in [[lookup]]")


def _lookup_rows(root: Path, path: str) -> Iterator[tuple[Place, JsonObject]]:
    """The rows of a second table, or of all files that fit its pattern, of which may be none."""
    if "*" not in path:
        yield from ((place, flat(cells)) for place, cells in rows(root / path))
        return
    for file in files_under(root, {PurePosixPath(path).suffix.lstrip(".")}):
        if fnmatchcase(file.relative_to(root).as_posix(), path):
            lines = _listed_names(file) if file.suffix.casefold() == ".txt" else rows(file)
            yield from ((place, flat(cells)) for place, cells in lines)


def _listed_names(file: Path) -> Iterator[tuple[Place, JsonObject]]:
    """The lines of a list of files: ``stem``, with or without a folder and a suffix before."""
    for number, line in enumerate(source_text(file).split("\n"), start=1):
        if line.strip():
            path = PurePosixPath(line.strip().replace("\\", "/"))
            # A point in a name without a suffix, as in 卷1.2, begins no suffix.
            is_file = path.suffix.casefold().lstrip(".") in {*EXTENSIONS, "txt"}
            stem = path.stem if is_file else path.name
            yield Place(file, f"line {number}"), {"stem": stem, "list": file.stem}


# ---- the columns that a mapping names


class NamedColumns:
    """The columns that a mapping names and ignores, compared with those of the records."""

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping
        self._seen: set[str] = set()
        self._files: set[Path] = set()
        self._wanted: dict[str, str] = {}
        self._optional: dict[str, tuple[str, str]] = {}
        for section, key, columns in _uses(mapping):
            for column in named_columns(columns):
                if _is_among(column, mapping.optional):
                    self._optional.setdefault(column, (section, key))
                else:
                    self._wanted.setdefault(column, f"{section} {key}".strip())
                    _log_use(section, key, column)
        self._named = {*self._wanted, *self._optional, *mapping.columns}
        self._known = {*PLACE_COLUMNS}

    def checked(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, whose columns are compared with the mapping.

        Raises:
            DataError: a record has a column that is neither mapped nor ignored, or none has a
                column of the mapping.
        """
        waiting: list[Record] = []
        size = _FIRST
        for record in records:
            self._files.add(record.place.file)
            for column in sorted(record.cells.keys() - self._seen):
                self._see(column, record.place)
            waiting.append(record)
            if len(waiting) == size:
                yield from waiting
                waiting, size = [], 1
        if size == _FIRST and not waiting:
            raise DataError("the source has no records", hint="Check [[tables]] and names")
        self._check_wanted()  # Before an error that only follows from a misspelt name.
        yield from waiting

    def _see(self, column: str, place: Place) -> None:
        """Compare a column with the mapping: if nothing names it, it is ignored or refused."""
        self._seen.add(column)
        self._known.update(_names_around(column))
        if column in self._optional:
            _log_use(*self._optional[column], column)
        if not self._named.isdisjoint(_names_around(column)):
            return
        if _is_among(column, self._mapping.ignored):
            import_log().ignored(column)
            return
        # A misspelt name leaves another column unnamed; the misspelt one is the mistake.
        for absent in nearest_names(column, self._wanted.keys() - self._known):
            raise self._absent(absent, [column])
        name = shortened(column)
        raise place.error(
            _("the column {!r} is neither mapped nor ignored", name),
            _('Name it in [fields] or [metadata], or add it to ignored = ["{}"]', name),
        )

    def _check_wanted(self) -> None:
        for column in self._wanted:
            if column not in self._known:
                raise self._absent(column, self._known)

    def _absent(self, column: str, names: Iterable[str]) -> DataError:
        return DataError(
            "no record has a column {!r}.{}",
            column,
            did_you_mean(nearest_names(column, names)),
            file=min(self._files) if len(self._files) == 1 else None,
            item=self._wanted[column],
            hint=_("Columns: {}", ", ".join(sorted(self._seen)[:40])),
        )


def _log_use(section: str, key: str, column: str) -> None:
    if section in {"[fields]", "[[items]]", "[blanks]"}:
        import_log().used(key, column)
    elif section == "[metadata]":
        import_log().kept(column)


def _names_around(column: str) -> list[str]:
    """The column and the objects that it is in: ``a.b.c``, ``a.b`` and ``a``."""
    parts = column.split(".")
    return [".".join(parts[:size]) for size in range(len(parts), 0, -1)]


def _uses(mapping: Mapping) -> Iterator[tuple[str, str, Columns]]:
    """Every use of columns in a mapping: the section, the key, the columns."""
    yield from (("[fields]", *pair) for pair in mapping.fields.items())
    for part in mapping.items:
        yield from (("[[items]]", *pair) for pair in part.columns.items())
    yield from (("[blanks]", *pair) for pair in mapping.blanks.items())
    yield from (("[metadata]", *pair) for pair in mapping.metadata.items())
    yield from (("[columns]", *pair) for pair in mapping.columns.items())
    yield from (("split", column, column) for column in mapping.split)
    yield from (("only", column, column) for column in mapping.only)
    yield "texts", "", mapping.texts
    yield from (("lookup", "by", lookup.by) for lookup in mapping.lookup)
