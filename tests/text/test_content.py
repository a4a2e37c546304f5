"""Contents that are text and contents that are not; their answer, without the reasoning."""

import json

import pytest

from keju.text import add_reasoning, answer_part, read_content


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
    assert read_content(value) == (text, "")


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


def test_reasoning_of_a_field_goes_before_the_content_with_nothing_between():
    assert add_reasoning("\nB", "\nhm\n") == "<think>\nhm\n</think>\nB"
    assert add_reasoning("B", "") == "B"
    assert answer_part(add_reasoning("B", "A?")) == "B"
