"""`records_of`: the records of a source as its mapping describes them.

A `Record` has cells, which are looked up by columns and templates.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import polars as pl

from keju.datasets.import_log import import_log
from keju.datasets.readers.base import files_under, image_files, join_names, source_text
from keju.datasets.readers.choices import written_value
from keju.datasets.readers.conversations import CONVERSATION, with_conversation
from keju.datasets.readers.mapping import Columns, Lookup, Mapping, as_tuple
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

_DEEPEST = 5
"""Objects inside each other whose fields are columns."""

_BLANK = re.compile(r"\{([^{}:]+)(?::0?([0-9]{1,2}))?\}")


class Record(NamedTuple):
    """One record: its place, its cells by column, and the task of its table.

    `added` are the columns that keju gives it, such as parts of its path; one of the source comes
    first.
    """

    place: Place
    cells: JsonObject
    added: JsonObject
    task: str = ""

    def with_cells(self, cells: JsonObject) -> Record:
        """The record with further cells, which replace those of the same columns."""
        return self._replace(cells={**self.cells, **cells})

    def with_added(self, **added: object) -> Record:
        """The record with further columns of keju."""
        return self._replace(added={**self.added, **added})

    def cell(self, column: str) -> object:
        """The cell of a column; of a column with an object in it, the object."""
        for cells in (self.cells, self.added):
            if column in cells:
                return cells[column]
        inner = f"{column}."
        fields = {
            key.removeprefix(inner): cell
            for key, cell in self.cells.items()
            if key.startswith(inner)
        }
        return fields or None

    def has(self, columns: Columns) -> bool:
        """Whether one of some columns, or of the blanks of templates, is not empty."""
        cells = map(self.cell, named_columns(columns))
        return any(cell is not None and str(cell).strip() for cell in cells)

    def text(self, columns: Columns, *, needed: bool = False) -> str:
        """The text of the first column or template that has one; empty if none has.

        Of several, a template counts if all its blanks have values; the blanks of the last one may
        be empty, unless it is `needed`.

        Raises:
            DataError: a cell is not a text, or a blank that needs a value has none.
        """
        several = as_tuple(columns)
        for number, column in enumerate(several, start=1):
            if number == len(several) or all(map(self.has, blanks_of(column))):
                text = self._filled(column, needed=needed)
                if text.strip():
                    return text
        return ""

    def values(self, column: str, *, needed: bool = False) -> list[object]:
        """The values of a column: its cell, or those of its list; of a template, its text."""
        if blanks_of(column):
            text = self._filled(column, needed=needed)
            return [text] if text.strip() else []
        return list(_values_in(self.cell(column)))

    def texts(self, columns: Columns) -> list[str]:
        """The texts of the first column that has any: one, or those of its list.

        Raises:
            DataError: a value is not a text or number.
        """
        for column in as_tuple(columns):
            texts = [cell_text(value, column, self.place) for value in self.values(column)]
            if texts := [text for text in texts if text.strip()]:
                return texts
        return []

    def _filled(self, template: str, *, needed: bool) -> str:
        """The text of a column, or a template with its blanks filled.

        A blank is ``{COLUMN}``; ``{COLUMN:04}`` adds zeros in front.

        Raises:
            DataError: there is no value for a blank, and it is `needed`, or a value is not a text
                or number.
        """
        if not blanks_of(template):
            return cell_text(self.cell(template), template, self.place)

        def value(blank: re.Match[str]) -> str:
            column = blank[1]
            text = cell_text(self.cell(column), column, self.place).strip()
            if not text and needed and column != "folder":
                hint = _("Columns: {}", ", ".join(list(self.cells)[:30]))
                problem = _("no value in the column {!r} for {!r}", column, template)
                raise self.place.error(problem, hint)
            return text.zfill(int(blank[2])) if blank[2] else text

        text = _BLANK.sub(value, template)
        if not needed and text == _BLANK.sub("", template):
            return ""  # No blank has a value, so the text around them says nothing.
        return text.removeprefix("/") if template.startswith("{folder}/") else text


def _values_in(cell: object) -> Iterator[object]:
    """The values of a cell: itself, or each of its list, also as JSON or Python writes one."""
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        written = written_value(cell)
        cell = cell if written is None else written
    if isinstance(cell, list):
        for value in cell:
            yield from _values_in(value)
    elif not (cell is None or (isinstance(cell, str) and not cell.strip())):
        yield cell


@cache
def blanks_of(template: str) -> tuple[str, ...]:
    """The columns that a template names; none of a column's name."""
    return tuple(blank[1] for blank in _BLANK.finditer(template))


