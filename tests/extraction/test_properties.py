"""Promises that hold for every response: no error, no invention, time linear in the length."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.extraction import read
from keju.extraction.words import fold
from keju.text import parse_english_number, parse_number
from tests.support.hanging import ends
from tests.support.readings import DEVELOPMENT, FORMS, form_of, lines, reading_of

PIECES = st.sampled_from(
    [
        "答案：",
        "B",
        "A、",
        "不是",
        "可能",
        "3",
        "三只",
        "[1,2,30,40]",
        "\\boxed{",
        "}",
        "```\n",
        "“",
        "”",
        "<think>",
        "</think>",
        "图中",
        "是",
        "有",
        "。",
        "\n\n",
        "**",
        '{"answer": ',
        "0.5",
        "%",
        "Yes",
        "No, ",
        "The answer is ",
        "抱歉，",
        "|",
        "译文：",
        "1. ",
        "、",
        "孔子",
        "（",
        "）",
        " ",
    ],
)
RESPONSES = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=80))
HOSTILE = [
    "[",
    "{",
    "\\boxed{",
    "<answer>",
    "```\n",
    "**",
    "：\n",
    "“",
    "（",
    "1,",
    "一",
    "答案：",
    "等等，",
    "\\text{",
    "<!--",
    "x1=1 ",
    "(1,2)",
    "甲、",
    "说明：\n",
    '{"a":',
]


@given(form=st.sampled_from(FORMS), text=RESPONSES, question=RESPONSES)
@settings(max_examples=300, deadline=None)
def test_nothing_raises_and_only_what_is_read_has_a_value(form, text, question):
    reading = read(form, text, question, ("甲", "乙", "不是"))
    assert (reading.state == "read") == bool(reading.value)


def _is_in(row, value):
    """Whether a response contains a value, written as the reader writes it or otherwise."""
    text = fold(row["response"]).lower()
    match form_of(row):
        case "short":
            bare = "".join(fold(value).lower().split())
            return bare in "".join(text.split()) or _is_number(value)
        case "number" | "probability":
            return _is_number(value)
        case "letter":
            return value in "ABCDEFGH"
        case "yes-no":
            return value in ("Yes", "No")
        case "boxes":
            return all(len(box) == 4 for box in json.loads(value))
    return all(char in text for char in fold(value).lower() if char.isalnum())


def _is_number(value):
    return parse_number(value) is not None or parse_english_number(value) is not None


def test_a_value_comes_from_the_response():
    invented = [
        (row["id"], reading.value)
        for row in lines(DEVELOPMENT)
        if (reading := reading_of(row)).state == "read" and not _is_in(row, reading.value)
    ]
    assert invented == []


@pytest.mark.parametrize("piece", HOSTILE)
def test_reading_a_long_hostile_response_ends(piece):
    text = piece * (1_000_000 // len(piece))

    def reading():
        read("text", text)
        for form in ("letter", "number", "short", "yes-no"):
            read(form, text[:9_900], "图中有几只鸟？", ("甲", "乙"))
        for form in ("boxes", "entities", "transcription"):
            read(form, text[:19_900])

    ends(reading, seconds=15)
