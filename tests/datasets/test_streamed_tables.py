"""Large tables: read piece by piece, with the items and errors of small ones."""

from __future__ import annotations

import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.datasets.readers import import_dataset
from keju.datasets.readers.tables import iter_list
from keju.errors import DataError, KejuError
from tests.support.released import table
from tests.support.workbooks import sheet_of, write_parts, write_workbook

MAP = """
rest = "metadata"
[[tables]]
path = "*.*"
[fields]
id = "id"
question = "q"
answer = "a"
[constants]
task = "T2"
"""
RECORDS = [{"id": f"i{n}", "q": f"何謂「{n}」\n?", "a": "甲,乙", "more": str(n)} for n in range(9)]
CELLS = "id,q,a,more\r\n" + "".join(
    f'{each["id"]},"{each["q"]}","{each["a"]}",{each["more"]}\r\n' for each in RECORDS
)
LIST = json.dumps(RECORDS, ensure_ascii=False)
LINES = "\r\n\r\n".join(json.dumps(each, ensure_ascii=False) for each in RECORDS)


@pytest.fixture
def streamed(monkeypatch):
    def switch() -> None:
        monkeypatch.setattr("keju.datasets.readers.mapped.records.STREAMED_BYTES", 0)

    return switch


def imported(folder: Path, name: str, data: bytes, out: str):
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / name).write_bytes(data)
    (folder / "map.toml").write_text(MAP, "utf-8")
    options = {"map": str(folder / "map.toml")}
    return import_dataset("mapped", source, folder / out, name="n", version="1", options=options)


def refused(folder: Path, name: str, data: bytes, out: str) -> tuple[str, str, str]:
    with pytest.raises(KejuError) as caught:
        imported(folder, name, data, out)
    error = caught.value
    assert isinstance(error, DataError)
    return str(error.problem), str(error.file), str(error.item)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.jsonl", LINES),
        ("t.csv", CELLS),
        ("t.json", LIST),
        ("t.jsonl", LIST),
        ("t.json", json.dumps(RECORDS, indent=1).replace("\n", "\r\n")),
        ("t.json", f" {LIST} \n\n "),
    ],
)
def test_a_large_table_gives_the_same_items_and_notes(tmp_path, streamed, name, text, mark):
    data = mark + text.encode()
    whole = imported(tmp_path, name, data, "whole")
    streamed()
    lines = imported(tmp_path, name, data, "lines")
    assert lines.manifest.hash == whole.manifest.hash
    assert lines.notes == whole.notes


def test_a_large_parquet_file_gives_the_same_items(tmp_path, streamed, monkeypatch):
    more = {
        "number": [1, None, 3], "share": [0.5, 1e300, None], "seen": [True, False, None],
        "day": [date(2024, 1, n) for n in (1, 2, 3)], "price": [Decimal("1.50")] * 3,
        "tags": [["a", "b"], [], None], "inner": [{"x": 1, "y": "天"}] * 3,
    }  # fmt: skip
    frame = pl.DataFrame(
        {**{key: [each[key] for each in RECORDS[:3]] for key in RECORDS[0]}, **more}
    )
    frame = frame.with_columns(pl.col("more").cast(pl.Categorical))
    data = io.BytesIO()
    frame.write_parquet(data, row_group_size=2)
    monkeypatch.setattr("keju.datasets.readers.tables._BATCH", 2)
    whole = imported(tmp_path, "t.parquet", data.getvalue(), "whole")
    streamed()
    pieces = imported(tmp_path, "t.parquet", data.getvalue(), "pieces")
    assert pieces.manifest.hash == whole.manifest.hash
    assert pieces.notes == whole.notes


def test_a_large_damaged_parquet_file_is_an_error(tmp_path, streamed):
    data = io.BytesIO()
    pl.DataFrame(RECORDS).write_parquet(data)
    streamed()
    broken = bytearray(data.getvalue())
    broken[4:80] = bytes(76)
    problem, file, _ = refused(tmp_path, "t.parquet", bytes(broken), "out")
    assert "parquet" in problem
    assert file.endswith("t.parquet")
    empty = io.BytesIO()
    pl.DataFrame(RECORDS).clear().write_parquet(empty)
    assert "no" in refused(tmp_path, "t.parquet", empty.getvalue(), "out")[0]


def test_a_large_workbook_gives_the_same_items_and_notes(tmp_path, streamed, monkeypatch):
    monkeypatch.setattr("keju.datasets.readers.workbooks._ROWS", 2)
    rows = [list(RECORDS[0]), *(list(each.values()) for each in RECORDS)]
    data = write_workbook(tmp_path / "t.xlsx", rows).read_bytes()
    whole = imported(tmp_path, "t.xlsx", data, "whole")
    streamed()
    by_row = imported(tmp_path, "t.xlsx", data, "rows")
    assert by_row.manifest.hash == whole.manifest.hash
    assert by_row.notes == whole.notes


@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
def test_several_tables_with_headers_give_the_same_items_and_notes(tmp_path, streamed, suffix):
    source = tmp_path / "source"
    source.mkdir()
    for part in (RECORDS[:4], RECORDS[4:-1]):
        rows = [[*part[0]], *([*each.values()] for each in part)]
        write = write_workbook if suffix == "xlsx" else table
        write(source / f"{part[0]['id']}.{suffix}", *([rows] if suffix == "xlsx" else rows))
    data = CELLS.splitlines()[0] + "\r\n" + "i9,q,a,b\r\n"
    whole = imported(tmp_path, "z.csv", data.encode(), "whole")
    streamed()
    pieces = imported(tmp_path, "z.csv", data.encode(), "pieces")
    assert pieces.manifest.items == len(RECORDS)
    assert pieces.manifest.hash == whole.manifest.hash
    assert pieces.notes == whole.notes


