"""The same recipe and fonts give the same set, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL
import pytest

from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.errors import DataError, PrerequisiteError, UsageError
from keju.files import read_json, sha256_file
from keju.messages import using
from keju_synthetic import Making, build_synth
from keju_synthetic.fonts import find_font
from keju_synthetic.recipe import read_recipe
from keju_synthetic.synth import FAMILIES, sort_by_catalogue
from tests.cli.test_chinese_output import english_in
from tests.support.printed_lines import printed

RECIPE = Path(__file__).resolve().parents[1] / "src/keju_synthetic/recipes/mini.toml"

SMALL = """
format = "keju-synth-1"
name = "small"
version = "1"
licence = "CC0-1.0"
seed = 3

[hands.kai]
family = "TW-Kai"
style = "Regular"
licence = "OGDL-Taiwan-1.0"

[[pages]]
id = "laozi"
passage = "laozi-dao"
hand = "kai"
asks = ["T1", "T7"]
difficulty = 0.7
height = 420
columns = 4
rows = 10
seals = [{ cut = { legend = "藏書" }, at = [0.7, 0.8] }]

[[pages]]
id = "sunzi"
passage = "sunzi-ji"
hand = "kai"
asks = ["T7"]
difficulty = 0.2
height = 300
rows = 8
"""


@pytest.fixture(scope="module")
def kai():
    try:
        return find_font("TW-Kai", "Regular", "OGDL-Taiwan-1.0")
    except PrerequisiteError as reason:
        pytest.skip(str(reason))


def write(folder: Path, text: str) -> Path:
    path = folder / "small.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_same_recipe_twice_gives_the_same_set(tmp_path: Path, kai):
    recipe = write(tmp_path, SMALL)
    one, two = (build_synth(recipe, tmp_path / name) for name in ("one", "two"))
    assert one.manifest == two.manifest
    assert one.manifest.synthetic
    assert {path.name for path in (tmp_path / "one/images").iterdir()} == {
        path.name for path in (tmp_path / "two/images").iterdir()
    }
    other = build_synth(write(tmp_path, SMALL.replace("seed = 3", "seed = 4")), tmp_path / "three")
    assert other.manifest.hash != one.manifest.hash


def test_the_command_prints_chinese(tmp_path: Path, kai):
    write(tmp_path, SMALL)
    (done,) = printed(tmp_path, [["build", "synth", "small.toml", "--out", "drawn"]], "zh")
    assert done.status == 0
    lines = done.text.splitlines()
    assert lines
    assert [line for line in lines if english_in(line)] == []


def test_another_picture_in_the_recipe_changes_no_picture(tmp_path: Path, kai):
    whole = build_synth(write(tmp_path, SMALL), tmp_path / "whole")
    without = SMALL[: SMALL.rindex("[[pages]]")]
    build_synth(write(tmp_path, without), tmp_path / "part")
    assert whole.manifest.images == 2
    (only,) = (tmp_path / "part/images").iterdir()
    assert (tmp_path / "whole/images" / only.name).exists()


def test_an_included_file_counts_as_part_of_the_recipe(tmp_path: Path, kai):
    whole = build_synth(write(tmp_path, SMALL), tmp_path / "whole")
    at = SMALL.rindex("[[pages]]")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/more.toml").write_text(SMALL[at:], "utf-8")
    split = SMALL[:at].replace("seed = 3", 'seed = 3\ninclude = ["parts/more.toml"]')
    parts = build_synth(write(tmp_path, split), tmp_path / "parted")
    assert parts.manifest.hash == whole.manifest.hash
    assert parts.making.files["parts/more.toml"] == sha256_file(tmp_path / "parts/more.toml")


def test_items_are_ordered_by_task_and_then_as_drawn(tmp_path: Path, kai):
    made = build_synth(write(tmp_path, SMALL), tmp_path / "out")
    items = Dataset.open(tmp_path / "out").items()
    assert [item.task for item in items] == ["T1", "T7", "T7"]
    assert sort_by_catalogue([items[1], items[2], items[0]]) == items
    assert made.image_bytes == sum(
        {item.images[0].path: item.images[0].size for item in items}.values()
    )


def test_the_record_says_which_fonts_and_versions_drew_it(tmp_path: Path, kai):
    build_synth(write(tmp_path, SMALL), tmp_path / "out")
    making = read_json(tmp_path / "out/making.json", Making)
    assert making.fonts == {"kai": kai.record}
    assert making.fonts["kai"].sha256 == sha256_file(kai.path)
    assert (making.pillow, making.numpy) == (PIL.__version__, np.__version__)
    assert making.files == {"small.toml": sha256_file(tmp_path / "small.toml")}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('hand = "kai"\nasks = ["T7"]', 'hand = "lishu"\nasks = ["T7"]', "errors.unknown-name"),
        ('passage = "sunzi-ji"', 'passage = "lost"', "errors.unknown-name"),
        ("rows = 8", "rows = 8\nskip = 50", "synthetic.passage-too-short"),
        ("藏書", "藏\U000e0100", "synthetic.seal-script-missing"),
        (
            "seals = [",
            'head_notes = [{ text = "\U000e0100", column = 1 }]\nseals = [',
            "synthetic.characters-not-in-font",
        ),
    ],
)
def test_a_recipe_that_cannot_be_drawn_is_refused(
    tmp_path: Path, kai, old: str, new: str, problem: str
):
    with pytest.raises(DataError) as caught:
        build_synth(write(tmp_path, SMALL.replace(old, new)), tmp_path / "out")
    assert caught.value.id == problem
    assert caught.value.item in {"laozi", "sunzi", "藏\U000e0100"}
    assert caught.value.file.endswith("small.toml")


def test_an_error_of_a_recipe_is_shown_in_each_language(tmp_path: Path, kai):
    lost = SMALL.replace('passage = "sunzi-ji"', 'passage = "lost"')
    with using("zh"), pytest.raises(DataError) as caught:
        build_synth(write(tmp_path, lost), tmp_path / "out")
    assert "没有篇章 'lost'" in str(caught.value)
    assert "no passage 'lost'" in caught.value.render("en")


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, kai):
    with pytest.raises(UsageError):
        build_synth(write(tmp_path, SMALL), tmp_path)


@pytest.mark.slow
def test_the_recipe_gives_the_bundled_set(tmp_path: Path):
    made = read_json(mini.path() / "making.json", Making)
    try:
        fonts = {
            name: find_font(hand.family, hand.style, hand.licence).record
            for name, hand in read_recipe(RECIPE, FAMILIES).hands.items()
        }
    except PrerequisiteError as reason:
        pytest.skip(str(reason))
    if fonts != made.fonts or PIL.__version__ != made.pillow:
        pytest.skip("the bundled set was drawn with other fonts or another Pillow")
    assert made.files == read_recipe(RECIPE, FAMILIES).files
    report = build_synth(RECIPE, tmp_path / "mini")
    assert report.manifest == Dataset.open(mini.path()).manifest
