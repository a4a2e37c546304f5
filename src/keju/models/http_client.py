"""`Wire`: HTTP connections to one server, which exchange bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from socket import gaierror
from typing import NamedTuple
from weakref import WeakKeyDictionary

import aiohttp

from keju.models.addresses import proxy_for
from keju.models.base import AskError
from keju.models.replies import error_of_status, excerpt
from keju.texts import _

MOST_BYTES = 64 << 20
"""The maximum size of a reply; a longer one is neither an answer nor a page's text."""

LARGE = 2 << 20
"""The size in bytes from which a reply is large. No answer of a model is, but a page of an OCR
service may be."""

_LARGE_AT_A_TIME = 2
"""The number of large replies that are read at one time, of all servers together. With `MOST_BYTES`
this limits the memory of a run at any concurrency: the others wait, unread, in their servers."""

_CONNECT_SECONDS = 30.0

_OF_PROXIES = frozenset({"connection", "timeout", "server", "bad-response", "auth"})
"""Kinds of failure that a proxy can cause: it may be away, or answer itself (403, 407, 502)."""

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

Form = bytes | Mapping[str, str] | aiohttp.FormData | AsyncIterator[bytes]
"""The permitted types of data: bytes, whole or in pieces, or a form."""


class Reply(NamedTuple):
    """The reply of a server."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """Connections to one server, kept open and reused; the run decides how many there are.

    The environment's proxies are used (HTTPS_PROXY, ALL_PROXY, NO_PROXY), its netrc is not.
    Redirections are not followed: they would carry the images and the key elsewhere.

    Args:
        url: the address of all requests.
        timeout: seconds for a whole exchange.

    Raises:
        UsageError: keju cannot use the environment's proxy.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self.url = url
        self._timeout = timeout
        self._proxy = proxy_for(url)
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self, data: list[bytes] | Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        """Post bytes in pieces, each released when it is sent, or a form.

        Raises:
            AskError: there is no reply, or it is longer than `MOST_BYTES`.
        """
        if isinstance(data, list):
            headers = {"Content-Length": str(sum(map(len, data))), **headers}
        sent = _sent(data) if isinstance(data, list) else data
        return await self.exchange("POST", "", headers=headers, data=sent)

    async def exchange(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        data: Form | None = None,
        store: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Send one request and read the reply, of at most `MOST_BYTES`.

        Args:
            method: of HTTP.
            path: appended to the address.
            headers: of the request.
            data: its body.
            store: gets the body of a success in parts, of any length; the reply then has none.

        Raises:
            AskError: there is no reply, or it is longer.
        """
        try:
            async with self._connected().request(
                method,
                f"{self.url}{path}",
                data=data,
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy.url if self._proxy else None,
            ) as reply:
                if store is None or not 200 <= reply.status < 300:
                    return Reply(reply.status, reply.headers, await _whole(reply))
                async for part in reply.content.iter_any():
                    store(part)
                return Reply(reply.status, reply.headers, b"")
        except (aiohttp.ClientError, OSError) as error:
            raise _error_of_exception(error) from None

    def through_proxy(self, failure: AskError) -> AskError:
        """The failure, with the proxy's name where a proxy may be its cause."""
        if self._proxy is None or failure.kind not in _OF_PROXIES:
            return failure
        return failure.with_message(
            _("{} (through the proxy {})", failure.message, self._proxy.name)
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=_CONNECT_SECONDS),
            )
        return self._session


async def _sent(pieces: list[bytes]) -> AsyncIterator[bytes]:
    # An image is kept in memory only until it is sent, not until its answer arrives.
    pieces.reverse()
    while pieces:
        yield pieces.pop()


async def _whole(reply: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async with AsyncExitStack() as turn:
        async for part in reply.content.iter_any():
            if len(body) <= LARGE < len(body) + len(part):
                await turn.enter_async_context(_turn())
            body += part
            if len(body) > MOST_BYTES:
                raise AskError(
                    "bad-response", _("the reply is longer than {} MB", MOST_BYTES >> 20)
                )
        return bytes(body)


def _turn() -> asyncio.Semaphore:
    """The semaphore for large replies; each event loop has its own."""
    return _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_LARGE_AT_A_TIME))


def _error_of_exception(error: Exception) -> AskError:
    """Classify an exception raised instead of a reply."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        failure = error_of_status(error.status, error.message, error.headers or {})
        if failure.kind in _OF_PROXIES:
            return failure
        return AskError("connection", failure.message)
    chain = list(_causes(error))
    words = excerpt(
        next((str(cause) for cause in reversed(chain) if str(cause)), type(error).__name__)
    )
    if any(isinstance(cause, TimeoutError) for cause in chain):
        return AskError(
            "timeout", _("the server did not answer in time: {}", words), retryable=True
        )
    if any(isinstance(cause, aiohttp.InvalidURL) for cause in chain):
        return AskError("bad-request", _("not a usable address: {}", words))
    return AskError(
        "connection",
        _("the connection failed: {}", words),
        retryable=True,
        unreachable=any(isinstance(each, (ConnectionRefusedError, gaierror)) for each in chain),
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for __ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
