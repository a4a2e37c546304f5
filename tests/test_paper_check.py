"""docs/paper-check.md names files and commands that exist, and counts its own rows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from typer import Context
from typer.main import get_command

from keju.cli import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper-check.md").read_text("utf-8")
RESULTS = ("same", "our reading", "differs", "not in the text", "not supported", "finding")
PAPERS = ("MCS-Bench", "AncientDoc", "OBI-Bench")


def rows_of(paper: str) -> list[list[str]]:
    """The rows of a paper's table, cell by cell."""
    part = PAGE.split(f"\n## {paper}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


ROWS = [(paper, row) for paper in PAPERS for row in rows_of(paper)]


def test_the_counts_are_those_of_the_rows():
    for paper in PAPERS:
        found = Counter(row[3] for each, row in ROWS if each == paper)
        assert set(found) <= set(RESULTS)
        counts = [*(found[result] for result in RESULTS), sum(found.values())]
        assert f"| {paper} | {' | '.join(map(str, counts))} |" in PAGE


def test_every_row_is_complete_and_a_difference_has_its_reason():
    for paper, row in ROWS:
        assert len(row) == 5, (paper, row)
        assert all(row[:4]), (paper, row)
        if row[3] in {"our reading", "differs", "not supported"}:
            assert row[4], (paper, row)


def test_every_paragraph_is_listed_once():
    names = [(paper, row[0]) for paper, row in ROWS]
    assert len(set(names)) == len(names)


FILES = re.findall(r"`((?:src|tests|docs|packages)/[^`]*)`", PAGE)


@pytest.mark.parametrize("name", sorted(set(FILES)))
def test_every_file_that_is_named_exists(name):
    assert (ROOT / name).exists()


def test_every_command_that_is_named_exists():
    for line in sorted(set(re.findall(r"`keju ([^`]+)`", PAGE))):
        command, words = get_command(app), line.split()
        while hasattr(command, "commands") and words:
            found = command.get_command(Context(command), words[0])
            assert found, line
            command, words = found, words[1:]
            if words and words[0] in {"DATASET", "RUN"}:
                words = words[1:]
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
        if not hasattr(command, "commands"):
            assert {word for word in words if word.startswith("--")} <= known, line
