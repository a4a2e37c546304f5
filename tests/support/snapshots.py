"""Values that must not move: tables of hashes in ``tests/golden/NAME.json``.

A snapshot has parts (a layout, a figure, a protocol); a part is a list of JSON values. The file has
the number of values of each part and a hash of them, so a difference names the part that moved.
Three commands:

    pytest tests/golden/test_NAME.py                                compare
    KEJU_WRITE_SNAPSHOTS=1 pytest tests/golden/test_NAME.py         record
    KEJU_SNAPSHOT_TEXTS=FOLDER pytest tests/golden/test_NAME.py     also write each value as a line
                                                                    of a text, to diff two states

Only a commit that says which values move and why replaces a recorded snapshot.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
DIGITS = 10
"""Significant digits of a number: the last ones differ between processors."""


def compare_snapshot(name: str, parts: Mapping[str, Iterable[Any]]) -> None:
    """Fail if a part differs from the recorded one, is new, or is gone."""
    lines = {part: [_line(value) for value in values] for part, values in parts.items()}
    current = {part: [len(texts), _digest(texts)] for part, texts in sorted(lines.items())}
    path = GOLDEN / f"{name}.json"
    if folder := os.environ.get("KEJU_SNAPSHOT_TEXTS"):
        _write_texts(Path(folder) / name, lines)
    if os.environ.get("KEJU_WRITE_SNAPSHOTS") and os.environ.get("CI") != "true":
        rows = [f"{json.dumps(part, ensure_ascii=False)}: {json.dumps(value)}"
                for part, value in current.items()]  # fmt: skip
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
        return
    recorded = json.loads(path.read_text("utf-8"))
    moved = {
        part: {"recorded": recorded.get(part), "now": current.get(part)}
        for part in sorted(recorded.keys() | current.keys())
        if recorded.get(part) != current.get(part)
    }
    if moved:
        pytest.fail(
            f"{len(moved)} of {len(recorded)} parts of {path.name} moved (values, hash): "
            + json.dumps(moved, ensure_ascii=False, indent=1)
        )


def digest_of_file(path: Path) -> str:
    """A short hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _line(value: Any) -> str:
    return json.dumps(_rounded(value), ensure_ascii=False, sort_keys=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {str(key): _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _write_texts(folder: Path, lines: Mapping[str, Iterable[str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, texts in lines.items():
        file = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in part)
        (folder / f"{file}.jsonl").write_text("\n".join(texts) + "\n", "utf-8")
