"""Short answers and lists of names."""

import pytest

from keju.scoring import extract_entities, extract_short
from keju.scoring.short import entity_set, same_short


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("3", "三"), ("3", "３"), ("三", "3匹"), ("12", "十二"), ("红色", "紅色。"), ("红色", "红 色"),
     ("为", "爲"), ("是", "是"), ("left", "Left"), ("20", "二十"), ("3", "three"),
     ("21", "Twenty-one."), ("one", "1")],
)  # fmt: skip
def test_answers_that_are_the_same(truth, answer):
    assert same_short(truth, answer)


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("3", "13"), ("红", "不红"), ("三", "三四"), ("红色", "红色、黄色"), ("松树", "松树人"),
     ("3", ""), ("12", "112"), ("是", "不是"), ("1", "1到20之间"),
     ("3", "threefold"), ("2", "two or three")],
)  # fmt: skip
def test_answers_that_only_contain_the_truth_are_not(truth, answer):
    assert not same_short(truth, answer)


def test_a_short_answer_stands_alone_or_after_a_phrase():
    assert extract_short("红色。").answer == "红色"
    assert extract_short("经观察，答案是：红色。").answer == "红色"
    assert extract_short('{"answer": "红色"}').answer == "红色"
    assert extract_short("<think>黄？</think>红色").answer == "红色"
    assert extract_short("图中是红色").answer == "红色"
    assert extract_short("  ").answer is None
    assert extract_short("<think>黄").answer is None


@pytest.mark.parametrize(
    "listed",
    ["孔子、颜回", "孔子，颜回。", "孔子;颜回", "孔子；颜回", "孔子\n颜回", "1. 孔子\n2. 颜回",
     "孔子 颜回", "《孔子》、《颜回》", "人名：孔子、颜回", "- 孔子\n- 颜回", '["孔子", "颜回"]',
     "颜回、孔子、颜回", "孔子 、 顏回", "<think>子路</think>孔子、颜回"],
)  # fmt: skip
def test_names_are_found_with_any_separator(listed):
    names = extract_entities(listed)
    assert entity_set(names.answer) == entity_set("孔子、颜回")


def test_no_names_is_no_answer():
    assert extract_entities("").answer is None
    assert entity_set("") == frozenset()


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


@pytest.mark.parametrize(
    "text",
    [
        "答案：\n青龙偃月刀", "答：青龙偃月刀", "1. 青龙偃月刀", "<answer>青龙偃月刀</answer>",
        "\\boxed{青龙偃月刀}",
    ],
)  # fmt: skip
def test_wrappings_of_a_short_answer_are_taken_off(text):
    assert extract_short(text).answer == "青龙偃月刀"


def test_a_decimal_is_no_numbered_list():
    assert extract_short("3.5").answer == "3.5"
    assert extract_short("1、5").answer == "1、5"


@pytest.mark.parametrize(
    "text",
    [
        "孔子（人名）、颜回（人名）", "孔子:人名、颜回:人名", '{"entities": ["孔子", "颜回"]}',
        "以下是抽取的命名实体：孔子、颜回", "1. 孔子（人物）\n2. 颜回（人物）",
    ],
)  # fmt: skip
def test_notes_and_introductions_are_no_names(text):
    assert extract_entities(text).answer == "孔子、颜回"
