"""From a recipe to items: the layout of each task, and references that the images confirm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from keju.datasets.checks import check_item
from keju.datasets.store import Dataset
from keju.definitions import prompt_of, task
from keju.errors import DataError
from keju.items import Item
from keju_synthetic import build_synth
from keju_synthetic.bones.signs import load_signs

HEAD = """
format = "keju-synth-1"
name = "bones"
version = "1"
licence = "CC0-1.0"
seed = 7
quality = 80
"""

SMALL = (
    HEAD
    + """
[[bones]]
id = "written"
kind = "fragment"
texts = ["癸卯卜貞", "三牛"]
height = 260
side = 0.14

[[bones]]
id = "plain"
kind = "plastron"
ground = "photo"
height = 200

[[strangers]]
id = "crane"
thing = "crane"
height = 160

[[signs]]
id = "ox"
char = "牛"
ground = "hand"
asks = ["T28", "T29", "deciphering"]

[[galleries]]
id = "classes"
task = "classification"
ground = "small"
classes = "日月木"
queries = "月木"

[[galleries]]
id = "found"
task = "retrieval"
ground = "rubbing"
height = 60
classes = "日月"
queries = "日月"
references = 2
distractors = "木王"

[[galleries]]
id = "known"
task = "classification"
split = "reference"
classes = "日月"
height = 60

