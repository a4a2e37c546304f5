"""How ``run-0.1.0`` was made: a scored run of format ``keju-run-1``, by the code of keju 0.1.0.

It cannot be made with a later keju, whose runs have another format. To make it again, check out
the commit that added this file, and run::

    python tests/golden/make_run_0_1_0.py

Two models answer five items of the bundled set in the three settings of 0.1.0, in which `own-ocr`
and `gold-ocr` sent text only. ``openai:thinker`` puts ``<think>…</think>`` before its answers,
which 0.1.0 took off before it stored them; the text that it thinks contains an option letter.
"""

from __future__ import annotations

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from keju import __version__
from keju.datasets import mini
from keju.models import ModelOptions
from keju.running import Policy, Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run

OUT = Path(__file__).with_name("run-0.1.0")
SETTINGS = ("image", "own-ocr", "gold-ocr")
TASKS = ("T1", "T2", "T3", "T6", "T7")


def said(body: dict[str, object]) -> str:
    """A reply that says what was sent: how many images, and whether a text came with them."""
    (message,) = body["messages"]
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    prompt = "".join(part.get("text", "") for part in parts)
    images = sum(part["type"] == "image_url" for part in parts)
    text = "with text" if prompt.startswith("以下是圖中的文字") else "without text"
    answer = f" 天地玄黃，{images} images, {text}\n"
    return f"<think>A or B?\n</think>\n{answer}" if body["model"] == "thinker" else answer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": said(body)}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        reply = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args: object) -> None:
        del args


def main() -> None:
    assert __version__ == "0.1.0"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shutil.rmtree(OUT, ignore_errors=True)
    summary = run(
        mini.path(),
        ["openai:plain", "openai:thinker"],
        OUT,
        selection=Selection(tasks=TASKS, limit=1, settings=SETTINGS),
        options=ModelOptions(base_url=f"http://127.0.0.1:{server.server_address[1]}/v1"),
        policy=Policy(concurrency=1),
    )
    server.shutdown()
    assert summary.complete
    score_run(RunFolder.open(OUT))
    (OUT / "run.lock").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
