"""A dataset changed by hand is taken in anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from keju.datasets.readers import Imported, import_dataset
from keju.datasets.store import Dataset
from keju.datasets.table import read_items, write_items
from keju.datasets.validate import validate
from keju.errors import DataError
from keju.items import Item, Line
from tests.support.needing import needs

ABOUT = {"name": "n", "version": "2", "licence": "CC0", "source": "s"}
PAGE = Item(id="p", benchmark="MCS-Bench", task="T1", answer="天")
UNGROUPED = (
    "Not every item has a group: the unit of independence is then its first image, or the item "
    "itself (1 units in total)"
)


def read(src: Path) -> Imported:
    return import_dataset("parquet", src, src.parent / "out", **ABOUT)


def test_a_copy_has_the_same_hash(make: Callable[..., Dataset]) -> None:
    dataset = make(PAGE)
    done = read(dataset.path)
    assert (done.manifest.hash, done.notes) == (dataset.manifest.hash, (UNGROUPED,))


def test_changed_items_and_images_are_hashed_anew(
    make: Callable[..., Dataset], picture: Callable[..., bytes]
) -> None:
    dataset = make(PAGE)
    items = read_items(dataset.items_path)
    write_items(dataset.items_path, [replace(items[0], answer="夭")])
    dataset.image_path(items[0].images[0]).write_bytes(picture(77, (10, 10)))
    assert len(list(validate(dataset.path))) == 2
    done = read(dataset.path)
    assert done.notes == (
        "1 image differs from what the items said; hashes are computed again",
        UNGROUPED,
    )
    out = dataset.path.parent / "out"
    assert list(validate(out)) == []
    (item,) = Dataset.open(out).items()
    assert (item.answer, item.images[0].width) == ("夭", 10)


def test_a_path_that_leads_out_and_a_missing_image_are_named(make: Callable[..., Dataset]) -> None:
    dataset = make(PAGE)
    items = read_items(dataset.items_path)
    ref = items[0].images[0]
    for path, says in (("../../x.png", "must be inside"), ("images/x.png", "x.png: no such file")):
        write_items(dataset.items_path, [replace(items[0], images=(replace(ref, path=path),))])
        with pytest.raises(DataError, match=says):
            read(dataset.path)


def test_a_folder_without_items_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(DataError, match=r"expected a folder with items\.parquet"):
        read(tmp_path / "x")


@needs("pandas", "make install-semantic")
def test_a_table_that_pandas_wrote_is_the_same_dataset(make: Callable[..., Dataset]) -> None:
    """pandas gives columns without values no type, and stores the index of filtered rows."""
    import pandas as pd

    line = Line(id="l1", text="天", polygon=((0, 0), (5, 0), (5, 5)))
    dataset = make(
        PAGE, replace(PAGE, id="q", lines=(line,), fields={"a": "b"}), replace(PAGE, id="r")
    )
    there = read_items(dataset.items_path)
    frame = pd.read_parquet(dataset.items_path)
    frame.to_parquet(dataset.items_path)
    assert str(pl.read_parquet_schema(dataset.items_path)["lines"]).count("Null")
    assert read_items(dataset.items_path) == there
    assert read(dataset.path).manifest.hash == dataset.manifest.hash
    frame.set_index(pd.Index([4, 9, 2])).to_parquet(dataset.items_path)
    assert "__index_level_0__" in pl.read_parquet_schema(dataset.items_path)
    assert read_items(dataset.items_path) == there


def test_a_column_of_another_type_is_still_refused(make: Callable[..., Dataset]) -> None:
    dataset = make(PAGE)
    pl.read_parquet(dataset.items_path).with_columns(answer=pl.lit(3)).write_parquet(
        dataset.items_path
    )
    with pytest.raises(DataError, match=r"not an item: Expected `str`, got `int`"):
        read_items(dataset.items_path)


def test_a_pipe_in_the_place_of_the_items_is_named_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "items.parquet")
    with pytest.raises(DataError, match=r"items\.parquet: not readable: not a file"):
        read_items(tmp_path / "items.parquet")
