from __future__ import annotations

import json
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.models import AskError
from keju.models.replies import (
    LONGEST_WAIT,
    error_of_object,
    error_of_status,
    excerpt,
    retry_after,
    stated_status,
    status_of_ending,
)


def test_words_from_outside_become_one_short_printable_line():
    line = excerpt("a\x1b[31m\r\n b\x00\u202e" + "c" * 1000, 20)
    assert line == "a[31m b" + "c" * 12 + "…"


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "no such model", "code": 404, "type": "x", "param": null}}',
        b'{"error": "no such model"}',
        b'{"error": true, "message": "no such model"}',
        b'{"object": "error", "message": "no such model"}',
        b'{"detail": "no such model"}',
        b'{"detail": {"error": "no such model"}}',
        b'{"error_code": 17, "error_msg": "no such model"}',
        b'{"code": "InvalidParameter", "message": "no such model", "request_id": "x"}',
        b'"no such model"',
        b"no such model",
    ],
)
def test_the_servers_words_are_found_wherever_it_puts_them(body: bytes):
    assert str(error_of_status(404, body, {})) == "HTTP 404: no such model"


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Provider returned error", "metadata": {"raw": "no such model"}},
        {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required"}]},
        {"error": "Not Found", "message": "no such model", "status": 404},
        {"errors": [{"code": 7, "message": "no such model"}], "success": False},
        {"type": "invalid_request_error", "code": "model_not_found"},
    ],
)
def test_an_error_with_several_texts_is_shown_in_json(error: dict[str, object]):
    body = json.dumps({"error": error}).encode()
    assert str(error_of_status(404, body, {})).startswith("HTTP 404: ")
    shown = str(error_of_status(404, body, {})).removeprefix("HTTP 404: ")
    assert json.loads(shown) in (error, error.get("detail"))


@pytest.mark.parametrize("depth", [1, 900, 990])
def test_the_code_counts_before_the_type_at_any_depth(depth: int):
    error = b'{"type": "invalid_request_error", "code": "content_filter", "message": "no"}'
    body = b'{"error": ' * depth + error + b"}" * depth
    assert error_of_status(400, body, {}).kind in {"refused", "bad-request"}
    limited = {"type": "invalid_request_error", "code": 429, "message": "slow"}
    assert error_of_object(limited).kind == "rate"


def test_a_reply_without_words_has_no_reason():
    assert str(error_of_status(404, b"", {})) == "HTTP 404: no reason given"


def test_azure_nests_the_filter_in_an_inner_error():
    inner = {"code": "ResponsibleAIPolicyViolation"}
    body = {"error": {"code": "BadRequest", "message": "filtered", "innererror": inner}}
    assert error_of_status(400, body, {}).kind == "refused"


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (301, "connection", False),
        (400, "bad-request", False), (402, "auth", False), (405, "bad-request", False),
        (407, "connection", False), (408, "timeout", True), (409, "server", True),
        (415, "bad-request", False), (425, "server", True), (429, "rate", True),
        (451, "bad-request", False), (500, "server", True), (501, "server", False),
        (502, "server", True), (503, "server", True), (504, "timeout", True),
        (505, "server", False), (508, "server", False), (511, "server", False),
        (520, "server", True), (524, "timeout", True), (526, "server", False),
        (529, "server", True),
    ],
)  # fmt: skip
def test_only_a_status_that_may_change_is_asked_again(status: int, kind: str, retryable: bool):
    error = error_of_status(status, b"{}", {})
    assert (error.kind, error.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"code": "1113", "message": "余额不足"}, "auth"),
        (400, {"code": "1301", "message": "敏感内容"}, "refused"),
        (429, {"type": "exceeded_current_quota_error", "message": "suspended"}, "auth"),
        (400, {"code": "Arrearage", "message": "Access denied"}, "auth"),
        (400, {"message": "Provider returned error",
               "metadata": {"raw": '{"error": {"code": "content_filter"}}'}}, "refused"),
    ],
)  # fmt: skip
def test_a_code_says_more_than_the_status(status: int, error: dict[str, object], kind: str):
    failure = error_of_status(status, {"error": error}, {})
    assert (failure.kind, failure.retryable) == (kind, False)


