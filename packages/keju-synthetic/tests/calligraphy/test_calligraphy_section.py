"""Works of calligraphy in a recipe: images, truth, and questions of eight tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from keju.datasets.store import Dataset
from keju.errors import DataError, PrerequisiteError
from keju_synthetic import build_synth
from keju_synthetic.calligraphy.brush_ink import SCALE, WritingBrush, write_characters
from keju_synthetic.calligraphy.calligraphy_section import load_works
from keju_synthetic.calligraphy.character_placement import PlacedCharacter
from keju_synthetic.calligraphy.sheet_mounts import make_mount
from keju_synthetic.fonts import find_font
from keju_synthetic.noise import make_generator
from keju_synthetic.recipe import HandSpec
from keju_synthetic.texts import strip_punctuation

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

SHEET = """
[[calligraphy]]
id = "duobao"
work = "duobao"
hand = "kai"
form = "leaf"
asks = ["T8", "T9", "T10", "T11", "T12", "T13", "T14", "T15"]
length = 12
columns = 3
height = 300
aspect = 0.8
difficulty = 0.2
seals = [{ cut = { legend = "明月" }, at = [0.05, 0.9], size = 0.1 }]
"""


@pytest.fixture(scope="module")
def kai():
    try:
        return find_font("TW-Kai", "Regular", "OGDL-Taiwan-1.0")
    except PrerequisiteError as reason:
        pytest.skip(str(reason))


def build(folder: Path, text: str) -> Dataset:
    recipe = folder / "small.toml"
    recipe.write_text(HEAD + text, "utf-8")
    build_synth(recipe, folder / "out")
    return Dataset.open(folder / "out")


def test_a_work_is_asked_about_in_every_task(tmp_path: Path, kai):
    dataset = build(tmp_path, SHEET)
    items = {item.task: item for item in dataset.items()}
    assert list(items) == ["T8", "T9", "T10", "T11", "T12", "T13", "T14", "T15"]
    assert items["T8"].answer.replace("\n", "") == "大唐西京千福寺多寶佛塔感"
    assert items["T8"].answer_simplified.replace("\n", "") == "大唐西京千福寺多宝佛塔感"
    right = {
        task: items[task].options["ABCDE".index(items[task].answer)]
        for task in ("T10", "T11", "T12", "T13", "T14")
    }
    assert right == {
        "T10": "颜真卿", "T11": "唐", "T12": "多宝塔碑", "T13": "楷书", "T14": "颜体",
    }  # fmt: skip
    assert items["T13"].options == ("篆书", "楷书", "隶书", "行书", "草书")
    assert {item.group for item in items.values()} == {"多宝塔碑"}


def test_the_lines_lie_on_their_ink(tmp_path: Path, kai):
    dataset = build(tmp_path, SHEET)
    (reading,) = (item for item in dataset.items() if item.task == "T8")
    assert [line.kind for line in reading.lines] == ["main"] * 3 + ["seal"]
    picture = Image.open(tmp_path / "out" / reading.images[0].path).convert("L")
    dark = np.asarray(picture) < 110
    covered = Image.new("1", picture.size, 0)
    for line in reading.lines:
        shape = Image.new("1", picture.size, 0)
        ImageDraw.Draw(shape).polygon(line.polygon, fill=1)
        if line.kind == "main":
            assert 0.10 < dark[np.asarray(shape)].mean() < 0.7, line.text
        covered.paste(1, (0, 0), shape)
    inside = np.asarray(covered)
    assert dark[inside].sum() > 0.98 * dark.sum()


@pytest.mark.parametrize("form", ["scroll", "handscroll", "couplet", "fan", "rubbing"])
def test_every_form_is_drawn_with_its_text(tmp_path: Path, kai, form: str):
    text = SHEET.replace('"leaf"', f'"{form}"').replace("aspect = 0.8", "aspect = 2.0")
    (reading, *_) = build(tmp_path, text.replace("columns = 3", "columns = 6")).items()
    main = [line for line in reading.lines if line.kind == "main"]
    assert "".join(line.text for line in main) == "大唐西京千福寺多寶佛塔感"
    wide, high = reading.images[0].width, reading.images[0].height
    for x, y in (point for line in main for point in line.polygon):
        assert 0 <= x <= wide
        assert 0 <= y <= high


def test_a_signature_is_read_after_the_text(tmp_path: Path, kai):
    text = SHEET.replace("length = 12", 'length = 12\nsignature = "顏真卿書"')
    (reading, *_) = build(tmp_path, text).items()
    assert reading.answer.endswith("\n顏真卿書")
    assert [line.kind for line in reading.lines][-2:] == ["author", "seal"]


@pytest.mark.parametrize(
    ("old", "new", "problem", "item"),
    [
        ('work = "duobao"', 'work = "lost"', "errors.unknown-name", "duobao"),
        ('work = "duobao"', 'work = "lanting"', "synthetic.hand-of-other-script", "duobao"),
        ('work = "duobao"', 'work = "chibi"', "synthetic.hand-of-other-script", "duobao"),
        ('"T8",', '"T1",', "synthetic.work-without-data", "duobao"),
        ('"leaf"', '"stele"', "synthetic.entry-invalid", "duobao"),
        ("明月", "明龘", "synthetic.seal-script-missing", "明龘"),
    ],
)
def test_what_cannot_be_drawn_or_asked_is_refused(
    tmp_path: Path, kai, old: str, new: str, problem: str, item: str
):
    with pytest.raises(DataError) as caught:
        build(tmp_path, SHEET.replace(old, new))
    assert (caught.value.id, caught.value.item) == (problem, item)


def test_no_two_equal_characters_come_out_alike(kai):
    brush = WritingBrush(HandSpec(family="TW-Kai", style="Regular", licence="x", sway=0.02), kai)
    signs = [PlacedCharacter("之", 60, 60, 90), PlacedCharacter("之", 180, 60, 90)]
    ink = write_characters(signs, brush, (240, 120), make_generator(1, "twins")).cover
    half = 120 * SCALE
    left, right = ink[:, :half], ink[:, half:]
    assert left.mean() == pytest.approx(right.mean(), rel=0.25)
    assert np.abs(left - right).mean() > 0.1 * left.mean()


def test_a_dry_brush_leaves_streaks(kai):
    brush = WritingBrush(HandSpec(family="TW-Kai", style="Regular", licence="x"), kai)
    covers = [
        write_characters(
            [PlacedCharacter("書", 100, 100, 170, dry=dry)],
            brush,
            (200, 200),
            make_generator(1, "dry"),
        ).cover
        for dry in (0.0, 1.0)
    ]
    assert covers[1].sum() < 0.85 * covers[0].sum()


def test_the_facts_about_works_are_valid():
    for work in load_works().values():
        assert len(strip_punctuation(work.text)) >= 14
        for right, others in (
            (work.title, work.other_titles),
            (work.author, work.other_authors),
            (work.dynasty, work.other_dynasties),
        ):
            assert len({right, *others}) == 1 + len(others)
            assert len(others) in (0, 3)
        for text, least in ((work.introduction, 150), (work.appreciation, 400)):
            assert text == "" or least <= len(text) <= 700, work.id


def test_a_couplet_is_read_from_the_right_strip():
    made = make_mount("couplet", 800, 0.46)
    assert made.hearts[0].x0 > made.hearts[1].x1
