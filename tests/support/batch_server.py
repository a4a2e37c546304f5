"""The chat server with the batch endpoints of the OpenAI form, to be run in a process of its own.

POST /work does the work of all batches that are under way: ``{"status": …, "share": …}`` ends them
with that status after so large a share of their lines. GET /seen says what was uploaded.
"""

from __future__ import annotations

import asyncio
import base64
import json

from aiohttp import web

from tests.support.chat_server import ITEM, ChatServer, failure, serve

RAW = "the raw body"


class BatchServer(ChatServer):
    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, object]] = {}
        self.uploads: list[int] = []

    async def upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        if status := self.plan["refuse"]:
            self.plan["refuse"] = 0
            return failure(status, self.plan["words"])
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"].file.read()
        self.uploads.append(self.files[name].count(b"\n"))
        return web.json_response({"id": name, "object": "file"})

    async def create(self, request: web.Request) -> web.Response:
        asked = await request.json()
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {"id": name, "object": "batch", "status": "in_progress", **asked}
        if self.plan["lose"]:
            # It is created, and its creator never learns so.
            self.plan["lose"] = False
            request.transport.close()
        return web.json_response(self.batches[name])

    async def look(self, request: web.Request) -> web.Response:
        return web.json_response(self.batches[request.match_info["name"]])

    async def listed(self, request: web.Request) -> web.Response:
        del request
        return web.json_response({"data": list(self.batches.values()), "has_more": False})

    async def content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["name"]])

    async def work(self, request: web.Request) -> web.Response:
        how = {"status": "completed", "share": 1.0, **await request.json()}
        for batch in self.batches.values():
            if batch["status"] == "in_progress":
                self.finish(batch, **how)
        return web.json_response({})

    def finish(self, batch: dict[str, object], *, status: str, share: float) -> None:
        batch["status"] = status
        if status == "failed":
            batch["errors"] = {"data": [{"message": "line 1: not a model of ours"}]}
            return
        good, bad = [], []
        lines = self.files[batch["input_file_id"]].splitlines()
        for number, line in enumerate(reversed(lines)):
            asked = json.loads(line)
            assert (asked["method"], asked["url"]) == ("POST", "/v1/chat/completions")
            found = ITEM.search(line)
            item = found[1].decode() if found else "?"
            result: dict[str, object] = {"id": "r", "custom_id": asked["custom_id"]}
            if number >= share * len(lines):
                error = {"code": "batch_expired", "message": "not in time"}
                bad.append({**result, "response": None, "error": error})
                continue
            self.requests += 1
            self.asked[item] += 1
            mode = self.mode_of(item)
            if mode == "raw":
                reply = {"status_code": self.plan["raw"].get("status", 200), "body": RAW}
                good.append({**result, "response": reply, "error": None})
            elif mode == "line-error":
                bad.append({**result, "response": None, "error": self.plan["raw"]["error"]})
            elif mode == "fine":
                sent = json.dumps(asked["body"], ensure_ascii=False).encode()
                self.note(sent)
                reply = {"status_code": 200, "body": json.loads(self.reply(item, sent).body)}
                good.append({**result, "response": reply, "error": None})
            else:
                body = {"error": {"message": "told to answer 400"}}
                reply = {"status_code": 400, "body": body}
                bad.append({**result, "response": reply, "error": None})
        for name, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                batch[name] = f"file-{len(self.files)}"
                lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
                body = base64.b64decode(self.plan["raw"].get("body", ""))
                self.files[batch[name]] = lines.replace(f'"{RAW}"'.encode(), body)

    async def seen(self, request: web.Request) -> web.Response:
        del request
        return web.json_response({"uploads": self.uploads, "batches": len(self.batches)})


def routes(server: BatchServer) -> list[web.RouteDef]:
    return [
        web.post("/v1/files", server.upload),
        web.get("/v1/files/{name}/content", server.content),
        web.post("/v1/batches", server.create),
        web.get("/v1/batches", server.listed),
        web.get("/v1/batches/{name}", server.look),
        web.post("/work", server.work),
        web.get("/seen", server.seen),
    ]


if __name__ == "__main__":
    whole = BatchServer()
    asyncio.run(serve(whole, routes(whole)))
