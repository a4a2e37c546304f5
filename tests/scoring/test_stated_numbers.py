"""A number is taken where a text states one, and nowhere else."""

from __future__ import annotations

import json
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import relative_error
from keju.scoring.stated_numbers import find_count, find_probability
from tests.support.hanging import ends

COUNTS = [
    ("12", 12, "whole"),
    ("１２", 12, "whole"),
    ("**12**", 12, "whole"),
    ("1,234", 1234, "whole"),
    ("12万", 120_000, "whole"),
    ("十二", 12, "whole"),
    ("廿三", 23, "whole"),
    ("貳拾叁", 23, "whole"),
    ("一百〇五", 105, "whole"),
    ("两个。", 2, "whole"),
    ("one", 1, "whole"),
    ("a hundred and five", 105, "whole"),
    ("Twenty-one", 21, "whole"),
    ("three hundred", 300, "whole"),
    ("The answer is \\boxed{21}.", 21, "answer phrase"),
    ("**Answer:** 12 characters in 3 columns", 12, "answer phrase"),
    ("左边3个，右边4个，答案：七", 7, "answer phrase"),
    ("这是一幅甲骨文拓片，共有12个字，分3行。", 12, "total"),
    ("5 on the left and 7 on the right, 12 in total.", 12, "total"),
    ("1. 日\n2. 月\nTotal: 2", 2, "total"),
    ("The number of oracle bone characters in the image is 14.", 14, "total"),
    ("There are twelve oracle bone characters in this image.", 12, "statement"),
    ("There are about 30 characters", 30, "statement"),
    ("图中有十二个甲骨文字", 12, "statement"),
    ("There are 5 characters in the image: 1. 王 2. 子", 5, "statement"),
    ("In Figure 1 there are 12 characters.", 12, "statement"),
    ("There is one character", 1, "statement"),
    ("第3行可见5个字", 5, "only"),
    ("This one, from 1200 BC, has 12 characters", 12, "only"),
    ("12 characters. Yes, twelve", 12, "only"),
]

NO_COUNTS = [
    "",
    "。",
    "No one can tell",
    "一般认为无法辨认，十分模糊，有一定的难度，千万不要猜",
    "12 or 13",
    "10-15",
    "there are 10 to 15 characters",
    "共有10至15个",
    "The answer is 10 or 12",
    "答案是3，答案是4",
    "There are 5 on the left and 7 on the right",
    "There are 10 characters, arranged in 3 columns.",
    "1,2,3",
    "5/6",
    "2024-05-06",
    "at least 30",
    "There are 8+ characters",
    "图中大约有三十多个字",
    "十几个字",
    "两三个字",
    "-3",
    "3.5",
    "1e3",
    "80%",
    "H2O",
    "12px",
    "第三",
    "3rd",
    "9" * 5000,
    "亿" * 5000,
]

CHANCES = [
    ("0.8", 0.8, "whole"),
    (".8", 0.8, "whole"),
    ("80%", 0.8, "whole"),
    ("８０％", 0.8, "whole"),
    ("80 percent", 0.8, "whole"),
    ("百分之八十", 0.8, "whole"),
    ("8/10", 0.8, "whole"),
    ("十分之八", 0.8, "whole"),
    ("The probability is 8 out of 10.", 0.8, "statement"),
    ("百分之八十五点五", 0.855, "whole"),
    ("零点八", 0.8, "whole"),
    ("1", 1.0, "whole"),
    ("0", 0.0, "whole"),
    ("The probability is 0.8.", 0.8, "statement"),
    ("可能性约为百分之六十", 0.6, "statement"),
    ("I am 80% confident. Probability: 0.05", 0.05, "statement"),
    ("There is a 20% chance", 0.2, "statement"),
    ("Maybe 0.3 or 0.4. Answer: 0.3", 0.3, "answer phrase"),
    ("Of the 2 images, on a scale from 0 to 1: 0.8", 0.8, "only"),
    ("0.75, that is 75%", 0.75, "only"),
]

NO_CHANCES = [
    "",
    "80",
    "1.5",
    "150%",
    "-0.5",
    "probability of 80",
    "12/10",
    "8 out of 0",
    "eight out of ten",
    "over 80%",
    "0.6-0.8",
    "The probability is 0.6 to 0.8",
    "The probability is 0.3 for shape and 0.8 for texture",
    "between 0.6 and 0.8",
    "low",
    "nan",
    "1e-3",
    "v0.8.1",
]


@pytest.mark.parametrize(("text", "value", "rule"), COUNTS)
def test_a_count_is_read(text, value, rule):
    stated = find_count(text)
    assert stated is not None
    assert (stated.value, stated.rule) == (value, rule)


@pytest.mark.parametrize("text", NO_COUNTS)
def test_no_count_is_guessed(text):
    assert find_count(text) is None


@pytest.mark.parametrize(("text", "value", "rule"), CHANCES)
def test_a_probability_is_read(text, value, rule):
    stated = find_probability(text)
    assert stated is not None
    assert (stated.value, stated.rule) == (pytest.approx(value), rule)


@pytest.mark.parametrize("text", NO_CHANCES)
def test_no_probability_is_guessed(text):
    assert find_probability(text) is None


def test_what_was_taken_is_quoted_with_its_place():
    text = "图中　共有１２个字"
    stated = find_count(text)
    assert stated is not None
    assert text[stated.start :].startswith("１２")
    assert stated.text == "１２"


@given(st.integers(0, 10**9))
def test_every_whole_number_alone_is_itself(number):
    for text in (str(number), f"{number:,}", f"There are {number} characters."):
        stated = find_count(text)
        assert stated is not None
        assert stated.value == number


@given(st.text(alphabet="0123456789.,-%/一二十百几个有共 \nanswerisoboxed{}零点分之", max_size=40))
def test_any_text_gives_a_count_and_a_probability_in_range_or_none(text):
    count, chance = find_count(text), find_probability(text)
    assert count is None or (count.value >= 0 and count.value == int(count.value))
    assert chance is None or 0 <= chance.value <= 1
    for stated in (count, chance):
        assert stated is None or text[stated.start :].startswith(stated.text)


@pytest.mark.parametrize("unit", ["几", "十", "12 ", "12,", "1.", "score is ", "total of one "])
def test_a_long_loop_is_read(unit):
    text = unit * (100_000 // len(unit))
    ends(lambda: (find_count(text), find_probability(text)))


def test_golden_counts_are_equal(shared):
    golden = json.loads((shared / "golden/obi_public.json").read_text())
    cases = golden["how"]
    errors = [relative_error(case["truth"], case["pred"]) for case in cases]
    stated = [case["rel_error"] for case in cases]
    assert errors == pytest.approx(stated, abs=1e-12)
    assert statistics.fmean(errors) == pytest.approx(golden["mre"], abs=1e-12)
