"""Recognition error and layout error are the two parts of CER, whatever the line breaks."""

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import (
    UndefinedMetricError,
    bag_distance,
    character_error_rate,
    distance,
    error_parts,
)

COLUMNS = [
    "天地玄黄宇宙洪荒", "日月盈昃辰宿列張", "寒來暑往秋收冬藏", "閏餘成歲律吕調陽",
    "雲騰致雨露結為霜", "金生麗水玉出崑岡",
]  # fmt: skip
ROWS = ["".join(column[row] for column in COLUMNS) for row in range(8)]

TEXT = st.text(alphabet="天地玄黄", max_size=40)
SOME = st.text(alphabet="天地玄黄", min_size=1, max_size=40)


def test_a_perfect_reading_in_rows_has_no_recognition_error():
    parts = error_parts("".join(COLUMNS), "".join(ROWS))
    assert (parts.recognition, parts.expected) == (0, 48)
    assert parts.layout_error == character_error_rate("".join(COLUMNS), "".join(ROWS)) > 0.8


def test_wrong_missing_and_added_characters_are_recognition_error():
    assert error_parts("天地玄黄", "天地甲乙") == (2, 0, 4)
    assert error_parts("天地玄黄", "天地") == (2, 0, 4)
    assert error_parts("天地", "天地玄黄") == (2, 0, 2)
    assert error_parts("天地玄黄", "黄玄甲天") == (1, 3, 4)


def test_an_empty_answer_is_recognition_error_alone():
    assert error_parts("天地", "") == (2, 0, 2)
    assert error_parts("天地", "之" * 500) == (500, 0, 2)


def test_an_empty_reference_has_no_rate():
    with pytest.raises(UndefinedMetricError):
        error_parts("", "天")


@given(SOME, TEXT)
def test_both_parts_are_at_least_zero_and_sum_to_the_edit_distance(reference, hypothesis):
    parts = error_parts(reference, hypothesis)
    assert 0 <= parts.recognition_error <= character_error_rate(reference, hypothesis)
    assert parts.layout >= 0
    assert parts.recognition + parts.layout == distance(reference, hypothesis)


@given(SOME, TEXT, st.randoms(use_true_random=False))
def test_no_order_of_either_side_changes_recognition(reference, hypothesis, draw):
    shuffled = ["".join(draw.sample(text, len(text))) for text in (reference, hypothesis)]
    assert bag_distance(*shuffled) == bag_distance(reference, hypothesis)


@given(st.text(alphabet="天地玄", max_size=5), st.text(alphabet="天地玄", max_size=5))
def test_it_is_the_smallest_edit_distance_over_all_orders(reference, hypothesis):
    orders = {"".join(order) for order in permutations(hypothesis)}
    assert bag_distance(reference, hypothesis) == min(distance(reference, each) for each in orders)


def test_it_takes_any_sequence():
    draw = random.Random(1)
    words = ["天地", "玄黃", "宇宙"]
    assert bag_distance(words, draw.sample(words, 3)) == 0
    assert bag_distance([1, 2, 2], (2, 1, 3)) == 1
