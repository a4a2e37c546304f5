"""Groups of rows are the papers', and the order of rows is."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest

from keju.published import group_of, published_tables

GROUPED = (3, 4, *range(15, 21), *range(25, 29))


def runs_of(benchmark: str, name: str) -> list[tuple[str, int]]:
    """The groups of a table's rows from the top to the bottom, with how many rows each has."""
    titles = (group_of(benchmark, name, row) for row in published_tables(benchmark)[name].rows)
    return [(title, len(list(rows))) for title, rows in groupby(titles)]


@pytest.mark.parametrize("number", GROUPED)
def test_mcs_bench_has_4_closed_and_33_open_models_and_an_average(number):
    engines = [("OCR Models", 3)] if number == 4 else []
    expected = [("Closed-source Models", 4), ("Open-source Models", 33), *engines, ("", 1)]
    assert runs_of("MCS-Bench", f"Table {number}") == expected


def test_table_12_is_of_multilingual_and_english_centric_models():
    expected = [("Multilingual Models", 2), ("English-Centric Models", 5)]
    assert runs_of("MCS-Bench", "Table 12") == expected
    assert Counter(title for title, _ in runs_of("MCS-Bench", "Table 7")) == {"": 1}


@pytest.mark.parametrize("number", range(2, 7))
def test_ancientdocs_newer_models_are_by_size_the_smaller_first(number):
    expected = [("2B-4B MLLMs", 6), ("7B-8B MLLMs", 6)]
    assert runs_of("AncientDoc", f"Table {number}") == expected


def test_groups_of_the_text_itself(shared):
    text = (shared / "papers" / "mcs-bench.txt").read_text("utf-8").splitlines()
    titles = Counter(line.strip() for line in text)
    assert titles["Closed-source Models"] == titles["Open-source Models"] == len(GROUPED)
    assert titles["OCR Models"] == 1
    assert sum(line.startswith("Average\t") for line in text) == len(GROUPED)
