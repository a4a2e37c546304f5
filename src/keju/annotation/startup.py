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
from keju.annotation.connections import Connections, ignore_exhaustion, quiet_logger
from keju.annotation.server import Server
from keju.errors import UsageError
from keju.messages import message

LOOPBACK = "127.0.0.1"
_BACKLOG = 128


def serve(
    app: AnnotationApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    new_token: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Serve until Ctrl-C or SIGTERM, then export everything.

    Args:
        app: the annotation app's state; closed at the end.
        host: the address to listen on; one that is not loopback is reachable from other machines.
        port: 0 selects any free port.
        new_token: make a new token, so that earlier addresses are no longer valid.
        tell: gets the address as soon as the server answers.

    Returns:
        A line for each exported file.

    Raises:
        UsageError: the server cannot listen on that address.
        DataError: the export failed.
    """
    try:
        listening = _listen(host, port)
        with listening:
            bound = int(listening.getsockname()[1])
            token = app.events.token(anew=new_token)
            server = Server(app, AccessControl(app.signer, token, host, bound))
            shown = f"[{host}]" if ":" in host else host
            asyncio.run(_go(server, listening, lambda: tell(f"http://{shown}:{bound}/?t={token}")))
        return app.collect()
    finally:
        app.close()


async def _go(server: Server, listening: socket.socket, ready: Callable[[], None]) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.set_exception_handler(ignore_exhaustion)
    runner, doors = await open_doors(server, listening)
    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(each, stop.set)
        ready()
        await stop.wait()
    finally:
        doors.close()
        await runner.cleanup()


async def open_doors(
    server: Server, listening: socket.socket, limits: Connections | None = None
) -> tuple[web.AppRunner, asyncio.Server]:
    """Serve on a socket, within the connection limits."""
    limits = limits or Connections()
    server.app.middlewares.insert(0, limits.track)
    runner = web.AppRunner(
        server.app, access_log=None, handle_signals=False, logger=quiet_logger(),
        keepalive_timeout=limits.idle_seconds,
    )  # fmt: skip
    await runner.setup()
    assert runner.server is not None
    factory = limits.factory(runner.server)
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
            raise UsageError(message("annotation.port-in-use", host=host, port=port)) from None
        reason = error.strerror
        raise UsageError(
            message("annotation.address-not-possible", host=host, port=port, reason=reason)
        ) from None
    return listening
