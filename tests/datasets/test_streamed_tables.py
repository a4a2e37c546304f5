"""`rows` reads tables of any size piece by piece: what pieces must not change, and the limits."""

from __future__ import annotations

import io
import json
from datetime import date
from decimal import Decimal
from itertools import islice
from pathlib import Path

import polars as pl
import pytest

from keju.datasets.import_log import logging_import
from keju.datasets.readers import tables, workbooks
from keju.datasets.readers.tables import rows
from keju.errors import DataError
from tests.support.released import put
from tests.support.workbooks import sheet_of, write_parts, write_workbook

RECORDS = [{"id": f"i{n}", "q": f"何謂「{n}」\n?", "a": "甲,乙", "more": str(n)} for n in range(9)]
CELLS = "id,q,a,more\n" + "".join(
    f'{record["id"]},"{record["q"]}","{record["a"]}",{record["more"]}\n' for record in RECORDS
)
LIST = json.dumps(RECORDS, ensure_ascii=False)
INDENTED = json.dumps(RECORDS, ensure_ascii=False, indent=1)
LINES = "\n\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS)
TEXTS = {
    "t.csv": CELLS,
    "t.jsonl": LINES,
    "lines.json": LINES,
    "list.jsonl": LIST,
    "t.json": LIST,
    "indented.json": INDENTED,
    "spaces.json": f" {LIST} \n\n ",
    "object.json": f'{{"data": {LIST}}}',
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Pieces that end within a cell or a record."""
    monkeypatch.setattr(tables, "_BATCH", 2)
    monkeypatch.setattr(workbooks, "_ROWS", 2)


def cells_in(file: Path) -> list[dict[str, object]]:
    return [row.cells for row in rows(file)]


def refusal(file: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        list(rows(file))
    assert caught.value.file == str(file)
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", TEXTS)
def test_records_are_the_same_with_any_line_end_and_a_byte_order_mark(tmp_path, name, end, mark):
    file = put(tmp_path / name, mark + TEXTS[name].replace("\n", end).encode())
    assert cells_in(file) == RECORDS


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["gb18030", "utf-16"])
def test_a_text_in_another_encoding_has_the_same_records_and_a_note(tmp_path, name, encoding):
    file = put(tmp_path / name, TEXTS[name].encode(encoding))
    with logging_import(encoding) as log:
        assert cells_in(file) == RECORDS
    assert [name in note for note in log.notes()] == [True]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_the_first_records_are_read_without_the_rest(tmp_path, name):
    # The rest is damaged, and begins beyond what is decoded at once.
    text = {"t.csv": CELLS, "t.jsonl": LINES}[name]
    file = put(tmp_path / name, text.encode() + b" " * (1 << 18) + b"\n\xff\xff")
    assert [row.cells for row in islice(rows(file), 5)] == RECORDS[:5]


def test_places_count_the_lines_of_the_file(tmp_path):
    found = [row.place.item for row in rows(put(tmp_path / "t.csv", CELLS))]
    assert found == [f"line {number}" for number in range(3, 21, 2)]
    assert [row.place.item for row in islice(rows(put(tmp_path / "t.json", LIST)), 2)] == [
        "object 1", "object 2",
    ]  # fmt: skip
    assert [row.place.item for row in islice(rows(put(tmp_path / "t.jsonl", LINES)), 2)] == [
        "record 1", "record 2",
    ]  # fmt: skip


DAMAGED = {
    "cut off at the end": ("t.json", LIST[:-1].encode(), "not readable as JSON"),
    "cut off in a record": ("t.json", LIST[:-9].encode(), "not readable as JSON"),
    "text behind the list": ("t.json", LIST.encode() + b"x", "not readable as JSON"),
    "a number in the list": ("t.json", LIST.replace("}]", "}, 1]").encode(), "object 10"),
    "a comma too many": ("t.json", LIST.replace("}]", "},]").encode(), "not readable as JSON"),
    "half a character": ("t.json", LIST.replace("i7", "\\ud800").encode(), "not readable as JSON"),
    "deep lists": (
        "t.json", LIST.replace('"7"', "[" * 5000 + "]" * 5000).encode(), "not readable as JSON",
    ),
    "not UTF-8": ("t.json", LIST.encode().replace(b"i7", b"\xff"), "is not UTF-8"),
    "a list cut off, called lines": ("t.jsonl", LIST[:-1].encode(), "not readable as JSON"),
    "a line cut off": ("t.jsonl", LINES.encode() + b'\n{"id": 1', "line 18"),
    "a line with a list": ("t.jsonl", LINES.encode() + b"\n[]", "line 18"),
    "a line not UTF-8": ("t.jsonl", LINES.encode() + b'\n{"id": "\xff"}', "is not UTF-8"),
    "no lines": ("t.jsonl", b"\n\n", "no lines"),
    "a cell too few": ("t.csv", CELLS.encode() + b"i9,q\n", "line 20"),
    "an open quote": ("t.csv", CELLS.encode() + b'i9,"q', "line 20"),
    "a column twice": ("t.csv", CELLS.replace("more", "a", 1).encode(), "two columns"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGED)
def test_damage_behind_sound_records_is_named_with_its_place(tmp_path, kind):
    name, data, words = DAMAGED[kind]
    assert words in str(refusal(put(tmp_path / name, data)))


@pytest.mark.parametrize(("name", "text"), [("t.csv", f"id\n{'x' * 99}\n"), ("t.jsonl", "x" * 99)])
def test_a_line_above_the_limit_is_refused(tmp_path, monkeypatch, name, text):
    monkeypatch.setattr(tables, "MOST_TEXT", 90)
    assert "line has more than" in str(refusal(put(tmp_path / name, text)))


def test_a_parquet_file_in_batches_keeps_the_types_of_its_cells(tmp_path):
    columns = {
        "number": [1, None, 3], "share": [0.5, 1e300, None], "seen": [True, False, None],
        "day": [date(2024, 1, day) for day in (1, 2, 3)], "price": [Decimal("1.50")] * 3,
        "tags": [["a", "b"], [], None], "inner": [{"x": 1, "y": "天"}] * 3,
    }  # fmt: skip
    frame = pl.DataFrame({**pl.DataFrame(RECORDS[:3]).to_dict(as_series=False), **columns})
    frame = frame.with_columns(pl.col("more").cast(pl.Categorical))
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=2)
    assert cells_in(tmp_path / "t.parquet") == frame.to_dicts()


def test_a_damaged_or_empty_parquet_file_is_refused(tmp_path):
    data = io.BytesIO()
    pl.DataFrame(RECORDS).write_parquet(data)
    broken = bytearray(data.getvalue())
    broken[4:80] = bytes(76)
    assert "parquet" in str(refusal(put(tmp_path / "t.parquet", bytes(broken))).problem)
    pl.DataFrame(RECORDS).clear().write_parquet(tmp_path / "empty.parquet")
    assert "no lines" in str(refusal(tmp_path / "empty.parquet").problem)


def test_a_workbook_is_read_a_few_rows_at_a_time(tmp_path):
    lines = [list(RECORDS[0]), *(list(record.values()) for record in RECORDS)]
    assert cells_in(write_workbook(tmp_path / "t.xlsx", lines)) == RECORDS


SHEETS = {
    "a row with more cells": ([["id", "q"], ["i0", "q"], ["i1", "q", "b"]], "line 3: 3 cells"),
    "a column twice": ([["id", "q", "q"], ["i0", "q", "a"]], "two columns are called 'q'"),
    "no rows": ([["id", "q", "a"]], "no lines"),
}


@pytest.mark.parametrize("kind", SHEETS)
def test_a_damaged_workbook_is_refused_with_its_place(tmp_path, kind):
    lines, words = SHEETS[kind]
    assert words in str(refusal(write_workbook(tmp_path / "t.xlsx", lines)))


def test_a_workbook_that_is_cut_off_is_refused(tmp_path):
    assert "workbook" in str(refusal(write_parts(tmp_path / "t.xlsx", [sheet_of("<row><c")])))


def test_a_negative_index_of_a_shared_text_is_refused(tmp_path):
    cell = '<row r="1"><c r="A1" t="s"><v>-1</v></c></row>'
    assert "negative shared string" in str(
        refusal(write_parts(tmp_path / "t.xlsx", [sheet_of(cell)]))
    )
