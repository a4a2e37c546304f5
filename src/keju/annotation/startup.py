"""Start the annotation server: bind a socket, print the access URL, shut down cleanly."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from aiohttp import web

from keju.annotation.app import AnnotationApp
from keju.annotation.auth import AccessControl
from keju.annotation.connections import Connections, get_logger, ignore_exhaustion
from keju.annotation.server import Server
from keju.errors import UsageError
from keju.texts import Text

LOOPBACK = "127.0.0.1"
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  compared, not listened on
_BACKLOG = 128


def serve(
    app: AnnotationApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    new_token: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> list[Text]:
    """Serve until Ctrl-C or SIGTERM, then export everything.

    Args:
        app: the annotation app; it is closed at the end.
        host: the address to listen on. Other machines can reach an address that is not loopback.
        port: the port; 0 selects a free one.
        new_token: whether to make a new token, so that earlier addresses stop working.
        report: the function that receives the access URL once the server accepts requests. Where
            the server listens on all addresses, the URL has the name of this machine.

    Returns:
        A line for each exported file.

    Raises:
        UsageError: the server cannot listen on that address.
        DataError: the export failed.
    """
    try:
        listening = _listen(host, port)
        with listening:
            actual_port = int(listening.getsockname()[1])
            token = app.events.get_token(renew=new_token)
            server = Server(app, AccessControl(app.signer, token, host, actual_port))
            name = _name_in_address(host)
            asyncio.run(
                _run_until_stopped(
                    server, listening, lambda: report(f"http://{name}:{actual_port}/?t={token}")
                )
            )
        return app.collect()
    finally:
        app.close()


def _name_in_address(host: str) -> str:
    """The host as browsers need it: the machine's name where the server listens everywhere."""
    if host in _EVERYWHERE:
        return socket.gethostname().lower()
    return f"[{host}]" if ":" in host else host


async def _run_until_stopped(
    server: Server, listening: socket.socket, ready: Callable[[], None]
) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.set_exception_handler(ignore_exhaustion)
    runner, listener = await open_server(server, listening)
    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(each, stop.set)
        ready()
        await stop.wait()
    finally:
        listener.close()
        await runner.cleanup()


async def open_server(
    server: Server, listening: socket.socket, limits: Connections | None = None
) -> tuple[web.AppRunner, asyncio.Server]:
    """Serve on a socket, within the connection limits."""
    limits = limits or Connections()
    server.app.middlewares.insert(0, limits.track)
    runner = web.AppRunner(
        server.app, access_log=None, handle_signals=False, logger=get_logger(),
        keepalive_timeout=limits.idle_seconds,
    )  # fmt: skip
    await runner.setup()
    assert runner.server is not None
    factory = limits.make_factory(runner.server)
    loop = asyncio.get_running_loop()
    return runner, await loop.create_server(factory, sock=listening, backlog=_BACKLOG)


def _listen(host: str, port: int) -> socket.socket:
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listening = socket.socket(family, kind, protocol)
        # A server that is restarted at once must find its port free.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError("{}:{} is in use. Choose another --port", host, port) from None
        reason = error.strerror
        raise UsageError(
            "the server cannot listen on {}:{}: {}. Choose another --host or --port",
            host,
            port,
            reason,
        ) from None
    return listening
