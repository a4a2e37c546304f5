"""What baselines of two pictures share: forms, tasks, a window of descriptors, a threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.items import ImageRef, Item, Request
from keju.models import AskError, ModelOptions, open_model
from keju.models.baselines.pairs import PairBaseline, best_threshold
from keju.models.request_pixels import Grey
from tests.support.showing import Stored, of_pair, pair, said, stored

DARK, GREY, LIGHT = (stored(np.full((4, 4), level, np.uint8)) for level in (0, 100, 250))


class Brightness(PairBaseline[float]):
    """Alike are pictures of like brightness."""

    def __init__(self, options: ModelOptions, pairs_kept: int = 0) -> None:
        self.described = 0
        super().__init__(
            "brightness",
            options,
            candidates="classes",
            threshold=0.5,
            pairs_kept=pairs_kept,
        )

    def describe(self, grey: Grey) -> float:
        self.described += 1
        return float(grey.mean())

    def compare(self, one: float, other: float) -> float:
        return 1 - abs(one - other) / 255


def test_a_probability_or_a_word_by_the_threshold():
    model = Brightness(ModelOptions())
    assert of_pair(model, DARK, GREY, task="classification") == f"{1 - 100 / 255:.6f}"
    assert of_pair(model, DARK, GREY, "yes-no", "classification") == "Yes"
    assert of_pair(model, DARK, LIGHT, "yes-no", "classification") == "No"


def test_a_picture_is_described_once_and_not_read_again():
    model = Brightness(ModelOptions())
    of_pair(model, DARK, GREY, task="classification")
    assert said(model, pair(DARK, GREY), ()) == f"{1 - 100 / 255:.6f}"
    assert model.described == 2


def test_a_pair_is_compared_once_from_both_sides_where_that_takes_time():
    class Slow(Brightness):
        compared = 0

        def compare(self, one: float, other: float) -> float:
            self.compared += 1
            return super().compare(one, other)

    for kept, times in ((0, 3), (9, 1)):
        model = Slow(ModelOptions(), pairs_kept=kept)
        of_pair(model, DARK, GREY, task="classification")
        of_pair(model, GREY, DARK, task="classification")
        of_pair(model, GREY, DARK, "yes-no", "classification")
        assert model.compared == times


def test_only_pairs_of_its_tasks_are_its_affair():
    model = Brightness(ModelOptions())
    assert "pictures of classification" in model.unsupported_reason(
        pair(DARK, GREY, task="rejoining")
    )
    single = Request(
        item="x", benchmark="OBI-Bench", task="recognition", form="yes-no", prompt="?",
        images=(DARK.ref,),
    )  # fmt: skip
    assert model.unsupported_reason(single) == "baseline:brightness compares two pictures"


def test_a_picture_that_cannot_be_read_is_an_answerless_request():
    with pytest.raises(AskError, match="q, image 2: ") as caught:
        said(Brightness(ModelOptions()), pair(DARK, LIGHT), (DARK.data, LIGHT.data[:40]))
    assert caught.value.kind == "unreadable-image"


def lent(items: Sequence[Item], *pictures: Stored) -> ModelOptions:
    bytes_of = {each.ref.sha256: each.data for each in pictures}

    def images_of(refs: Sequence[ImageRef]) -> list[bytes]:
        return [bytes_of[ref.sha256] for ref in refs]

    return ModelOptions(reference=tuple(items), images_of=images_of)


def reference(name: str, *pictures: Stored, **fields: object) -> Item:
    return Item(
        id=name, benchmark="OBI-Bench", task="classification", query="How", split="reference",
        images=tuple(each.ref for each in pictures), **fields,
    )  # fmt: skip


def test_the_threshold_is_learnt_from_the_pairs_of_the_reference_split():
    options = lent([reference("r", DARK, GREY, LIGHT, relevant=(1,))], DARK, GREY, LIGHT)
    model = Brightness(options)
    between = (1 - 100 / 255 + 1 - 250 / 255) / 2
    assert model.identity["threshold"] == f"{between:.6f}"
    assert "reference" in model.identity
    assert "reference" not in Brightness(ModelOptions()).identity


def test_the_threshold_is_learnt_from_labelled_crops():
    crops = [reference(f"c{at}", each, answer="月" if at < 2 else "日")
             for at, each in enumerate((DARK, GREY, LIGHT))]  # fmt: skip
    model = Brightness(lent(crops, DARK, GREY, LIGHT))
    # 月 with 月 is .61 alike, 月 with 日 .41 and .02.
    assert model.identity["threshold"] == f"{(1 - 100 / 255 + 1 - 150 / 255) / 2:.6f}"


def test_a_plan_reads_no_picture():
    def never(refs: object) -> Sequence[bytes]:
        raise AssertionError

    items = (reference("r", DARK, GREY, LIGHT, relevant=(1,)),)
    model = Brightness(ModelOptions(reference=items, images_of=never, asking=False))
    assert model.identity["threshold"] == "0.500000"


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=8),
    st.lists(st.integers(0, 12), min_size=1, max_size=8),
)
def test_no_threshold_has_a_greater_balanced_accuracy(same: list[int], other: list[int]):
    def balanced(cut: float) -> float:
        kept = sum(value >= cut for value in same) / len(same)
        return kept + sum(value < cut for value in other) / len(other)

    found = best_threshold(np.array(same, float), np.array(other, float))
    # Between the lowest and the next there may be no gap to stand in: all is kept there.
    assert balanced(found) >= max(balanced(step / 2) for step in range(26)) - 1e-9


def test_two_pictures_of_nothing_are_opened_by_name():
    model = open_model("baseline:hog", ModelOptions())
    assert of_pair(model, DARK, LIGHT, task="retrieval") == "0.000000"
