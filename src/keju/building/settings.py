"""What a recipe's table or a command's options say, as settings; wrong ones in one line."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from keju.errors import UsageError
from keju.files import sha256_file

S = TypeVar("S", bound=msgspec.Struct)

_AT = re.compile(r" - at `\$\.?(?P<key>[^`]*)`$")


def settings_from(
    table: Mapping[str, object], shape: type[S], *, place: str, base: Path | None = None
) -> S:
    """A table of names and values as settings.

    Text stands for numbers too, as options of a command give it. Keys may be spelled with hyphens.
    Paths are taken from `base` where they are not absolute.

    Args:
        table: what is given.
        shape: what it must be.
        place: what errors begin with, e.g. ``recipe.toml: step 2 (dedup-images)``.
        base: the folder that paths are meant from.

    Raises:
        UsageError: an unknown key, a value of the wrong type, a key that is missing.
    """
    known = {each.name for each in msgspec.structs.fields(shape)}
    given = {key.replace("-", "_"): value for key, value in table.items()}
    for key in given:
        if key not in known:
            raise UsageError(f"{place}: {unlike(key, known, 'key')}")

    def whole(kind: type, value: object) -> object:
        if kind is Path and isinstance(value, str):
            return Path(value) if base is None else base / value
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")

    try:
        return msgspec.convert(given, shape, strict=False, dec_hook=whole)
    except msgspec.ValidationError as error:
        said = str(error).replace("Object missing required field", "It needs")
        key = found["key"] if (found := _AT.search(said)) else ""
        what = _AT.sub("", said)
        raise UsageError(
            f"{place}: {f'{key}: ' if key else ''}{what[0].lower()}{what[1:]}"
        ) from None


def unlike(name: str, known: Iterable[str], what: str) -> str:
    """That there is no such name, which one may be meant, and which there are."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"no {what} {name!r}.{hint} There are: {', '.join(names) or 'none'}"


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
        UsageError: a path leads to nothing, or is none that a disk could have.
    """
    for key, path in paths_in(settings):
        try:
            there = path.exists()
        except OSError:
            there = False
        if not there:
            raise UsageError(f"{place}: {key}: {str(path)[:200]}: no such file or folder")


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
