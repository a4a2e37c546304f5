"""The answer part of a content, and reasoning put before it."""

import pytest

from keju.text import add_reasoning, answer_part


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
