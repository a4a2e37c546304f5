"""Partitioned datasets contain the same items as datasets of one table, with the same hash."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace
from pyarrow.parquet import ParquetFile

from keju.building.engine import Engine
from keju.building.pipeline import build
from keju.building.recipe import read_recipe
from keju.building.releasing.release import write_release
from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset, items_writer, partitioning
from keju.datasets.table import (
    BATCH_ROWS,
    TableWriter,
    copy_items,
    iter_rows,
    part_name,
    read_items,
    table_files,
)
from keju.datasets.validate import validate
from keju.errors import DataError, UsageError
from keju.items import Item
from tests.support.commanding import keju
from tests.support.making import make_dataset

ABOUT = {"name": "small", "version": "1"}


def text_items(count: int) -> list[Item]:
    return [
        Item(id=f"t{n:06}", benchmark="MCS-Bench", task=f"T{n % 3}", answer="天地玄黃" * (n % 7))
        for n in range(count)
    ]


@pytest.fixture
def both(tmp_path: Path) -> tuple[Dataset, Dataset]:
    with partitioning(3):
        parted = make_dataset(tmp_path / "parted", pages=8)
    return Dataset.open(make_dataset(tmp_path / "one", pages=8)), Dataset.open(parted)


def test_the_hash_and_all_readings_are_the_same_in_both_forms(both: tuple[Dataset, Dataset]):
    one, parted = both
    assert sorted(path.name for path in (parted.path / "items").iterdir()) == [
        "part-00000.parquet", "part-00001.parquet", "part-00002.parquet",
    ]  # fmt: skip
    assert not (parted.path / "items.parquet").exists()
    assert parted.manifest == one.manifest
    assert parted.items() == one.items() == list(parted)
    assert parted.to_frame().equals(one.to_frame())
    assert parted.image_bytes(parted.items()[7].images[0])
    assert list(validate(parted.path)) == list(validate(one.path))


def test_rows_of_chosen_columns_are_in_order(both: tuple[Dataset, Dataset]):
    for dataset in both:
        rows = list(iter_rows(dataset.items_path, ["id", "transcription"]))
        assert rows == [{"id": item.id, "transcription": item.transcription} for item in dataset]


def test_a_column_that_a_file_lacks_has_no_values(tmp_path: Path):
    pl.DataFrame({"id": ["a"], "benchmark": ["b"], "task": ["t"]}).write_parquet(tmp_path / "x")
    assert list(iter_rows(tmp_path / "x", ["id", "group"])) == [{"id": "a", "group": None}]


def test_batches_of_a_large_file_are_the_items_that_were_written(tmp_path: Path):
    items = [replace(item, metadata={"n": item.id}) for item in text_items(3 * BATCH_ROWS + 5)]
    writer = items_writer(tmp_path)
    for item in items:
        writer.add(item)
    writer.close()
    path = tmp_path / "items.parquet"
    assert read_items(path) == items


def test_row_groups_have_statistics_of_ids_and_tasks(tmp_path: Path):
    with partitioning(2 * BATCH_ROWS):
        writer = items_writer(tmp_path)
    for item in text_items(2 * BATCH_ROWS):
        writer.add(item)
    writer.close()
    about = ParquetFile(tmp_path / "items" / part_name(0)).metadata
    assert about.num_row_groups == 2
    statistics = about.row_group(1).column(0).statistics
    assert (statistics.min, statistics.max) == (f"t{BATCH_ROWS:06}", f"t{2 * BATCH_ROWS - 1:06}")


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_no_part_has_more_items_than_allowed_or_none(tmp_path: Path, count: int):
    with partitioning(2):
        writer = items_writer(tmp_path)
    for item in text_items(count):
        writer.add(item)
    writer.close()
    heights = [pl.read_parquet(file).height for file in table_files(tmp_path / "items")]
    assert heights == [2] * (count // 2) + [1] * (count % 2)


def test_a_part_that_is_not_finished_is_absent(tmp_path: Path):
    with partitioning(2000):
        writer = items_writer(tmp_path)
    for item in text_items(3500):
        writer.add(item)
    assert [path.name for path in table_files(tmp_path / "items")] == [part_name(0)]
    assert sum(path.name.startswith(".") for path in (tmp_path / "items").iterdir()) == 1
    writer.abandon()
    assert [path.name for path in (tmp_path / "items").iterdir()] == [part_name(0)]


def test_the_next_writer_removes_the_parts_of_an_unfinished_dataset(tmp_path: Path):
    out = tmp_path / "d"
    with partitioning(1):
        make_dataset(out, text_items(3))
    first = Dataset.open(out).manifest.hash
    (out / "dataset.json").unlink()
    (out / ".unfinished").touch()
    again = Dataset.open(make_dataset(out, text_items(3)))
    assert again.manifest.hash == first
    assert not (out / "items").exists()
    (out / "dataset.json").unlink()
    (out / ".unfinished").touch()
    with partitioning(2):
        make_dataset(out, text_items(3))
    assert not (out / "items.parquet").exists()
    assert len(table_files(out / "items")) == 2


@pytest.mark.parametrize("number", [0, 1])
def test_a_missing_part_is_named(both: tuple[Dataset, Dataset], number: int):
    (both[1].path / "items" / part_name(number)).unlink()
    with pytest.raises(DataError) as caught:
        both[1].items()
    assert caught.value.template == "{} is missing"
    assert part_name(number) in str(caught.value)


def test_a_missing_last_part_or_an_exchanged_one_is_noticed(both: tuple[Dataset, Dataset]):
    parts = table_files(both[1].items_path)
    data = [part.read_bytes() for part in parts]
    parts[-1].unlink()
    with pytest.raises(DataError) as caught:
        both[1].items()
    assert caught.value.template == "the items are not those that {} describes (their hash differs)"
    parts[0].write_bytes(data[1])
    parts[1].write_bytes(data[0])
    parts[2].write_bytes(data[2])
    with pytest.raises(DataError) as caught:
        both[1].items()
    assert caught.value.template == "the items are not those that {} describes (their hash differs)"


def test_a_damaged_part_is_at_most_a_data_error(both: tuple[Dataset, Dataset]):
    part = table_files(both[1].items_path)[1]
    whole = part.read_bytes()
    for place in range(4, len(whole), 397):
        spoiled = bytearray(whole)
        spoiled[place] ^= 0xFF
        part.write_bytes(spoiled)
        with contextlib.suppress(DataError):
            both[1].items()


def test_a_run_copies_the_items_of_parts_into_one_table(
    both: tuple[Dataset, Dataset], tmp_path: Path
):
    parted = both[1]
    copy_items(parted.items_path, tmp_path / "all.parquet", [item.id for item in parted])
    assert read_items(tmp_path / "all.parquet") == parted.items()
    copy_items(parted.items_path, tmp_path / "some.parquet", ["i0001", "i0006"])
    assert [item.id for item in read_items(tmp_path / "some.parquet")] == ["i0001", "i0006"]


def test_a_partitioned_dataset_is_imported_and_detected(both: tuple[Dataset, Dataset], tmp_path):
    done = import_dataset(
        "auto", both[1].path, tmp_path / "again", licence="CC0-1.0", source="tests", **ABOUT
    )
    assert done.manifest.hash == both[1].manifest.hash


def test_a_part_that_is_a_link_out_of_the_source_is_refused(
    both: tuple[Dataset, Dataset], tmp_path: Path
):
    part = table_files(both[1].items_path)[1]
    part.rename(tmp_path / "outside")
    part.symlink_to(tmp_path / "outside")
    with pytest.raises(DataError):
        import_dataset(
            "parquet", both[1].path, tmp_path / "again", licence="CC0-1.0", source="t", **ABOUT
        )


def test_a_release_of_parts_has_the_same_hash_and_sums(both: tuple[Dataset, Dataset], tmp_path):
    with partitioning(5):
        done = write_release(both[0], tmp_path / "release")
    again = Dataset.open(done.folder)
    assert again.packed
    assert again.manifest.hash == both[0].manifest.hash
    assert {"items/part-00000.parquet", "items/part-00001.parquet"} < set(done.files)
    assert again.items() == both[0].items()
    assert not [each for each in validate(done.folder) if each.severity == "error"]
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=done.folder, check=True)
    assert "items/part-*.parquet" in (done.folder / "README.md").read_text("utf-8")


def test_a_build_in_parts_has_the_same_hash(both: tuple[Dataset, Dataset], tmp_path: Path):
    (tmp_path / "r.toml").write_text(
        f'name = "b"\nlicence = "CC0-1.0"\n[[source]]\nform = "dataset"\npath = "{both[1].path}"\n'
        '[[step]]\ndo = "subset"\n[[step]]\ndo = "release"\n'
    )
    hashes = []
    for items in (0, 2):
        with partitioning(items):
            recipe = read_recipe(tmp_path / "r.toml", tmp_path / f"b{items}")
            hashes.append(build(recipe, tmp_path / f"b{items}", engine=Engine("native")).hash)
    assert hashes[0] == hashes[1]
    assert (tmp_path / "b2" / "dataset" / "items" / part_name(3)).is_file()
    assert (tmp_path / "b2" / "release" / "items" / part_name(3)).is_file()


def test_commands_write_parts(both: tuple[Dataset, Dataset], tmp_path: Path):
    out = tmp_path / "imported"
    keju("data", "import", "parquet", both[0].path, "--out", out, "--partition-items", 4)
    assert len(table_files(out / "items")) == 2
    assert Dataset.open(out).manifest.hash == both[0].manifest.hash
    keju("build", "subset", out, "--out", tmp_path / "step", "--partition-items", 3)
    assert len(table_files(tmp_path / "step" / "items")) == 3


def test_a_negative_number_of_items_is_refused():
    with pytest.raises(UsageError), partitioning(-1):
        pass


def test_a_full_disk_is_a_data_error(tmp_path: Path):
    (tmp_path / "items").write_text("not a folder")
    with pytest.raises(DataError):
        TableWriter(tmp_path / "items" / part_name(0)).close()
