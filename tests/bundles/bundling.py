"""Runs and altered bundles for the tests."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from keju.bundles import BundleManifest, Verification
from keju.bundles.crate import make_crate
from keju.bundles.manifest import CRATE

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
    """A copy with one member changed; with `rehash` everything that repeats its hash agrees."""
    members = members_of(source)
    members[member] = change(members[member])
    return pack(target, (agreeing(members, member) if rehash else members).items())


def agreeing(members: dict[str, bytes], *changed: str) -> dict[str, bytes]:
    """The members with the hashes and sizes of changed ones, and metadata that agree with them."""
    about = json.loads(members["bundle.json"])
    for name in {*changed} - {"bundle.json"}:
        about["members"][name] = describe(members[name])
    made = dict(members)
    if CRATE not in changed:
        others = {name: each for name, each in about["members"].items() if name != CRATE}
        known = msgspec.convert({**about, "members": others}, BundleManifest)
        made[CRATE] = msgspec.json.encode(make_crate(known, known.members))
        about["members"][CRATE] = describe(made[CRATE])
    return made | {"bundle.json": json.dumps(about).encode()}


def describe(data: bytes) -> dict[str, object]:
    """Size and SHA-256 as bundle.json lists them."""
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def places(found: Verification) -> set[tuple[str, str]]:
    """Member and item of every difference."""
    return {(each.member, each.item) for each in found.differences}
