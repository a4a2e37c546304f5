"""Tables beside a dataset: exact as parquet, harmless as CSV."""

from __future__ import annotations

import csv

import polars as pl
import pytest
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


def test_a_table_of_many_rows_from_a_generator_is_the_same_as_a_small_one(tmp_path, monkeypatch):
    made = [Row(f"={n}" if n % 3 else f"唐,{n}", ["a"] * (n % 3), n / 7) for n in range(25)]
    write_table(tmp_path, "whole", made)
    monkeypatch.setattr("keju.building.tables._BATCH", 4)
    write_table(tmp_path, "many", (row for row in made))
    for suffix in ("csv", "parquet"):
        assert sorted(path.name for path in tmp_path.glob(f"*.{suffix}")) == [
            f"many.{suffix}", f"whole.{suffix}"]  # fmt: skip
    assert (tmp_path / "many.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    many, whole = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("many", "whole"))
    assert many.equals(whole)
    assert many.schema == whole.schema


def test_a_failing_generator_leaves_no_part_of_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr("keju.building.tables._BATCH", 2)

    def rows():
        yield from (Row("a"), Row("b"), Row("c"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_table(tmp_path, "t", rows())
    assert not list(tmp_path.iterdir())
