"""A chat-completions server that misbehaves as told, to be run in a process of its own.

``python chat_server.py`` prints its port. POST /plan sets how it behaves and forgets what it saw;
GET /stats says what it saw. An item is known by the words ``[item ID]`` in its prompt.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from email.utils import formatdate
from time import time

from aiohttp import web
from aiohttp.typedefs import Middleware

ITEM = re.compile(rb"\[item ([^\]]{1,80})\]")
IMAGE = re.compile(rb'"data:([a-z0-9/+]+);base64,([A-Za-z0-9+/=]*)"')
HTML = "<!DOCTYPE html><html><body>Bad gateway, <b>sorry</b></body></html>"
DEFAULTS = {
    "delay": 0.0,  # seconds before any answer
    "modes": [],  # what goes wrong; an item's mode is drawn of these
    "share": 1.0,  # of the items that something goes wrong with
    "times": 1,  # how often it goes wrong for an item; -1: always
    "cap": 0,  # requests in flight above which it answers 429; 0: none
    "after": "1",  # the Retry-After of the mode 429-after
    "headers": {},  # those of the mode 429-headers
    "slow": 1.0,  # seconds that a slow body takes
    "hang": 30.0,  # seconds that a hang takes
    "images": False,  # look at the images and note their hashes
    "says": "",  # what it says to all, if anything
    "refuse": 0,  # the HTTP status by which the next file for a batch is refused
    "words": "no file today",  # what it says then
    "lose": False,  # create a batch, and drop the connection before saying so
    "refusals": [],  # replies to requests that have certain fields: has, status, body
    "usage": None,  # in place of the usage of every answer
    "serves": [],  # pairs of model and fingerprint of its answers in turn, the last for the rest
    "models": [],  # the names that GET /v1/models lists; empty: HTTP 404
    "finds": [],  # pairs of words and reply: what it says to a prompt that contains the words
    "raw": {},  # the reply of the mode raw: status, type (of the content) and body (in base64)
    "replies": {},  # what it says, by `asked_for` of what it is shown; empty: "answer to ITEM"
}


def asked_for(prompt: str, pictures: Iterable[bytes]) -> str:
    """What decides a reply of a server that answers by rule: the prompt and the pictures."""
    return hashlib.sha256(b"".join([prompt.encode(), *pictures])).hexdigest()


def completion(text: str | None, finish: str = "stop", **message: object) -> dict[str, object]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 12,
            "total_tokens": 1012,
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }


def failure(status: int, words: str, code: str = "", **headers: str) -> web.Response:
    body = {"error": {"message": words, "type": "error", "code": code or None}}
    return web.json_response(body, status=status, headers=headers)


class ChatServer:
    def __init__(self) -> None:
        self.plan = dict(DEFAULTS)
        self.forget()

    def forget(self) -> None:
        self.requests = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.modes: Counter[str] = Counter()
        self.images: list[list[str]] = []
        self.keys: set[str] = set()
        self.bodies: list[str] = []
        self.times: list[float] = []

    async def set_plan(self, request: web.Request) -> web.Response:
        self.plan = {**DEFAULTS, **await request.json()}
        self.forget()
        return web.json_response({})

    async def stats(self, request: web.Request) -> web.Response:
        del request
        return web.json_response(
            {
                "requests": self.requests,
                "in_flight": self.in_flight,
                "most_in_flight": self.most_in_flight,
                "asked": self.asked,
                "answered": self.answered,
                "modes": self.modes,
                "images": self.images,
                "keys": sorted(self.keys),
                "bodies": self.bodies,
                "times": self.times,
            }
        )

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        found = ITEM.search(body)
        item = found[1].decode() if found else "?"
        self.requests += 1
        self.asked[item] += 1
        self.keys.add(request.headers.get("Authorization", ""))
        if self.plan["images"]:
            self.note(body)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.plan["cap"] and self.in_flight > self.plan["cap"]:
                self.modes["cap"] += 1
                return failure(429, "too many at once")
            await asyncio.sleep(self.plan["delay"])
            if refusal := self.refusal(body):
                self.modes["refusal-of-fields"] += 1
                return refusal
            mode = self.mode_of(item)
            self.modes[mode] += 1
            if mode == "fine":
                self.answered[item] += 1
                return self.reply(item, body)
            return await getattr(self, f"go_{mode.replace('-', '_')}", self.go_status)(
                request, item, mode
            )
        finally:
            self.in_flight -= 1

    async def models(self, request: web.Request) -> web.Response:
        del request
        if not self.plan["models"]:
            return failure(404, "no list")
        return web.json_response({"data": [{"id": name} for name in self.plan["models"]]})

    def refusal(self, body: bytes) -> web.Response | None:
        """The first refusal whose fields the request has."""
        sent = json.loads(body) if self.plan["refusals"] else {}
        for each in self.plan["refusals"]:
            if sent.keys() >= set(each["has"]):
                return web.json_response(each["body"], status=each["status"])
        return None

    def reply(self, item: str, body: bytes) -> web.Response:
        """By rule where there are rules: a text, or a message's fields."""
        content = json.loads(body)["messages"][0]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        prompt = "".join(part.get("text", "") for part in parts)
        for words, said in self.plan["finds"]:
            if words in prompt:
                return web.json_response(completion(said))
        if not self.plan["replies"]:
            whole = completion(self.plan["says"] or f"answer to {item}")
            if self.plan["usage"] is not None:
                whole["usage"] = self.plan["usage"]
            if serves := self.plan["serves"]:
                place = min(sum(self.answered.values()), len(serves)) - 1
                whole["model"], whole["system_fingerprint"] = serves[place]
            return web.json_response(whole)
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        shown = asked_for(prompt, [base64.b64decode(url.partition(",")[2]) for url in urls])
        said = self.plan["replies"].get(shown)
        if said is None:
            return failure(404, f"no rule for {prompt[:60]!r} with {len(urls)} pictures")
        return web.json_response(completion(**said) if isinstance(said, dict) else completion(said))

    def note(self, body: bytes) -> None:
        self.times.append(time())
        self.images.append(
            [
                f"{mime.decode()} {hashlib.sha256(base64.b64decode(data)).hexdigest()}"
                for mime, data in IMAGE.findall(body)
            ]
        )
        self.bodies.append(IMAGE.sub(b'"IMAGE"', body).decode())

    def mode_of(self, item: str) -> str:
        modes = self.plan["modes"]
        times = self.plan["times"]
        if not modes or (times >= 0 and self.asked[item] > times):
            return "fine"
        draw = hashlib.sha256(item.encode()).digest()
        if int.from_bytes(draw[:4], "big") / 2**32 >= self.plan["share"]:
            return "fine"
        return modes[int.from_bytes(draw[4:8], "big") % len(modes)]

    async def go_raw(self, *_: object) -> web.Response:
        raw = self.plan["raw"]
        headers = {"Content-Type": raw.get("type", "application/json")}
        body = base64.b64decode(raw["body"])
        return web.Response(body=body, status=raw.get("status", 200), headers=headers)

    async def go_status(self, request: web.Request, item: str, mode: str) -> web.Response:
        del request, item
        return failure(int(mode), f"told to answer {mode}")

    async def go_429_after(self, *_: object) -> web.Response:
        return failure(429, "slower, please", **{"Retry-After": self.plan["after"]})

    async def go_429_headers(self, *_: object) -> web.Response:
        return failure(429, "slower, please", **self.plan["headers"])

    async def go_429_date(self, *_: object) -> web.Response:
        date = formatdate(time() + float(self.plan["after"]), usegmt=True)
        return failure(429, "slower, please", **{"Retry-After": date})

    async def go_no_credit(self, *_: object) -> web.Response:
        return failure(429, "You exceeded your current quota", "insufficient_quota")

    async def go_echo_400(self, request: web.Request, item: str, mode: str) -> web.Response:
        del request, mode
        name = "".join(chr(97 + int(digit)) for digit in item if digit.isdigit())
        return failure(400, f"cannot take {name}")

    async def go_policy(self, *_: object) -> web.Response:
        return failure(400, "The prompt was filtered", "content_filter")

    async def go_bad_image(self, *_: object) -> web.Response:
        return failure(400, "cannot decode", "image_parse_error")

    async def go_html_502(self, *_: object) -> web.Response:
        return web.Response(text=HTML, status=502, content_type="text/html")

    async def go_html(self, *_: object) -> web.Response:
        return web.Response(text=HTML, content_type="text/html")

    async def go_echo_key_401(self, request: web.Request, *_: object) -> web.Response:
        return failure(401, f"Incorrect key: {request.headers.get('Authorization')}")

    async def go_echo_key_late(self, request: web.Request, *_: object) -> web.Response:
        return failure(401, f"{'x' * 280}{request.headers.get('Authorization')}")

    async def go_echo_key(self, request: web.Request, item: str, mode: str) -> web.Response:
        del mode
        self.answered[item] += 1
        return web.json_response(completion(str(dict(request.headers))))

    async def go_echo_key_escaped(self, request: web.Request, item: str, mode: str) -> web.Response:
        """The key in the text, the finish reason and the usage, its characters as JSON escapes."""
        del item, mode
        key = request.headers.get("Authorization", "")
        whole = json.dumps(completion("says KEY", "stop: KEY", reasoning="KEY"))
        escaped = "".join(f"\\u{ord(mark):04X}" for mark in key)
        return web.Response(text=whole.replace("KEY", escaped), content_type="application/json")

    async def go_drop_before(self, request: web.Request, *_: object) -> web.Response:
        request.transport.close()
        return web.Response()

    async def go_drop_body(self, request: web.Request, item: str, mode: str) -> web.StreamResponse:
        del mode
        whole = json.dumps(completion(f"answer to {item}")).encode()
        reply = web.StreamResponse(headers={"Content-Type": "application/json"})
        reply.content_length = len(whole)
        await reply.prepare(request)
        await reply.write(whole[: len(whole) // 2])
        request.transport.close()
        return reply

    async def go_slow_body(self, request: web.Request, item: str, mode: str) -> web.StreamResponse:
        del mode
        whole = json.dumps(completion(f"answer to {item}")).encode()
        reply = web.StreamResponse(headers={"Content-Type": "application/json"})
        reply.content_length = len(whole)
        await reply.prepare(request)
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(whole), len(whole) // 10):
                await reply.write(whole[start : start + len(whole) // 10])
                await asyncio.sleep(self.plan["slow"] / 10)
            self.answered[item] += 1
        return reply

    async def go_hang(self, *_: object) -> web.Response:
        await asyncio.sleep(self.plan["hang"])
        return failure(500, "too late")

    async def go_truncated_json(self, *_: object) -> web.Response:
        whole = json.dumps(completion("cut"))
        return web.Response(text=whole[: len(whole) // 2], content_type="application/json")

    async def go_wrong_json(self, *_: object) -> web.Response:
        return web.json_response({"choices": "none of them", "usage": []})

    async def go_empty_choices(self, *_: object) -> web.Response:
        return web.json_response({**completion(""), "choices": []})

    async def go_error_object(self, *_: object) -> web.Response:
        return web.json_response({"error": {"code": 502, "message": "upstream is away"}})

    async def go_empty_content(self, *_: object) -> web.Response:
        return web.json_response(completion(None))

    async def go_filter(self, *_: object) -> web.Response:
        return web.json_response(completion("", "content_filter"))

    async def go_refusal(self, *_: object) -> web.Response:
        return web.json_response(completion(None, refusal="I cannot look at this"))

    async def go_length(self, *_: object) -> web.Response:
        return web.json_response(completion("天地玄", "length"))

    async def go_reasoning(self, *_: object) -> web.Response:
        return web.json_response(completion("B", reasoning_content="it is the second"))

    async def go_think(self, *_: object) -> web.Response:
        return web.json_response(completion("<think>\nhm\n</think>\n\nB"))


def routes(server: ChatServer) -> list[web.RouteDef]:
    handlers: dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]] = {
        "/v1/chat/completions": server.chat,
        "/plan": server.set_plan,
    }
    posts = [web.post(path, handler) for path, handler in handlers.items()]
    return [*posts, web.get("/stats", server.stats), web.get("/v1/models", server.models)]


async def serve(
    server: ChatServer, more: Iterable[web.RouteDef] = (), middlewares: Iterable[Middleware] = ()
) -> None:
    app = web.Application(client_max_size=1 << 30, middlewares=middlewares)
    app.add_routes([*routes(server), *more])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    # The one who started us keeps our standard input open; when it ends, so do we.
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(ChatServer()))
