"""The experiment of docs/deduplication.md in small: every kind of copy, through both steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.planting import Planted, kinds, outcome

PAGE = Path(__file__).parents[3] / "docs/deduplication.md"


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind.name)
def test_copies_are_dropped_and_nothing_else(kind: Planted, tmp_path):
    found = outcome(kind, 2, tmp_path)
    assert found.lost == 0
    assert found.single == (2 if kind.drop else 0)


def test_the_page_has_a_row_for_each_kind():
    text = PAGE.read_text("utf-8")
    for kind in kinds():
        row = next(line for line in text.splitlines() if line.startswith(f"| {kind.name} |"))
        planted, found, missed, falsely = (cell.strip() for cell in row.split("|")[3:7])
        assert int(planted) > 0
        assert (found, missed) == ((planted, "0") if kind.drop else ("", ""))
        assert falsely == ("" if kind.drop else "0")
