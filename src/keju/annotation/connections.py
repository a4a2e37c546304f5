"""`Connections`: limits of the number of open connections and of the time without a request.

aiohttp waits for the rest of a request without a limit. This module closes a connection whose
request does not arrive in time. If the maximum number is reached, a new connection replaces the one
that has waited longest.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.http import HttpProcessingError

from keju.annotation.auth import Handler

MOST, LEAST = 512, 32
"""Bounds of the number of connections."""

HEADER_SECONDS = 10.0
"""Maximum seconds from the start of a connection, or the first byte of a request, to its end."""

IDLE_SECONDS = 75.0
"""Seconds for which a connection is kept open after a response."""

_MOST_TRACEBACKS = 20


class Connections:
    """Counts the connections of a server and closes those that wait too long.

    Args:
        most: the maximum number, by default from the process's limit of open files.
        header_seconds: see `HEADER_SECONDS`.
        idle_seconds: see `IDLE_SECONDS`.
    """

    def __init__(
        self,
        most: int | None = None,
        *,
        header_seconds: float = HEADER_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.most = most or _find_limit()
        self.header_seconds = header_seconds
        self.idle_seconds = idle_seconds
        self.open: dict[asyncio.BaseTransport, _Connection] = {}

    def make_factory(
        self, server: Callable[[], asyncio.Protocol]
    ) -> Callable[[], asyncio.Protocol]:
        """Make the protocol factory of a server with these limits."""
        return lambda: _Connection(self, server())

    @web.middleware
    async def track(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: keep the connection open while its request is handled."""
        connection = self.open.get(request.transport) if request.transport else None
        if connection is None:
            return await handler(request)
        connection.begin()
        try:
            return await handler(request)
        finally:
            connection.end()

    def admit(self, transport: asyncio.Transport, connection: _Connection) -> bool:
        """Add a connection if possible, and close the one that has waited longest if necessary.

        Returns:
            Whether it was added.
        """
        if len(self.open) >= self.most:
            waiting = next((each for each in self.open.values() if each.waits), None)
            if waiting is None:
                return False
            waiting.abort()
        self.open[transport] = connection
        return True


class _Connection(asyncio.Protocol):
    """One connection: forwards to aiohttp's protocol, with a timer."""

    def __init__(self, limits: Connections, protocol: asyncio.Protocol) -> None:
        self._limits = limits
        self._protocol = protocol
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False
        self._idle = False
        self._unsent = 0

    @property
    def waits(self) -> bool:
        """Whether it waits for a request and has nothing left to send."""
        return not self._busy and not self._count_unsent()

    def begin(self) -> None:
        """Record that a request is complete."""
        self._busy = True
        self._stop()

    def end(self) -> None:
        """Record that its response is ready; another request may follow."""
        self._busy, self._idle, self._unsent = False, True, 0
        self._start(self._limits.idle_seconds)

    def abort(self) -> None:
        """Close it immediately."""
        self._stop()
        if self._transport is not None:
            self._limits.open.pop(self._transport, None)
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        if not self._limits.admit(transport, self):
            transport.abort()
            return
        self._transport = transport
        self._protocol.connection_made(transport)
        self._start(self._limits.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        if self._transport is not None:
            self._limits.open.pop(self._transport, None)
            self._protocol.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._transport is None:
            return
        if self._idle:
            self._idle = False
            self._start(self._limits.header_seconds)
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received() if self._transport else None

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def _count_unsent(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport else 0

    def _start(self, seconds: float) -> None:
        self._stop()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._handle_timeout)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _handle_timeout(self) -> None:
        unsent_bytes = self._count_unsent()
        if unsent_bytes and unsent_bytes != self._unsent:
            # A long response to a slow reader is still being sent.
            self._unsent = unsent_bytes
            self._start(self._limits.idle_seconds)
        else:
            self.abort()


def get_logger() -> logging.Logger:
    """The logger of the server, which omits malformed requests and limits the number of errors."""
    found = logging.getLogger("keju.annotation.http")
    if not found.filters:
        found.addFilter(_ErrorLimit())
    return found


def ignore_exhaustion(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Exception handler of the event loop that ignores errors of the operating system."""
    if not isinstance(context.get("exception"), OSError):
        loop.default_exception_handler(context)


class _ErrorLimit(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is an error of ours within the limit."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, (HttpProcessingError, ConnectionError)):
            return False
        self._count += 1
        return self._count <= _MOST_TRACEBACKS


def _find_limit() -> int:
    try:
        import resource  # noqa: PLC0415 - exists on Unix only
    except ImportError:
        return MOST // 4
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files < 0 else max(LEAST, min(MOST, (files - 64) // 2))
