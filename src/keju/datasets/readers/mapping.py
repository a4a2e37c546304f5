"""`Mapping`: the content of a ``mapping.toml``, which says how a source becomes items.

A mapping is explicit: whoever executes it (`mapped`) looks nothing up that it does not name, and
whoever drafts it (`draft`) writes `TODO` where the source does not show what something means. Every
key is explained in docs/formats.md, "Mapping files".
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, fields

from keju.definitions import Task, has_task, task, tasks_named
from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.settings import list_allowed_values
from keju.texts import _

TODO = "TODO"
"""The beginning of a value of a draft that a person must complete."""

Columns = str | tuple[str, ...]
"""A column, several of which the first with a value counts, or a template with ``{COLUMN}``."""

TEXTS = (
    "id", "source_id", "task", "task_name", "domain", "query", "question", "question_simplified",
    "question_traditional", "answer", "answer_simplified", "transcription", "group", "split",
    "licence", "source", "notes", "description",
)  # fmt: skip
"""Roles with one text. Licence and source are the record's own; notes and a description are known
facts about its image, from which drafts are made."""

LISTS = ("image", "options", "also_accepted", "page", "keywords")
"""Roles with several values: each column has one, or a list of them. A page is a saved web page,
whose text is a note about the image, or without one the text to draft from."""

ROLES = (*TEXTS, *LISTS)

_NUMBERED = re.compile(
    r"(?:tasks?|t|任务)?[\s_.-]?0{0,3}([1-9][0-9]?)(?:[.]0|[\s_.-]+\D.*)?",
    re.IGNORECASE | re.DOTALL,
)

Shape = Literal["list", "by-key"]
_UNKNOWN = re.compile("Object contains unknown field `(.*)`")


class Table(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[[tables]]``: files with records, or one list in a file, below the objects of `key`."""

    path: str
    key: Columns = ()
    shape: Shape = "list"
    task: str = ""


class Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[[items]]``: one of several items of a record; it replaces columns of ``[fields]``."""

    task: str = ""
    id: Columns = ()
    question: Columns = ()
    answer: Columns = ()
    options: Columns = ()

    @property
    def columns(self) -> dict[str, Columns]:
        """The columns that it states, by role."""
        columns = asdict(self).items()
        return {role: names for role, names in columns if names and role != "task"}


class Lookup(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[[lookup]]``: a second table whose columns a record gets, such as one of books.

    `path` may be a pattern. A ``.txt`` is a list of files, one per line, with the columns ``stem``
    and ``list``, the stem of its own name.
    """

    path: str
    key: str
    by: str


class Mapping(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping.

    Columns and patterns of columns that are `optional` need not exist.
    Of several `texts`, the first whose blanks all have values counts. The `values` of one of
    `columns` apply wherever it is used, such as in a group.
    """

    preset: str = ""
    prompt: Literal["", "verbatim", "template", "own"] = ""
    answer_is: Literal["text", "from-0", "from-1", "letter"] = "text"
    newlines: Literal["keep", "auto", "literal"] = "keep"
    drafts: bool = False
    shared_transcriptions: bool = False
    images: Columns = ()
    names: str = ""
    texts: Columns = ()
    text_form: Literal["text", "quads"] = "text"
    messages: str = ""
    ignored: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    lookup: tuple[Lookup, ...] = ()
    split: dict[str, str] = field(default_factory=dict)
    only: dict[str, str] = field(default_factory=dict)
    items: tuple[Part, ...] = ()
    columns: dict[str, Columns] = field(default_factory=dict)
    fields: dict[str, Columns] = field(default_factory=dict)
    blanks: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Columns] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    constant_metadata: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, str]] = field(default_factory=dict)


_SECTIONS: dict[str, type[Struct]] = {"tables": Table, "items": Part, "lookup": Lookup}


def as_tuple(columns: Columns) -> tuple[str, ...]:
    """One column or several, as a tuple."""
    return (columns,) if isinstance(columns, str) else columns


def read_mapping(file: Path) -> Mapping:
    """Read and check a mapping file.

    Raises:
        DataError: it is not TOML, has an unknown key or role, a wrong value, or a TODO.
    """
    mapping = mapping_from(read_toml(file, dict[str, Any], hint="Correct the line"), file)
    check_complete(mapping, file)
    return mapping


def mapping_from(data: dict[str, Any], file: Path) -> Mapping:
    """The mapping that a table of TOML is; TODOs are allowed. `file` is for errors.

    Raises:
        DataError: an unknown key or role, or a wrong value.
    """
    try:
        mapping = msgspec.convert(data, Mapping)
    except msgspec.ValidationError as error:
        raise _wrong(file, str(error)) from None
    for section, keys, known in (
        ("fields", mapping.fields, ROLES),
        ("constants", mapping.constants, TEXTS),
        ("values", mapping.values, (*TEXTS, "options", *mapping.metadata, *mapping.columns)),
    ):
        for key in keys:
            if key not in known:
                raise DataError(unknown_name(key, known, "key"), file=file, item=f"[{section}]")
    return mapping


def _wrong(file: Path, error: str) -> DataError:
    """An error of the parser, such as ``Invalid enum value 'x' - at `$.tables[0].shape```."""
    problem, __, path = error.partition(" - at ")
    place = path.strip("`").removeprefix("$.")
    section = place.partition("[")[0]
    kind = _SECTIONS.get(section, Mapping)
    if unknown := _UNKNOWN.fullmatch(problem):
        problem = unknown_name(unknown[1], kind.__struct_fields__, "key")
        return DataError(problem, file=file, item=f"[{section}]" if section else None)
    types = {declared.name: declared.type for declared in fields(kind)}
    choices = list_allowed_values(types.get(place.rpartition(".")[2]))
    hint = _("See docs/formats.md, Mapping files")
    if choices:
        hint = _("Use {}", ", ".join(map(str, filter(None, choices))))
    return DataError(problem, file=file, item=place or None, hint=hint)


def tasks_called(text: str, domain: str = "") -> list[Task]:
    """The tasks that a text means: an id, the number in it, or a name.

    A name may follow the number. Of several tasks of one name, those of the domain.
    """
    if has_task(text):
        return [task(text)]
    numbered = _NUMBERED.fullmatch(text.strip())
    if numbered and has_task(f"T{numbered[1]}"):
        return [task(f"T{numbered[1]}")]
    tasks = tasks_named(text)
    return (tasks_named(text, domain) or tasks) if len(tasks) > 1 else tasks


def todos(value: object, place: str = "") -> list[tuple[str, str]]:
    """The places of a mapping that a person must complete, each with what is there."""
    if isinstance(value, str):
        return [(place, value)] if value.startswith(TODO) else []
    inner: list[tuple[str, object]] = []
    if isinstance(value, Struct):
        value = asdict(value)
    if isinstance(value, dict):
        inner = [(f"{place}.{key}" if place else key, part) for key, part in value.items()]
    elif isinstance(value, tuple):
        inner = [(f"{place} {number}", part) for number, part in enumerate(value, start=1)]
    return [todo for name, part in inner for todo in todos(part, name)]


def check_complete(mapping: Mapping, file: Path | None = None) -> None:
    """Refuse a mapping with something to complete.

    Raises:
        DataError: naming the first place.
    """
    if left := todos(mapping):
        place, text = left[0]
        about = text.removeprefix(TODO).lstrip(": ")
        problem = _("this value of the draft is still TODO{}", f" ({about})" if about else "")
        raise DataError(problem, file=file, item=place, hint="Complete it, or delete the line")
