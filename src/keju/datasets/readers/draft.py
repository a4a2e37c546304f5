"""`draft`: the mapping of a source, found by looking at it; what is not certain is a `TODO`."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Table_
from functools import cache, cached_property
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field

from keju.datasets.readers.base import files_under, image_files, plain_name
from keju.datasets.readers.cells import CONVERSATION, flat, named_columns
from keju.datasets.readers.choices import is_number
from keju.datasets.readers.mapping import TODO, Columns, Mapping, as_tuple, mapping_from, todos
from keju.datasets.readers.records import JsonObject
from keju.datasets.readers.tables import SUFFIXES, lists_in
from keju.definitions import Task, has_task, options_in, tasks, tasks_named
from keju.definitions import task as find_task
from keju.errors import DataError, printable, shortened
from keju.files import shipped_toml
from keju.text import count_han, in_script
from keju.texts import _, either, n_, translator

MOST_BYTES = 16 << 20
"""Bytes of all tables of which a draft looks at every row."""

SAMPLE = 2000
"""Rows of each table that a draft looks at where the tables are larger."""

LONGEST = 2000
"""Characters of a text that becomes metadata."""

_OPTION = re.compile("(?:options?|choices?|opt|选项|選項)?([a-h])")
_NUMBER = re.compile(r"(?<![a-z0-9])(?:tasks?|t|任务)[\s_.-]{0,2}0{0,3}([1-9]\d?)(?![0-9])")
_BARE = re.compile(r"0{0,3}([1-9]\d?)(?:\.0)?(?![0-9a-z]|[.]\d)")
_WORD = re.compile(r"[a-z]+|[0-9]+|[^\W_a-z0-9]+")
_QUESTIONS = ("question", "question_simplified", "question_traditional")
_ONLY_LOOKED_AT = frozenset({"answer_traditional", "answer_index", "messages"})


class Preset(Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about one release that a draft uses before it looks at a source.

    Attributes:
        benchmark: whose tasks the names of files and tasks mean; empty: any benchmark of a paper.
        signs: names of columns, one of which (or with `all_signs` each) the source has; of images
            with texts, the paths of the texts.
        only_signs: whether it has no other columns.
        whole: whether `mapping` is complete, so that nothing is drafted.
        optional: whether a complete mapping loses the fields whose columns no table has.
        domains: other names of the benchmark's domains.
        evidence: where the names are from.
    """

    name: str = ""
    what: str = ""
    layout: str = ""
    benchmark: str = ""
    signs: tuple[str, ...] = ()
    all_signs: bool = False
    only_signs: bool = False
    whole: bool = False
    optional: bool = False
    mapping: dict[str, Any] = field(default_factory=dict)
    domains: dict[str, list[str]] = field(default_factory=dict)
    evidence: str = ""


class Drafted(NamedTuple):
    """A drafted mapping, with `TODO` for what a person must complete.

    `reasons` says of each `TODO` why it is not certain, `rows` how many records were looked at, and
    `fit`, from 0 to 1, how sure it is that the source is of the preset's benchmark.
    """

    mapping: Mapping
    notes: tuple[str, ...] = ()
    reasons: dict[str, str] = {}  # noqa: RUF012 - never changed
    rows: int = 0
    fit: float = 0.0

    @property
    def todos(self) -> list[tuple[str, str]]:
        """The places that a person must complete, each with the reason."""
        return [
            (place, self.reasons.get(value, value.removeprefix(f"{TODO}: ")))
            for place, value in todos(self.mapping)
        ]


class _List(NamedTuple):
    """One list of records of the source, its cells flattened."""

    path: str
    key: tuple[str, ...]
    shape: str
    rows: list[JsonObject]