@given(st.integers(300, 999), st.binary(max_size=60))
def test_every_status_has_a_kind(status: int, body: bytes):
    assert error_of_status(status, body, {}).kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, LONGEST_WAIT),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"x-ratelimit-reset-requests": "1"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None):
    assert retry_after(headers) == seconds


def test_retry_after_as_a_date_counts_from_now():
    date = formatdate(time.time() + 100, usegmt=True)
    wait = retry_after({"retry-after": date})
    assert wait is not None
    assert 98 < wait <= 100


@given(st.text(max_size=30))
def test_any_retry_after_is_a_sane_wait_or_none(value: str):
    wait = retry_after({"retry-after": value})
    assert wait is None or 0 <= wait <= LONGEST_WAIT


REASONS = {
    "answered": (
        "stop", "STOP", "FINISH_REASON_STOP", "FinishReason.STOP", "Stop", "stop_sequence",
        "end_turn", "END_TURN", "eos", "eos_token", "EOS_TOKEN", "COMPLETE", "FINISHED", "normal",
        "tool_calls", "function_call", "tool_use", "eosFound", "endTurn", "", "null",
        "FINISH_REASON_UNSPECIFIED", "stop: 42", " stop ",
    ),
    "truncated": (
        "length", "LENGTH", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "MaxTokens",
        "max-tokens", "max_output_tokens", "model_length", "model_context_window_exceeded",
        "repetition_truncation", "maxPredictedTokensReached", "ERROR_LIMIT",
    ),
    "filtered": (
        "content_filter", "content-filter", "ContentFiltered", "content_filter: PROHIBITED_CONTENT",
        "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "IMAGE_SAFETY",
        "sensitive", "refusal", "guardrail_intervened", "ERROR_TOXIC",
    ),
    "server": (
        "error", "ERROR", "abort", "aborted", "cancelled", "canceled", "network_error",
        "insufficient_system_resource", "OTHER", "unknown", "MALFORMED_FUNCTION_CALL",
        "FinishReason.MALFORMED_FUNCTION_CALL", "error: upstream closed", "load",
    ),
    "timeout": ("timeout", "time_limit", "TIMEOUT"),
    "rate": ("rate_limit_exceeded",),
}  # fmt: skip
STATUSES = ("answered", "truncated", "filtered")


@pytest.mark.parametrize(
    ("outcome", "reason"), [(name, each) for name, words in REASONS.items() for each in words]
)
def test_a_reason_has_one_outcome(outcome: str, reason: str):
    if outcome in STATUSES:
        assert status_of_ending(reason, "學而") == outcome
    else:
        with pytest.raises(AskError) as caught:
            status_of_ending(reason, "學而")
        assert (caught.value.kind, caught.value.retryable) == (outcome, True)
        assert reason in str(caught.value)


@pytest.mark.parametrize("reason", ["foo", "7", "結束", "x" * 500])
def test_an_unknown_reason_is_a_failure_that_names_it_and_is_not_repeated(reason: str):
    with pytest.raises(AskError) as caught:
        status_of_ending(reason, "學而")
    assert (caught.value.kind, caught.value.retryable) == ("bad-response", False)
    assert reason[:60] in str(caught.value)
    assert len(str(caught.value)) < 250


def test_an_answer_without_text_is_empty_only_where_it_is_whole():
    found = {reason: status_of_ending(reason, " ") for reason in ("stop", "", "length", "SAFETY")}
    assert found == {"stop": "empty", "": "empty", "length": "truncated", "SAFETY": "filtered"}


def test_a_stored_reason_states_only_that_an_answer_is_not_whole():
    reasons = ("length", "model_length", "SAFETY", "stop", "error", "foo", "")
    assert [stated_status(each) for each in reasons] == [
        "truncated", "truncated", "filtered", None, None, None, None,
    ]  # fmt: skip
