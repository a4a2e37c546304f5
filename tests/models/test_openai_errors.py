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
