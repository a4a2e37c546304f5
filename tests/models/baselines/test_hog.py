"""Histograms of gradients: what they do not see, and what they earn on real oracle-bone crops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keju.metrics.ranking import accuracy_at, average_precision, rank
from keju.models import ModelOptions, open_model
from keju.models.baselines.vision import gradients
from tests.support.showing import Crops, of_pair, oracle_crops, stored

QUERIES, REFERENCES = 100, 10
"""Of each class."""


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
    known = np.concatenate([each[:REFERENCES] for each in places])
    asked = np.concatenate([each[REFERENCES : REFERENCES + QUERIES] for each in places])
    gallery = np.stack([gradients(crops.pictures[place]) for place in known])
    likeness = np.stack([gradients(crops.pictures[place]) for place in asked]) @ gallery.T
    rankings = [
        rank(list(row), np.flatnonzero(crops.classes[known] == crops.classes[place]).tolist())
        for row, place in zip(likeness, asked, strict=True)
    ]
    accuracy = np.mean([accuracy_at(each, 1) for each in rankings])
    precision = np.mean([average_precision(each) for each in rankings])
    # By chance .10 and .14.
    assert 0.40 <= accuracy <= 0.50
    assert 0.30 <= precision <= 0.36


def test_the_threshold_is_better_than_chance(crops: Crops):
    model = open_model("baseline:hog", ModelOptions())
    tried = [stored(each) for each in crops.pictures[100:140]]
    right = {True: [], False: []}
    for at, one in enumerate(tried):
        for after, other in enumerate(tried[:at]):
            same = bool(crops.classes[100 + at] == crops.classes[100 + after])
            yes = of_pair(model, one, other, "yes-no", "classification") == "Yes"
            right[same].append(yes == same)
    assert (np.mean(right[True]) + np.mean(right[False])) / 2 > 0.55
