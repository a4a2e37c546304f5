"""`draft`: the mapping of a source, found by looking at it; what is not certain is a `TODO`."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping as Table_
from functools import cache, cached_property
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import Struct, field

from keju.datasets.readers.base import files_under, image_files, plain_name
from keju.datasets.readers.conversations import CONVERSATION
from keju.datasets.readers.mapped_records import flat, named_columns
from keju.datasets.readers.mapping import (
    Columns,
    Mapping,
    as_tuple,
    mapping_from,
    tasks_called,
    todos,
)
from keju.datasets.readers.records import JsonObject
from keju.datasets.readers.tables import SUFFIXES, lists_in
from keju.definitions import Task
from keju.errors import DataError, printable, shortened
from keju.files import shipped_toml
from keju.text import count_han, in_script
from keju.texts import Text, _, either, n_, translator

MOST_BYTES = 16 << 20
"""Bytes of all tables of which a draft looks at every row."""

SAMPLE = 2000
"""Rows of each table that a draft looks at where the tables are larger."""

LONGEST = 2000
"""Characters of a text that becomes metadata."""

_OPTION = re.compile("(?:options?|choices?|opt|选项|選項)?([a-h])")
_QUESTIONS = ("question", "question_simplified", "question_traditional")
_ANSWERS = ("answer", "answer_simplified", "transcription")
_ONLY_LOOKED_AT = frozenset({"answer_traditional", "answer_index", "messages"})


class Preset(Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about one release that a draft uses before it looks at a source.

    Attributes:
        benchmark: whose tasks the source has; empty: those of any benchmark.
        signs: names of columns, each of which the source has, or one where the mapping is drafted;
            of images with texts, the paths of the texts.
        only_signs: whether it has no other columns.
        whole: whether `mapping` is complete, so that nothing is drafted.
    """

    name: str = ""
    what: str = ""
    layout: str = ""
    benchmark: str = ""
    signs: tuple[str, ...] = ()
    only_signs: bool = False
    whole: bool = False
    mapping: dict[str, Any] = field(default_factory=dict)


class Drafted(NamedTuple):
    """A drafted mapping, with a text that begins with `TODO` for what a person must complete.

    `rows` is how many records were looked at, and `fit`, from 0 to 1, how sure it is that the
    source is of the preset's benchmark.
    """

    mapping: Mapping
    notes: tuple[str, ...] = ()
    rows: int = 0
    fit: float = 0.0

    @property
    def todos(self) -> list[tuple[str, str]]:
        """The places that a person must complete, each with the reason."""
        return [
            (place, cast("str", value.values[0]) if isinstance(value, Text) else value)
            for place, value in todos(self.mapping)
        ]


def draft(
    src: Path, preset: Preset | None = None, given: Table_[str, Any] | None = None
) -> Drafted:
    """The mapping of a source, found by looking at its files and columns.

    Args:
        src: the file or folder.
        preset: what is known of its release.
        given: keys of the mapping that a person states; they replace drafted ones.

    Raises:
        DataError: a table is not readable, or `given` has a wrong key or value.
    """
    return _Draft(src, preset or Preset(), given or {}).make()


def merge_keys(keys: Table_[str, Any], more: Table_[str, Any]) -> dict[str, Any]:
    """The keys of a mapping with others, which replace them; in sections, key by key."""
    merged = dict(keys)
    for key, value in more.items():
        merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
    return merged


class _List(NamedTuple):
    """One list of records of the source, its cells flattened."""

    path: str
    key: tuple[str, ...]
    shape: str
    rows: list[JsonObject]