[[rejoining]]
id = "torn"
height = 220
pieces = [
    { kind = "scapula", parts = 3, texts = ["今日不雨"] },
    { kind = "fragment", ground = "photo", parts = 2, texts = ["大吉"] },
]
"""
)


def built(folder: Path, text: str, name: str = "set") -> Dataset:
    recipe = folder / "bones.toml"
    recipe.write_text(text, "utf-8")
    build_synth(recipe, folder / name)
    return Dataset.open(folder / name)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    return built(tmp_path_factory.mktemp("bones"), SMALL)


@pytest.fixture(scope="module")
def items(dataset: Dataset) -> dict[str, Item]:
    return {item.id: item for item in dataset.items()}


def picture(dataset: Dataset, item: Item, place: int = 0) -> Image.Image:
    return Image.open(dataset.path / item.images[place].path)


def test_every_item_is_valid_and_marked_as_synthetic(items):
    for item in items.values():
        assert list(check_item(item)) == []
        assert item.metadata["source"] == "synthetic"


def test_the_same_recipe_gives_the_same_set(tmp_path: Path, dataset):
    assert built(tmp_path, SMALL).manifest.hash == dataset.manifest.hash


def test_an_inscription_is_asked_all_four_queries_a_negative_one(items):
    asked = {item.query for item in items.values() if item.id.startswith("written-recog")}
    assert asked == {query.name for query in task("recognition").queries}
    negatives = [i for i in items.values() if i.task == "recognition" and i.answer == "no"]
    assert {item.id for item in negatives} == {
        "plain-recognition-yes-or-no",
        "crane-recognition-yes-or-no",
    }


def test_boxes_texts_and_count_agree_with_each_other(items):
    where, how = items["written-recognition-where"], items["written-recognition-how"]
    assert how.answer == "6" == str(len(where.boxes))
    assert where.transcription is not None
    assert where.transcription.replace("\n", "") == "癸卯卜貞三牛"
    assert "six oracle bone characters" in items["written-recognition-what"].answer


def test_there_is_white_writing_in_every_box_and_black_around(dataset, items):
    item = items["written-recognition-where"]
    pixels = np.asarray(picture(dataset, item).convert("L")).astype(float)
    for box in item.boxes:
        inside = pixels[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
        around = pixels[int(box.y0) - 5 : int(box.y1) + 5, int(box.x0) - 5 : int(box.x1) + 5]
        rim = (around.sum() - inside.sum()) / (around.size - inside.size)
        assert inside.mean() > rim + 12
        assert np.percentile(inside, 98) > 170


def test_a_sign_is_read_explained_and_deciphered(items):
    assert items["ox-t28"].answer == "牛"
    explained = items["ox-t29"]
    assert prompt_of(explained) == "这个甲骨文是“牛”，请从象形角度解释它的含义。"
    assert "牛角" in explained.answer
    what = items["ox-deciphering-what"]
    assert 'denotes "ox"' in what.answer
    assert what.metadata["subset"] == "pictograph"
    assert what.metadata["tier"] == "tier-1"
    assert items["ox-deciphering-how"].images == what.images


def test_classes_show_one_reference_and_a_query_by_another_writer(items):
    for number, place in ((1, 2), (2, 3)):
        for query in ("yes-or-no", "how"):
            item = items[f"classes-{number}-classification-{query}"]
            assert item.relevant == (place,)
            assert len(item.images) == 4
            assert len({ref.sha256 for ref in item.images}) == 4
            assert {(ref.width, ref.height) for ref in item.images} == {(28, 28)}


def test_retrieval_shows_all_references_of_all_classes_and_the_distractors(items):
    for number, relevant in ((1, (1, 2)), (2, (3, 4))):
        item = items[f"found-{number}-retrieval-how"]
        assert item.relevant == relevant
        assert len(item.images) == 1 + 4 + 2


def test_labelled_crops_are_a_reference_split(items):
    labelled = [i for i in items.values() if i.split == "reference"]
    assert [item.answer for item in labelled] == ["日", "月"]


def test_every_fragment_is_asked_against_all_others_and_joins_only_its_own_bone(items):
    asked = [i for i in items.values() if i.task == "rejoining" and i.query == "How"]
    refs = [item.images[0] for item in asked]
    assert len(asked) == 5
    for number, item in enumerate(asked):
        assert list(item.images[1:]) == refs[:number] + refs[number + 1 :]
        joined = {item.images[place].sha256 for place in item.relevant}
        bone = refs[:3] if number < 3 else refs[3:]
        assert joined <= {ref.sha256 for ref in bone}
        assert item.relevant
    # Who joins whom is the same from both sides.
    joins = {(i.images[0].sha256, i.images[place].sha256) for i in asked for place in i.relevant}
    assert joins == {(b, a) for a, b in joins}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[signs]]\nid = "a"\nchar = "龘"', "synthetic.stroke-model-missing"),
        ('[[signs]]\nid = "a"\nchar = "甲"\nasks = ["T29"]', "synthetic.sign-without-task"),
        ('[[signs]]\nid = "a"\nchar = "甲"\nvariant = 4', "synthetic.sign-without-variant"),
        (
            '[[bones]]\nid = "a"\nkind = "scapula"\ntexts = ["貞龘"]',
            "synthetic.stroke-model-missing",
        ),
        (
            '[[bones]]\nid = "a"\nkind = "fragment"\nheight = 64\ntexts = ["貞貞貞貞貞貞貞貞"]',
            "synthetic.texts-too-long",
        ),
        (
            '[[galleries]]\nid = "a"\ntask = "retrieval"\nclasses = "日月"\nqueries = "木"',
            "synthetic.query-without-class",
        ),
        ('[[bones]]\nid = "a"\nkind = "skull"', "synthetic.entry-invalid"),
    ],
)
def test_an_impossible_entry_is_an_error_of_one_line(tmp_path: Path, text: str, problem: str):
    with pytest.raises(DataError) as caught:
        built(tmp_path, HEAD + text)
    assert (caught.value.id, caught.value.item) == (problem, "a")
    assert "\n" not in str(caught.value)


def test_the_bundled_part_asks_each_task_three_times_without_a_flaw(tmp_path: Path):
    from keju_synthetic import synth

    part = Path(synth.__file__).parent / "recipes/mini/bones.toml"
    made = built(tmp_path, HEAD.replace("80", "58") + part.read_text("utf-8"))
    items = [item for item in made.items() if item.split == "test"]
    for name in ("T28", "T29"):
        assert sum(item.task == name for item in items) >= 3
    for name in ("recognition", "rejoining", "classification", "retrieval", "deciphering"):
        for query in task(name).queries:
            asked = [i for i in items if (i.task, i.query) == (name, query.name)]
            assert len(asked) >= 3
            if name == "classification":
                assert all(len(item.images) > 10 for item in asked)
            if name == "retrieval":
                assert all(len(i.images) - 1 >= 2 * len(i.relevant) >= 8 for i in asked)
    assert all(list(check_item(item)) == [] for item in made.items())
    size = sum(path.stat().st_size for path in (tmp_path / "set/images").iterdir())
    assert size <= 1_100_000
    lengths = [len(item.answer) for item in items if item.task == "T29"]
    assert 50 <= sum(lengths) / len(lengths) <= 76
    assert {load_signs()[i.answer].kind for i in items if i.task == "T28"} >= {
        "pictograph",
        "ideogram",
    }
