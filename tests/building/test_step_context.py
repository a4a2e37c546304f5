"""What a step reads and writes: items in batches or as a list, with the same result."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError
from keju.items import Item
from tests.support.builds import bench_over


@pytest.fixture
def given(tmp_path: Path) -> Path:
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "s"}
    with DatasetWriter(tmp_path / "given", **about) as writer:
        for name in "abc":
            writer.add(Item(id=name, benchmark="MCS-Bench", task="T2", answer=name))
    return tmp_path / "given"


def steps_of(out: Path) -> dict[str, list[str]]:
    return {item.id: [done.step for done in item.provenance] for item in Dataset.open(out)}


@pytest.mark.parametrize("way", ["items", "iter_items"])
def test_only_a_changed_item_gets_the_step_in_its_provenance(given, tmp_path, way):
    context = bench_over(given, tmp_path / "out")
    with context.writer:
        for item in getattr(context, way)():
            context.keep(replace(item, answer="b2") if item.id == "b" else item)
    assert steps_of(tmp_path / "out") == {"a": [], "b": ["trial"], "c": []}


def test_items_may_be_kept_in_another_order_than_they_are_read(given, tmp_path):
    context = bench_over(given, tmp_path / "out")
    with context.writer:
        for item in reversed(list(context.iter_items())):
            context.keep(replace(item, answer="x") if item.id == "a" else item)
        context.keep(Item(id="new", benchmark="MCS-Bench", task="T2"))
    found = steps_of(tmp_path / "out")
    assert found == {"c": [], "b": [], "a": ["trial"], "new": ["trial"]}


def test_an_item_of_an_altered_input_is_an_error_at_its_end(given, tmp_path):
    other = tmp_path / "other"
    with DatasetWriter(other, name="n", version="1", licence="l", source="s") as writer:
        writer.add(Item(id="z", benchmark="MCS-Bench", task="T2"))
    (given / "items.parquet").write_bytes((other / "items.parquet").read_bytes())
    context = bench_over(given, tmp_path / "out")
    read = context.iter_items()
    assert next(read).id == "z"
    with pytest.raises(DataError):
        next(read)
    context.writer.abandon()
