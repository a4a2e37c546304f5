"""The chat and batch server as a proxy that records requests, to be run in a process of its own.

A command whose environment has ``http_proxy=http://127.0.0.1:PORT`` reaches it under any address,
so neither an identity nor a request depends on the port. GET /recorded gives the requests since the
last plan: ``[method, address, headers, body]``, without a key, and with a hash in place of an
image. Any path that is not one of the API's is an OCR service. An answer depends on the
images only.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from aiohttp import web
from PIL import Image

from tests.support.batch_server import BatchServer, routes
from tests.support.chat_server import completion, serve

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_CONTROLS = frozenset({"/plan", "/stats", "/work", "/seen", "/recorded"})
_FILES = "/v1/files"
_TEXTS = ("天地玄黃", "宇宙洪荒", "日月盈昃", "辰宿列張", "寒來暑往", "秋收冬藏", "閏餘成歲")


class RecordingServer(BatchServer):
    """Its plan may have `images`, ``pixels`` or ``format``: these describe images, not a hash."""

    def forget(self) -> None:
        super().forget()
        self.files, self.batches, self.uploads = {}, {}, []
        self.recorded: list[list[object]] = []

    @web.middleware
    async def record(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path not in _CONTROLS and request.path != _FILES:
            body = await request.read()
            self._add(request, self._described(json.loads(body)) if body else None)
        return await handler(request)

    async def upload(self, request: web.Request) -> web.Response:
        reply = await super().upload(request)
        form = await request.post()
        file = form["file"]
        lines = [self._described(json.loads(line)) for line in self.files["file-0"].splitlines()]
        self._add(request, {"purpose": form["purpose"], "type": file.content_type, "lines": lines})
        return reply

    def reply(self, item: str, body: bytes) -> web.Response:
        del item
        text = self.plan["says"] or _text(list(_images(json.loads(body))))
        return web.json_response(completion(text))

    async def read_page(self, request: web.Request) -> web.Response:
        text = _text([str(value) for value in (await request.json()).values()])
        lines = [
            {"text": part, "position": [[x, 10], [x + 20, 10], [x + 20, 90], [x, 90]]}
            for part, x in ((text[:2], 10), (text[2:], 40))
        ]
        return web.json_response({"message": "success", "data": {"text_lines": lines}})

    async def list_recorded(self, request: web.Request) -> web.Response:
        del request
        return web.json_response(self.recorded)

    def _add(self, request: web.Request, body: object) -> None:
        headers = {
            "content-type": request.headers.get("Content-Type", "").partition(";")[0],
            "authorization": request.headers.get("Authorization", "").partition(" ")[0],
            "x-service": request.headers.get("X-Service", ""),
        }
        self.recorded.append([request.method, str(request.url), headers, body])

    def _described(self, value: Any) -> Any:
        """A JSON value with a description in place of each image in base64."""
        if isinstance(value, dict):
            return {
                name: self._image(inner) if name == "image" else self._described(inner)
                for name, inner in value.items()
            }
        if isinstance(value, list):
            return [self._described(inner) for inner in value]
        if isinstance(value, str) and value.startswith("data:"):
            mime, _, data = value.partition(";base64,")
            return f"{mime} {self._image(data)}"
        return value

    def _image(self, encoded: str) -> str:
        data = base64.b64decode(encoded)
        if self.plan.get("images") == "format":
            return Image.open(io.BytesIO(data)).format or ""
        if self.plan.get("images") == "pixels":
            return "{} x {}".format(*Image.open(io.BytesIO(data)).size)
        return hashlib.sha256(data).hexdigest()


def _images(body: dict[str, Any]) -> Iterator[str]:
    """The addresses of all images of a request."""
    for message in body["messages"]:
        for part in message["content"] if isinstance(message["content"], list) else ():
            if part["type"] == "image_url":
                yield part["image_url"]["url"]


def _text(images: list[str]) -> str:
    """A text that the images determine."""
    digest = hashlib.sha256("".join(images).encode()).digest()
    return _TEXTS[digest[0] % len(_TEXTS)]


if __name__ == "__main__":
    server = RecordingServer()
    paths = [
        web.get("/recorded", server.list_recorded),
        *routes(server),
        web.post("/{path:.*}", server.read_page),
    ]
    asyncio.run(serve(server, paths, (server.record,)))
