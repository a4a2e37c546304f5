"""Short answers and lists of names."""

import pytest

from keju.scoring import extract_entities, extract_short
from keju.scoring.short import entity_set, same_short


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("3", "三"), ("3", "３"), ("三", "3匹"), ("12", "十二"), ("红色", "紅色。"), ("红色", "红 色"),
     ("为", "爲"), ("是", "是"), ("left", "Left"), ("20", "二十")],
)  # fmt: skip
def test_answers_that_are_the_same(truth, answer):
    assert same_short(truth, answer)


@pytest.mark.parametrize(
    ("truth", "answer"),
    [("3", "13"), ("红", "不红"), ("三", "三四"), ("红色", "红色、黄色"), ("松树", "松树人"),
     ("3", ""), ("12", "112"), ("是", "不是"), ("1", "1到20之间")],
)  # fmt: skip
def test_answers_that_only_contain_the_truth_are_not(truth, answer):
    assert not same_short(truth, answer)


def test_a_short_answer_stands_alone_or_after_a_phrase():
    assert extract_short("红色。").answer == "红色"
    assert extract_short("经观察，答案是：红色。").answer == "红色"
    assert extract_short('{"answer": "红色"}').answer == "红色"
    assert extract_short("<think>黄？</think>红色").answer == "红色"
    assert extract_short("图中是红色").answer == "图中是红色"
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
