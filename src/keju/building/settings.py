"""Files and directories that settings name: which exist, and their fingerprints."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from keju.errors import ProblemsError
from keju.files import sha256_file
from keju.texts import _


def list_paths(settings: msgspec.Struct) -> Iterator[tuple[str, Path]]:
    """List the paths in settings, each with its key."""
    for each in msgspec.structs.fields(settings):
        value = getattr(settings, each.name)
        for path in value if isinstance(value, tuple | list) else (value,):
            if isinstance(path, Path):
                yield each.name, path


def check_paths(settings: msgspec.Struct, place: str) -> None:
    """Check that the paths in settings exist.

    Raises:
        ProblemsError: a path does not exist, or is not a valid path.
    """
    faults = []
    for key, path in list_paths(settings):
        try:
            there = path.exists()
        except OSError:
            there = False
        if not there:
            faults.append(_("{}: no such file or folder", f"{place}: {key}: {str(path)[:200]}"))
    if faults:
        raise ProblemsError(faults)


def compute_fingerprint(*parts: object) -> str:
    """Compute the SHA-256 of anything that consists of JSON values, settings and paths.

    A path counts by its content: a file by its bytes, a directory by the names, sizes and times of
    its files.
    """
    return hashlib.sha256(json.dumps(parts, default=_to_json, sort_keys=True).encode()).hexdigest()


def _to_json(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if isinstance(value, Path):
        return _fingerprint_path(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"a value without a fingerprint: {type(value).__name__}")


def _fingerprint_path(path: Path) -> list[Any]:
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
