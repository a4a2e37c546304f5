"""Words that were replaced do not return (tests/vocabulary.toml)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TABLE = tomllib.loads((ROOT / "tests" / "vocabulary.toml").read_text("utf-8"))
PLACES = ("src", "packages", "docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
SUFFIXES = {".py", ".toml", ".md", ".j2", ".js"}


def _files() -> list[Path]:
    """The checked files; tables of Chinese texts repeat English that is checked elsewhere."""
    found: list[Path] = []
    for name in PLACES:
        place = ROOT / name
        found += [place] if place.is_file() else sorted(place.rglob("*"))
    return [
        path
        for path in found
        if path.suffix in SUFFIXES and path.is_file() and not path.stem.startswith("zh")
    ]


TEXTS = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in _files()}


def _matches(row: dict[str, Any]) -> list[str]:
    regex, where = re.compile(row["regex"]), tuple(row.get("where", [""]))
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in TEXTS.items()
        if name.startswith(where)
        for number, line in enumerate(text.splitlines(), start=1)
        if regex.search(line)
        if not any(name == file and part in line for file, part in row.get("except", []))
    ]


@pytest.mark.parametrize("row", TABLE["pattern"], ids=lambda row: row["regex"])
def test_a_replaced_word_does_not_return(row: dict[str, Any]) -> None:
    found = _matches(row)
    assert not found, f"write: {row['instead']}. " + "\n".join(found)


def test_the_checked_files_are_found() -> None:
    assert len(TEXTS) > 500
    assert _matches({"regex": "^# keju$"}) or _matches({"regex": "^# keju"})


@pytest.mark.parametrize("row", TABLE["pattern"], ids=lambda row: row["regex"])
def test_every_exception_is_still_needed(row: dict[str, Any]) -> None:
    regex = re.compile(row["regex"])
    for file, part in row.get("except", []):
        lines = TEXTS[file].splitlines()
        assert any(part in line and regex.search(line) for line in lines), (file, part)