class _Draft:
    """One draft: the lists of a source, and what is found in them."""

    def __init__(self, src: Path, preset: Preset, keys: Table_[str, Any]) -> None:
        self.src = src
        self.root = src if src.is_dir() else src.parent
        self.preset = preset
        self.stated = merge_keys(preset.mapping, keys)
        self.words = _vocabulary()
        self.notes: list[str] = []
        self.ignored: list[str] = []
        self.made: dict[str, Any] = {}
        self.named_tasks: list[Task] = []
        self.empty_columns: dict[str, None] = {}
        self.roles: dict[str, Columns] = {}
        self.lists = self._lists()
        self.rows = [row for source_list in self.lists for row in source_list.rows]
        self.columns = _columns(self.rows)

    @cached_property
    def images(self) -> list[str]:
        """The paths of the images of the source."""
        return [path.relative_to(self.root).as_posix() for path in image_files(self.root)]

    def make(self) -> Drafted:
        if self.lists:
            self._from_tables()
        else:
            self._from_images()
        data = merge_keys({"preset": self.preset.name, **self.made}, self.stated)
        data["ignored"] = list(dict.fromkeys((*self.ignored, *self.stated.get("ignored", ()))))
        data = {key: value for key, value in data.items() if value not in ("", {}, [], ())}
        mapping = mapping_from(data, Path("--option"))
        return Drafted(mapping, tuple(self.notes), len(self.rows), self._fit())

    # ---- tables

    def _lists(self) -> list[_List]:
        """The lists with questions; every other table is ignored, and named in a note."""
        suffixes = {suffix.lstrip(".") for suffix in SUFFIXES}
        files = list(files_under(self.src, suffixes)) if self.src.is_dir() else [self.src]
        files = [file for file in files if file.suffix.casefold() in SUFFIXES]
        whole = sum(file.stat().st_size for file in files) <= MOST_BYTES
        lists: list[_List] = []
        unreadable: dict[str, DataError] = {}
        for file in files:
            path = file.relative_to(self.root).as_posix()
            try:
                for key, shape, rows in lists_in(file, sys.maxsize if whole else SAMPLE):
                    lists.append(_List(path, key, shape, [flat(row.cells) for row in rows]))
                    cells = (cell for row in rows for cell in row.cells.items())
                    self.empty_columns |= {column: None for column, cell in cells if cell is None}
            except DataError as error:
                if file.suffix.casefold() != ".json":
                    raise
                unreadable[path] = error  # A JSON file may have no records: it has settings.
        if unreadable and not lists:
            raise next(iter(unreadable.values()))
        asking = [table for table in lists if self._asks(table)] or lists
        used = {table.path for table in asking}
        left_lists = [table for table in lists if table not in asking]
        for path in dict.fromkeys([*(table.path for table in left_lists), *unreadable]):
            if path not in used:
                self.ignored.append(path)
                self.notes.append(_("no questions in {}: ignored", path))
            else:
                keys = [".".join(table.key) for table in left_lists if table.path == path]
                self.notes.append(_("no questions in {}, {}: not read", path, ", ".join(keys)))
        return asking

    def _asks(self, table: _List) -> bool:
        """Whether records have a question, an answer with an image, or a conversation."""
        roles = self._named_roles(_columns(table.rows)).keys()
        has_answer = not roles.isdisjoint(_ANSWERS) and not roles.isdisjoint(("image", "id"))
        return has_answer or not roles.isdisjoint((*_QUESTIONS, "messages"))

    def _named_roles(self, columns: list[str]) -> dict[str, list[str]]:
        """The columns that the names of each role fit, in the order of the names."""
        ordered = columns[::-1]
        plain = {_plain(column.rpartition(".")[2]): column for column in ordered if "." in column}
        plain |= {_plain(column): column for column in ordered}
        columns_of = {
            role: list(dict.fromkeys(plain[name] for name in names if name in plain))
            for role, names in self.words.roles.items()
        }
        return {role: role_columns for role, role_columns in columns_of.items() if role_columns}

    def _from_tables(self) -> None:
        """Draft the keys of a mapping that are not stated."""
        columns_of = self._named_roles(self.columns)
        self.roles = {role: columns[0] for role, columns in columns_of.items()}
        self._choose_texts(columns_of)
        self._choose_options()
        if image := self.roles.get("image"):
            numbered = re.compile(re.escape(_plain(str(image))) + "[0-9]{1,2}")
            more = [column for column in self.columns if numbered.fullmatch(_plain(column))]
            self.roles["image"] = (str(image), *more) if more else image
        if "key" in self.columns and any(table.shape == "by-key" for table in self.lists):
            self.roles.setdefault("id", "key")
        if "task_name" in self.roles:
            self.roles.setdefault("task", self.roles["task_name"])
        fields = self.stated.get("fields", {})
        self.roles |= fields
        if column := self.roles.get("messages"):
            self.made["messages"] = column
            for role, part in zip(("question", "answer", "image"), CONVERSATION, strict=True):
                self.roles.setdefault(role, part)
        has_question = {"question", "question_simplified"} & {
            *self.roles,
            *self.stated.get("constants", ()),
        }
        if self.stated.get("prompt") == "verbatim" and not has_question:
            self.roles["question"] = self._todo_column(_("a column"))
        self._tables()
        if "id" not in fields:
            self._ids()
        if "image" not in self.roles:
            self._images()
        drafted = {r: names for r, names in self.roles.items() if r not in _ONLY_LOOKED_AT}
        self.made["fields"] = drafted
        self._others(drafted)

    def _choose_texts(self, columns_of: dict[str, list[str]]) -> None:
        """The question, and the answer in both scripts; a TODO where two columns could be one."""
        for role in ("question", "answer"):
            scripts = (f"{role}_simplified", f"{role}_traditional")
            in_scripts = {columns_of[script][0] for script in scripts if script in columns_of}
            named = columns_of.get(role, [])
            rivals = [
                column
                for column in named
                if column not in in_scripts
                and (column == named[0] or _plain(column) not in self.words.metadata)
            ]
            if rivals:
                self.roles[role] = rivals[0] if len(rivals) == 1 else _todo(either(rivals))
        scripts = ("answer_traditional", "answer_simplified")
        answers = tuple(columns_of[script][0] for script in scripts if script in columns_of)
        if self.roles.get("answer") in answers and len(answers) > 1:
            self.roles["answer"] = answers
        if "answer_index" in self.roles:
            self.roles.setdefault("answer", self.roles["answer_index"])

    def _choose_options(self) -> None:
        """Options in columns of their letters, or in one column, or in one object."""
        lettered = {m[1]: c for c in self.columns if (m := _OPTION.fullmatch(_plain(c)))}
        if len(lettered) > 1 and "".join(sorted(lettered)) == "abcdefgh"[: len(lettered)]:
            chosen = tuple(lettered[letter] for letter in sorted(lettered))
            outer = {column.rpartition(".")[0] for column in chosen}
            self.roles["options"] = outer.pop() if len(outer) == 1 and "" not in outer else chosen
            return
        # An object with other keys is refused when it is read, rather than no options at all.
        for column in self.columns:
            outer_name, point, __ = column.partition(".")
            if point and _plain(outer_name) in self.words.roles["options"]:
                self.roles.setdefault("options", outer_name)

    # ---- tasks

    def _tables(self) -> None:
        """Each list with its task, and a TODO for each text in its column that names none."""
        column = self.roles.get("task", "")
        is_stated = "task" in self.stated.get("fields", {})
        is_constant = bool(self.stated.get("constants", {}).get("task"))
        outer = () if self.src.is_file() else (self.root.name,)
        self.made["tables"] = []
        for path, key, shape, rows in self.lists:
            table: dict[str, Any] = {"path": path, "key": key}
            if shape != "list":
                table["shape"] = shape
            self.made["tables"].append(table)
            missing = not column or any(not _text(row, column) for row in rows)
            if missing and not is_stated:
                place = PurePosixPath(path)
                words = (*key[::-1], place.stem, *place.parent.parts[::-1], *outer)
                tasks = self._found(_named_in(words))
                if len(tasks) == 1 or not is_constant:
                    table["task"] = _only(tasks)
        if not column or is_stated:
            return
        values: dict[str, str] = {}
        domain = self.roles.get("domain", "")
        for value, within in {(_text(row, column), _text(row, domain)): None for row in self.rows}:
            tasks = self._found(tasks_called(value, within) if value else [])
            if value and len(tasks) != 1:
                values[value] = _only(tasks)
        self.made["values"] = {"task": values} if values else {}

    def _found(self, tasks: list[Task]) -> list[Task]:
        self.named_tasks += tasks
        return tasks

    # ---- ids, images and metadata

    def _ids(self) -> None:
        """The id as a template where IDs start again, or where there are none."""
        # A column of IDs without any is a fault; where there is no such column, keju numbers.
        empty = self._named_roles([*self.empty_columns]).get("id", [None])
        column = self.roles.get("id", empty[0])
        if column is None:
            self.roles["id"] = "{task}-{number}"
            return
        ids = Counter(_text(row, column) for row in self.rows)
        if bare := ids[""]:
            self.roles["id"] = _todo(
                n_("{n:,} record without {}", "{n:,} records without {}", bare, str(column))
            )
        elif max(ids.values(), default=0) > 1:
            self.roles["id"] = f"{{task}}-{{{column}}}"
            self.roles["source_id"] = column
            self.notes.append(_("IDs start again: id is {}", self.roles["id"]))

    def _images(self) -> None:
        if self.images:
            reason = _("a column, or a path such as {}", "images/{ID}.*")
        else:
            self.notes.append(_("no images beside the tables, and no column for them"))
            reason = _("put images beside the tables, or delete the line if none is")
        self.roles["image"] = self._todo_column(reason)

    def _todo_column(self, reason: str) -> Text:
        names = ", ".join(map(shortened, self.columns[:30]))
        return _todo(_("{} (found the columns {})", reason, names))

    def _others(self, fields: dict[str, Columns]) -> None:
        """Every column without a role: metadata, or ignored."""
        used = {*CONVERSATION, self.made.get("messages", "")}
        for names in (*fields.values(), *self.stated.get("blanks", {}).values()):
            used.update(named_columns(names))
        used.discard("")  # A column of a table may have no name.
        stated = set(self.stated.get("metadata", {}).values())
        metadata = self.made["metadata"] = {}
        for column in self.columns:
            plain, last = _plain(column), _plain(column.rpartition(".")[2])
            canonical = self.words.metadata.get(plain) or self.words.metadata.get(last, "")
            is_used = column in used or column.partition(".")[0] in used
            is_fact = bool(canonical) and column == fields.get("group")
            if column in stated or (is_used and not is_fact):
                continue
            if plain in self.words.never:
                self.ignored.append(column)
            elif all(_is_short(row.get(column)) for row in self.rows):
                metadata[_unused(canonical or column, metadata)] = column
            else:
                self.ignored.append(column)
                self.notes.append(_("not short texts: {} is ignored", column))

    # ---- images as records

    def _from_images(self) -> None:
        if self.src.is_dir() and not self.images:
            hint = _("Expected a table ({}), or images", ", ".join(SUFFIXES))
            raise DataError("no tables and no images", file=self.src, hint=hint)
        nested = any("/" in image for image in self.images)
        self.made["fields"] = {"group": "folder"} if nested else {}
        for ending in (".gt.txt", ".txt"):
            if any((self.root / image).with_suffix(ending).is_file() for image in self.images):
                self.made["texts"] = f"{{folder}}/{{stem}}{ending}"
                self.made["fields"]["answer"] = "text"
                break
        self.made["constants"] = {"task": _only([])}

    def _fit(self) -> float:
        """How sure it is that the source is of the preset's benchmark: signs, then named tasks."""
        texts = (cell for row in self.rows for cell in row.values() if isinstance(cell, str))
        if not self.preset.name or not any(count_han(text[:LONGEST]) for text in texts):
            return 0.0
        if not set(map(plain_name, self.preset.signs)).isdisjoint(map(plain_name, self.columns)):
            return 0.95
        return (
            0.8 if self.preset.benchmark in {kind.benchmark for kind in self.named_tasks} else 0.0
        )


