"""The sentence that answers a short question, beside all that is said of other things."""

import pytest

from keju.scoring import extract_short

OF_STYLE = "这段文本属于什么文体？"
OF_OFFICE = "文中的主人公担任什么官职？"
OF_MATERIAL = "What material is this object made of?"


@pytest.mark.parametrize(
    "lead", ["", "文章以四言为主，结尾有套语。\n", "也有人会把它看作散文，但是不像。\n"]
)
@pytest.mark.parametrize(
    "tail",
    ["", "\n这种文体对后世的写作有很大影响。", "\n与赋铺陈夸饰的写法不同，这里更重议论。",
     "\n关于文体的分类，可以参看《文心雕龙》。"],
)  # fmt: skip
@pytest.mark.parametrize(
    "statement",
    ["这段文本属于骈文。", "文体：**骈文**", "它的文体是骈文，句式整齐。", "这是一篇骈文。",
     "按照传统的分类，应归为骈文。", "答案为“骈文”。", "### 结论\n\n骈文"],
)  # fmt: skip
def test_the_frame_of_the_question_decides(lead, statement, tail):
    assert "骈文" in extract_short(lead + statement + tail, OF_STYLE).readings


@pytest.mark.parametrize(
    "lead", ["", "The object is about the size of a hand, with incised lines. "]
)
@pytest.mark.parametrize(
    "tail",
    ["", " Objects of this kind were placed in tombs.", " By contrast, ivory was rarely used."],
)
@pytest.mark.parametrize(
    "statement", ["The object is made of jade.", "Material: jade.", "The material is jade."]
)
def test_the_frame_of_an_english_question_decides(lead, statement, tail):
    assert "jade" in extract_short(lead + statement + tail, OF_MATERIAL).readings


def test_a_later_statement_replaces_an_earlier_one_of_the_same_weight():
    found = extract_short("文体是散文。\n综上，文体是骈文。", OF_STYLE)
    assert found.answer == "骈文"
    assert "散文" not in found.readings


def test_words_that_only_complete_the_clause_are_no_part_of_a_reading():
    assert "县令" in extract_short("文中的主人公担任县令一职。", OF_OFFICE).readings


def test_the_office_of_another_person_is_not_taken():
    said = "他的祖父做过丞相，但那不是他本人的官职。\n官职：县令\n当地的太守对他十分器重。"
    found = extract_short(said, OF_OFFICE)
    assert found.answer == "县令"
    assert {"丞相", "太守"}.isdisjoint(found.readings)


def test_two_candidates_in_a_statement_are_no_answer():
    assert extract_short("文体可能是骈文，也可能是散文，难以判断。", OF_STYLE).answer is None
