"""The answer of a response, without the reasoning in whatever marks it has."""

import tomllib
from importlib import resources

import pytest

from keju.text import add_reasoning, answer_part
from tests.support.hanging import ends

TABLE = tomllib.loads(
    resources.files("keju.text").joinpath("data", "reasoning_marks.toml").read_text("utf-8")
)
PAIRS = [
    (opening, row["close"][min(place, len(row["close"]) - 1)])
    for row in TABLE["reasoning"]
    for place, opening in enumerate(row["open"])
]
ANSWERS = [
    (opening, closing)
    for row in TABLE["answers"]
    for opening in row["open"]
    for closing in row["close"]
]


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("B", "B"),
        (" B \n", " B \n"),
        ("<think>A?</think>\n\nB\n", "B"),
        ("A?</think>B", "B"),
        ("<Thinking>A?</THINKING>B", "B"),
        ("<reasoning>A?</reasoning>B", "B"),
        ("<think>A?</think>B<think>C?", "B"),
        ("<think>A?</think>B<think>C?</think>D", "D"),
        ("B<think>A?</think> ", "B"),
        ("<think>A?", ""),
        ("<think>A?</think>", ""),
        ("A?</think><think>C?", ""),
        ("", ""),
    ],
)
def test_the_answer_is_what_follows_the_reasoning(content, answer):
    assert answer_part(content) == answer


@pytest.mark.parametrize(("opening", "closing"), PAIRS)
def test_every_mark_of_the_table_is_read(opening, closing):
    opening, closing = opening.replace("…", ""), closing.replace("…", "")
    assert answer_part(f"{opening}看圖。\n似乎是天地。{closing}\n\n日月盈昃\n") == "日月盈昃"
    assert answer_part(f"\n{opening}看圖。{closing}") == ""


@pytest.mark.parametrize(("opening", "closing"), ANSWERS)
def test_every_mark_of_an_answer_is_read(opening, closing):
    opening = opening.replace("…", "")
    assert answer_part(f"<think>天地</think>\n{opening}\n日月盈昃\n{closing}") == "日月盈昃"
    assert answer_part(f"{opening}日月盈昃") == "日月盈昃"
    assert answer_part(f"{opening}日月盈昃{closing}\n又") == "日月盈昃"


@pytest.mark.parametrize(
    "opening",
    [each for row in TABLE["reasoning"] if not row.get("pair") for each in row["open"]],
)
def test_a_response_that_was_cut_off_has_no_answer(opening):
    assert answer_part(f"{opening.replace('…', '')}看圖。似乎是天地") == ""


@pytest.mark.parametrize(
    "closing",
    [each for row in TABLE["reasoning"] if not row.get("shared") for each in row["close"]],
)
def test_what_precedes_a_closing_mark_is_reasoning_that_began_in_the_prompt(closing):
    assert answer_part(f"看圖。\n似乎是天地。{closing}日月盈昃") == "日月盈昃"


@pytest.mark.parametrize(
    "content",
    [
        '<think type="x" id=1>天</think>B',
        "< think >天< / think >B",
        "<think:opensource>天</think:opensource>B",
        "<\n think>天</think\n>B",
        "&lt;think&gt;天&lt;/think&gt;B",
        "&LT;think&GT;天&LT;/think&GT;B",
        "&amp;lt;think&amp;gt;天&amp;lt;/think&amp;gt;B",
        "&#60;think&#62;天&#x3C;/think&#x3e;B",
        r"\u003cthink\u003e天\u003c/think\u003eB",
        r"\u003Cthink\u003E天\u003C\/think\u003EB",
        r"<think>天<\/think>B",
        r"\<think\>天\</think\>B",
        "%3Cthink%3E天%3C%2Fthink%3EB",
        "＜think＞天＜/think＞B",
        "＜think＞天＜／think＞B",
        "&lt;|begin_of_thought|&gt;天&lt;|end_of_thought|&gt;B",
        "<｜begin_of_thought｜>天<｜end_of_thought｜>B",
        r"\[THINK\]天\[/THINK\]B",
        "<think/>B",
        "<think></think>B",
    ],
)
def test_marks_that_a_gateway_escaped_are_read(content):
    assert answer_part(content) == "B"


