"""Items go to parquet and come back the same."""

from __future__ import annotations

import io
from pathlib import Path
from typing import get_args

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keju.datasets.table import (
    arrow_schema,
    as_stored,
    copy_items,
    read_items,
    write_items,
)
from keju.errors import DataError
from keju.items import Box, ImageRef, Item, Line, LineKind

text = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["", "𠀀𪚥㐀", "天\n地\r\n\n", "\x00", "\u2028\ufeff", "é e\u0301", "󠄀葛󠄀"]),
)
coordinate = st.floats(allow_nan=False, allow_infinity=False)
entries = st.dictionaries(text, text, max_size=3)


def several(of: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(of, max_size=3).map(tuple)


lines = st.builds(
    Line,
    id=text,
    text=text,
    polygon=several(st.tuples(coordinate, coordinate)),
    kind=st.sampled_from(get_args(LineKind)),
    source_kind=text,
    confidence=st.none() | st.floats(0, 1),
)
images = st.builds(
    ImageRef,
    path=text,
    sha256=text,
    width=st.integers(0, 2**40),
    height=st.integers(0, 2**40),
    size=st.integers(0, 2**62),
)
every_field = st.builds(
    Item,
    id=text,
    benchmark=text,
    task=text,
    query=text,
    images=several(images),
    question=text,
    verbatim=st.booleans(),
    fields=entries,
    options=several(text),
    answer=text,
    answer_simplified=text,
    also_accepted=several(text),
    boxes=several(st.builds(Box, x0=coordinate, y0=coordinate, x1=coordinate, y1=coordinate)),
    transcription=st.none() | text,
    lines=several(lines),
    group=text,
    split=st.sampled_from(["test", "reference"]),
    metadata=entries,
)


def item(**more: object) -> Item:
    return Item(**({"id": "a", "benchmark": "MCS-Bench", "task": "T1"} | more))


def test_every_field_of_an_item_has_its_column() -> None:
    assert tuple(arrow_schema().names) == Item.__struct_fields__


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(every_field, max_size=3))
def test_items_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, items) -> None:
    path = tmp_path_factory.getbasetemp() / "items.parquet"
    write_items(path, items)
    assert read_items(path) == items


def test_no_items_are_a_table_too(tmp_path: Path) -> None:
    write_items(tmp_path / "items.parquet", [])
    assert read_items(tmp_path / "items.parquet") == []


def test_the_same_items_give_the_same_bytes(tmp_path: Path) -> None:
    items = [item(id=f"{n}", answer="天地" * n, fields={"b": "1", "a": "2"}) for n in range(50)]
    write_items(tmp_path / "one.parquet", items)
    write_items(tmp_path / "two.parquet", items)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_part_of_a_table_is_copied_in_its_order_as_it_stands(tmp_path: Path) -> None:
    ref = ImageRef(path="images/a.png", sha256="a" * 64, width=1, height=2, size=3)
    items = [Item(id=name, benchmark="b", task="T1", images=(ref,)) for name in "wzyx"]
    source, part = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_items(source, items)
    copy_items(source, part, ["y", items[0].id])
    assert read_items(part) == [items[0], items[2]]
    with pytest.raises(DataError, match="no such file"):
        copy_items(tmp_path / "none", part, [])


def test_types_hold_even_when_every_value_is_empty(tmp_path: Path) -> None:
    write_items(tmp_path / "items.parquet", [item()])
    assert pq.read_schema(tmp_path / "items.parquet").equals(arrow_schema())


