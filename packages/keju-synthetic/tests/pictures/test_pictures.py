"""Paintings and illustrations become pictures and items, the same each time."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from keju.datasets.store import Dataset
from keju.errors import DataError, PrerequisiteError
from keju_synthetic import build_synth
from keju_synthetic.fonts import find_font

HEAD = """
format = "keju-synth-1"
name = "small"
version = "1"
licence = "CC0-1.0"
seed = 3

[hands.kai]
family = "TW-Kai"
style = "Regular"
licence = "OGDL-Taiwan-1.0"
"""

PAINTING = """
[[paintings]]
id = "fish"
work = "anwan"
hand = "kai"
label_hand = "kai"
"""

PRINT = """
[[illustrations]]
id = "guanyu"
hand = "kai"
label_hand = "kai"
difficulty = 0.2

[[illustrations]]
id = "jiejian"
asks = ["T44", "T37"]
hand = "kai"
label_hand = "kai"
"""


@pytest.fixture(scope="module")
def kai():
    try:
        return find_font("TW-Kai", "Regular", "OGDL-Taiwan-1.0")
    except PrerequisiteError as reason:
        pytest.skip(str(reason))


def build(folder: Path, body: str, name: str = "out"):
    recipe = folder / "small.toml"
    recipe.write_text(HEAD + body, "utf-8")
    return build_synth(recipe, folder / name)


@pytest.fixture(scope="module")
def small(tmp_path_factory, kai) -> tuple[Path, dict]:
    folder = tmp_path_factory.mktemp("pictures")
    build(folder, PAINTING + PRINT)
    return folder / "out", {item.id: item for item in Dataset.open(folder / "out").items()}


def test_the_same_recipe_gives_the_same_pictures(tmp_path: Path, small):
    again = build(tmp_path, PAINTING + PRINT)
    assert again.manifest == Dataset.open(small[0]).manifest


def test_a_painting_is_asked_all_that_is_known_of_it(small):
    _, items = small
    fish = {name: item for name, item in items.items() if name.startswith("fish-")}
    assert set(fish) == {
        "fish-t18", "fish-t21-1", "fish-t21-2", "fish-t23", "fish-t24", "fish-t26",
    }  # fmt: skip
    assert fish["fish-t21-1"].answer == "1"
    assert fish["fish-t21-1"].question.startswith("画中共有几条鱼")
    assert fish["fish-t21-2"].also_accepted == ("右边",)
    assert all(item.group == "anwan" for item in fish.values())
    chosen = fish["fish-t24"]
    assert chosen.options["ABCD".index(chosen.answer)] == "安晚册"
    assert fish["fish-t18"].metadata["material"] == "纸本"


def test_only_what_the_recipe_asks_is_asked(small):
    _, items = small
    assert {name for name in items if name.startswith("jiejian-")} == {"jiejian-t37", "jiejian-t44"}
    plot = items["jiejian-t44"]
    assert plot.fields == {"book": "三国演义"}
    assert plot.question == "这幅插图来自《三国演义》，请介绍一下其对应的故事情节。"


def test_the_reference_of_writing_is_its_text_and_place(small):
    folder, items = small
    item = items["fish-t26"]
    assert item.answer.splitlines()[0] == "八大山人安晚冊"
    assert item.answer == "\n".join(
        line.text for line in item.lines if line.kind in {"title", "main", "author"}
    )
    assert [line.text for line in item.lines if line.kind == "seal"] == ["八大山人"]
    picture = Image.open(io.BytesIO((folder / item.images[0].path).read_bytes())).convert("RGB")
    pixels = np.asarray(picture, dtype=float)
    for line in item.lines:
        xs, ys = zip(*line.polygon, strict=True)
        assert min(xs) >= 0
        assert max(xs) <= picture.width
        assert min(ys) >= 0
        assert max(ys) <= picture.height
        box = pixels[round(min(ys)) : round(max(ys)), round(min(xs)) : round(max(xs))]
        if line.kind == "seal":
            assert (box[..., 0] - box[..., 2]).mean() > 60
        else:
            assert 0.04 < (box.mean(axis=2) < 110).mean() < 0.5


def test_a_heading_runs_from_right_to_left(small):
    item = small[1]["jiejian-t37"]
    (line,) = item.lines
    assert line.text == item.answer == "用奇謀孔明借箭"
    xs, ys = zip(*line.polygon, strict=True)
    assert max(xs) - min(xs) > 5 * (max(ys) - min(ys))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('work = "anwan"', 'work = "lost"', "errors.unknown-name"),
        ('hand = "kai"\nlabel', 'hand = "lishu"\nlabel', "errors.unknown-name"),
        ('work = "anwan"', 'work = "anwan"\nasks = ["T17"]', "synthetic.work-without-task"),
        ('work = "anwan"', 'work = "anwan"\nsize = 3', "synthetic.entry-invalid"),
    ],
)
def test_a_picture_that_cannot_be_made_is_refused(
    tmp_path: Path, kai, old: str, new: str, problem: str
):
    with pytest.raises(DataError) as caught:
        build(tmp_path, PAINTING.replace(old, new, 1))
    assert (caught.value.id, caught.value.item) == (problem, "fish")
