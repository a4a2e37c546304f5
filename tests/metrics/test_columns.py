"""Order-free CER forgives the order of columns and nothing else."""

import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.metrics import UndefinedMetricError, distance, order_free_cer

COLUMNS = [
    "天地玄黄宇宙洪荒",
    "日月盈昃辰宿列张",
    "寒来暑往秋收冬藏",
    "闰余成岁律吕调阳",
    "云腾致雨",
]
TEXTS = st.lists(st.text(alphabet="天地玄黄宇宙", max_size=7), max_size=5)


def shuffled(seed):
    columns = COLUMNS[:]
    random.Random(seed).shuffle(columns)
    return columns


@pytest.mark.parametrize("seed", range(5))
def test_a_perfect_page_in_any_order_has_no_error(seed):
    assert order_free_cer(COLUMNS, shuffled(seed)).rate == 0


@pytest.mark.parametrize("seed", range(5))
def test_columns_may_be_run_together(seed):
    assert order_free_cer(COLUMNS, ["".join(shuffled(seed))]).rate == 0


def test_columns_may_be_split_as_long_as_their_parts_follow_each_other():
    parts = [part for column in shuffled(1) for part in (column[:3], column[3:])]
    assert order_free_cer(COLUMNS, parts).rate == 0


def test_misread_characters_still_cost_one_each():
    read = [column.replace("天", "夫").replace("月", "日") for column in shuffled(2)]
    assert order_free_cer(COLUMNS, ["".join(read)]).edits == 2


def test_a_lost_first_character_costs_one():
    read = [column[1:] for column in shuffled(3)]
    assert order_free_cer(COLUMNS, ["".join(read)]).edits == len(COLUMNS)


def test_a_column_read_twice_is_inserted_once():
    assert order_free_cer(COLUMNS, [*shuffled(4), COLUMNS[0]]).edits == len(COLUMNS[0])


def test_a_lost_column_is_deleted():
    assert order_free_cer(COLUMNS, shuffled(0)[1:]).edits == len(shuffled(0)[0])


def test_the_truth_three_times_over_earns_no_more_than_twice_too_much():
    assert order_free_cer(COLUMNS, COLUMNS * 3).rate == 2


def test_characters_in_reverse_stay_wrong():
    assert order_free_cer(COLUMNS, ["".join(COLUMNS)[::-1]]).rate > 0.8


def test_a_dictionary_of_all_the_characters_is_no_reading():
    pages = sorted(set("".join(COLUMNS))) + [chr(code) for code in range(0x5000, 0x5100)]
    assert order_free_cer(COLUMNS, ["".join(pages)]).rate > 1


@pytest.mark.parametrize("seed", range(5))
def test_a_reference_without_line_breaks_is_cut_to_fit_the_lines_that_were_read(seed):
    assert order_free_cer(["".join(COLUMNS)], shuffled(seed)).rate == 0


def test_lines_need_not_begin_where_the_references_lines_begin():
    whole = "".join(COLUMNS)
    read = [whole[start : start + 7] for start in range(0, len(whole), 7)]
    assert order_free_cer(COLUMNS, read[::-1]).rate == 0


def test_characters_each_on_a_line_of_their_own_are_not_put_in_order():
    assert order_free_cer(["".join(COLUMNS)], list("".join(COLUMNS)[::-1])).rate > 0.8


@pytest.mark.parametrize(
    "read",
    [["天" * 400_000] + ["地玄黄宇宙"] * 500, ["天地玄黄宇"] * 100_000, ["天地" * 300_000]],
)
def test_a_runaway_answer_costs_no_more_time_than_a_plain_comparison(read):
    start = time.process_time()
    assert order_free_cer(COLUMNS, read).rate > 1
    assert time.process_time() - start < 4


def test_an_empty_reading_deletes_everything():
    assert order_free_cer(COLUMNS, []).rate == 1


def test_without_a_reference_there_is_no_rate():
    with pytest.raises(UndefinedMetricError):
        order_free_cer(["", ""], ["天"])


@settings(max_examples=150)
@given(TEXTS.filter(any), TEXTS)
def test_it_lies_between_the_bag_of_characters_and_the_plain_distance(reference, hypothesis):
    left, right = "".join(reference), "".join(hypothesis)
    shared = (Counter(left) & Counter(right)).total()
    found = order_free_cer(reference, hypothesis)
    assert max(len(left), len(right)) - shared <= found.edits <= distance(left, right)
    assert found.expected == len(left)


@settings(max_examples=100)
@given(TEXTS.filter(any), st.randoms(use_true_random=False))
def test_any_page_in_any_order_has_no_error(reference, shuffle):
    columns = reference[:]
    shuffle.shuffle(columns)
    assert order_free_cer(reference, columns).edits == 0
