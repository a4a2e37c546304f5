"""`Wire`: HTTP connections to one server, which exchange bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from socket import gaierror

import aiohttp

from keju.models.base import AskError
from keju.models.endpoints import Secrets, proxy_for, without_password
from keju.models.replies import error_of_status, excerpt
from keju.texts import _

MOST_BYTES = 4 << 20
"""The maximum size of a reply, several times that of a long answer or of a page's text. It limits
the memory of a run, because as many replies as requests may be in flight."""

_CONNECT_SECONDS = 30.0


class Wire:
    """Connections to the server at `url`, kept open and reused; the run decides how many there are.

    An exchange takes `timeout` seconds at most. All requests have the `headers`; `secrets` are
    removed from all replies and errors. The environment's proxies are used (HTTPS_PROXY, ALL_PROXY,
    NO_PROXY), its netrc is not. Redirections are not followed: they would carry the images and the
    key elsewhere.

    Raises:
        UsageError: keju cannot use the environment's proxy.
    """

    def __init__(
        self, url: str, timeout: float, headers: Mapping[str, str], secrets: Secrets
    ) -> None:
        self.url, self.secrets = url, secrets
        self._timeout, self._headers = timeout, headers
        self._proxy = proxy_for(url)
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self,
        method: str,
        path: str = "",
        data: list[bytes] | Mapping[str, str] | aiohttp.FormData | None = None,
        store: Callable[[bytes], object] | None = None,
    ) -> bytes:
        """Send one request and read the reply of success, of at most `MOST_BYTES`, without keys.

        `data` is a form, or pieces of JSON, each of which is released when it is sent. `store` gets
        the body of a success in parts, of any length; the reply then has none.

        Raises:
            AskError: there is no reply, it is longer, or it is not a success.
        """
        headers = dict(self._headers)
        if isinstance(data, list):
            headers["Content-Type"] = "application/json"
            headers["Content-Length"] = str(sum(map(len, data)))
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=_CONNECT_SECONDS),
            )
        try:
            async with self._session.request(
                method,
                f"{self.url}{path}",
                data=_pieces(data) if isinstance(data, list) else data,
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy or None,
            ) as reply:
                is_success = 200 <= reply.status < 300
                body = await self._read(reply, store if is_success else None)
            if is_success:
                if reply.charset not in {None, "utf-8"}:
                    body.decode()  # Read as UTF-8, the text of an answer would be damaged.
                return body
            fields = {name.lower(): self.secrets.hide(text) for name, text in reply.headers.items()}
            failure = error_of_status(reply.status, body, fields)
        except AskError as error:
            failure = error
        except UnicodeDecodeError:
            failure = AskError("bad-response", _("the reply is not in UTF-8"))
        except (aiohttp.ClientError, OSError) as error:
            failure = _error_of_exception(error)
        if self._proxy:  # It may be away, or answer itself (403, 407, 502).
            proxy = without_password(self._proxy)
            failure.replace_message(_("{} (through the proxy {})", failure.problem, proxy))
        failure.replace_message(self.secrets.hide(str(failure)))
        raise failure

    async def _read(
        self, reply: aiohttp.ClientResponse, store: Callable[[bytes], object] | None
    ) -> bytes:
        """The body of a reply; empty where its parts are stored."""
        body = bytearray()
        async for part in reply.content.iter_any():
            if store:
                store(part)
            else:
                body += part
            if len(body) > MOST_BYTES:
                problem = _("the reply is longer than {} MB", MOST_BYTES >> 20)
                raise AskError("bad-response", problem)
        return self.secrets.hide_bytes(bytes(body))

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _pieces(data: list[bytes]) -> AsyncIterator[bytes]:
    # An image is kept in memory only until it is sent, not until its answer arrives.
    data.reverse()
    while data:
        yield data.pop()


def _error_of_exception(error: Exception) -> AskError:
    """Classify an exception raised instead of a reply."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return error_of_status(error.status, error.message, error.headers or {})
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and len(causes) < 10:
        causes.append(cause)
    words = excerpt(next(filter(None, map(str, reversed(causes))), type(error).__name__))
    if any(isinstance(cause, TimeoutError) for cause in causes):
        problem = _("the server did not answer in time: {}", words)
        return AskError("timeout", problem, retryable=True)
    if any(isinstance(cause, aiohttp.InvalidURL) for cause in causes):
        return AskError("bad-request", _("not a usable address: {}", words))
    unreachable = any(isinstance(cause, ConnectionRefusedError | gaierror) for cause in causes)
    problem = _("the connection failed: {}", words)
    return AskError("connection", problem, retryable=True, unreachable=unreachable)
