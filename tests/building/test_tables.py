"""Tables beside a dataset: exact as parquet, harmless as CSV."""

from __future__ import annotations

import csv

import polars as pl
from msgspec import Struct

from keju.building.tables import write_table


class Row(Struct, frozen=True):
    item: str
    said: list[str] = []
    number: float = 0.0


def test_no_cell_of_the_csv_is_taken_for_a_formula_and_parquet_stays_exact(tmp_path):
    texts = ["=1+1", "+8", "-唐", "@sum", "\tx", "\rx", "唐=宋", "'quoted", ""]
    write_table(tmp_path, "t", [Row(text, ["=a"], -1.5) for text in texts])
    with (tmp_path / "t.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["item"] for row in rows[:6]] == [f"'{text}" for text in texts[:6]]
    assert [row["item"] for row in rows[6:]] == texts[6:]
    assert {(row["said"], row["number"]) for row in rows} == {('["=a"]', "-1.5")}
    assert pl.read_parquet(tmp_path / "t.parquet")["item"].to_list() == texts


def test_a_table_without_rows_or_texts_is_written(tmp_path):
    write_table(tmp_path, "none", [], Row)
    assert (tmp_path / "none.csv").read_text("utf-8-sig").strip() == "item,said,number"
