"""Runs and altered bundles for the tests."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

Change = Callable[[bytes], bytes]


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(path: Path, members: Iterable[tuple[zipfile.ZipInfo | str, bytes]]) -> Path:
    """Write a zip file of any members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


def altered(source: Path, target: Path, member: str, change: Change, *, rehash: bool) -> Path:
    """A copy with one member changed; with `rehash` bundle.json has its new hash and size."""
    members = members_of(source)
    members[member] = change(members[member])
    if rehash and member != "bundle.json":
        about = json.loads(members["bundle.json"])
        data = members[member]
        about["members"][member] = {
            "size": len(data), "sha256": hashlib.sha256(data).hexdigest(),
        }  # fmt: skip
        members["bundle.json"] = json.dumps(about).encode()
    return pack(target, members.items())