def _todo(reason: str) -> Text:
    """The value of a place that a person must complete."""
    return _("TODO: {}", reason)


def _only(tasks: list[Task]) -> str:
    """The id of the only task that was found, or a TODO."""
    if len(tasks) == 1:
        return tasks[0].id
    return _todo(either(kind.id for kind in tasks[:6]) or _("an id of keju tasks"))


def _named_in(words: tuple[str, ...]) -> list[Task]:
    """The tasks that a path names: its first word that names one, others those of their domain."""
    for word in words:
        if named_tasks := tasks_called(word):
            of_domain = (tasks_called(word, domain) for domain in words)
            return next((tasks for tasks in of_domain if len(tasks) == 1), named_tasks)
    return []


# ---- the vocabulary


class _Vocabulary(NamedTuple):
    """The names of columns: by role, of metadata by its name, and those that are ignored."""

    roles: dict[str, tuple[str, ...]]
    metadata: dict[str, str]
    never: frozenset[str]


@cache
def _vocabulary() -> _Vocabulary:
    shipped = shipped_toml("keju.datasets.readers", "names.toml", dict[str, Any])
    return _Vocabulary(
        roles={role: tuple(map(_plain, names)) for role, names in shipped["roles"].items()},
        metadata={_plain(n): key for key, names in shipped["metadata"].items() for n in names},
        never=frozenset(map(_plain, shipped["never"]["names"])),
    )


