"""The reasons why requests were not sent are in the Chinese table, whoever declines."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import keju
from keju.translations import Words

ZH = Words("zh")
ENGLISH = re.compile(r"(?<![-:+])[a-z]{2,} [a-z]{2,}")
ROOT = Path(keju.__file__).parent
FUNCTIONS = {
    "unsupported_reason",
    "no_page",
    "refuses",
    "skip_reason",
    "not_worded",
    "_in_setting",
    "_with_text",
}
FILES = [*(ROOT / "models").rglob("*.py"), ROOT / "running/selecting.py",
         ROOT / "definitions/wordings.py"]  # fmt: skip


def reasons() -> list[str]:
    """Every sentence that such a function returns, with a name in each blank."""
    found = []
    for file in FILES:
        tree = ast.parse(file.read_text("utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and function.name in FUNCTIONS:
                returned = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
                found += [text for value in returned if value for text in sentences(value)]
        found += [
            str(node.value.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for name in node.targets
            if isinstance(name, ast.Name) and name.id in ("NO_TEXT", "NO_TRANSCRIPTION")
        ]
    return sorted(set(found))


def sentences(value: ast.expr) -> list[str]:
    if isinstance(value, ast.IfExp):
        return [*sentences(value.body), *sentences(value.orelse)]
    if isinstance(value, ast.Constant) and value.value and isinstance(value.value, str):
        return [value.value]
    if isinstance(value, ast.JoinedStr):
        parts = (str(p.value) if isinstance(p, ast.Constant) else "NAME" for p in value.values)
        return ["".join(parts)]
    return []


def test_the_reasons_are_found():
    assert len(reasons()) > 20
    assert "there is no image to transcribe" in reasons()


@pytest.mark.parametrize("reason", reasons())
def test_a_reason_is_in_the_table(reason):
    assert ZH(reason) != reason
    assert not ENGLISH.search(re.sub(r"--\S+ \S+", "", ZH(reason)))
