"""The table of what a source or a step dropped."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl

from keju.building.dropped import Dropped, write_dropped

COLUMNS = ["subject", "reason", "task", "details"]


def test_every_dropped_thing_is_a_row_of_one_table(tmp_path: Path) -> None:
    rows = [Dropped("i1", "no answer", "T1"), Dropped("2 葉2", "HTTP 403", details="b1.json")]
    write_dropped(tmp_path, rows)
    found = pl.read_parquet(tmp_path / "tables/dropped.parquet")
    assert found.columns == COLUMNS
    assert found.rows() == [("i1", "no answer", "T1", ""), ("2 葉2", "HTTP 403", "", "b1.json")]


def test_without_rows_the_table_has_its_columns(tmp_path: Path) -> None:
    write_dropped(tmp_path, [])
    text = (tmp_path / "tables/dropped.csv").read_text("utf-8-sig")
    assert list(csv.reader(text.splitlines())) == [COLUMNS]