class _Words:
    """The vocabulary of names, in both scripts."""

    def __init__(self, preset: Preset) -> None:
        shipped = shipped_toml("keju.datasets.readers", "names.toml", dict[str, Any])
        self.roles = {
            role: tuple(dict.fromkeys(map(_plain, names)))
            for role, names in shipped["roles"].items()
        }
        self.metadata = {
            _plain(name): key for key, names in shipped["metadata"].items() for name in names
        }
        self.never = {*map(_plain, shipped["never"]["names"])}
        self.known = [each for each in tasks() if each.benchmark == preset.benchmark] or [
            each for each in tasks() if each.from_paper
        ]
        self._names = _by_name((name, t) for t in self.known for name in (t.name_zh, t.name_en))
        self._domains = _by_name(
            (name, t.domain)
            for t in self.known
            for name in (t.domain, t.domain_zh, *preset.domains.get(t.domain, ()))
        )

    def named(self, word: str) -> list[Task]:
        """The tasks whose id or name a text is or contains; of several names the longest."""
        return [find_task(word)] if has_task(word) else _longest(word, self._names)

    def numbered(self, word: str) -> list[Task]:
        """The task whose number a text is or contains: ``7``, ``T7``, ``task_07``, ``07_出处``."""
        folded = word.strip()[:200].casefold()
        found = _NUMBER.search(folded) or _BARE.match(folded)
        return [t for t in self.known if found and t.id == f"T{found[1]}"]

    def within(self, found: list[Task], word: str) -> list[Task]:
        """Those of several tasks whose domain a text names."""
        domains = _longest(word, self._domains)
        return [each for each in found if each.domain in domains]

    def of_path(self, words: Iterable[str]) -> list[Task]:
        """The tasks that the words of a path name, from the inside out."""
        every = list(words)
        for word in every:
            found, number = self.named(word), self.numbered(word)
            if len(found) > 1:
                found = next(filter(None, (self.within(found, each) for each in every)), found)
            if len(found) > 1 and number and number[0] in found:
                return number
            if found or number:
                return found or number
        return []


