"""Starts the misbehaving server in a process of its own, and talks to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.support import ROOT, module_command
from tests.support.children import started


class Chat:
    """A running chat server; `url` is its base URL."""

    def __init__(self, module: str = "chat_server") -> None:
        self._process = started(
            module_command(module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        port = self._process.stdout.readline().strip()
        assert port, "the chat server did not start"
        self.pid = self._process.pid
        self._root = f"http://127.0.0.1:{port}"
        self.url = f"{self._root}/v1"

    def plan(self, **settings: object) -> None:
        """Set how it behaves (see DEFAULTS of chat_server), and forget what it saw."""
        self.post("plan", settings)

    def stats(self) -> dict[str, Any]:
        """What it saw since the last plan."""
        return self.get("stats")

    def post(self, path: str, settings: dict[str, Any]) -> None:
        """Tell it something."""
        body = json.dumps(settings).encode()
        with urlopen(Request(f"{self._root}/{path}", data=body, method="POST"), timeout=10):
            pass

    def get(self, path: str) -> dict[str, Any]:
        """What it says."""
        with urlopen(f"{self._root}/{path}", timeout=10) as reply:
            return json.load(reply)

    def stop(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=10)


def run_command(dataset: Path, out: Path, chat: Chat, *, at_once: int = 4) -> list[str]:
    """The command line of a run against the server."""
    return [
        sys.executable, "-m", "keju", "run", str(dataset), "--model", "openai:served",
        "--out", str(out), "--base-url", chat.url, "--concurrency", str(at_once),
    ]  # fmt: skip
