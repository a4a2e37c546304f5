"""An open answer is taken whole, without what only repeats the request or speaks to the user."""

import pytest

from keju.extraction import read

TEXT = "This is a bronze vessel of the Shang dynasty. It held food offerings."
CHINESE = "这是一件商代的青铜方鼎，四足，腹部饰兽面纹。"


@pytest.mark.parametrize(
    "around",
    [
        "Below is a description of the object shown.\n\n%s",
        "## Description\n\n%s",
        "**Description:** %s",
        "---\n%s\n---",
        "%s\n\nJust ask if anything is unclear!",
        "%s\n\nIf you know where it was found, tell me and I'll add more context.",
        '{"description": "%s"}',
    ],
)
def test_an_english_answer_is_taken_without_talk_to_the_user(around):
    assert read("text", around % TEXT).value == TEXT


@pytest.mark.parametrize(
    "around",
    [
        "好的，请看下面的介绍。\n\n%s",
        "好的，答案是：%s",
        "```\n%s\n```\n\n还需要补充什么吗？",
        "### 关于这件文物\n\n%s",
        "%s\n\n以上就是对这个文物的介绍，还需要补充什么吗？",
        "%s\n\n要是您想看它和其他朝代同类器物的比较，我可以接着写。",
    ],
)
def test_a_chinese_answer_is_taken_without_talk_to_the_user(around):
    assert read("text", around % CHINESE).value == CHINESE


def test_headings_of_several_sections_stay():
    said = "### 介绍\n商代方鼎。\n\n### 纹饰\n兽面纹。"
    assert read("text", said).value == said


@pytest.mark.parametrize(
    "response",
    [
        "Sure, here is a description of the artefact:",
        "There doesn't seem to be an image attached. Could you upload it again?",
    ],
)
def test_an_opening_or_a_request_alone_is_no_answer(response):
    assert not read("text", response).value


def test_the_mark_that_closes_a_quotation_stays():
    quoted = "“ 有 朋 自 远 方 来 ， 不 亦 乐 乎 ？ ”"
    assert read("text", quoted).value == quoted
