"""Long lists of records are on disk, and read the same as in memory."""

import io
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.items import Item, Score
from keju.runs import RecordList, StoredItems


def _items(count):
    return [
        Item(id=f"i{number}", benchmark="b", task=f"t{number % 3}", question="天" * number)
        for number in range(count)
    ]


@pytest.mark.parametrize("most", [0, 3, 7, 100])
def test_records_are_read_in_their_order_and_by_place(most):
    items = _items(40)
    found = RecordList(Item, items, most=most)
    assert len(found) == 40
    assert list(found) == list(found) == items
    assert [found[place] for place in (0, 39, -1, 17)] == [items[p] for p in (0, 39, -1, 17)]
    assert found[3:9] == items[3:9]
    with pytest.raises(IndexError):
        found[40]


def test_records_can_be_added_between_readings():
    items = _items(30)
    found = RecordList(Item, items[:10], most=5)
    assert list(found) == items[:10]
    for number, item in enumerate(items[10:], start=10):
        found.append(item)
        assert found[number] == item
    assert list(found) == items


def test_a_list_larger_than_the_buffer_is_read_whole(monkeypatch):
    monkeypatch.setattr("keju.runs.record_list._BUFFER", 300)
    items = _items(60)
    assert list(RecordList(Item, items, most=0)) == items


def test_numbers_of_scores_are_exact():
    score = Score(
        key="k", item="i", model="m", benchmark="b", task="t", protocol="strict", metric="x",
        value=0.1 + 0.2, stats={"numerator": 1 / 3, "denominator": 1.0},
    )  # fmt: skip
    assert RecordList(Score, [score], most=0)[0] == score


@pytest.mark.parametrize("most", [0, 100])
def test_items_are_found_by_task_and_id(monkeypatch, most):
    monkeypatch.setattr("keju.runs.record_list.MOST_IN_MEMORY", most)
    items = _items(12)
    stored = StoredItems(items)
    record = Score(
        key="k", item="i7", model="m", benchmark="b", task="t1", protocol="strict", metric="x",
        value=None,
    )  # fmt: skip
    assert list(stored) == items
    assert stored.place_of(record) == 7
    assert stored.item_of(record) == items[7]
    assert stored.item_of(replace(record, task="t0")) is None
    assert stored.item_of(replace(record, item="i99")) is None


@pytest.mark.parametrize("collide", [False, True])
def test_of_items_with_one_name_the_last_counts(monkeypatch, collide):
    if collide:
        monkeypatch.setattr("keju.runs.record_list.hash", lambda _: 7, raising=False)
    items = _items(12)
    stored = StoredItems([*items, replace(items[7], question="again")])
    record = Score(
        key="k", item="i7", model="m", benchmark="b", task="t1", protocol="strict", metric="x",
        value=None,
    )  # fmt: skip
    assert stored.place_of(record) == 12
    assert stored.place_of(replace(record, item="i8", task="t2")) == 8


def test_a_write_of_a_part_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Short(io.FileIO):
        def write(self, data: bytearray) -> int:
            return super().write(data[:7])

    monkeypatch.setattr(
        tempfile,
        "TemporaryFile",
        lambda buffering: io.BufferedRandom(Short(tmp_path / "f", "w+"), buffering),
    )
    found = RecordList(str, map(str, range(100)), most=0)
    assert list(found) == list(map(str, range(100)))
    assert found[50] == "50"
