"""Replies of many megabytes, and many of them at one time, are refused in bounded memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

_BYTES = 16 << 20
_AT_ONCE = 24

_READER = """
import asyncio, resource, sys
from keju.models import AskError
from keju.models.endpoints import Secrets
from keju.models.http_client import Wire

async def main(url, at_once):
    wire = Wire(url, 60, {}, Secrets([]))
    async def one():
        try:
            return len(await wire.send("POST", data=[b"{}"]))
        except AskError as error:
            return error.kind
    print(*await asyncio.gather(*(one() for _ in range(at_once))))
    await wire.close()

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


class _Replies(BaseHTTPRequestHandler):
    """Answers every POST with as many bytes as the path says."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        size = int(self.path.strip("/"))
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        for _ in range(size >> 20):
            self.wfile.write(b"A" * (1 << 20))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Replies)
    thread = threading.Thread(target=serving.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}"
    serving.shutdown()
    thread.join()
    serving.server_close()


def read(url: str, at_once: int) -> tuple[list[str], int]:
    """The lengths or failures of replies that are read at one time, and the memory in bytes."""
    command = [sys.executable, "-c", _READER, url, str(at_once)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcomes, grown = done.stdout.splitlines()
    return outcomes.split(), int(grown) << 10


def test_large_replies_are_refused_and_take_the_memory_of_a_few(server: str) -> None:
    outcomes, grown = read(f"{server}/{_BYTES}", _AT_ONCE)
    assert outcomes == ["bad-response"] * _AT_ONCE
    assert grown < 9 * _BYTES < _AT_ONCE * _BYTES // 2


def test_smaller_replies_are_read(server: str) -> None:
    assert read(f"{server}/{1 << 20}", 32)[0] == [str(1 << 20)] * 32
