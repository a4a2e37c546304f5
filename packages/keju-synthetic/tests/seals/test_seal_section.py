"""Seals of a recipe: images, legends to read, owners to name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keju.datasets.store import Dataset
from keju.errors import DataError
from keju_synthetic import build_synth
from keju_synthetic.noise import make_generator
from keju_synthetic.seals.carving import SealDesign
from keju_synthetic.seals.impression import press_seal
from keju_synthetic.wear import compute_wear

HEAD = """
format = "keju-synth-1"
name = "small"
version = "1"
licence = "CC0-1.0"
seed = 3
"""

SEAL = """
[[seals]]
id = "tang"
height = 160
cut = { legend = "六如居士", worn = 0.1 }
asks = ["T30", "T31"]
difficulty = 0.2
"""


def build(folder: Path, text: str) -> Dataset:
    recipe = folder / "small.toml"
    recipe.write_text(HEAD + text, "utf-8")
    build_synth(recipe, folder / "out")
    return Dataset.open(folder / "out")


def test_a_seal_is_read_and_ascribed(tmp_path: Path):
    reading, owner = build(tmp_path, SEAL).items()
    assert (reading.id, reading.task, reading.answer) == ("tang-t30", "T30", "六如居士")
    assert reading.answer_simplified == "六如居士"
    (line,) = reading.lines
    assert (line.kind, line.text) == ("seal", "六如居士")
    assert owner.options["ABCD".index(owner.answer)] == "唐寅"
    assert len(set(owner.options)) == 4
    assert owner.metadata["style"] == "朱文"


def test_the_right_owners_are_spread_over_the_letters(tmp_path: Path):
    legends = ("六如居士", "八大山人", "天籟閣", "宣和")
    text = "".join(
        SEAL.replace('"tang"', f'"seal-{number}"').replace("六如居士", legend)
        for number, legend in enumerate(legends)
    )
    answers = [item.answer for item in build(tmp_path, text).items() if item.task == "T31"]
    assert sorted(answers) == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("六如居士", "長樂", "synthetic.seal-without-owner"),
        ('"T31"', '"T32"', "synthetic.task-not-about-seals"),
        ("cut = {", "cut = { ink = 1,", "synthetic.entry-invalid"),
    ],
)
def test_a_seal_that_cannot_be_asked_about_is_refused(
    tmp_path: Path, old: str, new: str, problem: str
):
    with pytest.raises(DataError) as caught:
        build(tmp_path, SEAL.replace(old, new))
    assert (caught.value.id, caught.value.item) == (problem, "tang")


def test_the_outline_lies_around_the_paste():
    wear = compute_wear(0.1, {"foxing": 0.0, "stains": 0.0}, item="x")
    made = press_seal(
        SealDesign(legend="八大山人", style="baiwen", worn=0),
        height=200,
        ground="paper",
        wear=wear,
        rng=make_generator(5, "outline"),
    )
    pixels = np.asarray(made.image, dtype=float)
    red = pixels[..., 0] - pixels[..., 2] > 80
    rows, columns = np.nonzero(red)
    xs, ys = [x for x, _ in made.outline], [y for _, y in made.outline]
    assert red.mean() > 0.2
    assert min(xs) - 4 < columns.min() < min(xs) + 8
    assert max(xs) - 8 < columns.max() < max(xs) + 4
    assert min(ys) - 4 < rows.min() < min(ys) + 8
    assert max(ys) - 8 < rows.max() < max(ys) + 4
