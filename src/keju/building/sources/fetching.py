"""Downloads from a server that the user named: throttled, cached, and from no other host."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Collection
from email.message import Message
from http import HTTPStatus
from pathlib import Path
from string import punctuation
from typing import IO
from urllib.parse import quote, urlsplit

from keju import __version__
from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, write_atomic
from keju.models.replies import retry_after
from keju.texts import _

AGENT = f"keju/{__version__} (dataset building; one connection; respects Retry-After)"

_ATTEMPTS = 5
_LONGEST_WAIT = 600.0
_PART = 1 << 16
_LATER = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT}
_FEWEST_SERVER_ERROR = 500


class ServerUnavailableError(DataError):
    """A server failed repeatedly; a later build tries again."""


class Fetcher:
    """Downloads addresses one after the other, and caches the results permanently.

    Args:
        folder: the directory of downloaded files, named by the hash of their address.
        hosts: the permitted hosts, with their port where it is not the default; cached addresses
            need none.
        pause: seconds between two requests.
        most: the maximum size of a response in bytes.
        longest: the maximum time for the body of one response in seconds.
    """

    def __init__(
        self,
        folder: Path,
        hosts: Collection[str],
        *,
        pause: float = 1.0,
        most: int = 100_000_000,
        longest: float = 600.0,
    ) -> None:
        self._folder = folder
        self._hosts = frozenset(hosts)
        self._pause = pause
        self._most = most
        self._longest = longest
        self._next = 0.0
        self._opener = urllib.request.build_opener(_SameHosts(self._hosts))
        self._opener.addheaders = [("User-Agent", AGENT)]

    def get(self, url: str) -> Path:
        """Return the file with the content of an address; it is requested only if not cached.

        Raises:
            UsageError: the address is on a host that was not permitted.
            DataError: it is not available: the server refuses it, or it is too large.
            NotNowError: the server failed or closed the connection repeatedly.
        """
        name = sha256_bytes(url.encode())
        kept = self._folder / name[:2] / name
        if kept.is_file():
            return kept
        check_host(url, self._hosts)
        data = self._request(url)
        write_atomic(kept.with_name(f"{name}.url"), f"{url}\n")
        write_atomic(kept, data)
        return kept

    def _request(self, url: str) -> bytes:
        wait, reason = 0.0, ""
        for attempt in range(_ATTEMPTS):
            time.sleep(max(wait, self._next - time.monotonic(), 0.0))
            self._next = time.monotonic() + self._pause
            try:
                return self._read(url)
            except urllib.error.HTTPError as error:
                status = error.code
                reason = f"HTTP {status} {error.reason}"
                if status not in _LATER and status < _FEWEST_SERVER_ERROR:
                    raise DataError("refused: {}", reason, file=url) from None
                headers = {name.lower(): value for name, value in error.headers.items()}
                stated = retry_after(headers)
                wait = 2.0**attempt * self._pause if stated is None else stated
                wait = min(wait, _LONGEST_WAIT)
            except UnicodeError:
                hint = _("Write the name of the host in ASCII")
                raise DataError("the host cannot be contacted", file=url, hint=hint) from None
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
                wait = 2.0**attempt * self._pause
        raise ServerUnavailableError(
            "no response: {}", reason, file=url, hint="Build again later to resume"
        )

    def _read(self, url: str) -> bytes:
        # Libraries write Chinese and spaces into addresses, which servers do not accept unquoted.
        with self._opener.open(quote(url, safe=punctuation), timeout=60) as reply:
            declared = reply.headers.get("Content-Length", "")
            if declared.isdigit() and int(declared) > self._most:
                raise self._make_size_error(url)
            data = self._read_body(url, reply)
        if len(data) > self._most:
            raise self._make_size_error(url)
        if declared.isdigit() and len(data) < int(declared):
            raise http.client.IncompleteRead(data, int(declared) - len(data))
        return data

    def _read_body(self, url: str, reply: http.client.HTTPResponse) -> bytes:
        """Read the body, up to one part over the limit.

        Raises:
            NotNowError: the server is so slow that it would take longer than `longest`.
        """
        until = time.monotonic() + self._longest
        parts: list[bytes] = []
        size = 0
        while size <= self._most and (part := reply.read1(_PART)):
            parts.append(part)
            size += len(part)
            if time.monotonic() > until:
                raise ServerUnavailableError(
                    "the server took more than {:g} s to send {:,} bytes",
                    self._longest,
                    size,
                    file=url,
                    hint="Build again later to resume",
                )
        return b"".join(parts)

    def _make_size_error(self, url: str) -> DataError:
        return DataError("larger than {:,} bytes", self._most, file=url, hint="Raise 'most_bytes'")


class _SameHosts(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to a permitted host."""

    def __init__(self, hosts: Collection[str]) -> None:
        self._hosts = hosts

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        check_host(newurl, self._hosts)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def get_host(url: str) -> str:
    """Return the host of an address, with its port if one is given; empty if it has no host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.netloc.rpartition("@")[2].casefold() if parts.scheme in {"http", "https"} else ""


def check_host(url: str, hosts: Collection[str]) -> None:
    """Check that an address is on a permitted host.

    Raises:
        UsageError: it is on another host, or not a web address.
    """
    host = get_host(url)
    if not host:
        raise UsageError("{}: not an address that begins with http:// or https://", url[:200])
    if host not in hosts:
        allowed = ", ".join(sorted(hosts)) or _("none")
        raise UsageError(
            "{} is on the host {}, which the recipe does not allow (hosts: {}). If it may be "
            "contacted, add it to hosts",
            url[:200],
            host,
            allowed,
        )
