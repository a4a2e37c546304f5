"""Answers in damaged wrappings, from a real server: directly and in batches alike."""

from __future__ import annotations

import base64
import json

import pytest

from keju.models import Answer, AskError, ModelOptions
from keju.models.openai import OpenAICompatible
from keju.models.openai_batches import Batch, result_in
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


def events(*values: object) -> bytes:
    lines = [f"data: {json.dumps(value)}\n\n" for value in values]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def chunk(text: str) -> dict[str, object]:
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }


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
    result = result_in(line.replace(b'"BODY"', body), Batch("batch_1"))
    model = OpenAICompatible("m", ModelOptions(base_url="http://127.0.0.1:9/v1"))
    return model.batches().answer(result, model.parameters)


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


@pytest.mark.parametrize("status", [202, 204, 205])
def test_a_success_without_a_completion_is_not_asked_again(chat: Chat, status: int):
    error = error_of(ask, chat, b'{"message": "queued"}' if status == 202 else b"", status)
    assert (error.kind, error.retryable) == ("bad-response", False)
    assert str(error) == f"HTTP {status}: {'queued' if status == 202 else 'no reason given'}"


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        (PLAIN.encode("gb18030"), "application/json; charset=GB18030"),
        (PLAIN.encode("gbk"), 'application/json;charset="gbk"'),
        (PLAIN.encode("big5", "replace"), "application/json; charset=big5"),
        (WHOLE, "application/json; charset=gbk"),
        (WHOLE, "application/json; charset=iso-8859-1"),
        (WHOLE, "application/json; charset=nonesuch"),
    ],
)
def test_the_encoding_is_utf_8_or_what_the_header_names_where_it_is_not(
    chat: Chat, body: bytes, type_: str
):
    assert ask(chat, body, 200, type_).text == TEXT


def test_a_cut_character_in_a_reply_with_a_wrong_charset_stays_one(chat: Chat):
    body = WHOLE.replace("：".encode(), "：".encode()[:2])
    assert ask(chat, body, 200, "application/json; charset=gbk").text == "答案\ufffdA"


@pytest.mark.parametrize(
    "body",
    [
        events(chunk("學"), chunk("而")),
        events(chunk("學")),
        events(completion(TEXT)),
        b"retry: 3\n" + events(chunk("學"), chunk("而")),
        b"data: {cut",
        json.dumps(chunk("學")).encode(),
        b'{"message": {"content": "a"}, "done": false}\n{"message": {}, "done": true}\n',
        WHOLE + b"\n" + WHOLE,
    ],
    ids=[
        "events",
        "one event",
        "a whole answer in an event",
        "retry",
        "cut",
        "a chunk",
        "Ollama's lines",
        "lines",
    ],
)
def test_a_server_that_streams_unasked_is_told_so_once(chat: Chat, body: bytes):
    error = error_of(ask, chat, body, 200, "text/event-stream")
    assert (error.kind, error.retryable) == ("bad-response", False)
    assert "streams its answer" in str(error)


@pytest.mark.parametrize(
    ("body", "kind", "retryable", "words"),
    [
        (choice(finish_reason="error"), "server", True, "finish reason: error"),
        (choice(finish_reason="abort"), "server", True, "finish reason: abort"),
        (choice(finish_reason="foo"), "bad-response", False, "'foo'"),
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
        (b'{"error": {"type": "invalid_request_error", "message": "no"}}', "bad-request", False,
         "HTTP 400: no"),
        (b'{"error": {"code": "rate_limit_exceeded", "message": "slow"}}', "rate", True, "slow"),
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
