"""What a recipe's table or a command's options say, as settings; wrong ones in one line."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from keju.errors import KejuError, UsageError, unknown_name
from keju.files import sha256_file
from keju.local_paths import check_local

S = TypeVar("S", bound=msgspec.Struct)

_AT = re.compile(r" - at `(?P<of_keys>key` in `)?\$(?P<key>[^`]*)`$")
_ENUM = re.compile(r"Invalid enum value '?(?P<name>.*?)'?")
_TYPE = re.compile(r"`([^`]*)`")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "Path": "a path",
}
"""How the parser's types are called in a recipe."""


class FaultsError(UsageError):
    """Everything that is wrong with a recipe or a table of settings, a line each."""

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__("")
        self.lines = tuple(dict.fromkeys(str(KejuError(line)) for line in lines))
        self.args = ("\n".join(self.lines),)


@contextmanager
def gathering(faults: list[str], place: str = "") -> Iterator[None]:
    """Note what is wrong inside, each fault with its place, and go on after it."""
    try:
        yield
    except FaultsError as error:
        faults += [f"{place}: {line}" if place else line for line in error.lines]
    except KejuError as error:
        faults.append(f"{place}: {error}" if place else str(error))


def settings_from(
    table: Mapping[str, object],
    shape: type[S],
    *,
    place: str,
    base: Path | None = None,
    spelled: bool = False,
) -> S:
    """A table of names and values as settings.

    Keys may be spelled with hyphens. Paths are taken from `base` where they are not absolute.

    Args:
        table: what is given.
        shape: what it must be.
        place: what errors begin with, e.g. ``recipe.toml: step 2 (dedup-images)``.
        base: the folder that paths are meant from.
        spelled: text stands for numbers too, as options of a command give it.

    Raises:
        FaultsError: unknown keys, values of the wrong type, keys that are missing: all of them.
    """
    known = {each.name: each for each in msgspec.structs.fields(shape)}
    given = {key.replace("-", "_"): value for key, value in table.items()}
    faults = [
        f"{place}: {unknown_name(key, sorted(known), 'key')}" for key in given if key not in known
    ]
    addresses: list[str] = []

    def whole(kind: type, value: object) -> object:
        if kind is Path and isinstance(value, str):
            with gathering(addresses):
                check_local(value)
            return Path(value) if base is None else base / value
        # Said as msgspec says it, so that one place puts both into words.
        raise TypeError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")

    found: dict[str, object] = {}
    for name, field in known.items():
        if name not in given:
            if field.required:
                faults.append(f"{place}: it needs {name} = …{_said_of(field)}")
            continue
        try:
            found[name] = msgspec.convert(
                given[name], field.type, strict=not spelled, dec_hook=whole
            )
        except msgspec.ValidationError as error:
            faults.append(f"{place}: {name}{_in_words(str(error), field.type)}")
        faults += [f"{place}: {name}: {address}" for address in addresses]
        addresses.clear()
    if faults:
        raise FaultsError(faults)
    try:
        return shape(**found)
    except ValueError as error:  # what the settings themselves refuse
        raise FaultsError([f"{place}: {error}"]) from None


def _in_words(said: str, kind: object) -> str:
    """What is wrong with a value, without the parser's spelling of places and types."""
    at = _AT.search(said)
    what = said[: at.start()] if at else said
    where = at["key"].replace("[...]", "") if at else ""
    if wrong := _ENUM.fullmatch(what):
        name = "key" if at and at["of_keys"] else "value"
        return f"{where}: {unknown_name(wrong['name'], sorted(map(str, _allowed(kind))), name)}"
    told = _TYPE.sub(lambda found: _worded(found[1]), what)
    return f"{where}: {told[0].lower()}{told[1:]}"


def _worded(kinds: str) -> str:
    names = [_WORDS.get(kind, kind) for kind in kinds.split(" | ") if kind != "null"]
    return " or ".join(names)


def _allowed(kind: object) -> list[object]:
    """The values that a type names one by one, at whatever depth."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for part in get_args(kind) for value in _allowed(part)]


def _said_of(field: msgspec.structs.FieldInfo) -> str:
    told = description(field.type)
    return f" ({told})" if told else ""


def description(kind: object) -> str:
    """What a setting's annotation says of it, on one line; empty where it says nothing."""
    metas = [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, msgspec.Meta)]
    return " ".join(meta.description for meta in metas if meta.description)


def paths_in(settings: msgspec.Struct) -> Iterator[tuple[str, Path]]:
    """The paths that settings name, each with its key."""
    for each in msgspec.structs.fields(settings):
        value = getattr(settings, each.name)
        for path in value if isinstance(value, tuple | list) else (value,):
            if isinstance(path, Path):
                yield each.name, path


def check_paths(settings: msgspec.Struct, place: str) -> None:
    """Refuse settings that name what is not there.

    Raises:
        FaultsError: a path leads to nothing, or is none that a disk could have.
    """
    faults = []
    for key, path in paths_in(settings):
        try:
            there = path.exists()
        except OSError:
            there = False
        if not there:
            faults.append(f"{place}: {key}: {str(path)[:200]}: no such file or folder")
    if faults:
        raise FaultsError(faults)


def fingerprint(*parts: object) -> str:
    """SHA-256 of anything that JSON, settings and paths can say.

    A path counts by what lies there: a file by its bytes, a folder by the names, sizes and times
    of its files.
    """
    return hashlib.sha256(json.dumps(parts, default=_plain, sort_keys=True).encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if isinstance(value, Path):
        return _content(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"nothing that has a fingerprint: {type(value).__name__}")


def _content(path: Path) -> list[Any]:
    if path.is_file():
        return ["file", sha256_file(path)]
    if not path.is_dir():
        return ["absent", path.name]
    if (path / "dataset.json").is_file():
        return ["dataset", sha256_file(path / "dataset.json")]
    found = []
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            facts = file.stat(follow_symlinks=False)
            found.append([file.relative_to(path).as_posix(), facts.st_size, facts.st_mtime_ns])
    return ["folder", found]