SHEETS = {
    "a row with more cells": [["id", "q", "a"], ["i0", "q", "a"], ["i1", "q", "a", "b"]],
    "an id twice": [["id", "q", "a"], ["i0", "q", "a"], ["i0", "q", "a"]],
    "a column twice": [["id", "q", "q"], ["i0", "q", "a"]],
    "no rows": [["id", "q", "a"]],
    "a column of the mapping that is missing": [["id", "q"], ["i0", "q"]],
}


@pytest.mark.parametrize("kind", [*SHEETS, "cut off", "not a workbook"])
def test_a_damaged_large_workbook_gives_the_same_error(tmp_path, streamed, kind):
    data = b"PK nothing"
    if kind == "cut off":
        data = write_parts(tmp_path / "t.xlsx", [sheet_of("<row><c")]).read_bytes()
    elif kind in SHEETS:
        data = write_workbook(tmp_path / "t.xlsx", SHEETS[kind]).read_bytes()
    whole = refused(tmp_path, "t.xlsx", data, "whole")
    streamed()
    assert refused(tmp_path, "t.xlsx", data, "rows") == whole


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text() | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(), JSON, max_size=3), min_size=1, max_size=5),
    st.sampled_from([None, 0, 1]),
    st.booleans(),
    st.integers(1, 40),
)
def test_a_list_in_pieces_of_any_size_has_the_same_objects(records, indent, escaped, size):
    text = json.dumps(records, indent=indent, ensure_ascii=escaped)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert list(iter_list(pieces)) == msgspec.json.decode(text)
    for wrong in (text[:-1], f"{text},", f"{text}{text}", text.replace("{", "{,", 1)):
        with pytest.raises(ValueError):  # noqa: PT011 - its words are not used
            list(iter_list([wrong]))


def test_a_long_object_is_read_in_linear_time_and_bounded(monkeypatch):
    text = json.dumps([{"image": "x" * 1_000_000}, {"image": ""}])
    pieces = [text[start : start + 100] for start in range(0, len(text), 100)]
    assert [len(str(each["image"])) for each in iter_list(pieces)] == [1_000_000, 0]
    monkeypatch.setattr("keju.datasets.readers.tables.MOST_TEXT", 400_000)
    taken = iter(pieces)
    with pytest.raises(ValueError):  # noqa: PT011 - its words are not used
        list(iter_list(taken))
    assert len(list(taken)) > 1_000


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_damage_in_a_list_that_is_too_large_to_read_again_names_the_record_before(
    tmp_path, streamed, monkeypatch, name
):
    streamed()
    monkeypatch.setattr("keju.datasets.readers.tables.MOST_TEXT", 0)
    problem, file, item = refused(tmp_path, name, LIST.encode()[:-9], "out")
    assert problem.startswith("not readable as JSON")
    assert file.endswith(name)
    assert item == "after record 8"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.json", LIST.encode()[:-1]),
        ("t.json", LIST.encode()[:-9]),
        ("t.json", LIST.encode() + b"x"),
        ("t.json", LIST.replace("}]", "}, 1]").encode()),
        ("t.json", LIST.replace("}]", "},]").encode()),
        ("t.json", LIST.replace("i7", "\\ud800").encode()),
        ("t.json", LIST.replace('"7"', "Infinity").encode()),
        ("t.json", LIST.replace('"7"', "[" * 5000 + "]" * 5000).encode()),
        ("t.json", LIST.encode().replace(b"i7", b"\xff")),
        ("t.json", LIST.replace("i7", "i3").encode()),
        ("t.jsonl", LIST.encode()[:-1]),
        ("t.jsonl", LINES.encode() + b'\n{"id": 1'),
        ("t.jsonl", LINES.encode() + b"\n[]"),
        ("t.jsonl", LINES.encode() + b'\n{"id": "\xff"}'),
        ("t.jsonl", f"{LINES}\n{json.dumps(RECORDS[3])}".encode()),
        ("t.jsonl", b"\n\n"),
        ("t.csv", CELLS.encode() + b"i9,q\n"),
        ("t.csv", CELLS.encode() + b'i9,"q'),
        ("t.csv", CELLS.encode() + b"i3,q,a,m\n"),
        ("t.csv", CELLS.replace("more", "a", 1).encode()),
    ],
)
def test_a_damaged_large_table_gives_the_same_error(tmp_path, streamed, name, data):
    whole = refused(tmp_path, name, data, "whole")
    streamed()
    assert refused(tmp_path, name, data, "lines") == whole


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.jsonl", LINES.encode("gb18030")),
        ("t.csv", CELLS.encode("utf-16")),
        ("t.json", LIST.encode("gb18030")),
        ("t.json", json.dumps({"data": RECORDS}).encode()),
    ],
)
def test_what_is_not_lines_or_a_list_in_utf_8_is_read_at_once(tmp_path, streamed, name, data):
    streamed()
    made = imported(tmp_path, name, data, "out")
    assert made.manifest.items == len(RECORDS)
