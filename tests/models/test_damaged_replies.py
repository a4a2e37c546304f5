"""Answers in damaged wrappings, from a real server: directly and in batches alike."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path

import pytest

from keju.models import Answer, AskError, ModelOptions
from keju.models.openai import OpenAICompatible
from keju.models.openai_batches import Batch, BatchResults
from tests.models.conftest import ask_once
from tests.support.chat_server import completion
from tests.support.serving import Chat

TEXT = "答案：A"
PLAIN = json.dumps(completion(TEXT), ensure_ascii=False)
WHOLE = PLAIN.encode()
LINE = {"id": "r", "custom_id": "c", "error": None}


def choice(**fields: object) -> bytes:
    reply = completion(TEXT)
    reply["choices"][0].update(fields)
    return json.dumps(reply).encode()


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def ask(chat: Chat, body: bytes, status: int = 200, type_: str = "application/json") -> Answer:
    raw = {"body": base64.b64encode(body).decode(), "status": status, "type": type_}
    chat.plan(modes=["raw"], times=-1, raw=raw)

    return ask_once("openai:m", base_url=chat.url)


def in_batch(body: bytes, status: int = 200) -> Answer:
    line = json.dumps({**LINE, "response": {"status_code": status, "body": "BODY"}}).encode()
    model = OpenAICompatible("m", ModelOptions(base_url="http://127.0.0.1:9/v1"))
    results = BatchResults(
        model.batches(), Batch("batch_1"), model.parameters, Path(tempfile.gettempdir())
    )
    results.file.write(line.replace(b'"BODY"', body))
    results.find_places()
    (outcome,) = (results[name] for name in results)
    if isinstance(outcome, AskError):
        raise outcome
    return outcome


def error_of(ask_: object, *given: object) -> AskError:
    with pytest.raises(AskError) as caught:
        ask_(*given)
    return caught.value


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\xef\xbb\xbf" + WHOLE, TEXT),
        (WHOLE + b"\n\ndata: [DONE]\n\n", TEXT),
        (WHOLE + b"\n[DONE]", TEXT),
        (WHOLE + b"\x00\r\n", TEXT),
        (WHOLE + b"}", TEXT),
        (b" \n\n\n \r\n" + WHOLE, TEXT),
        (WHOLE.replace(b'"created": 1', b'"created": NaN, "logprob": -Infinity'), TEXT),
        (WHOLE.replace("：".encode(), b"\n\t"), "答案\n\tA"),
        (WHOLE.replace("：".encode(), b"\\ud842"), "答案\ufffdA"),
        (WHOLE.replace("：".encode(), b"\\udfb7\\ud842"), "答案\ufffd\ufffdA"),
        (WHOLE.replace("：".encode(), b"\\ud842\\udfb7\\ud842"), "答案𠮷\ufffdA"),
        (WHOLE.replace("：".encode(), b"\\\\ud842"), "答案\\ud842A"),
        (WHOLE.replace("：".encode(), "：".encode()[:2]), "答案\ufffdA"),
        (WHOLE.replace("：".encode(), b"\xed\xa1\x82"), "答案\ufffd\ufffd\ufffdA"),
    ],
    ids=[
        "BOM", "[DONE]", "[DONE] alone", "NUL", "a brace", "blank lines", "NaN",
        "raw control characters", "half a surrogate", "two halves, swapped", "a pair and a half",
        "no surrogate", "a cut character", "a surrogate in UTF-8",
    ],
)  # fmt: skip
def test_a_whole_answer_is_taken_out_of_its_wrapping(chat: Chat, body: bytes, text: str):
    answer = ask(chat, body)
    assert (answer.text, answer.status, answer.finish_reason) == (text, "answered", "stop")
    assert chat.stats()["requests"] == 1


@pytest.mark.parametrize("status", [200, 201, 202, 203, 206])
@pytest.mark.parametrize("type_", ["application/json", "text/plain", "text/html", "image/png"])
def test_every_status_of_success_and_content_type_brings_an_answer(
    chat: Chat, status: int, type_: str
):
    assert ask(chat, WHOLE, status, type_).text == TEXT


@pytest.mark.parametrize("charset", ["gbk", "iso-8859-1", "nonesuch"])
def test_the_encoding_is_utf_8_whatever_the_header_names(chat: Chat, charset: str):
    type_ = f"application/json; charset={charset}"
    assert ask(chat, WHOLE, 200, type_).text == TEXT
    error = error_of(ask, chat, PLAIN.encode("gb18030"), 200, type_)
    assert (error.kind, error.retryable) == ("bad-response", False)
    assert str(error) == "the reply is not in UTF-8"
    page = "<html>網關</html>".encode("gb18030")
    failure = error_of(ask, chat, page, 502, f"text/html; charset={charset}")
    assert (failure.kind, failure.retryable) == ("server", True)


@pytest.mark.parametrize(
    ("body", "kind", "retryable", "words"),
    [
        (choice(finish_reason="error"), "server", True, "finish reason: error"),
        (choice(finish_reason="abort"), "server", True, "finish reason: abort"),
        (choice(finish_reason="foo"), "bad-response", False, "finish reason: foo"),
        (choice(finish_reason=None, native_finish_reason="network_error"), "server", True,
         "network_error"),
        (choice(finish_reason="stop", error={"code": 502, "message": "disconnected"}), "server",
         True, "HTTP 502: disconnected"),
        (choice(finish_reason="error", message=None, error={"code": "429", "message": "busy"}),
         "rate", True, "HTTP 429: busy"),
        (choice(message={"content": "", "error": {"code": 503, "message": "full"}}), "server",
         True, "HTTP 503: full"),
        (choice(error={"code": 400, "message": "no"}), "bad-request", False, "HTTP 400: no"),
        (choice(error="provider is away"), "bad-response", True, "provider is away"),
        (b'{"error": {"code": 502, "message": "away"}}', "server", True, "HTTP 502: away"),
        (b'{"error": {"code": "rate_limit_exceeded", "message": "slow"}}', "bad-response", True,
         "slow"),
        (b'{"object": "error", "code": 404, "message": "no model"}', "bad-request", False,
         "HTTP 404: no model"),
        (b'{"error": true, "message": "it broke"}', "bad-response", True, "it broke"),
        (b'{"choices": null, "base_resp": {"status_code": 1004, "status_msg": "login fail"}}',
         "bad-response", True, "login fail"),
    ],
)  # fmt: skip
def test_an_error_in_place_of_an_answer_is_a_failure_directly_and_in_a_batch(
    chat: Chat, body: bytes, kind: str, retryable: bool, words: str
):
    for error in (error_of(ask, chat, body), error_of(in_batch, body)):
        assert (error.kind, error.retryable) == (kind, retryable)
        assert words in str(error)


def test_an_empty_error_beside_an_answer_is_none(chat: Chat):
    reply = {**completion(TEXT), "error": {"code": None, "message": ""}}
    assert ask(chat, json.dumps(reply).encode()).text == TEXT
    assert ask(chat, choice(error={})).text == TEXT


@pytest.mark.parametrize(
    ("body", "text", "status"),
    [
        (choice(finish_reason="length"), TEXT, "truncated"),
        (choice(finish_reason="sensitive"), TEXT, "filtered"),
        (choice(finish_reason=None), TEXT, "answered"),
        (WHOLE.replace("：".encode(), b"\\ud842"), "答案\ufffdA", "answered"),
    ],
)
def test_a_line_of_a_batch_is_read_as_a_direct_reply(
    chat: Chat, body: bytes, text: str, status: str
):
    for answer in (ask(chat, body), in_batch(body), in_batch(body, 201)):
        assert (answer.text, answer.status) == (text, status)