@pytest.mark.parametrize(
    "content",
    [
        "<|start|>assistant<|channel|>analysis<|message|>天<|end|><|start|>assistant<|channel|>"
        "commentary<|message|>地<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>",
        "<|channel|>commentary to=functions.read <|constrain|>json<|message|>{}<|call|>"
        "<|start|>assistant<|channel|>final<|message|>B",
        "<|channel|>analysis<|message|>天<|end|>"
        "<|channel|>final <|constrain|>json<|message|>B<|end|>",
        "<|channel|>analysis<|message|>天<|end|>B",
        "天<|end|><|start|>assistant<|channel|>final<|message|>B",
        "<|channel|>final<|message|>B<|return|>",
        "analysisWe read 天地.assistantfinalB",
        "analysis\nWe read 天地.\nassistantfinal\nB",
        "analysis我看assistantcommentary再看assistantfinalB",
        "assistantfinalB",
        "<|open|>think<|sep|>天<|close|>think<|sep|><|open|>response<|sep|>B<|close|>response<|sep|>"
        "<|close|>message<|sep|><|end_of_msg|>",
        "<unused94>thought\n天<unused95>B",
        "<|channel>thought\n天<channel|>B",
        "<think>天\n</think>\n\n<response>\nB\n</response>\n",
        "Here's my thought process: 天 Here is my response:\nB",
        "<thinking>天<reflection>地</reflection></thinking>B",
        "<thinking>天</thinking>B<reflection>地</reflection>",
        "<analysis>天</analysis><think>地</think>B",
        "<think>天<think>地</think>玄</think>B",
        "<think>天</think></think>B",
        "<think>I close it with `</think>`. 天</think>B",
        "<think>天 Here is my response: 地</think>B",
    ],
)
def test_channels_and_nested_or_repeated_blocks(content):
    assert answer_part(content) == "B"


@pytest.mark.parametrize(
    "content",
    [
        "<|channel|>analysis<|message|>天<|end|><|start|>assistant",
        "analysisWe need to look",
        "<think>天 <answer>B</answer> no,",
        "<think>天</think>\n<think>地",
    ],
)
def test_a_response_without_an_end_of_its_reasoning_has_no_answer(content):
    assert answer_part(content) == ""


def test_an_answer_tag_at_the_end_ends_reasoning_that_lacks_its_closing_mark():
    assert answer_part("<think>天\n<answer>B</answer>\n") == "<answer>B</answer>"


@pytest.mark.parametrize(
    "content",
    [
        "圖中有「<thought>」字樣。",
        "「<thought>」",
        "寫作「<thought>天地</thought>」，可。",
        "標籤 <thought> 不是正文",
        "標籤 `<think>` 與 `</think>` 不是正文",
        'The tag "<think>" is no part of it.',
        "天地（<think>）玄黃",
        "天地“</think>”玄黃",
        "analysis of the text: 天地",
        "analysis",
        "Analysis: 天地",
        "analysis一詞源於希臘語",
        "commentary on the Analects",
        "The analysis is final. The assistant agrees.",
        "[think] of it",
        "他寫 <response> 其餘",
        "Here is my response: 天地 ",
        "I say: Here is my thought process: 天. Here is my response: 地",
        "天地<|end|>",
        "a < thought > b > c",
        "final日月盈昃",
    ],
)
def test_words_and_quoted_marks_are_text(content):
    assert answer_part(content) == content


def test_an_answer_may_speak_of_marks():
    assert answer_part("<think>天</think>他寫「<thought>」。") == "他寫「<thought>」。"
    assert answer_part("<think>天</think>他寫「</think>」。") == "他寫「</think>」。"


def test_reasoning_of_a_field_goes_before_the_content_with_nothing_between():
    assert add_reasoning("\nB", "\nhm\n") == "<think>\nhm\n</think>\nB"
    assert add_reasoning("B", "") == "B"
    assert answer_part(add_reasoning("B", "A?")) == "B"


def test_every_row_of_the_table_names_models_and_a_source():
    for row in (*TABLE["reasoning"], *TABLE["answers"]):
        assert all(row[name].strip() for name in ("models", "source")), row


@pytest.mark.parametrize(
    "unit",
    ["<", "&lt;", "<think>", "「<think>", "<thought>x ", "<think a=", "<|channel|>analysis",
     "[THINK]", "</think>", "analysis", r"\u003c", "<|channel|>final<|message|>", "< / | /"],
)  # fmt: skip
def test_a_loop_of_marks_is_read_quickly(unit):
    ends(lambda: answer_part(unit * 50_000))
