"""Connection limits: half-open connections keep nobody out, and nothing is printed about them."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from aiohttp import web

from keju.annotation.connections import Connections, _find_limit
from keju.annotation.startup import open_server
from tests.annotation.conftest import ask
from tests.support.children import started

HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-a: "

MALFORMED = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET  /\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 9000 + b"\r\n\r\n",
    b"POST /who HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"POST /who HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    b"G\x00T / HTTP/1.1\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://[::/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
)


def half_open(stack: ExitStack, port: int, count: int) -> list[socket.socket]:
    opened = []
    for _ in range(count):
        link = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        link.sendall(HALF)
        opened.append(link)
    return opened


def ended(link: socket.socket, seconds: float) -> bool:
    link.settimeout(seconds)
    try:
        return link.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_a_request_that_does_not_arrive_in_time_is_closed(serving, dataset, tmp_path):
    limits = Connections(50, header_seconds=0.5)
    served = serving(dataset, tmp_path / "run", limits)
    with ExitStack() as stack:
        silent = stack.enter_context(socket.create_connection(("127.0.0.1", served.port)))
        begun = time.monotonic()
        dripping = half_open(stack, served.port, 1)[0]
        while time.monotonic() - begun < 60:
            try:
                dripping.sendall(b"a")
            except OSError:
                break
            time.sleep(0.1)
        else:
            pytest.fail("every byte begins the time again")
        assert ended(silent, 1)
    assert not limits.open


def test_a_connection_without_another_request_is_closed(serving, dataset, tmp_path):
    limits = Connections(50, header_seconds=5, idle_seconds=0.4)
    served = serving(dataset, tmp_path / "run", limits)
    with socket.create_connection(("127.0.0.1", served.port)) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert link.recv(12) == b"HTTP/1.1 403"
        while link.recv(65536):
            pass
    assert not limits.open


def test_beyond_the_limit_the_longest_waiting_makes_room(serving, dataset, tmp_path):
    limits = Connections(8, header_seconds=60)
    served = serving(dataset, tmp_path / "run", limits)
    with ExitStack() as stack:
        opened = half_open(stack, served.port, 20)
        assert served.ask("GET", "/who", person="Li").status == 200
        assert len(limits.open) <= 8
        assert all(ended(link, 5) for link in opened[:12])
        assert served.ask("POST", "/exam/1", person="Li", form={"act": "skip"}).status == 303


def test_a_form_that_does_not_arrive_in_time_is_refused(serving, dataset, tmp_path, monkeypatch):
    monkeypatch.setattr("keju.annotation.http.BODY_SECONDS", 0.3)
    served = serving(dataset, tmp_path / "run")
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as link:
        head = (
            f"POST /exam/1 HTTP/1.1\r\nHost: localhost\r\nCookie: keju-0={served.cookie('Li')}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 50\r\n\r\nact=skip"
        )
        link.sendall(head.encode())
        assert link.recv(12) == b"HTTP/1.1 408"
    assert served.app.events.count() == 0


LONG = bytes(30_000_000)


async def served_to(read) -> int:
    """The length of what a client reads of a long response, from a server that hardly waits."""

    async def long(request: web.Request) -> web.Response:
        del request
        return web.Response(body=LONG)

    app = web.Application()
    app.add_routes([web.get("/", long)])
    limits = Connections(4, idle_seconds=0.5)
    listening = socket.create_server(("127.0.0.1", 0))
    runner, doors = await open_server(SimpleNamespace(app=app), listening, limits)
    reader, writer = await asyncio.open_connection(*listening.getsockname(), limit=1 << 16)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    length = await read(reader)
    writer.close()
    doors.close()
    await runner.cleanup()
    assert not limits.open
    return length


def test_a_slow_reader_gets_all_and_one_that_does_not_read_is_closed():
    async def slow(reader: asyncio.StreamReader) -> int:
        begun, length = time.monotonic(), 0
        while part := await reader.read(1 << 20):
            length += len(part)
            if time.monotonic() - begun < 2:
                await asyncio.sleep(0.01)
        return length

    async def stopped(reader: asyncio.StreamReader) -> int:
        await asyncio.sleep(2)
        try:
            return len(await reader.read())
        except ConnectionResetError:
            return 0

    assert asyncio.run(served_to(slow)) > len(LONG)
    assert asyncio.run(served_to(stopped)) < len(LONG)


@pytest.fixture
def narrow(dataset, tmp_path):
    """``keju serve`` in a process that may open 256 files; gives process, port and address."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256));"
        "sys.argv[0] = 'keju'; from keju.cli import main; main()"
    )
    process = started(
        [sys.executable, "-c", code, "serve", dataset, "--out", tmp_path / "run", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    address = process.stdout.readline().strip().rpartition(" ")[2]
    assert address, process.communicate()[1]
    yield process, int(address.split("/?")[0].rpartition(":")[2]), address.rpartition("=")[2]
    process.kill()
    process.communicate()


def test_hundreds_of_half_open_connections_block_no_person_and_print_nothing(narrow):
    process, port, token = narrow
    with ExitStack() as stack:
        half_open(stack, port, 400)
        assert ask(port, "GET", f"/?t={token}").status == 303
    for request in MALFORMED:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
            answer = b""
            try:
                while part := link.recv(65536):
                    answer += part
            except ConnectionResetError:
                pass
            assert b"Traceback" not in answer
            assert not answer or answer.split()[1].startswith(b"4"), request
    assert ask(port, "GET", f"/?t={token}").status == 303
    os.kill(process.pid, signal.SIGTERM)
    _, printed = process.communicate(timeout=30)
    assert "Traceback" not in printed
    assert len(printed) < 1000


def test_the_limit_leaves_room_among_the_files_of_the_process():
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 32 <= _find_limit() <= max(32, files // 2 if files > 0 else 512)
