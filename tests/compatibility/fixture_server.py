"""A chat server that answers by rule, so that runs, grades and drafts come out alike every time."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FORMS = (
    "天地玄黃，宇宙洪荒。",
    "B",
    "答案：C",
    "yes",
    "3",
    "[[10, 12, 40, 60]]",
    "0.7",
    "此字象形。",
)


def parts_of(body: dict[str, Any]) -> tuple[str, list[bytes]]:
    """The prompt of a request, and its images."""
    content = body["messages"][-1]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    prompt = "".join(part.get("text", "") for part in parts)
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return prompt, [base64.b64decode(url.partition(",")[2]) for url in urls]


def completion(text: str | None, finish: str = "stop", **message: object) -> dict[str, object]:
    """A reply of the OpenAI form."""
    said = {"role": "assistant", "content": text, **message}
    usage = {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "served",
            "choices": [{"index": 0, "finish_reason": finish, "message": said}],
            "usage": usage}  # fmt: skip


class Server:
    """The server, in a thread; `learn` gives it the references of a dataset."""

    def __init__(self, written: Path) -> None:
        self.written = written
        self.known: dict[tuple[str, str], str] = {}
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                status, reply = owner.reply(self.path, data)
                self.respond(status, reply)

            def do_GET(self) -> None:
                self.respond(200, {"data": [], "has_more": False})

            def respond(self, status: int, reply: object) -> None:
                sent = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *args: object) -> None:
                del args

        # A fixed port: the address is part of what runs and recipes store.
        self._server = ThreadingHTTPServer(("127.0.0.1", 18470), Handler)
        self.url = "http://127.0.0.1:18470/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """End it."""
        self._server.shutdown()

    def learn(self, dataset: Any) -> None:
        """Know the references of the items, by the hash of their first image."""
        for item in dataset.items():
            if item.images:
                said = item.answer or str([[box.x0, box.y0, box.x1, box.y1] for box in item.boxes])
                self.known[item.images[0].sha256] = said

    def reply(self, path: str, data: bytes) -> tuple[int, object]:
        """Files and batches are accepted and never worked on; the rest is a chat."""
        if path.endswith("/files"):
            return 200, {"id": "file-0", "object": "file"}
        body = json.loads(data)
        if path.endswith("/batches"):
            return 200, {"id": "batch_0", "object": "batch", "status": "in_progress", **body}
        prompt, images = parts_of(body)
        if body["model"] == "judge":
            return 200, completion(f"尚可。\n分数：{len(prompt) % 11}")
        if '{"items"' in prompt:
            return 200, completion(self.drafted(prompt))
        return self.answer(body["model"], prompt, images)

    @staticmethod
    def drafted(prompt: str) -> str:
        """A draft in the form that the prompt asks for."""
        fields = {"translation": "溫習學過的，得到新的體會。", "word": "天", "right": "天空",
                  "wrong": ["土地", "人", "水"], "question": "何時溫習？", "answer": "故而知新時",
                  "evidence": "天", "text": "天，地。"}  # fmt: skip
        asked = prompt.rpartition('{"items": [')[2].partition("]")[0]
        return json.dumps(
            {"items": [{k: v for k, v in fields.items() if f'"{k}"' in asked}]}, ensure_ascii=False
        )

    def answer(  # noqa: PLR0911 - one for each kind of reply
        self, model: str, prompt: str, images: list[bytes]
    ) -> tuple[int, object]:
        """The reference with a small error, or, of the poor model, something of every kind."""
        sha = hashlib.sha256(images[0]).hexdigest() if images else ""
        known = self.known.get(sha, "天地玄黃")
        draw = int(hashlib.sha256(prompt.encode() + sha.encode()).hexdigest(), 16)
        if len(images) == 2:
            said = ("yes", "No", "0.8", "0.25")[draw % 4]
            return 200, completion(said)
        if model == "good":
            return 200, completion(known if draw % 3 else f"<think>想一想</think>\n答案：{known}")
        match draw % 9:
            case 0:
                return 400, {"error": {"message": "the request cannot be processed", "code": None}}
            case 1:
                return 200, completion("")
            case 2:
                return 200, completion(None, "content_filter")
            case 3:
                return 200, completion(known[:2], "length")
            case 4:
                return 200, completion("抱歉，我無法辨認這張圖片。")
            case 5:
                return 200, completion(known, reasoning_content="it may be A or B")
        return 200, completion(FORMS[draw % len(FORMS)])
