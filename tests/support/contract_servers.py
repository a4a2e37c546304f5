"""Servers for contracts: one that answers by rule, one that records, one that plays back."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

KEPT_HEADERS = re.compile(r"content-type|.*retry-after.*|.*ratelimit.*", re.IGNORECASE)
_VARYING = {"id": "recorded", "created": 0, "system_fingerprint": "recorded"}
_DATA_URL = re.compile(r"data:[\w/+.-]+;base64,(.*)", re.DOTALL)
_HASH = re.compile(r"\b[0-9a-f]{64}\b")
NAMED = re.compile(r"\[item (\w+)\]")


class Reply(NamedTuple):
    """What a server sends back."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {"Content-Type": "application/json"}


class LocalServer:
    """A server on a free port of this machine while its block runs; `url` is its base URL."""

    def __init__(self) -> None:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                reply = owner.reply(self.command, self.path, dict(self.headers), data)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            do_GET = do_POST  # noqa: N815 - http.server calls it by this name

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def reply(self, method: str, path: str, headers: Mapping[str, str], data: bytes) -> Reply:
        """The reply to one request; called in a thread of its own."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Shown(NamedTuple):
    """A chat request: model, all its text, and the SHA-256 of its images in their order."""

    model: str
    text: str
    images: tuple[str, ...]


def shown(data: bytes) -> Shown:
    """What a chat request shows the model."""
    body = json.loads(data)
    texts: list[str] = []
    images: list[str] = []
    for message in body.get("messages", []):
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for part in parts:
            if part.get("type") == "text":
                texts.append(part["text"])
            elif found := _DATA_URL.fullmatch(part.get("image_url", {}).get("url", "")):
                images.append(hashlib.sha256(base64.b64decode(found[1])).hexdigest())
    return Shown(str(body.get("model", "")), "\n".join(texts), tuple(images))


def completion(text: str) -> bytes:
    """A chat completion as an OpenAI-compatible server writes it."""
    message = {"role": "assistant", "content": text}
    whole = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "served",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }  # fmt: skip
    return json.dumps(whole).encode()


class RuleServer(LocalServer):
    """Answers each item, which the prompt names as ``[item NAME]``, by rule.

    An int instead of a text is the status of a failure. `seen` is what it was shown.
    """

    def __init__(self, rules: Mapping[str, str | int]) -> None:
        super().__init__()
        self._rules = rules
        self.seen: list[Shown] = []

    def reply(self, method: str, path: str, headers: Mapping[str, str], data: bytes) -> Reply:
        """The answer of the rule; the one model for GET."""
        if method == "GET":
            return Reply(200, json.dumps({"data": [{"id": "served"}]}).encode())
        what = shown(data)
        self.seen.append(what)
        name = NAMED.search(what.text)
        said = self._rules.get(name[1] if name else "", 404)
        if isinstance(said, int):
            error = {"message": f"refused by rule ({said})", "type": "rule", "code": str(said)}
            return Reply(said, json.dumps({"error": error}).encode())
        return Reply(200, completion(said))


class Recorder(LocalServer):
    """Passes requests on to a server and notes what was asked and replied.

    Images are noted by hash. `scrub` maps texts of this machine (folders, ports) to neutral ones.
    """

    def __init__(self, upstream: str, scrub: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._upstream = urlsplit(upstream)
        port = str(self._upstream.port)
        self._scrub = {f"127.0.0.1:{port}": "server", **(scrub or {})}
        self.notes: list[dict[str, Any]] = []

    def reply(self, method: str, path: str, headers: Mapping[str, str], data: bytes) -> Reply:
        """The upstream's reply."""
        there = http.client.HTTPConnection("127.0.0.1", self._upstream.port, timeout=300)
        kept = ("authorization", "content-type")
        passed = {k: v for k, v in headers.items() if k.lower() in kept}
        there.request(method, path, data or None, passed)
        answer = there.getresponse()
        body = answer.read()
        there.close()
        told = {k.lower(): v for k, v in answer.getheaders() if KEPT_HEADERS.fullmatch(k)}
        self._note(method, path, data, answer.status, told, body)
        return Reply(answer.status, body, told)

    def _note(
        self, method: str, path: str, data: bytes, status: int, told: dict[str, str], body: bytes
    ) -> None:
        request: dict[str, Any] = {"method": method, "path": path}
        if data:
            fields = {k: v for k, v in json.loads(data).items() if k not in {"model", "messages"}}
            request |= {**shown(data)._asdict(), "fields": fields}
        said = _neutral(body.decode("utf-8"), self._scrub)
        self.notes.append(
            {"request": request, "reply": {"status": status, "headers": told, "body": said}}
        )

    def record(self) -> list[dict[str, Any]]:
        """What was exchanged, in an order that does not depend on time."""
        return sorted(self.notes, key=lambda note: json.dumps(note["request"], sort_keys=True))


def _neutral(text: str, scrub: Mapping[str, str]) -> Any:
    text = _HASH.sub("HASH", text)
    for found, instead in scrub.items():
        text = text.replace(found, instead)
    try:
        whole = json.loads(text)
    except ValueError:
        return text
    if isinstance(whole, dict):
        whole |= {key: value for key, value in _VARYING.items() if key in whole}
    return whole


class Playback(LocalServer):
    """Replies as a recorded server did to the same model, text and images."""

    def __init__(self, notes: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        self._replies: dict[Shown, list[Reply]] = {}
        self._gets: dict[str, Reply] = {}
        chats = [note["request"]["model"] for note in notes if note["request"]["method"] == "POST"]
        self.model = next(iter(chats), "")
        for note in notes:
            asked, told = note["request"], note["reply"]
            reply = Reply(told["status"], _encoded(told["body"]), told["headers"])
            if asked["method"] == "GET":
                self._gets[asked["path"]] = reply
            else:
                what = Shown(asked["model"], asked["text"], tuple(asked["images"]))
                self._replies.setdefault(what, []).append(reply)

    def reply(self, method: str, path: str, headers: Mapping[str, str], data: bytes) -> Reply:
        """The next recorded reply, the last one again and again; 501 if there is none."""
        if method == "GET":
            return self._gets.get(path, Reply(404, b"{}"))
        replies = self._replies.get(shown(data))
        if not replies:
            return Reply(501, b'{"error": {"message": "not recorded"}}')
        return replies.pop(0) if len(replies) > 1 else replies[0]


def _encoded(body: object) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
