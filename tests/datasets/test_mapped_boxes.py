"""Boxes as answers in the tables of a mapping."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.items import Box, Item
from tests.support.released import picture, put

MAPPING = """
prompt = "template"
[[tables]]
path = "*.json"
[fields]
id = "id"
image = "image"
answer = "boxes"
[constants]
task = "recognition"
query = "Where"
"""


def imported(folder: Path, *answers: object) -> list[Item]:
    """The items of a table with those answers, all of one image of 60 x 80 pixels."""
    rows = [{"id": f"{n}", "image": f"{n}.png", "boxes": each} for n, each in enumerate(answers)]
    for row in rows:
        put(folder / "src" / str(row["image"]), picture(int(row["id"])))
    put(folder / "src" / "rows.json", json.dumps(rows))
    mapping = put(folder / "mapping.toml", MAPPING)
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}
    import_dataset("mapped", folder / "src", folder / "out", **about, options={"map": str(mapping)})
    return Dataset.open(folder / "out").items()


def test_lists_and_their_json_are_boxes_in_pixels(tmp_path: Path) -> None:
    one, two = Box(x0=1, y0=2, x1=3, y1=4.5), Box(x0=0, y0=0, x1=5, y1=5)
    items = imported(tmp_path, [[1, 2, 3, 4.5], [0, 0, 5, 5]], "[[1, 2, 3, 4.5]]", [0, 0, 5, 5])
    assert [item.boxes for item in items] == [(one, two), (one,), (two,)]
    assert {item.answer for item in items} == {""}


def test_an_empty_list_is_a_reference_and_an_empty_cell_is_none(tmp_path: Path) -> None:
    items = imported(tmp_path, [], "[]", "", None)
    assert [item.answer for item in items] == ["[]", "[]", "", ""]
    assert not any(item.boxes for item in items)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("left half", "'left half' is not a list of boxes"),
        ("7", "'7' is not a list of boxes"),
        ([[1, 2, 3]], "is not a list of boxes of four numbers"),
        ([[0, 0, 5, 5], [1, 2, 3, True]], "is not a list of boxes of four numbers"),
        ([[5, 5, 1, 1]], "has no area"),
        ([[0, 0, 5, 500]], "leaves its image"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, answer: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem) as failed:
        imported(tmp_path, answer)
    assert failed.value.item
    assert "[[left, top, right, bottom]" in str(failed.value.hint)
