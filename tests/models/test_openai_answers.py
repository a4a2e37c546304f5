from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.models import AskError
from keju.models.openai_answers import answer_of


def body(content: object, finish: object = "stop", **message: object) -> bytes:
    choice = {"message": {"content": content, **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        "<think>why</think>B",
        "\n<think>\nwhy\n</think>\n\nB\n",
        "<think></think>B",
        "why</think>B",
        "<think>cut off",
        " B \n",
        "B<|im_end|>",
    ],
)
def test_the_content_is_kept_as_it_was_returned(content: str):
    answer = answer_of(body(content, reasoning_content=" \nhm\n"))
    assert (answer.text, answer.thinking, answer.not_text) == (content, " \nhm\n", "")


@pytest.mark.parametrize(
    ("content", "text", "not_text"),
    [
        (None, "", ""),
        (["天", "地"], "天地", '["\\u5929", "\\u5730"]'),
        ([], "", "[]"),
        ([{"type": "image"}], "", '[{"type": "image"}]'),
        (12345, "12345", "12345"),
        (True, "true", "true"),
        ({"answer": "乙"}, '{"answer": "乙"}', '{"answer": "\\u4e59"}'),
        ({}, "", "{}"),
    ],
)
def test_a_content_that_is_not_text_is_kept_in_json(content: object, text: str, not_text: str):
    answer = answer_of(body(content))
    assert (answer.text, answer.not_text) == (text, not_text)


@pytest.mark.parametrize(
    ("finish", "content", "status"),
    [
        ("stop", "B", "answered"),
        ("stop", " \n", "empty"),
        ("stop", None, "empty"),
        ("stop", 0, "answered"),
        ("stop", {}, "empty"),
        ("stop", "<think>all thought</think>", "answered"),
        ("length", "", "truncated"),
        ("length", "<think>cut", "truncated"),
        ("content_filter: PROHIBITED_CONTENT", "", "filtered"),
        (None, "B", "answered"),
    ],
)
def test_status_says_what_the_wire_said(finish: object, content: object, status: str):
    assert answer_of(body(content, finish)).status == status


def test_parts_of_text_are_joined():
    parts = [{"type": "text", "text": "天"}, {"type": "text", "text": "地"}, {"type": "image"}]
    answer = answer_of(body(parts))
    assert (answer.text, answer.not_text) == ("天地", "")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_both_names_of_reasoning_are_read(name: str):
    answer = answer_of(body("B", **{name: "why"}))
    assert (answer.thinking, answer.text) == ("why", "B")


@pytest.mark.parametrize(
    "usage", [[], "many", {"prompt_tokens": "1"}, {"completion_tokens_details": 3}, None, True]
)
def test_odd_usage_is_passed_over(usage: object):
    data = json.loads(body("B"))
    answer = answer_of(json.dumps({**data, "usage": usage}).encode())
    assert answer.text == "B"
    assert answer.usage.input_tokens is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b'{"choices": null}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "B"}]}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
)
def test_what_is_no_completion_is_a_bad_response(data: bytes):
    with pytest.raises(AskError) as caught:
        answer_of(data)
    assert (caught.value.kind, caught.value.retryable) == ("bad-response", True)
    assert len(str(caught.value)) < 400


def outcome(data: bytes) -> str:
    try:
        return answer_of(data).status
    except AskError as error:
        return error.kind


STATUSES = {"answered", "empty", "truncated", "filtered"}
KINDS = {"bad-response", "refused", "auth", "rate", "server", "timeout", "bad-request"}


@given(st.binary(max_size=200))
def test_any_bytes_give_an_answer_or_a_classified_failure(data: bytes):
    assert outcome(data) in STATUSES | {"bad-response"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 999) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "error", "code", "usage", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_gives_an_answer_or_a_classified_failure(value: object):
    data = json.dumps({"choices": [{"message": value}], "error": value}).encode()
    assert outcome(data) in STATUSES | KINDS


def test_an_error_with_200_takes_the_class_of_its_code():
    def kind(error: object) -> str:
        with pytest.raises(AskError) as caught:
            answer_of(json.dumps({"error": error}).encode())
        return caught.value.kind

    assert kind({"code": 429, "message": "slow"}) == "rate"
    assert kind({"code": "401", "message": "who"}) == "auth"
    assert kind({"code": "content_filter", "message": "no"}) == "refused"
    assert kind("words") == "bad-response"
