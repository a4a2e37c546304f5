"""`Mapping`: the content of a mapping file, which describes how a source becomes items."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.texts import _

TODO = "TODO"
"""The marker of parts of a drafted mapping that must be completed."""

LIST_ROLES = ("image", "options", "also_accepted")
"""Roles with several values, each in a column of its own or as a list in one column."""

JOINERS = {
    "id": "-", "task": "", "query": "", "question": "\n", "question_simplified": "\n",
    "question_traditional": "\n", "answer": "\n", "answer_simplified": "\n",
    "transcription": "\n", "group": "/", "split": "",
}  # fmt: skip
"""Roles with one text, and the separator that joins the texts of several columns."""

ROLES = (*JOINERS, *LIST_ROLES)

_CHOICES = {
    "prompt": ("verbatim", "template"),
    "answer_is": ("text", "from-0", "from-1"),
    "rest": ("metadata", "ignored"),
    "source.json": ("list", "by-key", "one"),
}

Columns = str | tuple[str, ...]


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """``[source]``: where the records and images are.

    Attributes:
        tables: patterns of the tables' paths, where ``*`` is any text; none: each image is a
            record.
        json: ``list`` (a list of objects, or an object with one), ``by-key`` (an object with one
            record under each key) or ``one`` (each file is a record); by default whichever fits.
        each: a column that contains a list of objects; each becomes a record.
        images: the directories to which image names are relative, themselves relative to SRC.
        image_path: the path of a record's image; ``{COLUMN}`` is filled in, a last ``.*`` is any
            image suffix, a first ``**/`` any directory.
        texts: the path of a record's text file, as `image_path`; its text is the column ``text``.
        names: a regular expression with named groups for the whole path of the image; each group
            becomes a column.
        table_names: the same for the path of the table.
    """

    tables: Columns = ()
    json: Literal["", "list", "by-key", "one"] = ""
    each: str = ""
    images: Columns = ()
    image_path: str = ""
    texts: str = ""
    names: str = ""
    table_names: str = ""


class Mapping(Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping file.

    Attributes:
        source: where the records are.
        fields: the column, or columns, of each role.
        blanks: the column that fills each further placeholder of the task's template.
        metadata: the column of each metadata name.
        constants: the text of a role for all items.
        constant_metadata: metadata of all items.
        values: for a role or metadata name, texts of the source and their replacements.
        prompt: ``verbatim`` (the question is the whole prompt) or ``template`` (the task's).
        answer_is: what the answer of a question with options is: ``text`` (a letter or the text of
            an option), ``from-0`` or ``from-1`` (the number of an option).
        rest: the use of columns without a role: ``metadata`` or ``ignored``.
    """

    source: Source = field(default_factory=Source)
    fields: dict[str, Columns] = field(default_factory=dict)
    blanks: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    constant_metadata: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    prompt: Literal["", "verbatim", "template"] = ""
    answer_is: Literal["text", "from-0", "from-1"] = "text"
    rest: Literal["metadata", "ignored"] = "metadata"


def read_mapping(file: Path) -> Mapping:
    """Read and check a mapping file.

    Raises:
        DataError: it is not TOML, has an unknown key or role, a wrong value, or a TODO.
    """
    data = read_toml(file, dict[str, Any], hint="Correct the line")
    _check_keys(file, "", data, Mapping.__struct_fields__)
    if isinstance(data.get("source"), dict):
        _check_keys(file, "source", data["source"], Source.__struct_fields__)
    for section, known in (
        ("fields", ROLES),
        ("constants", tuple(JOINERS)),
        ("values", (*JOINERS, "options", *_names_of_metadata(data))),
    ):
        if isinstance(data.get(section), dict):
            _check_keys(file, section, data[section], known)
    _check_complete(file, "", data)
    try:
        return msgspec.convert(data, Mapping)
    except msgspec.ValidationError as error:
        said, __, place = str(error).partition(" - at ")
        where = place.strip("`").removeprefix("$.")
        choices = _CHOICES.get(where)
        hint = (
            _("Use {}", ", ".join(choices)) if choices else _("See docs/formats.md, Mapping files")
        )
        raise DataError(said, file=file, item=where or None, hint=hint) from None


def _names_of_metadata(data: dict[str, object]) -> tuple[str, ...]:
    named = data.get("metadata")
    values = data.get("values")
    # Any other column may become metadata, so its values cannot be checked against a list.
    rest = values if data.get("rest", "metadata") == "metadata" else ()
    return (*(named if isinstance(named, dict) else ()), *(rest if isinstance(rest, dict) else ()))


def _check_keys(file: Path, section: str, found: dict[str, object], known: tuple[str, ...]) -> None:
    for key in found:
        if key not in known:
            raise DataError(
                unknown_name(key, known, "key"),
                file=file,
                item=f"[{section}]" if section else None,
            )


def _check_complete(file: Path, place: str, value: object) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_complete(file, f"{place}.{key}" if place else key, inner)
    elif value == TODO:
        raise DataError(
            "this value of the draft is still TODO",
            file=file,
            item=place,
            hint="Complete it, or delete the line",
        )
