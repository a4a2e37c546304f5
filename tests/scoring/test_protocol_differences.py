"""Where the two protocols part: by how much, on which items, and why."""

import pytest

from keju.scoring import list_task_differences, score_answer, scores_frame


def parted(make, *pairs, most=3):
    scores = []
    for number, (task, answer, text, fields) in enumerate(pairs):
        item, response = make(task, answer, text, name=f"i{number}", **fields)
        scores += score_answer(item, response)
    return list_task_differences(scores_frame(list(scores)), most=most)


OPTIONS = {"options": ("唐代", "宋代", "元代")}


def test_letters_in_chatter_earn_only_officially_and_the_difference_says_why(make):
    (found,) = parted(
        make, ("T5", "B", "ABC", OPTIONS), ("T5", "B", "B", OPTIONS), ("T5", "B", "Ｂ", OPTIONS)
    )
    assert (found.official, found.strict) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert found.strict_if_right == 1
    assert (found.difference_least, found.difference_most) == (0, pytest.approx(1 / 3))
    assert (found.apart, found.apart_most, found.items) == (1, 2, 3)
    assert [each.id for each in found.largest] == ["i2", "i0"]
    assert (found.largest[1].strict, found.largest[1].strict_if_right) == (0, 1)
    assert found.largest[1].why == (
        "unparsable; official finds the answer inside the response; strict takes no answer "
        "(the response commits itself to no value)"
    )
    assert found.largest[0].why.startswith("official does not find the answer as it is written")
    assert [step.step for step in found.steps] == [
        "what is taken of the response", "how texts are prepared", "what is counted",
    ]  # fmt: skip


def test_an_unclear_answer_with_nothing_to_count_has_no_range(make):
    (found,) = parted(make, ("T4", "、", "可能有，也可能没有", {}))
    (item,) = found.largest
    assert (item.official, item.strict, item.strict_if_right) == (0, 1, 1)
    assert (item.difference_least, item.difference_most) == (1, 1)


def test_no_more_items_are_named_than_wanted_and_only_those_apart(make):
    pairs = [("T5", "B", "ABC", OPTIONS)] * 4
    assert len(parted(make, *pairs, most=2)[0].largest) == 2
    assert parted(make, *pairs, most=0)[0].largest == ()
    assert parted(make, ("T5", "B", "B", OPTIONS))[0].largest == ()


def test_characters_too_many_cost_official_cr_nothing(make):
    (found,) = parted(make, ("T1", "天地玄黄", "天地玄黄宇宙", {}))
    (item,) = found.largest
    assert (item.official, item.strict) == (1, 0.5)
    assert "superfluous characters, which cost official CR nothing: 2" in item.why


def test_reasoning_counts_officially_alone(make):
    (found,) = parted(make, ("T1", "天地玄黄", "<think>天地玄黄</think>\n宇宙", {}))
    assert (found.difference_least, found.difference_most) == (-1, -1)
    assert "strict edits: 4 of 4 characters" in found.largest[0].why


def test_errors_are_turned_round_for_the_difference_alone(make):
    (found,) = parted(make, ("page_level_ocr", "天地，玄黄。", "天地玄黄", {}))
    assert (found.official_metric, found.official) == ("CER", pytest.approx(2 / 6))
    assert found.strict == 1
    assert found.difference_least == found.difference_most == pytest.approx(2 / 6)
    why = "official edits: 2 of 6 characters; strict edits: 0 of 4 characters"
    assert why in found.largest[0].why


def test_other_script_is_an_edit_for_ancientdoc_alone(make):
    (found,) = parted(make, ("page_level_ocr", "學而時習", "学而时习", {}))
    assert found.difference_least == pytest.approx(0.75)
    assert "edits by variants or other script: 3 of 3" in found.largest[0].why


def test_repeated_marks_count_officially(make):
    (found,) = parted(make, ("T3", "之，乎者也", "之，" * 50, {}))
    assert "official counts repeats: recall 5,000" in found.largest[0].why


def test_where_the_main_metric_has_no_value_the_first_that_has_stands_in(make):
    (found,) = parted(make, ("T6", "学而时习之", "学而时习", {}))
    assert (found.official_metric, found.strict_metric) == ("ANLS", "chrF")


def test_a_task_without_a_value_under_both_is_left_out(make):
    scores = score_answer(*make("T5", "B", "B", **OPTIONS), ("strict",))
    assert list_task_differences(scores_frame(scores)) == []
