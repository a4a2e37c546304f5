"""docs/attacks.md names tests that exist, and has a row for each finding."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "attacks.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`((?:packages/[\w-]+/)?tests/[\w/.]+\.py)::(\w+)`", PAGE)))
ROWS = dict(re.findall(r"^\| ([HML]\d+[a-f]?) \|(.*)\|$", PAGE, re.MULTILINE))

FINDINGS = (
    "H1 H2 H3 H4 H4b M1 M1b M2 M3 M4 M5 M6a M6b M6c M6d M6e M6f M7 M8 M9 "
    "L1 L2 L3 L4 L5 L6 L7 L8 L9 L10a L10b L11"
)


@pytest.mark.parametrize(("file", "name"), NAMED, ids=str)
def test_a_named_test_exists(file: str, name: str):
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    assert name in {each.name for each in ast.walk(tree) if isinstance(each, functions)}


def test_every_finding_has_a_row_with_its_effects_and_a_test():
    assert set(FINDINGS.split()) <= ROWS.keys()
    for finding, row in ROWS.items():
        tried, before, now, tests = (cell.strip() for cell in row.split(" | "))
        assert tried, finding
        assert before, finding
        assert now, finding
        assert re.fullmatch(r"(?:`(?:packages/[\w-]+/)?tests/[\w/.]+::\w+`\s?)+", tests), finding


def test_no_test_is_named_in_a_form_that_is_not_checked():
    checked = re.findall(r"`(?:packages/[\w-]+/)?tests/[\w/.]+::\w+`", PAGE)
    assert len(re.findall(r"::test_\w+", PAGE)) == len(checked)
