"""Large tables: read piece by piece, with the items and errors of small ones."""

from __future__ import annotations

import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from keju.datasets.readers import import_dataset
from keju.datasets.readers.streamed_tables import can_stream
from keju.errors import DataError, KejuError

MAP = """
[source]
tables = "*.*"
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
LINES = "\r\n\r\n".join(json.dumps(each, ensure_ascii=False) for each in RECORDS)


@pytest.fixture
def streamed(monkeypatch):
    def switch() -> None:
        monkeypatch.setattr("keju.datasets.readers.streamed_tables.STREAMED_BYTES", 0)

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
@pytest.mark.parametrize(("name", "text"), [("t.jsonl", LINES), ("t.csv", CELLS)])
def test_a_large_table_gives_the_same_items_and_notes(tmp_path, streamed, name, text, mark):
    data = mark + text.encode()
    whole = imported(tmp_path, name, data, "whole")
    streamed()
    assert can_stream([tmp_path / "source" / name])
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
    monkeypatch.setattr("keju.datasets.readers.streamed_tables._ROWS", 2)
    whole = imported(tmp_path, "t.parquet", data.getvalue(), "whole")
    streamed()
    assert can_stream([tmp_path / "source" / "t.parquet"])
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


@pytest.mark.parametrize(
    ("name", "data"),
    [
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
        ("t.jsonl", json.dumps(RECORDS).encode()),
        ("t.jsonl", LINES.encode("gb18030")),
        ("t.csv", CELLS.encode("utf-16")),
        ("t.json", json.dumps(RECORDS).encode()),
    ],
)
def test_what_is_not_lines_in_utf_8_is_read_at_once(tmp_path, streamed, name, data):
    streamed()
    made = imported(tmp_path, name, data, "out")
    assert made.manifest.items == len(RECORDS)
    assert not can_stream([tmp_path / "source" / name])
