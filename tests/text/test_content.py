"""Contents that are text and contents that are not."""

import json

import pytest

from keju.text import read_content


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("天", "天"),
        (" ", " "),
        (None, ""),
        ([{"type": "text", "text": "天"}, {"type": "text", "text": "地"}], "天地"),
        ([{"type": "text", "text": "天"}, {"type": "image"}], "天"),
    ],
)
def test_text_null_and_parts_with_text_are_text(value, text):
    assert read_content(value) == (text, "", "")


@pytest.mark.parametrize(
    ("value", "text"),
    [(["天", "地"], "天地"), ([], ""), ([3, "天"], "天"), ([{"a": 1}], ""), (3, ""), (True, ""),
     ({}, ""), ({"text": "天"}, "")],
)  # fmt: skip
def test_anything_else_is_kept_in_json(value, text):
    content = read_content(value)
    assert content.text == text
    assert json.loads(content.not_text) == value


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "reasoning", "text": "hm"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"text": "hm", "thought": True},
    ],
)
def test_a_part_that_is_reasoning_is_not_text(part):
    assert read_content([part, {"type": "text", "text": "天"}]) == ("天", "", "hm")
    assert read_content([part]) == ("", "", "hm")
