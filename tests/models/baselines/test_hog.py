"""Histograms of gradients: what they do not see, and what they earn on real oracle-bone crops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keju.items import Item
from keju.metrics.ranking import accuracy_at, average_precision, rank
from keju.models import ModelOptions, open_model
from keju.models.baselines.hog import Hog, descriptor
from tests.support.showing import Crops, of_pair, oracle_crops, stored

QUERIES, REFERENCES = 100, 10
"""Of each class."""


def naive(grey: np.ndarray) -> np.ndarray:
    """The same descriptor, pixel by pixel and block by block."""
    level = np.sqrt(grey.astype(np.float64) / 255)
    down, across = np.gradient(level)
    cells = np.zeros((grey.shape[0] // 8, grey.shape[1] // 8, 9))
    for row in range(grey.shape[0]):
        for column in range(grey.shape[1]):
            size = np.hypot(down[row, column], across[row, column])
            turn = np.arctan2(down[row, column], across[row, column]) % np.pi / np.pi * 9 - 0.5
            low = int(np.floor(turn))
            cells[row // 8, column // 8, low % 9] += size * (1 - (turn - low))
            cells[row // 8, column // 8, (low + 1) % 9] += size * (turn - low)
    blocks = []
    for row in range(cells.shape[0] - 1):
        for column in range(cells.shape[1] - 1):
            # By direction first, as numpy's windows lie.
            block = cells[row : row + 2, column : column + 2].transpose(2, 0, 1).ravel()
            block = np.minimum(block / np.sqrt((block**2).sum() + 1e-3), 0.2)
            blocks.append(block / np.sqrt((block**2).sum() + 1e-3))
    whole = np.concatenate(blocks)
    return whole / np.linalg.norm(whole)


def test_it_is_the_descriptor_that_loops_give():
    grey = np.random.default_rng(3).integers(0, 256, (24, 32), dtype=np.uint8)
    assert np.allclose(descriptor(grey), naive(grey), atol=1e-5)


def stroke(*, ink: int, ground: int, width: int = 40) -> np.ndarray:
    picture = np.full((40, width), ground, np.uint8)
    picture[18:22, 8 : width - 8] = ink
    return picture


def test_ink_may_be_bright_or_dark():
    model = open_model("baseline:hog", ModelOptions())
    dark = stored(stroke(ink=10, ground=240))
    bright = stored(stroke(ink=245, ground=15))
    across = stored(stroke(ink=245, ground=15).T.copy())
    assert float(of_pair(model, dark, bright, task="classification")) > 0.999
    assert float(of_pair(model, bright, across, task="classification")) < 0.5


def test_a_picture_of_one_pixel_or_one_row_is_no_crash():
    model = open_model("baseline:hog", ModelOptions())
    tiny, row = stored(np.zeros((1, 1), np.uint8)), stored(np.arange(200, dtype=np.uint8)[None])
    assert 0 <= float(of_pair(model, tiny, row, task="classification")) <= 1


@pytest.fixture(scope="module")
def crops(shared: Path) -> Crops:
    return oracle_crops(shared)


def test_a_thousand_real_characters_among_a_hundred_references(crops: Crops):
    """OBI-Bench's classification and retrieval on Oracle-MNIST: docs/baselines.md has the numbers.

    Of each of the ten classes the first ten crops are references, the next hundred are queries.
    """
    places = [np.flatnonzero(crops.classes == each) for each in range(10)]
    hog = Hog(ModelOptions())
    describe = np.stack
    known = np.concatenate([each[:REFERENCES] for each in places])
    asked = np.concatenate([each[REFERENCES : REFERENCES + QUERIES] for each in places])
    gallery = describe([hog.describe(crops.pictures[each]) for each in known])
    likeness = describe([hog.describe(crops.pictures[each]) for each in asked]) @ gallery.T
    rankings = [
        rank(list(row), np.flatnonzero(crops.classes[known] == crops.classes[place]).tolist())
        for row, place in zip(likeness, asked, strict=True)
    ]
    accuracy = np.mean([accuracy_at(each, 1) for each in rankings])
    precision = np.mean([average_precision(each) for each in rankings])
    # By chance .10 and .14.
    assert 0.40 <= accuracy <= 0.50
    assert 0.30 <= precision <= 0.36


def test_the_threshold_learnt_from_labelled_crops_is_better_than_chance(crops: Crops):
    pictures = [stored(each) for each in crops.pictures[:60]]
    bytes_of = {each.ref.sha256: each.data for each in pictures}
    reference = tuple(
        Item(
            id=f"c{at}", benchmark="OBI-Bench", task="classification", images=(each.ref,),
            answer=str(crops.classes[at]), split="reference",
        )
        for at, each in enumerate(pictures)
    )  # fmt: skip
    options = ModelOptions(
        reference=reference, images_of=lambda refs: [bytes_of[ref.sha256] for ref in refs]
    )
    model = open_model("baseline:hog", options)
    assert 0.5 < float(model.identity["threshold"]) < 0.8
    tried = [stored(each) for each in crops.pictures[100:140]]
    right = {True: [], False: []}
    for at, one in enumerate(tried):
        for after, other in enumerate(tried[:at]):
            same = bool(crops.classes[100 + at] == crops.classes[100 + after])
            yes = of_pair(model, one, other, "yes-no", "classification") == "Yes"
            right[same].append(yes == same)
    assert (np.mean(right[True]) + np.mean(right[False])) / 2 > 0.55
