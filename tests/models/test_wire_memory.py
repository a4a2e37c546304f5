"""Replies of many megabytes, and many of them at one time, take bounded memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from keju.models.http_client import LARGE

_BYTES = 16 << 20
_AT_ONCE = 24

_READER = """
import asyncio, resource, sys
from keju.models.endpoints import Secrets
from keju.models.http_client import Wire

async def main(url, at_once):
    wire = Wire(url, 60, {}, Secrets([]))
    async def one():
        return len(await wire.send("POST", data=[b"{}"]))
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


def test_large_replies_take_the_memory_of_a_few(server: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _READER, f"{server}/{_BYTES}", str(_AT_ONCE)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    sizes, grown = done.stdout.splitlines()
    assert sizes.split() == [str(_BYTES)] * _AT_ONCE
    assert int(grown) << 10 < 6 * _BYTES + _AT_ONCE * LARGE < _AT_ONCE * _BYTES // 2


def test_replies_that_are_not_large_do_not_wait(server: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _READER, f"{server}/{1 << 20}", "32"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[0].split() == [str(1 << 20)] * 32
