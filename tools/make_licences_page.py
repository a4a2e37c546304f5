"""Write docs/licences.md: every package of the lock files, its version, licence and who needs it.

Run it in an environment with all of them (``make install-semantic docs``).
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
LOCKS = ("base", "official", "extras", "docs", "semantic", "torch")
READ_FROM_FILES = {
    "agent-client-protocol": "Apache-2.0",
    "axe-playwright-python": "MIT",
    "daft": "Apache-2.0",
    "docutils": "public domain AND BSD-2-Clause AND BSD-3-Clause",
    "mlcroissant": "Apache-2.0",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "tiktoken": "MIT",
}
"""Packages whose metadata names no licence; theirs is in the licence file or the repository."""
_INSPECT = "keju-inspect"
_PREFIX = "License :: OSI Approved :: "
_LONGEST = 60
_HEAD = (ROOT / "tools" / "licences_head.md").read_text("utf-8")


class Package(NamedTuple):
    """A package of a lock file, as it is installed here."""

    name: str
    version: str
    licence: str
    needed_by: tuple[str, ...]


def locked() -> dict[str, str]:
    """The version of each package that the lock files name for this Python and platform."""
    found: dict[str, str] = {}
    for lock in LOCKS:
        text = (ROOT / "requirements" / f"{lock}.lock").read_text("utf-8")
        for line in re.findall(r"^[A-Za-z0-9][^#\n\\]*", text, re.MULTILINE):
            wanted = Requirement(line.strip())
            if wanted.marker is None or wanted.marker.evaluate():
                found[canonicalize_name(wanted.name)] = str(wanted.specifier).removeprefix("==")
    return found


def packages() -> list[Package]:
    """All packages of the lock files, by name.

    Raises:
        PackageNotFoundError: one is not installed.
    """
    by_extra = needs()
    return [
        Package(
            name, version, licence_of(distribution(name)),
            tuple(extra for extra, names in by_extra.items() if name in names) or ("tests",),
        )
        for name, version in sorted(locked().items())
    ]  # fmt: skip


def licence_of(found: Distribution) -> str:
    """What a package's metadata names: an SPDX expression, a short text, or its classifiers."""
    told = found.metadata
    if known := READ_FROM_FILES.get(canonicalize_name(told["Name"])):
        return known
    if expression := told.get("License-Expression"):
        return str(expression)
    text = str(told.get("License") or "").strip()
    classes = [
        each.removeprefix(_PREFIX)
        for each in told.get_all("Classifier") or []
        if each.startswith(_PREFIX)
    ]
    short = 0 < len(text) <= _LONGEST and "\n" not in text and text != "UNKNOWN"
    return text if short else " AND ".join(classes) or "not named"


def needs() -> dict[str, set[str]]:
    """The names that keju, each of its extras and keju-inspect need, with what those need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    base = _closure(project["dependencies"])
    extras = project["optional-dependencies"].items()
    inspect = tomllib.loads((ROOT / "packages" / _INSPECT / "pyproject.toml").read_text("utf-8"))
    beside = {_INSPECT: inspect["project"]["dependencies"]}
    wanted = {**dict(extras), **beside}
    return {"keju": base} | {name: _closure(each) - base for name, each in wanted.items()}


def _closure(wanted: Iterable[str]) -> set[str]:
    found: dict[str, set[str]] = {}
    left = [Requirement(each) for each in wanted]
    while left:
        each = left.pop()
        name = canonicalize_name(each.name)
        extras = {"", *each.extras}
        if extras <= found.setdefault(name, set()):
            continue
        found[name] |= extras
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        for needed in map(Requirement, requires):
            markers = ({"extra": extra} for extra in extras)
            if needed.marker is None or any(map(needed.marker.evaluate, markers)):
                left.append(needed)
    return set(found)


def page() -> str:
    """The page as it is stored."""
    rows = [
        f"| {each.name} | {each.version} | {each.licence} | {', '.join(each.needed_by)} |"
        for each in packages()
    ]
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    sys.stdout.write(f"{PAGE}\n")