@cache
def _plain(name: str) -> str:
    """A name of a column without the differences between its spellings and scripts."""
    return in_script(plain_name(name), "simplified")


# ---- cells


def _columns(rows: Iterable[JsonObject]) -> list[str]:
    return list(dict.fromkeys(column for row in rows for column in row))


def _unused(name: str, names: Table_[str, object]) -> str:
    """A name that is not in use: `name`, or ``NAME_2`` and so on."""
    numbered = (f"{name}_{number}" for number in count(2))
    return name if name not in names else next(part for part in numbered if part not in names)


def _text(row: JsonObject, columns: Columns) -> str:
    """The text of the first column that has one."""
    values = (row.get(column) for column in as_tuple(columns))
    value = next((value for value in values if value not in (None, "")), "")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _is_short(cell: object) -> bool:
    """Whether a cell is a short text or number, or a list of short texts."""
    if isinstance(cell, list):
        return all(isinstance(each, str) for each in cell) and sum(map(len, cell)) <= LONGEST
    return isinstance(cell, str | int | float | None) and len(str(cell)) <= LONGEST


# ---- the text of a mapping


def mapping_text(drafted: Drafted, chosen: str = "en") -> str:
    """A drafted mapping as TOML in a language."""
    head = [_("Mapping file for: keju data import mapped SRC --map FILE")]
    if drafted.todos:
        head.append(_("Complete each TODO. Every table and column is mapped, or named in ignored."))
    comments = "".join(f"# {translator(chosen)(line)}\n" for line in head)
    return comments + "\n".join((*mapping_lines(drafted, chosen), ""))


