"""What baselines of two pictures share: forms, tasks, descriptions that are kept."""

from __future__ import annotations

import numpy as np
import pytest

from keju.errors import DataError
from keju.items import Request
from keju.models import ModelOptions, open_model
from keju.models.baselines.vision import PairBaseline
from keju.outlines import Grey
from tests.support.showing import of_pair, pair, said, stored

DARK, GREY, LIGHT = (stored(np.full((4, 4), level, np.uint8)) for level in (0, 100, 250))


class Brightness(PairBaseline):
    """Alike are pictures of like brightness."""

    def __init__(self) -> None:
        self.described = 0
        super().__init__("brightness", "classes", 0.5, self.describe, self.compare)

    def describe(self, grey: Grey) -> float:
        self.described += 1
        return float(grey.mean())

    def compare(self, one: float, other: float) -> float:
        return 1 - abs(one - other) / 255


def test_a_probability_or_a_word_by_the_threshold():
    model = Brightness()
    assert of_pair(model, DARK, GREY, task="classification") == f"{1 - 100 / 255:.6f}"
    assert of_pair(model, DARK, GREY, "yes-no", "classification") == "Yes"
    assert of_pair(model, DARK, LIGHT, "yes-no", "classification") == "No"


def test_a_picture_is_described_once_and_not_read_again():
    model = Brightness()
    of_pair(model, DARK, GREY, task="classification")
    assert said(model, pair(DARK, GREY), ()) == f"{1 - 100 / 255:.6f}"
    assert model.described == 2


def test_only_pairs_of_its_tasks_are_its_affair():
    model = Brightness()
    assert "pictures of classification" in model.unsupported_reason(
        pair(DARK, GREY, task="rejoining")
    )
    single = Request(
        item="x", benchmark="OBI-Bench", task="recognition", form="yes-no", prompt="?",
        images=(DARK.ref,),
    )  # fmt: skip
    assert model.unsupported_reason(single) == "baseline:brightness compares two pictures"


def test_a_picture_that_cannot_be_read_is_an_answerless_request():
    with pytest.raises(DataError, match="q, image 2: "):
        said(Brightness(), pair(DARK, LIGHT), (DARK.data, LIGHT.data[:40]))


def test_two_pictures_of_nothing_are_opened_by_name():
    model = open_model("baseline:hog", ModelOptions())
    assert of_pair(model, DARK, LIGHT, task="retrieval") == "0.000000"
