"""Settings from a recipe's table or a command's options, with all errors collected."""

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
"""The names of the parser's types in a recipe."""


class FaultsError(UsageError):
    """All errors in a recipe or a table of settings, one per line."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(dict.fromkeys(str(KejuError(line)) for line in lines))
        super().__init__("; ".join(self.lines))
        self.args = ("\n".join(self.lines),)


@contextmanager
def gathering(faults: list[str], place: str = "") -> Iterator[None]:
    """Collect errors raised inside, each with its place, and continue after it."""
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
    """Convert a table of names and values to settings.

    Keys may be spelled with hyphens. Relative paths start from `base`.

    Args:
        table: the values.
        shape: the type of the settings.
        place: the prefix of errors, e.g. ``recipe.toml: step 2 (dedup-images)``.
        base: the directory of relative paths.
        spelled: numbers may be given as text, as options of a command are.

    Raises:
        FaultsError: unknown keys, values of the wrong type, missing keys: all of them.
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
        # In msgspec's wording, so that one place rewrites both.
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
    except ValueError as error:  # raised by the settings themselves
        raise FaultsError([f"{place}: {error}"]) from None


def _in_words(said: str, kind: object) -> str:
    """The error of a value, without the parser's notation of places and types."""
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
    """The values that a type lists literally, at any depth."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for part in get_args(kind) for value in _allowed(part)]


def _said_of(field: msgspec.structs.FieldInfo) -> str:
    told = description(field.type)
    return f" ({told})" if told else ""


def description(kind: object) -> str:
    """The description in a setting's annotation, on one line; empty where it has none."""
    metas = [part for part in getattr(kind, "__metadata__", ()) if isinstance(part, msgspec.Meta)]
    return " ".join(meta.description for meta in metas if meta.description)


def paths_in(settings: msgspec.Struct) -> Iterator[tuple[str, Path]]:
    """The paths in settings, each with its key."""
    for each in msgspec.structs.fields(settings):
        value = getattr(settings, each.name)
        for path in value if isinstance(value, tuple | list) else (value,):
            if isinstance(path, Path):
                yield each.name, path


def check_paths(settings: msgspec.Struct, place: str) -> None:
    """Check that the paths in settings exist.

    Raises:
        FaultsError: a path does not exist, or is not a valid path.
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
    """SHA-256 of anything that consists of JSON values, settings and paths.

    A path counts by its content: a file by its bytes, a directory by the names, sizes and times of
    its files.
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