def mapping_lines(drafted: Drafted, chosen: str = "en") -> list[str]:
    """The lines of a drafted mapping; notes are comments."""
    show = translator(chosen)
    notes = [f"# {printable(show(note))}" for note in drafted.notes]
    lines = [*notes, *_toml_lines(msgspec.to_builtins(drafted.mapping, enc_hook=show))]
    return lines[1:] if lines[:1] == [""] else lines


def _toml_lines(table: dict[str, Any], *path: str) -> list[str]:
    """The lines of a table in TOML: its values, then each table in it under its head."""
    values: list[str] = []
    inner: list[str] = []
    for key, value in table.items():
        name = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)
        head = ".".join((*path, name))
        if isinstance(value, dict):
            lines = _toml_lines(value, *path, name)
            inner += lines if lines[0] == "" else ["", f"[{head}]", *lines]
        elif isinstance(value, tuple) and isinstance(value[0], dict):
            for row in value:
                inner += ["", f"[[{head}]]", *_toml_lines(row)]
        else:
            values.append(f"{name} = {_toml(value)}")
    return [*values, *inner]


def _toml(value: object) -> str:
    """A value of a mapping in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    letters = json.dumps(str(value), ensure_ascii=False)
    return "".join(char if printable(char) == char else f"\\U{ord(char):08X}" for char in letters)
