"""The bars of the reader, on answers that no developer has read and on those that were opened.

The held-out banks are read three times in all, and each run is a row of docs/extraction.md. So
their test needs KEJU_HELD_OUT=1; without it, the logged counts are compared with the bars.
"""

import os
import re
from pathlib import Path

import pytest

from keju.files import sha256_bytes
from tests.support import readings
from tests.support.readings import BANKS, Counts, counts_by_form, lines, total, wilson
from tools import make_extraction_page

PAGE = Path(__file__).parents[2] / "docs" / "extraction.md"
SHA256 = {
    "answers_natural.jsonl": "8be6a08bbfdac5fedb285ee427df271bf14c6aa84cead81e57b967952545e8bb",
    "answers_natural_second.jsonl": (
        "8687fd3a62d6d55ad6b6f55789834971bf6ab257f68b955cd53ecca484039dad"
    ),
    "answers_frozen.jsonl": "9b1cb1915dde7020e57ddd618639a21d3c4762774e1452d309fc15b563b3ca1c",
}
BARS = {"natural": (0.99, 0.88), "hard": (0.94, 0.65)}
"""Least precision and coverage over the six forms with a value."""
OPENED = {"development": (0.99, 0.90), "stress": (0.97, 0.70)}


def _check(name: str, counts: Counts, bar: tuple[float, float]) -> None:
    for label, part, whole, least in (
        ("precision", counts.right, counts.read, bar[0]),
        ("coverage", counts.right, counts.answers, bar[1]),
    ):
        low, high = wilson(part, whole)
        print(f"{name} {label} {part}/{whole} = {part / whole:.3f} ({low:.3f}–{high:.3f})")
        assert part / whole >= least, (name, label)


@pytest.mark.parametrize("name", SHA256)
def test_a_held_out_bank_is_unchanged(name):
    assert sha256_bytes((BANKS / name).read_bytes()) == SHA256[name]


@pytest.mark.skipif(
    os.environ.get("KEJU_HELD_OUT") != "1", reason="a logged run: set KEJU_HELD_OUT=1"
)
@pytest.mark.parametrize("name", BARS)
def test_the_bars_hold_on_answers_that_no_developer_has_read(name):
    banks = readings.NATURAL if name == "natural" else readings.HARD
    _check(name, total(counts_by_form(lines(banks))), BARS[name])


@pytest.mark.parametrize("name", BARS)
def test_the_last_logged_run_reached_the_bars(name):
    row = rf"^\| [\d-]+ \| \w+ \| {name} \| (\d+/\d+) \| (\d+/\d+) \|$"
    rows = re.findall(row, PAGE.read_text("utf-8"), re.MULTILINE)
    precision, coverage = (tuple(map(int, cell.split("/"))) for cell in rows[-1])
    assert precision[0] / precision[1] >= BARS[name][0]
    assert coverage[0] / coverage[1] >= BARS[name][1]


@pytest.mark.parametrize("name", OPENED)
def test_the_opened_banks_are_read_as_well(name):
    banks = readings.DEVELOPMENT if name == "development" else readings.STRESS
    _check(name, total(counts_by_form(lines(banks))), OPENED[name])


def test_nothing_that_a_variant_must_not_say_is_read():
    rows = [row for row in lines(["variants.jsonl"]) if row["expected"] is None]
    counts = total(counts_by_form(rows), readings.FORMS)
    assert counts.invented <= 0.1 * len(rows)


def test_the_page_is_the_one_that_the_tool_makes():
    assert PAGE.read_text("utf-8") == make_extraction_page.page()