def _by_name(pairs: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {}
    for name, value in pairs:
        values = table.setdefault(_spaced(name), []) if name else []
        if value not in values:
            values.append(value)
    return table


def _longest(word: str, table: Table_[str, list[Any]]) -> list[Any]:
    text = _spaced(word[:200])
    if text in table:
        return table[text]
    inside = [
        name
        for name in table
        if (f" {name} " in f" {text} " if name.isascii() else len(name) > 1 and name in text)
    ]
    return table[max(inside, key=len)] if inside else []


@cache
def _plain(name: str) -> str:
    """A name of a column without the differences between its spellings and scripts."""
    return in_script(plain_name(name), "simplified")


@cache
def _spaced(name: str) -> str:
    return " ".join(_WORD.findall(in_script(name.casefold(), "simplified")))


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
    return _Draft(src, preset or Preset(), dict(given or {})).make()


class _Draft:
    """One draft: the lists of a source, and what is found in them."""

    def __init__(self, src: Path, preset: Preset, given: dict[str, Any]) -> None:
        self.src = src
        self.root = src if src.is_dir() else src.parent
        self.preset = preset
        self.given = given
        self.words = _Words(preset)
        self.notes: list[str] = []
        self.reasons: dict[str, str] = {}
        self.ignored: list[str] = []
        self.made: dict[str, Any] = {}
        self.lists: list[_List] = []
        self.roles: dict[str, Columns] = {}
        self.said: list[Task] = []
        self.nulls: set[str] = set()

    @cached_property
    def images(self) -> list[str]:
        """The paths of the images of the source."""
        return [path.relative_to(self.root).as_posix() for path in image_files(self.root)]

    def make(self) -> Drafted:
        self.lists = self._lists()
        stated: dict[str, Any] = {**self.preset.mapping}
        for key, value in self.given.items():
            stated[key] = {**stated.get(key, {}), **value} if isinstance(value, dict) else value
        if self.lists:
            self._from_tables(stated)
        else:
            self._from_images()
        if stated.get("constants", {}).get("task"):
            for table in self.made.get("tables", ()):
                if table.get("task", "").startswith(TODO):
                    del table["task"]
        data = {"preset": self.preset.name, **self.made}
        for key, value in stated.items():
            data[key] = {**data.get(key, {}), **value} if isinstance(value, dict) else value
        data["ignored"] = list(dict.fromkeys((*self.ignored, *stated.get("ignored", ()))))
        data = {key: value for key, value in data.items() if value not in ("", {}, [], ())}
        mapping = mapping_from(data, Path("--option"))
        return Drafted(
            mapping, tuple(self.notes), self.reasons, sum(1 for _row in self._rows), self._fit()
        )

    def _todo(self, reason: str) -> str:
        """The value of a place that a person must complete."""
        value = f"{TODO}: {reason}"
        self.reasons[value] = reason
        return value

    def _one(self, found: list[Task]) -> str:
        """The id of the only task that was found."""
        if len(found) == 1:
            return found[0].id
        return self._todo(either(each.id for each in found[:6]) or _("an id of keju tasks"))

    # ---- tables

    def _lists(self) -> list[_List]:
        """The lists with questions; every other table is ignored, and named in a note."""
        suffixes = {suffix.lstrip(".") for suffix in SUFFIXES}
        files = list(files_under(self.src, suffixes)) if self.src.is_dir() else [self.src]
        files = [file for file in files if file.suffix.casefold() in SUFFIXES]
        whole = sum(file.stat().st_size for file in files) <= MOST_BYTES
        asking: list[_List] = []
        others: list[_List] = []
        unreadable: dict[str, DataError] = {}
        for file in files:
            path = file.relative_to(self.root).as_posix()
            try:
                tables = lists_in(file, sys.maxsize if whole else SAMPLE)
            except DataError as error:
                if file.suffix.casefold() != ".json":
                    raise
                unreadable[path] = error  # A JSON file may have no records: it has settings.
                continue
            for key, shape, rows in tables:
                table = _List(path, key, shape, [flat(row.cells) for row in rows])
                self.nulls |= {k for row in rows for k, cell in row.cells.items() if cell is None}
                (asking if self._asks(table) else others).append(table)
        if not asking:
            if unreadable and not others:
                raise next(iter(unreadable.values()))
            asking, others = others, []
        used = {table.path for table in asking}
        for path in dict.fromkeys([*(table.path for table in others), *unreadable]):
            if path not in used:
                self.ignored.append(path)
                self.notes.append(_("no questions in {}: ignored", path))
            else:
                keys = [".".join(table.key) for table in others if table.path == path]
                self.notes.append(_("no questions in {}, {}: not read", path, ", ".join(keys)))
        return asking

    def _asks(self, table: _List) -> bool:
        """Whether records have a question, an answer with an image, or a conversation."""
        roles = self._named_roles(_columns(table.rows))
        has_question = any(role in roles for role in (*_QUESTIONS, "messages"))
        known = {"answer", "answer_simplified", "transcription"} & roles.keys()
        return has_question or bool(known and ("image" in roles or "id" in roles))

    def _named_roles(self, columns: Iterable[str]) -> dict[str, list[str]]:
        """The columns that the names of each role fit, in the order of the names."""
        ordered = list(columns)[::-1]
        plain = {_plain(column.rpartition(".")[2]): column for column in ordered if "." in column}
        plain |= {_plain(column): column for column in ordered}
        found = {}
        for role, names in self.words.roles.items():
            if role_columns := list(dict.fromkeys(plain[n] for n in names if n in plain)):
                found[role] = role_columns
        return found

    def _from_tables(self, keys: dict[str, Any]) -> None:
        """Draft the keys of a mapping that are not stated in `keys`."""
        columns = _columns(self._rows)
        stated = keys.get("fields", {})
        named = self._named_roles(columns)
        self.roles = {role: role_columns[0] for role, role_columns in named.items()}
        self._choose_answers(named)
        self._choose_options(columns)
        if image := self.roles.get("image"):
            numbered = re.compile(re.escape(_plain(str(image))) + "[0-9]{1,2}")
            more = [column for column in columns if numbered.fullmatch(_plain(column))]
            self.roles["image"] = (str(image), *more) if more else image
        if "key" in columns and any(table.shape == "by-key" for table in self.lists):
            self.roles.setdefault("id", "key")
        if "task_name" in self.roles:
            self.roles.setdefault("task", self.roles["task_name"])
        self.roles |= stated
        if column := self.roles.get("messages"):
            self.made["messages"] = column
            for role, part in zip(("question", "answer", "image"), CONVERSATION, strict=True):
                self.roles.setdefault(role, part)
        question_roles = {"question", "question_simplified"} & {
            *self.roles,
            *keys.get("constants", ()),
        }
        if keys.get("prompt") == "verbatim" and not question_roles:
            self.roles["question"] = self._todo(self._found_columns(_("a column")))
        self._tables(stated)
        self._ids(stated)
        if "image" not in self.roles:
            self._images()
        if "answer_is" not in keys:
            self._answer_numbers()
        fields = {r: c for r, c in self.roles.items() if r not in _ONLY_LOOKED_AT}
        self.made["fields"] = fields
        self._others(columns, fields, keys)

    def _choose_answers(self, named: dict[str, list[str]]) -> None:
        """The answer in both scripts, and a TODO where two other columns could be it."""
        for role in ("question", "answer"):
            others = {
                named[script_role][0]
                for script_role in (f"{role}_simplified", f"{role}_traditional")
                if script_role in named
            }
            rivals = [
                column
                for number, column in enumerate(named.get(role, ()))
                if column not in others and not (number and _plain(column) in self.words.metadata)
            ]
            if rivals:
                many = len(rivals) > 1 and self._differ(rivals)
                self.roles[role] = self._todo(either(rivals)) if many else rivals[0]
        both = tuple(named[r][0] for r in ("answer_traditional", "answer_simplified") if r in named)
        if self.roles.get("answer") in both and len(both) > 1:
            self.roles["answer"] = both
        if "answer_index" in self.roles:
            self.roles.setdefault("answer", self.roles["answer_index"])

    def _differ(self, columns: list[str]) -> bool:
        texts = (
            {str(row[c]) for c in columns if row.get(c) not in (None, "")} for row in self._rows
        )
        return any(len(of_row) > 1 for of_row in texts)

    @property
    def _rows(self) -> Iterator[JsonObject]:
        return (row for each in self.lists for row in each.rows)

    def _choose_options(self, columns: list[str]) -> None:
        """Options in columns of their letters, or in one column, or in one object."""
        lettered = {m[1]: c for c in columns if (m := _OPTION.fullmatch(_plain(c)))}
        if len(lettered) > 1 and "".join(sorted(lettered)) == "abcdefgh"[: len(lettered)]:
            chosen = tuple(lettered[letter] for letter in sorted(lettered))
            outer = {column.rpartition(".")[0] for column in chosen}
            self.roles["options"] = outer.pop() if len(outer) == 1 and "" not in outer else chosen
            return
        # An object with other keys is refused when it is read, rather than no options at all.
        for column in columns:
            outer_name, point, __ = column.partition(".")
            if point and _plain(outer_name) in self.words.roles["options"]:
                self.roles.setdefault("options", outer_name)

    def _tables(self, stated: dict[str, Any]) -> None:
        """Each list with its task and script, and the task of each value of the task's column."""
        column = self.roles.get("task", "")
        tables: list[dict[str, Any]] = []
        for each in self.lists:
            folders = PurePosixPath(each.path).parent.parts
            words = (*each.key[::-1], PurePosixPath(each.path).stem, *folders[::-1])
            table = {"path": each.path, "key": each.key, "shape": each.shape}
            missing = not column or any(not _text(_value(row, column)) for row in each.rows)
            if missing and "task" not in stated:
                outer = () if self.src.is_file() else (self.root.name,)
                found = self.words.of_path((*words, *outer))
                self.said += found
                table["task"] = self._one(found)
            elif column:
                self._note_other_tasks(each, column)
            tables.append(table)
        self.made["tables"] = tables
        if column and "task" not in stated:
            self._task_values(column)

    def _note_other_tasks(self, table: _List, column: Columns) -> None:
        """Note a file that is called after a task of which it has no record."""
        stem = PurePosixPath(table.path).stem
        called = [] if stem.isdecimal() else self.words.of_path([stem])
        ids = {self._id_of(_text(_value(row, column))) for row in table.rows}
        if len(called) == 1 and called[0].id not in ids:
            self.notes.append(
                _("{} is called after {}, but its records are of {}",
                  table.path, called[0].id, ", ".join(sorted(ids)))
            )  # fmt: skip

    def _task_values(self, column: Columns) -> None:
        """The task of each value of the column, of two names of tasks with its domain."""
        domain = self.roles.get("domain", "")
        found: dict[tuple[str, str], list[Task]] = {}
        ids: dict[str, set[str]] = {}
        for row in self._rows:
            value = _text(_value(row, column))
            within = _text(_value(row, domain)) if domain else ""
            if value and (value, within) not in found:
                named = self.words.named(value) or self.words.numbered(value)
                narrow = self.words.within(named, within) if len(named) > 1 and within else []
                found[value, within] = narrow or named
                ids.setdefault(value, set()).add(",".join(t.id for t in found[value, within]))
        self.said += [each for named in found.values() for each in named]
        if domain and any(len(of_value) > 1 for of_value in ids.values()):
            self.roles["task"] = f"{{{domain}}}/{{{column}}}"
            values = {f"{within}/{value}": self._one(n) for (value, within), n in found.items()}
        else:
            values = {
                value: self._one(named)
                for (value, __), named in found.items()
                if not _is_plain(value, named)
            }
        if values:
            self.made["values"] = {"task": values}

    def _ids(self, stated: dict[str, Any]) -> None:
        """The id as a template where IDs start again, or where there are none."""
        if "id" in stated:
            return
        column = self.roles.get("id")
        # A column of IDs without any is a fault; where there is no such column, keju numbers.
        column = column or next(iter(self._named_roles(self.nulls).get("id", ())), None)
        bare = sum(not _text(_value(row, column)) for row in self._rows) if column else 0
        if bare:
            self.roles["id"] = self._todo(
                n_("{n:,} record without {}", "{n:,} records without {}", bare, str(column))
            )
        elif column is None:
            self.roles["id"] = "{task}-{number}"
        else:
            ids = Counter(_text(_value(row, column)) for row in self._rows)
            if max(ids.values(), default=0) > 1:
                self.roles["id"] = f"{{task}}-{{{column}}}"
                self.roles["source_id"] = column
                self.notes.append(_("IDs start again: id is {}", self.roles["id"]))

    # ---- images

    def _images(self) -> None:
        if self.images:
            reason = _("a column, or a path such as {}", "images/{ID}.*")
        else:
            self.notes.append(_("no images beside the tables, and no column for them"))
            reason = _("put images beside the tables, or delete the line if none is")
        self.roles["image"] = self._todo(self._found_columns(reason))

    def _found_columns(self, reason: str) -> str:
        names = ", ".join(map(shortened, _columns(self._rows)[:30]))
        return _("{} (found the columns {})", reason, names)

    def _id_of(self, value: str) -> str:
        named = self.words.named(value) or self.words.numbered(value)
        return named[0].id if len(named) == 1 else ""

    # ---- answers and other columns

    def _answer_numbers(self) -> None:
        """Whether answers to questions with options are their numbers: nothing says from where."""
        for row in self._rows:
            answer = _text(_value(row, self.roles.get("answer", ())))
            options = self._options_of(row)
            if options and is_number(answer, tuple(options)):
                self.made["answer_is"] = self._todo(either(("from-0", "from-1")))
                return

    def _options_of(self, row: JsonObject) -> list[str]:
        """The options of a record, in columns, in one column, or in its question."""
        columns = as_tuple(self.roles.get("options", ()))
        cells = [row[column] for column in columns if row.get(column) not in (None, "")]
        if len(columns) == 1:
            inside = [cell for name, cell in row.items() if name.startswith(f"{columns[0]}.")]
            cell = cells[0] if cells else inside
            cells = cell if isinstance(cell, list) else list(options_in(str(cell)))
        question = _text(_value(row, self.roles.get("question", ())))
        return [str(cell) for cell in cells] or list(options_in(question))

    def _others(self, columns: list[str], fields: dict[str, Columns], keys: dict[str, Any]) -> None:
        """Every column without a role: metadata, or ignored."""
        used = {*CONVERSATION, self.made.get("messages", "")}
        for names in (*fields.values(), *keys.get("blanks", {}).values()):
            used.update(named_columns(names))
        used.discard("")  # A column of a table may have no name.
        stated = set(keys.get("metadata", {}).values())
        metadata: dict[str, str] = {}
        group = fields.get("group")
        for column in columns:
            plain, last = _plain(column), _plain(column.rpartition(".")[2])
            canonical = self.words.metadata.get(plain) or self.words.metadata.get(last, "")
            is_used = column in used or column.partition(".")[0] in used
            if column in stated or (is_used and not (column == group and canonical)):
                continue
            if plain in self.words.never:
                self.ignored.append(column)
            elif self._is_short(column):
                metadata[_unused(canonical or column, metadata)] = column
            else:
                self.ignored.append(column)
                self.notes.append(_("not short texts: {} is ignored", column))
        self.made["metadata"] = metadata

    def _is_short(self, column: str) -> bool:
        for row in self._rows:
            value = row.get(column)
            kinds = str if isinstance(value, list) else str | int | float | None
            texts = value if isinstance(value, list) else [value]
            if not all(isinstance(each, kinds) for each in texts):
                return False
            if sum(len(str(each)) for each in texts) > LONGEST:
                return False
        return True

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
        self.made["constants"] = {"task": self._one([])}

    def _fit(self) -> float:
        """How sure it is that the source is of the preset's benchmark: named tasks, then signs."""
        texts = (cell for row in self._rows for cell in row.values() if isinstance(cell, str))
        if not self.preset.name or not any(count_han(text[:LONGEST]) for text in texts):
            return 0.0
        column = self.roles.get("task", "")
        if column and self.said:
            words = {_text(_value(row, c)) for row in self._rows for c in named_columns(column)}
            if any(self.words.named(word) for word in words if word and not has_task(word)):
                return 1.0
        columns = {plain_name(c) for c in _columns(self._rows)}
        signs = {plain_name(sign) for sign in self.preset.signs}
        if signs <= columns if self.preset.all_signs else signs & columns:
            return 0.95
        return 0.8 if self.said else 0.0


def _columns(rows: Iterable[JsonObject]) -> list[str]:
    return list(dict.fromkeys(column for row in rows for column in row))


def _value(row: JsonObject, columns: Columns) -> object:
    """The value of the first column that has one, or of a template."""
    for column in as_tuple(columns):
        if "{" in column:
            return re.sub(r"\{([^{}:]+)\}", lambda blank: _text(row.get(blank[1])), column)
        if row.get(column) not in (None, ""):
            return row[column]
    return ""


def _unused(name: str, names: Table_[str, object]) -> str:
    """A name that is not in use: `name`, or ``NAME_2`` and so on."""
    numbered = (f"{name}_{number}" for number in count(2))
    return name if name not in names else next(each for each in numbered if each not in names)


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return " | ".join(map(_text, value))
    return "" if value is None or isinstance(value, bytes) else str(value).strip()


def _is_plain(value: str, named: list[Task]) -> bool:
    """Whether the executor reads a value of the task's column as this one task."""
    if len(named) != 1:
        return False
    number = f"T{value.upper().removeprefix('T').removesuffix('.0')}"
    return named[0].id in (value, number) or tasks_named(value) == named


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

    def line(key: str, value: object) -> str:
        if isinstance(value, str) and value in drafted.reasons:
            value = f"{TODO}: {show(drafted.reasons[value])}"
        return f"{_key(key)} = {_toml(value)}"

    default = msgspec.to_builtins(Mapping())
    data = msgspec.to_builtins(drafted.mapping)
    kept = {key: value for key, value in data.items() if value != default[key]}
    inner: list[str] = []
    plain = [f"# {printable(show(note))}" for note in drafted.notes]
    for key, value in kept.items():
        if key in {"tables", "lookup", "items"}:
            for row in value:
                cells = {k: v for k, v in row.items() if v and (k, v) != ("shape", "list")}
                inner += ["", f"[[{key}]]", *(line(*cell) for cell in cells.items())]
        elif key == "values":
            for name, texts in value.items():
                inner += ["", f"[values.{_key(name)}]", *(line(*text) for text in texts.items())]
        elif isinstance(value, dict):
            inner += ["", f"[{key}]", *(line(*entry) for entry in value.items())]
        else:
            plain.append(line(key, value))
    return [*plain, *inner] if plain else inner[1:]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    """A text as a string of TOML."""
    return "".join(
        char if printable(char) == char else f"\\U{ord(char):08X}"
        for char in json.dumps(text, ensure_ascii=False)
    )
