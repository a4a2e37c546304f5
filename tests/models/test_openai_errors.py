from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.models.openai_errors import (
    error_of_reply,
    error_of_status,
    excerpt,
)


def test_words_from_outside_become_one_short_printable_line():
    line = excerpt("a\x1b[31m\r\n b\x00\u202e" + "c" * 1000, 20)
    assert line == "a[31m b" + "c" * 12 + "…"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "no such model"}}', "HTTP 404: no such model"),
        (b'{"error": "no such model"}', "HTTP 404: no such model"),
        (b'{"object": "error", "message": "no such model"}', "HTTP 404: no such model"),
        (b'{"detail": "Not Found"}', "HTTP 404: Not Found"),
        (b"\xef\xbb\xbf" + b'{"error": {"message": "no such model"}}', "HTTP 404: no such model"),
        (
            b'{"error": "Not Found", "message": "no such model", "status": 404}',
            "HTTP 404: Not Found: no such model",
        ),
        (
            b'{"error": {"message": "Provider returned error", "code": 404, "metadata": '
            b'{"raw": "no such model", "provider_name": "X"}}}',
            "HTTP 404: Provider returned error: no such model",
        ),
        (
            b'{"error": {"message": "Provider returned error", "metadata": '
            b'{"raw": "{\\"error\\":{\\"message\\":\\"no such model\\"}}"}}}',
            "HTTP 404: Provider returned error: no such model",
        ),
        (
            b'{"error": {"message": "Provider returned error", "metadata": '
            b'{"raw": {"detail": [{"loc": ["body", "seed"], "msg": "not known"}]}}}}',
            "HTTP 404: Provider returned error: body.seed: not known",
        ),
        (
            b'{"error": {"message": "flagged", "metadata": {"reasons": ["violence"], '
            b'"flagged_input": "x"}}}',
            "HTTP 404: flagged: violence",
        ),
        (b'{"error": "{\\"message\\": \\"no such model\\"}"}', "HTTP 404: no such model"),
        (
            b'{"detail": "{\\"error\\": {\\"message\\": \\"no such model\\"}}"}',
            "HTTP 404: no such model",
        ),
        (b'{"error": {"detail": "no such model"}}', "HTTP 404: no such model"),
        (b'{"detail": {"error": "no such model"}}', "HTTP 404: no such model"),
        (
            b'{"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required"}]}',
            "HTTP 404: body.model: Field required",
        ),
        (
            b'{"errors": [{"code": 7, "message": "no such model"}], "success": false}',
            "HTTP 404: no such model",
        ),
        (b'{"error_code": 17, "error_msg": "no such model"}', "HTTP 404: no such model"),
        (
            b'{"code": "InvalidParameter", "message": "no such model", "request_id": "x"}',
            "HTTP 404: no such model",
        ),
        (
            b'{"type": "about:blank", "title": "Gone", "detail": "no such model"}',
            "HTTP 404: no such model: Gone",
        ),
        (
            b'{"error": {"type": "invalid_request_error", "code": "model_not_found"}}',
            "HTTP 404: model_not_found, invalid_request_error",
        ),
        (
            b'[{"error": {"code": 404, "message": "no such model", "details": '
            b'[{"fieldViolations": [{"description": "no such model"}]}]}}]',
            "HTTP 404: no such model",
        ),
        (
            b'{"error": "Not Found", "message": "Not Found: no such model"}',
            "HTTP 404: Not Found: no such model",
        ),
        (b'"no such model"', "HTTP 404: no such model"),
        (b"plain words", "HTTP 404: plain words"),
        (b"", "HTTP 404: no reason given"),
        (b"[1]", "HTTP 404: no reason given"),
    ],
)
def test_the_servers_words_are_found_wherever_it_puts_them(body: bytes, words: str):
    assert str(error_of_reply(404, body, {})) == words


def test_azure_nests_the_filter_in_an_inner_error():
    inner = {"code": "ResponsibleAIPolicyViolation"}
    body = {"error": {"code": "BadRequest", "message": "filtered", "innererror": inner}}
    assert error_of_status(400, body, {}).kind == "refused"


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (202, "bad-response", False), (204, "bad-response", False), (301, "connection", False),
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
    error = error_of_reply(status, b"{}", {})
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
    assert error_of_reply(status, body, {}).kind
