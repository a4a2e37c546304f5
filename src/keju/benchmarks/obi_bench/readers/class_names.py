"""`ClassNames`: the characters of classes, from a table of the release or of the user."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from keju.benchmarks.obi_bench.readers.releases import Release
from keju.benchmarks.obi_bench.readers.sources import Found
from keju.datasets.readers.base import join_names, kept_inside
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.json_records import json_in
from keju.datasets.readers.records import Field, map_fields, text_of
from keju.datasets.readers.tables import read_table
from keju.errors import DataError

_OBJECTS = ("id_to_chinese.json", "key&value.json", "key_value.json", "chinese_to_id.json")
_LISTS = ("classes.csv", "classes.tsv", "class_names.csv", "class_names.tsv")

TABLES = frozenset({*_OBJECTS, *_LISTS})
"""Names of files, in small letters, that list the characters of classes."""

_FIELDS = {
    "class": Field(("class", "id", "label", "code", "folder", "编号", "類別", "类别")),
    "character": Field(("character", "char", "chinese", "name", "hanzi", "字", "汉字", "漢字")),
}
_HAN = (("\u3400", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))
_LONGEST = 4
"""Characters of a folder's name that is itself a character, perhaps with its variants."""


class ClassNames(NamedTuple):
    """The characters of classes.

    Attributes:
        characters: by class or id.
        file: the table that they are from; None if there is none.
    """

    characters: Mapping[str, str]
    file: Path | None = None

    def of(self, *keys: str) -> str:
        """The character of the first of these ids or classes that has one; empty if unknown.

        The ids of merged classes are joined by ``_``: each has its character. A class that is
        called after its character needs no table.
        """
        for key in keys:
            if found := self.characters.get(key) or self.characters.get(key.lstrip("0")):
                return found
        for key in keys:
            parts = [self.characters.get(part, "") for part in key.split("_")]
            if joined := "".join(dict.fromkeys(parts)):
                return joined
        return next((key for key in keys if _is_han(key)), "")


def read_names(
    found: Found, release: Release, tables: list[str], given: Path | None, classes: frozenset[str]
) -> ClassNames:
    """The characters of a source's classes: from a table given, one in the source, or the release.

    Args:
        found: the source.
        release: how it is published.
        tables: the tables in it, paths from its folder on.
        given: a table that the user names.
        classes: the classes; they distinguish ids from characters in a JSON object.

    Raises:
        DataError: a table is not readable, or does not map texts to texts.
    """
    if given:
        return ClassNames(_read(given, classes), given)
    beside = set(release.beside)
    order = {name: place for place, name in enumerate((*_OBJECTS, *_LISTS))}
    files = [
        found.folder / name for name in tables if not beside.intersection(name.split("/")[:-1])
    ]
    if not files and found.src != found.folder:
        # In the folder that was given, beside the source's own: Key&Value.json beside EVOBC/.
        beside_it = (path for path in found.src.iterdir() if path.name.casefold() in order)
        files = [kept_inside(path, found.src) for path in beside_it]
    if not files:
        return ClassNames(release.characters)
    file = min(files, key=lambda path: (order[path.name.casefold()], len(path.parts), path))
    return ClassNames(_read(file, classes), file)


def _read(file: Path, classes: frozenset[str]) -> dict[str, str]:
    if file.suffix.casefold() in {".csv", ".tsv"}:
        rows = read_table(file)
        fields = map_fields(file, [cells for _, cells in rows], _FIELDS)
        for role, field in fields.items():
            import_log().used(role, field)
        pairs = (
            (text_of(cells, fields["class"], place), text_of(cells, fields["character"], place))
            for place, cells in rows
        )
        return {key.strip(): value.strip() for key, value in pairs if key.strip()}
    content = json_in(file, object)
    if not isinstance(content, dict):
        raise DataError(
            "expected an object of ids and characters", file=file, hint='Write {"0001": "王"}'
        )
    wrong = [key for key, value in content.items() if not isinstance(value, str | int)]
    if wrong:
        raise DataError(
            "expected a text under {}",
            join_names(map(repr, wrong), 3),
            file=file,
            hint='Write {"0001": "王"}',
        )
    characters = {str(key): str(value) for key, value in content.items()}
    forward = sum(key in classes for key in characters)
    backward = sum(value in classes for value in characters.values())
    if backward > forward or (backward == forward and "chinese_to" in file.name.casefold()):
        return {value: key for key, value in characters.items()}
    return characters


def _is_han(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and all(
        any(first <= char <= last for first, last in _HAN) for char in text
    )
