"""Counts and probabilities are read after the reasoning."""

import pytest

from keju.scoring import extract_count, extract_probability
from keju.scoring.numeric_answer import LONGEST, extract_final_probability


def test_a_count_is_taken_after_the_reasoning_with_its_rule_and_place():
    found = extract_count("<think>maybe 7 or 9</think>There are 12 characters in total.")
    assert (found.answer, found.rule) == ("12", "total")
    assert "are 12 char" in found.source


def test_chinese_numerals_and_json_are_read():
    assert extract_count("共二十三个字").answer == "23"
    assert extract_count('```json\n{"count": 5}\n```').answer == "5"


def test_no_number_or_several_is_unparsable():
    for text in ("", "many", "10-15 characters", "<think>12", "5 " * LONGEST):
        assert extract_count(text).answer is None


def test_a_probability_is_a_fraction():
    assert extract_probability("The probability is 80%.").answer == "0.8"
    assert extract_probability("80").answer is None


@pytest.mark.parametrize(
    ("text", "first", "final"),
    [
        ("初步估计为0.6，最终修正为0.25。", None, "0.25"),
        ("概率：0.8。不对，应该是0.3。", "0.8", "0.3"),
        ("The probability is 80%.", "0.8", "0.8"),
    ],
)
def test_a_corrected_probability_is_taken_where_it_is_final(text, first, final):
    assert extract_probability(text).answer == first
    assert extract_final_probability(text).answer == final


def test_the_probability_of_the_last_sentence_that_has_one_decides():
    text = "One might say 0.5 from the outlines. My estimate is 0.7/1. They are 5 cm and 3 cm wide."
    assert extract_final_probability(text).answer == "0.7"
    assert extract_final_probability("百分之85左右。").answer == "0.85"
    assert extract_final_probability("The first pair: 0.3. Between 0.4 and 0.6.").answer is None