def test_whole_coordinates_come_back_as_floats_of_the_same_value(tmp_path: Path) -> None:
    stored = as_stored(item(lines=(Line(id="l", polygon=((1, 2),)),), options=["甲", "乙"]))
    assert stored.lines[0].polygon == ((1.0, 2.0),)
    assert stored.options == ("甲", "乙")
    write_items(tmp_path / "items.parquet", [stored])
    assert repr(read_items(tmp_path / "items.parquet")) == repr([stored])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (item(answer="\ud840"), "surrogates not allowed"),
        (item(id="\udfff"), "surrogates not allowed"),
        (item(fields={"\ud800": "x"}), "surrogates not allowed"),
        (item(boxes=(Box(x0=float("nan"), y0=0, x1=1, y1=1),)), "Expected `float`, got `null`"),
        (item(lines=(Line(id="l", polygon=((float("inf"), 0),)),)), "Expected `float`"),
        (item(lines=(Line(id="l", kind="poem"),)), "Invalid enum value 'poem'"),
        (item(question=5), "Expected `str`, got `int`"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_anything_is_written(
    tmp_path: Path, wrong: Item, says: str
) -> None:
    with pytest.raises(DataError, match=says):
        write_items(tmp_path / "items.parquet", [item(), wrong])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_table_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_items(tmp_path / "items.parquet")


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"id,task\n1,2\n", b"PAR1" + bytes(64) + b"PAR1"]
)
def test_what_is_no_parquet_is_a_data_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "items.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match="not readable as parquet") as caught:
        read_items(path)
    assert "\n" not in str(caught.value)


def test_a_damaged_table_is_never_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    write_items(path, [item(answer="天地玄黃" * 20, options=("甲", "乙"))])
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 41):
        spoiled = bytearray(whole)
        spoiled[place] ^= 0xFF
        path.write_bytes(spoiled)
        try:
            read_items(path)
        except DataError:
            refused += 1
    assert refused > 10


def parquet(frame: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pl.DataFrame({"image": ["a"], "label": [1]}), "expected the columns id, .*found image"),
        (pl.DataFrame({"id": ["a"], "benchmark": ["b"]}), "not a table of items"),
        (
            pl.DataFrame({"id": ["a"], "benchmark": ["b"], "task": ["T1"], "colour": ["red"]}),
            "not a table of items",
        ),
        (
            pl.DataFrame({"id": [1], "benchmark": ["b"], "task": ["T1"]}),
            r"row 1 \(1\): not an item: Expected `str`, got `int`",
        ),
        (
            pl.DataFrame(
                {"id": [None, "x"], "benchmark": ["b", "b"], "task": ["T1", "T1"]},
            ),
            "row 1",
        ),
        (
            pl.DataFrame(
                {"id": ["a"], "benchmark": ["b"], "task": ["T1"], "split": ["train"]},
            ),
            r"row 1 \(a\).*train",
        ),
    ],
)
def test_a_foreign_table_is_a_data_error(tmp_path: Path, frame: pl.DataFrame, says: str) -> None:
    (tmp_path / "items.parquet").write_bytes(parquet(frame))
    with pytest.raises(DataError, match=says):
        read_items(tmp_path / "items.parquet")


def test_two_columns_of_one_name_are_a_data_error(tmp_path: Path) -> None:
    texts = pa.array(["a"])
    names = ["id", "benchmark", "task", "answer", "answer"]
    pq.write_table(pa.Table.from_arrays([texts] * 5, names), tmp_path / "items.parquet")
    with pytest.raises(DataError, match="found id, benchmark, task, answer, answer"):
        read_items(tmp_path / "items.parquet")


def test_a_column_of_categories_is_copied_as_text(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a"], "benchmark": ["MCS-Bench"], "task": ["T1"]})
    frame = frame.with_columns(pl.col("task").cast(pl.Categorical))
    (tmp_path / "items.parquet").write_bytes(parquet(frame))
    copy_items(tmp_path / "items.parquet", tmp_path / "copy.parquet", ["a"])
    assert read_items(tmp_path / "copy.parquet") == [item()]


def test_columns_with_a_default_may_be_absent(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a"], "benchmark": ["MCS-Bench"], "task": ["T1"]})
    (tmp_path / "items.parquet").write_bytes(parquet(frame))
    assert read_items(tmp_path / "items.parquet") == [item()]
    copy_items(tmp_path / "items.parquet", tmp_path / "copy.parquet", ["a"])
    assert read_items(tmp_path / "copy.parquet") == [item()]
    assert pq.read_schema(tmp_path / "copy.parquet").equals(arrow_schema())