def named_columns(columns: Columns) -> list[str]:
    """Some columns, with those that the templates among them name."""
    return [name for column in as_tuple(columns) for name in blanks_of(column) or (column,)]


def flat(cells: JsonObject, prefix: str = "", depth: int = 0) -> JsonObject:
    """The cells of a record without empty ones; a field of an object in it is ``OUTER.INNER``.

    Images in Hugging Face's form, an object with bytes and path, stay whole; the path is a column
    too.
    """
    fields: JsonObject = {}
    for key, value in cells.items():
        if isinstance(value, dict) and value and depth < _DEEPEST and not _is_image(value):
            fields |= flat(value, f"{prefix}{key}.", depth + 1)
        elif not (value is None or (isinstance(value, float) and math.isnan(value))):
            fields[f"{prefix}{key}"] = value
            if isinstance(value, dict) and isinstance(value.get("path"), str):
                fields[f"{prefix}{key}.path"] = value["path"]
    return fields


def _is_image(value: JsonObject) -> bool:
    return {"bytes", "path"} >= set(value) and isinstance(value.get("bytes"), bytes)


# ---- the records of a source


def records_of(
    src: Path, mapping: Mapping, path_of: Callable[[Record], str], matches: Counter[bool]
) -> Iterator[Record]:
    """The records of the tables of a mapping; of one without tables, each image.

    Args:
        src: the source.
        mapping: how it is read.
        path_of: the path of a record's image. A record is skipped if `names` does not match it.
        matches: set to the numbers of records by whether `names` matches.

    Raises:
        DataError: a table is missing, unreadable, or neither mapped nor ignored, there are no
            images, a pattern matches no text, or a record has not the form that the mapping says.
        UsageError: a regular expression cannot be used.
    """
    root = src if src.is_dir() else src.parent
    records = _table_records(src, root, mapping) if mapping.tables else _images(src, root)
    if mapping.messages:
        records = (
            record._replace(cells=with_conversation(record.cells, mapping.messages, record.place))
            for record in records
        )
    for column, pattern in mapping.split.items():
        matched = _with_groups(records, _text_of(column), pattern, f"split.{column}")
        records = (record for record, __ in matched)
    for lookup in mapping.lookup:
        records = _looked_up(root, records, lookup)
    if mapping.columns or mapping.only:
        records = _selected(records, mapping)
    return _named(records, path_of, mapping.names, matches) if mapping.names else records


def _named(
    records: Iterable[Record],
    path_of: Callable[[Record], str],
    pattern: str,
    matches: Counter[bool],
) -> Iterator[Record]:
    """The records whose image has a path that `names` matches."""
    matches.clear()
    for record, is_match in _with_groups(records, path_of, pattern, "names"):
        matches[is_match] += 1
        if is_match:
            yield record


def _selected(records: Iterable[Record], mapping: Mapping) -> Iterator[Record]:
    """The records with the columns that are made of others, where they have the wanted texts."""
    for record in records:
        for name, columns in mapping.columns.items():
            text = record.text(columns)
            record.cells[name] = mapping.values.get(name, {}).get(text.strip(), text)
        if all(record.cell(column) == text for column, text in mapping.only.items()):
            yield record


def _text_of(column: str) -> Callable[[Record], str]:
    return lambda record: str({**record.added, **record.cells}.get(column, ""))


