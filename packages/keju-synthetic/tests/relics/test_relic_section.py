"""Relics of a recipe: built from data, lit, labelled, and asked about in five tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from keju.datasets.store import Dataset
from keju.errors import DataError, PrerequisiteError
from keju_synthetic import build_synth
from keju_synthetic.fonts import find_font
from keju_synthetic.noise import make_generator
from keju_synthetic.page_layout import Rect
from keju_synthetic.relics.materials import shade_surface
from keju_synthetic.relics.ornaments import PATTERNS
from keju_synthetic.relics.relic_section import load_relics
from keju_synthetic.relics.shapes import Frame, build_surface, list_letters, load_shapes
from keju_synthetic.relics.solids import Surface
from keju_synthetic.seals.seal_script import load_seal_script

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

DING = """
[[relics]]
id = "ding"
relic = "dake"
hand = "kai"
asks = ["T33", "T34", "T35", "T36"]
height = 200
labelled = true
"""


@pytest.fixture(scope="module")
def kai():
    try:
        return find_font("TW-Kai", "Regular", "OGDL-Taiwan-1.0")
    except PrerequisiteError as reason:
        pytest.skip(str(reason))


def make(folder: Path, text: str) -> Dataset:
    recipe = folder / "small.toml"
    recipe.write_text(HEAD + text, "utf-8")
    build_synth(recipe, folder / "out")
    return Dataset.open(folder / "out")


def test_a_relic_is_dated_placed_told_about_and_classed(tmp_path: Path, kai):
    items = {item.task: item for item in make(tmp_path, DING).items()}
    right = {
        task: item.options["ABCD".index(item.answer)]
        for task, item in items.items()
        if item.options
    }
    assert right == {"T33": "西周", "T34": "上海博物馆", "T36": "青铜器"}
    assert items["T35"].answer.startswith("这件文物名为大克鼎")
    assert items["T35"].transcription == "大克鼎"
    assert {item.metadata["labelled"] for item in items.values()} == {"yes"}


def test_a_label_changes_its_corner_and_nothing_else(tmp_path: Path, kai):
    pictures = []
    for name, text in (("with", DING), ("without", DING.replace("labelled = true", ""))):
        (tmp_path / name).mkdir()
        dataset = make(tmp_path / name, text)
        path = next(iter(dataset.items())).images[0].path
        pictures.append(Image.open(tmp_path / name / "out" / path).convert("L"))
    labelled, bare = (np.asarray(picture, dtype=float) for picture in pictures)
    corner = labelled[-45:, -60:]
    assert corner.max() > 215
    assert bare[-45:, -60:].max() < 215


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('relic = "dake"', 'relic = "lost"', "errors.unknown-name"),
        ('"T33"', '"T32"', "synthetic.label-gives-name"),
        ('"T33"', '"T1"', "synthetic.relic-without-data"),
        ('relic = "dake"', 'relic = "wuzhu"', "synthetic.relic-without-data"),
        ('hand = "kai"', 'hand = "lost"', "errors.unknown-name"),
    ],
)
def test_what_cannot_be_shown_or_asked_is_refused(
    tmp_path: Path, kai, old: str, new: str, problem: str
):
    with pytest.raises(DataError) as caught:
        make(tmp_path, DING.replace(old, new))
    assert (caught.value.id, caught.value.item) == (problem, "ding")


@pytest.mark.parametrize("name", sorted(load_shapes()))
def test_every_shape_stands_within_its_frame(name: str, kai):
    shape = load_shapes()[name]
    high = 90
    wide = round(high * shape.aspect)
    surface = Surface(wide + 40, high + 60)
    build_surface(surface, shape, Frame((wide + 40) / 2, high + 30, high), kai)
    rows, columns = np.nonzero(surface.cover)
    assert rows.min() > 1
    assert rows.max() <= high + 45
    assert columns.min() >= 8
    assert columns.max() <= wide + 32
    assert columns.max() - columns.min() > 0.6 * wide
    page = shade_surface(surface, shape.material, make_generator(1, name), scale=0.3)
    lit = page[surface.cover > 0]
    assert np.isfinite(page).all()
    assert lit.std() > 0.05, "light and shade"
    for letter in (letter for part in shape.parts for letter in part.letters):
        assert letter.script == "regular" or letter.sign in load_seal_script()
    assert "明" in list_letters(load_shapes()["meiping"])


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_an_ornament_keeps_to_its_band(name: str):
    mask = Image.new("L", (400, 200), 0)
    PATTERNS[name](mask, Rect(0, 60, 400, 140), 4)
    values = np.asarray(mask)
    assert values[60:140].max() > 0
    assert (values[:40] > 0).mean() < 0.02
    assert (values[160:] > 0).mean() < 0.02


def test_the_facts_about_relics_are_valid():
    for relic in load_relics().values():
        for right, others in (
            (relic.name, relic.other_names),
            (relic.kind, relic.other_kinds),
            (relic.period, relic.other_periods),
            (relic.collection, relic.other_collections),
        ):
            assert len(others) == (3 if right else 0), relic.id
            assert len({right, *others}) == 1 + len(others), relic.id
        assert 90 <= len(relic.introduction) <= 200, (relic.id, len(relic.introduction))
