"""Short answers and lists of names."""

import pytest

from keju.scoring.short_answer import same_short


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("3", "三"), ("3", "３"), ("三", "3匹"), ("12", "十二"), ("红色", "紅色。"), ("红色", "红 色"),
     ("为", "爲"), ("是", "是"), ("left", "Left"), ("20", "二十"), ("3", "three"),
     ("21", "Twenty-one."), ("one", "1"), ("明", "明代"), ("红色", "红"), ("南昌市", "南昌"),
     ("Tang", "Tang dynasty")],
)  # fmt: skip
def test_answers_that_are_the_same(truth, answer):
    assert same_short(truth, answer)


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("3", "13"), ("红", "不红"), ("三", "三四"), ("红色", "红色、黄色"), ("松树", "松树人"),
     ("3", ""), ("12", "112"), ("是", "不是"), ("1", "1到20之间"),
     ("3", "threefold"), ("2", "two or three"), ("3", "3个错误"), ("3", "三章不是"),
     ("中", "中国"), ("红", "红旗")],
)  # fmt: skip
def test_answers_that_only_contain_the_truth_are_not(truth, answer):
    assert not same_short(truth, answer)


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("12", "1.2"), ("3", "-3"), ("15", "1-5"), ("12", "1/2"), ("35", "3.5"), ("35", "3、5"),
        ("100", "1:00"), ("三字经", "3"), ("三字经", "三字文"),
    ],
)  # fmt: skip
def test_marks_between_digits_make_another_number(truth, answer):
    assert not same_short(truth, answer)


@pytest.mark.parametrize("answer", ["3", "３", "三条船", "3条船", "三", "3.0"])
def test_a_number_equals_itself_with_what_is_counted(answer):
    assert same_short("3", answer)