def _table_records(src: Path, root: Path, mapping: Mapping) -> Iterator[Record]:
    files = [src] if src.is_file() else files_under(src, {s.lstrip(".") for s in SUFFIXES})
    paths = {file.relative_to(root).as_posix(): file for file in files}
    patterns = [
        *mapping.ignored,
        *(table.path for table in mapping.tables),
        *(lookup.path for lookup in mapping.lookup),
    ]
    unnamed = [path for path in paths if not _is_among(path, patterns)]
    fitting = {
        table: [file for path, file in paths.items() if fnmatchcase(path, table.path)]
        for table in mapping.tables
    }
    if src.is_file() and len(mapping.tables) == 1:
        fitting[mapping.tables[0]] = [src]  # A renamed file, of a mapping for one file.
    for table, files in fitting.items():
        if not files:
            raise DataError(
                "no table is called {}; found {}",
                table.path,
                join_names(map(shortened, paths)) or _("no tables"),
                file=src,
                hint="Correct path in [[tables]]",
            )
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
    for table, files in fitting.items():
        for file in files:
            parts = _place_columns(file, root)
            for place, cells in rows(file, as_tuple(table.key), table.shape):
                yield Record(place, flat(cells), parts, table.task)


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


# ---- columns by regular expressions and from second tables


def _with_groups(
    records: Iterable[Record], text_of: Callable[[Record], str], pattern: str, key: str
) -> Iterator[tuple[Record, bool]]:
    """The records with the named groups of a text of each as columns, and whether it matches.

    The expression must match the whole text. polars matches in linear time, so that no expression
    of an untrusted mapping can stop an import; it has neither look-around nor back references.

    Args:
        records: the records.
        text_of: the text of one.
        pattern: the regular expression.
        key: where the mapping has it, for errors.

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
            if groups is None:
                yield record, False
                continue
            is_matched = True
            if columns := groups.keys() & (record.cells.keys() | record.added.keys()):
                raise UsageError(
                    "the group {!r} of {} is also a column. Rename the group", min(columns), key
                )
            yield record.with_cells(dict(groups)), True
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
    files: Iterable[Path] = [root / path]
    if "*" in path:
        of_suffix = files_under(root, {PurePosixPath(path).suffix.lstrip(".")})
        files = (f for f in of_suffix if fnmatchcase(f.relative_to(root).as_posix(), path))
    for file in files:
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
        self._uses: dict[str, tuple[str, str]] = {}
        for section, key, columns in _uses(mapping):
            for column in named_columns(columns):
                self._uses.setdefault(column, (section, key))
                if not _is_among(column, mapping.optional):
                    _log_use(section, key, column)
        self._wanted = [each for each in self._uses if not _is_among(each, mapping.optional)]
        # The columns of a conversation have names of their own, so that no image is dropped.
        self._named = {*self._uses, *mapping.columns} - {mapping.messages}
        # A record without the conversation is refused, and its column is replaced.
        self._known = {*CONVERSATION, *PLACE_COLUMNS, mapping.messages}

    def checked(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, whose columns are compared with the mapping.

        Raises:
            DataError: a record has a column that is neither mapped nor ignored, or none has a
                column of the mapping.
        """
        checked_records = map(self._check, records)
        first = list(islice(checked_records, _FIRST))
        if not first:
            raise DataError("the source has no records", hint="Check [[tables]] and names")
        if len(first) < _FIRST:
            self._check_wanted()  # Before an error that only follows from a misspelt name.
        yield from first
        yield from checked_records
        self._check_wanted()

    def _check(self, record: Record) -> Record:
        """Compare the columns of a record that no former one has with the mapping."""
        self._files.add(record.place.file)
        for column in sorted(record.cells.keys() - self._seen):
            self._see(column, record.place)
        return record

    def _see(self, column: str, place: Place) -> None:
        self._seen.add(column)
        around = _names_around(column)
        self._known.update(around)
        if column in self._uses:
            _log_use(*self._uses[column], column)
        if not self._named.isdisjoint(around):
            return
        if _is_among(column, self._mapping.ignored):
            import_log().ignored(column)
            return
        # A misspelt name leaves another column unnamed; the misspelt one is the mistake.
        for absent in nearest_names(column, [n for n in self._wanted if n not in self._known]):
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
            item=" ".join(self._uses[column]).strip(),
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
    yield from (("lookup", "by", lookup.by) for lookup in mapping.lookup)
    yield "texts", "", mapping.texts
    yield "messages", "", mapping.messages or ()
