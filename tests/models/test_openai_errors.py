from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.models.openai_errors import (
    LONGEST_WAIT,
    error_of_reply,
    error_of_status,
    excerpt,
    retry_after,
)


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


@given(st.integers(300, 999), st.binary(max_size=60))
def test_every_status_has_a_kind(status: int, body: bytes):
    assert error_of_reply(status, body, {}).kind
