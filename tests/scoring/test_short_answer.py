"""Short answers and lists of names."""

import pytest

from keju.scoring import extract_entities, extract_short, extract_yes_no
from keju.scoring.asked_counts import extract_asked_count
from keju.scoring.box_parsing import extract_any_boxes
from keju.scoring.short_answer import entity_set, same_short
from tests.support.hanging import ends


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


COMMITTED = [
    ("人物左手拿着什么？", "人物左手拿着一卷书，右手持笔。", "书"),
    ("What is the woman holding?", "She is holding a silk fan in her right hand.", "silk fan"),
    ("这首诗的作者是谁？", "这首诗的作者是唐代诗人李白。", "李白"),
    ("画中有几只仙鹤？", "画中一共有三只仙鹤。", "3"),
    ("What color is the horse?", "The horse in the painting is white.", "white"),
    ("图中的花是什么花？", "我认为是梅花，而不是桃花。", "梅花"),
    ("图中人物是谁？", "应该是张飞。不对，仔细看是关羽。", "关羽"),
    ("该文物出土于哪个省？", "该文物出土于湖北省。", "湖北省"),
    ("桌上放着什么？", "桌上放着一个花瓶。", "花瓶"),
    ("What is written on the flag?", "The flag bears the character '帅'.", "帅"),
    ("谁是画中的主角？", "画中的主角是孙悟空。", "孙悟空"),
    ("男子穿什么颜色的衣服？", "他穿的是蓝色衣服。", "蓝色"),
]


@pytest.mark.parametrize(("question", "text", "answer"), COMMITTED)
def test_a_sentence_gives_the_phrase_that_the_question_asks_for(question, text, answer):
    assert any(same_short(answer, each) for each in extract_short(text, question).readings)


@pytest.mark.parametrize(
    "text",
    ["可能是张飞，也可能是关羽。", "抱歉，我无法辨认。", "三\n红色\n左侧\n12", "红色（三）（12）"],
)
def test_several_phrases_or_a_refusal_are_no_answer(text):
    assert extract_short(text, "图中人物是谁？").answer is None


def test_a_denied_or_reported_phrase_earns_nothing():
    found = extract_short("有人认为是张飞，但应该是关羽，而不是刘备。", "图中人物是谁？")
    assert [
        each for each in ("张飞", "刘备") if any(same_short(each, r) for r in found.readings)
    ] == []
    assert any(same_short("关羽", each) for each in found.readings)


@pytest.mark.parametrize("unit", ["是", "，", "“", "不对，", "- ", "3匹马，", "[1,2,3,4]", "yes, "])
def test_every_extraction_from_a_long_loop_ends(unit):
    text = unit * (100_000 // len(unit))

    def extractions():
        extract_short(text, "画中人物是谁？")
        extract_entities(text)
        extract_yes_no(text, "两字相同吗？")
        extract_asked_count(text, "图中有几匹马？")
        extract_any_boxes(text, "xyxy")

    ends(extractions)


@pytest.mark.parametrize("mark", ["《", "*", "“", "("])
def test_a_run_of_opening_marks_before_a_character_ends(mark):
    question = "识别图中的甲骨文对应哪个汉字。"

    def extraction():
        assert extract_short(mark * 40_000 + "。答案：马", question).answer == "马"

    ends(extraction)
