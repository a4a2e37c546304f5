"""The numbers behind a dataset's charts."""

from __future__ import annotations

import polars as pl

from keju.datasets import mini
from keju.datasets.stats import distributions, item_table, stats
from keju.datasets.store import Dataset
from keju.items import Box, ImageRef, Item
from tests.support.making import make_dataset

PAGE = ImageRef(path="images/a.png", sha256="a", width=1000, height=500, size=1)


def item(name: str, **fields: object) -> Item:
    return Item(
        id=name, benchmark="MCS-Bench", **{"task": "T1", "images": (PAGE,), "group": "g", **fields}
    )


def counts(frame: pl.DataFrame, measure: str) -> dict[str, int]:
    some = frame.filter(pl.col("measure") == measure)
    return dict(zip(some["name"], some["count"], strict=True))


def test_each_measure_is_counted_in_bins_whose_lower_end_belongs_to_them() -> None:
    items = item_table(
        [
            item("a", answer="一" * 10, boxes=(Box(x0=0, y0=0, x1=100, y1=50),)),
            item("b", answer="一 二\n三", group="h"),
            item("c", answer="一" * 6000),
        ]
    )
    found = distributions(items)
    assert counts(found, "answer") == {
        "2 to 5": 1, "5 to 10": 0, "10 to 20": 1, "20 to 50": 0, "50 to 100": 0, "100 to 200": 0,
        "200 to 500": 0, "500 to 1,000": 0, "1,000 to 2,000": 0, "2,000 to 5,000": 0,
        "5,000 and more": 1,
    }  # fmt: skip
    assert counts(found, "pixels") == {"500,000 to 1,000,000": 3}
    assert counts(found, "aspect") == {"2 to 5": 3}
    assert counts(found, "box") == {"0.01 to 0.03": 1}
    assert counts(found, "group") == {"1 to 2": 1, "2 to 3": 1}
    assert found.filter(pl.col("measure") == "boxes")["count"].to_list() == [1]


def test_letters_drafts_and_splits_are_counted() -> None:
    items = item_table(
        [
            item("a", task="T7", options=("甲", "乙"), answer="B"),
            item("b", task="T7", options=("甲", "乙"), answer="A", draft=True),
            item("c", answer="天", split="reference"),
        ]
    )
    found = distributions(items)
    assert counts(found, "letter") == {"A": 1, "B": 1}
    assert counts(found, "draft") == {"accepted": 2, "draft": 1}
    assert counts(found, "split") == {"reference": 1, "test": 2}


def test_every_item_and_image_of_the_bundled_set_is_counted_once() -> None:
    items = Dataset.open(mini.path()).items()
    found = stats(mini.path()).distributions
    for measure in ("answer", "images", "task", "format", "split"):
        assert sum(counts(found, measure).values()) == len(items)
    assert sum(counts(found, "pixels").values()) == sum(len(each.images) for each in items)
    assert sum(counts(found, "letter").values()) == sum(bool(each.options) for each in items)


def test_a_measure_that_no_item_has_takes_no_rows(tmp_path) -> None:
    found = stats(make_dataset(tmp_path / "d", pages=2)).distributions
    assert counts(found, "boxes") == counts(found, "options") == counts(found, "group") == {}
