"""What a finish reason makes of a reply, for every reason that a vendor documents."""

from __future__ import annotations

from collections import Counter

import pytest

from keju.models import AskError
from keju.models.finish_reasons import (
    finish_reasons,
    reason_word,
    stated_status,
    status_of_ending,
)

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


@pytest.mark.parametrize("reason", ["foo", "7", "stopp", "結束", "x" * 500])
def test_an_unknown_reason_is_a_failure_that_names_it_and_is_not_repeated(reason: str):
    with pytest.raises(AskError) as caught:
        status_of_ending(reason, "學而")
    assert (caught.value.kind, caught.value.retryable) == ("bad-response", False)
    assert reason[:60] in str(caught.value)
    assert len(str(caught.value)) < 250


def test_an_answer_without_text_is_empty_only_where_it_is_whole():
    found = {reason: status_of_ending(reason, " ") for reason in ("stop", "", "length", "SAFETY")}
    assert found == {"stop": "empty", "": "empty", "length": "truncated", "SAFETY": "filtered"}


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, ""), ("", ""), (" stop ", "stop"), ({"type": "stop", "matched": 2}, "stop"),
        (["length"], "length"), (7, "7"), ({}, "{}"), (["stop", "stop"], '["stop","stop"]'),
    ],
)  # fmt: skip
def test_a_reason_that_is_not_a_text_is_read_or_shown(value: object, word: str):
    assert reason_word(value) == word


def test_a_stored_reason_states_only_that_an_answer_is_not_whole():
    reasons = ("length", "model_length", "SAFETY", "stop", "error", "foo", "")
    assert [stated_status(each) for each in reasons] == [
        "truncated", "truncated", "filtered", None, None, None, None,
    ]  # fmt: skip


def test_no_word_of_the_table_is_there_twice_and_each_outcome_names_its_sources():
    words = Counter(word for each in finish_reasons() for word in each.words)
    assert [word for word, count in words.items() if count > 1 or word != word.lower()] == []
    for each in finish_reasons():
        assert each.sources
        assert bool(each.kind) == (each.outcome == "failed")
