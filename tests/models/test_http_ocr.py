"""OCR services over HTTP: real requests to a local server that answers as told."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from keju.errors import UsageError
from keju.items import Request
from keju.models import Answer, AskError, ModelOptions, open_model
from tests.support.showing import stored

pytest.importorskip("aiohttp", reason="an extra: pip install 'keju[api]'")
from aiohttp import web
from aiohttp.test_utils import TestServer

from keju.models.http_ocr import polygon_of

TOKEN, EMAIL = "secret-token-0123456789", "reader@example.org"
PAGE = stored(np.full((300, 200), 255, np.uint8))
Handler = Callable[[web.Request], Any]


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANDIANGUJI_TOKEN", TOKEN)
    monkeypatch.setenv("KANDIANGUJI_EMAIL", EMAIL)


def request(images: int = 1) -> Request:
    return Request(
        item="p1", benchmark="MCS-Bench", task="T1", form="transcription", prompt="?",
        images=(PAGE.ref,) * images,
    )  # fmt: skip


def column(text: str, x: int) -> dict[str, object]:
    return {"text": text, "position": [[x, 10], [x + 30, 10], [x + 30, 280], [x, 280]]}


def success(*lines: object) -> dict[str, object]:
    return {"message": "success", "info": "", "data": {"text_lines": list(lines)}}


def ask(handler: Handler, spec: str = "{url}", images: int = 1, **options: object) -> Answer:
    """Ask a server with that handler; `{url}` in the spelling is its address."""

    async def go() -> Answer:
        app = web.Application(client_max_size=1 << 24)
        app.router.add_post("/ocr", handler)
        app.router.add_get("/ocr", handler)
        async with TestServer(app) as server:
            said = spec.replace("{url}", str(server.make_url("/ocr")))
            model = open_model(f"http-ocr:{said}", ModelOptions(**options))
            assert model.unsupported_reason(request(images)) == ""
            try:
                return await model.answer(request(images), [PAGE.data] * images)
            finally:
                await model.close()

    return asyncio.run(go())


def always(reply: object, status: int = 200, **headers: str) -> Handler:
    async def handler(asked: web.Request) -> web.Response:
        await asked.read()
        return web.json_response(reply, status=status, headers=headers)

    return handler


def test_the_image_travels_untouched_with_the_declared_fields():
    seen: list[dict[str, object]] = []

    async def handler(asked: web.Request) -> web.Response:
        seen.append(await asked.json())
        return web.json_response(success(column("天地", 150), column("玄黃", 100)))

    answer = ask(handler)
    assert answer.text == "天地\n玄黃"
    assert answer.lines[0].polygon == ((150, 10), (180, 10), (180, 280), (150, 280))
    (fields,) = seen
    assert base64.b64decode(fields.pop("image")) == PAGE.data
    assert fields == {
        "token": TOKEN, "email": EMAIL, "det_mode": "auto", "version": "v2",
        "return_position": True,
    }  # fmt: skip


def test_several_images_are_read_one_after_the_other():
    answer = ask(always(success(column("天地", 150), column("玄黃", 100))), images=2)
    assert answer.text == "天地\n玄黃\n天地\n玄黃"
    assert [line.id for line in answer.lines] == ["1-1", "1-2", "2-1", "2-2"]


def test_a_page_without_writing_is_an_empty_answer():
    answer = ask(always(success()))
    assert (answer.text, answer.status) == ("", "empty")


def test_boxes_without_text_are_an_empty_answer():
    answer = ask(always(success(column("", 150), column(" ", 100))))
    assert (answer.status, len(answer.lines)) == ("empty", 2)


def fault(handler: Handler, **options: object) -> AskError:
    with pytest.raises(AskError) as caught:
        ask(handler, **options)
    assert TOKEN not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(401, "auth", False), (429, "rate", True), (500, "server", True), (413, "bad-request", False),
     (302, "connection", False)],
)  # fmt: skip
def test_http_errors_are_classed(status: int, kind: str, retryable: bool):
    error = fault(always({"message": f"no {TOKEN}"}, status=status, **{"Retry-After": "3"}))
    assert (error.kind, error.retryable, error.retry_after) == (kind, retryable, 3.0)
    assert "no ***" in str(error)


@pytest.mark.parametrize(
    ("info", "kind", "retryable"),
    [(f"token 无效 {TOKEN}", "auth", False), ("并发", "rate", True), ("?", "bad-response", True)],
)  # fmt: skip
def test_the_service_s_own_complaints_are_classed(info: str, kind: str, retryable: bool):
    error = fault(always({"message": "error", "info": info}))
    assert (error.kind, error.retryable, error.overloaded) == (kind, retryable, kind == "rate")


@pytest.mark.parametrize(
    "reply",
    [
        "<html>",
        b"[" * 100_000,
        [],
        {},
        success(3),
        success({"words": "天"}),
        {"message": "success"},
    ],
)
def test_a_reply_that_is_not_as_declared_is_a_bad_response(reply: object):
    async def handler(asked: web.Request) -> web.Response:
        raw = reply if isinstance(reply, bytes) else msgspec.json.encode(reply)
        return web.Response(body=raw)

    error = fault(handler)
    assert (error.kind, error.retryable) == ("bad-response", True)


def test_a_failed_connection_through_a_proxy_names_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "user:geheim@127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    error = fault(always(success()))
    assert "(through the proxy http://127.0.0.1:9)" in str(error)


def test_a_redirection_is_not_followed():
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.method)
        raise web.HTTPTemporaryRedirect("/ocr")

    assert fault(handler).kind == "connection"
    assert asked == ["POST"]


def test_a_server_that_hangs_or_drops_is_asked_again():
    async def hang(asked: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return web.Response()

    async def drop(asked: web.Request) -> web.Response:
        asked.transport.close()
        return web.Response()

    assert fault(hang, timeout=0.2).kind == "timeout"
    assert fault(drop).kind == "connection"
    assert fault(drop).retryable


def test_what_decides_an_answer_is_in_its_identity_and_no_secret_is():
    one = open_model("http-ocr:kandianguji", ModelOptions())
    other = open_model("http-ocr:http://localhost:9/ocr", ModelOptions())
    assert one.identity["endpoint"] == "https://ocr.kandianguji.com/ocr_api"
    assert one.identity["service"] != other.identity["service"]
    assert one.name == "http-ocr:kandianguji"
    assert TOKEN not in repr([one.identity, other.identity])


def test_a_plan_needs_no_secret_but_a_run_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("KANDIANGUJI_TOKEN")
    open_model("http-ocr:kandianguji", ModelOptions(asking=False))
    with pytest.raises(UsageError, match="environment variable KANDIANGUJI_TOKEN"):
        open_model("http-ocr:kandianguji", ModelOptions())


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "needs an address"),
        ("baidu", "needs an address"),
        ("own.toml", "needs an address"),
        ("http://user:pass@host/x", "without user"),
    ],
)
def test_what_is_no_service_is_wrong_use(spec: str, words: str):
    with pytest.raises(UsageError, match=words):
        open_model(f"http-ocr:{spec}", ModelOptions())


@pytest.mark.parametrize(
    ("value", "points"),
    [
        ([[0, 1], [2, 3], [4, 5]], 3),
        ([[0, 1], [2, 3]], 0),
        ([0, 1, 2, 3, 4, 5, 6, 7], 0),
        ([], 0),
        ("0 1 2 3", 0),
        (None, 0),
        ([["a", "b"]] * 4, 0),
        ([float("nan")] * 8, 0),
        ([[[0, 1]], [[2, 3]], [[4, 5]]], 0),
    ],
)
def test_a_polygon_has_three_points_or_more(value: object, points: int):
    assert len(polygon_of(value)) == points
