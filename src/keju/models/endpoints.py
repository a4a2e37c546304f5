"""Addresses of servers, the environment's proxies, and keys that must not be stored."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from keju.errors import UsageError
from keju.texts import _

_SHORTEST = 8
"""The minimum length of a key; a shorter one, such as EMPTY for a local server, is a word."""

_PLACEHOLDERS = frozenset({
    "lm-studio", "not-needed", "not-required", "no-key-required", "no-api-key", "placeholder",
    "dummy-key", "fake-key", "anything", "your-api-key", "undefined",
})  # fmt: skip
"""Placeholder keys from the documentation of local servers, which are not hidden."""

_MIN_KEY_LENGTH = 16
_KEY_NAMES = re.compile("KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)


def checked_url(url: str, what: str, example: str, secret_in: str) -> str:
    """The address without a slash at its end.

    Args:
        url: as the user gave it.
        what: its name in an error.
        example: a valid one, for the error.
        secret_in: where a secret must be given instead.

    Raises:
        UsageError: not an http or https address of a host, or one that may contain a secret.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("not {}; one looks like {}", what, example)
    if any(mark in url for mark in "@?#"):
        raise UsageError(
            "{} ends with its path and contains no user, password or query, because run.json "
            "stores it. Put the secret into {}",
            what,
            secret_in,
        )
    return url.rstrip("/")


def destinations_of(url: str) -> tuple[str, ...]:
    """The host that receives what is sent to an address; none if it is this machine.

    If the environment's proxy is used for an address of this machine, it is the proxy's host.
    """
    host = urlsplit(url).hostname or ""
    if is_this_machine(host) and (proxy := proxy_for(url)):
        host = proxy.host
    return () if not host or is_this_machine(host) else (host,)


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine: ``localhost`` or a loopback address.

    No name is resolved. Addresses of private networks and this machine's own name are other
    machines here.
    """
    name = host.casefold().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_unspecified


class Proxy(NamedTuple):
    """A proxy of the environment: its address, which may contain a password, its host, its name."""

    url: str
    host: str
    name: str


def proxy_for(url: str) -> Proxy | None:
    """The environment's proxy for an address, or None.

    A value without a scheme is the address of an HTTP proxy, as other programs read it. The
    variable ``all_proxy`` counts where there is none for the scheme of the address.

    Raises:
        UsageError: keju cannot use the proxy.
    """
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname) or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    scheme = parts.scheme if parts.scheme in proxies else "all"
    if not (value := proxies.get(scheme, "").strip()):
        return None
    names = (f"{scheme}_proxy", f"{scheme}_proxy".upper())
    variable = next((name for name in names if os.environ.get(name)), "")
    variable = variable or _("proxy settings of the system")
    address = value if "://" in value else f"http://{value}"
    host = ""
    with suppress(ValueError):
        proxy = urlsplit(address)
        if proxy.scheme in {"http", "https"} and proxy.port != 0:
            host = proxy.hostname or ""
    if not host:
        raise UsageError(
            "{}: not the address of an HTTP proxy, the only kind that keju supports",
            variable,
            hint=_(
                "Set {} to an address such as http://127.0.0.1:7890 (most SOCKS proxies listen for "
                "HTTP too), or set no_proxy={} to reach this server without a proxy",
                variable,
                parts.hostname,
            ),
        )
    proxy_text = f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]} ({variable})"
    return Proxy(address, host, proxy_text)


def find_keys(environment: Mapping[str, str]) -> list[str]:
    """Values of an environment that look like keys by their names and lengths.

    Shorter ones are settings rather than keys (``MAX_TOKENS``), and hiding them would damage texts.
    """
    return [
        value
        for name, value in environment.items()
        if len(value) >= _MIN_KEY_LENGTH and _KEY_NAMES.search(name)
    ]


class Secrets:
    """Hides keys in texts, also where JSON escapes their characters.

    Args:
        keys: the keys; empty ones, short ones (`_SHORTEST`) and placeholders are not hidden.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        secrets = {
            key for key in keys if len(key) >= _SHORTEST and key.casefold() not in _PLACEHOLDERS
        }
        # A longer key may contain a shorter one.
        self._keys = sorted(secrets, key=len, reverse=True)
        self._escaped = re.compile(
            "|".join(
                "".join(
                    rf"(?:{re.escape(mark)}|\\u{ord(mark):04x}|\\{re.escape(mark)})" for mark in key
                )
                for key in self._keys
            ),
            re.IGNORECASE,
        )

    def hide(self, text: str) -> str:
        """Return a text without the keys."""
        for key in self._keys:
            text = text.replace(key, "***")
        # The pattern is slow, and a key contains no line break (\n).
        may_be_escaped = self._keys and any(mark in text for mark in ("\\u", "\\/"))
        return self._escaped.sub("***", text) if may_be_escaped else text

    def hide_bytes(self, body: bytes) -> bytes:
        """Return a reply without the keys, which are in ASCII."""
        return self.hide(body.decode("latin-1")).encode("latin-1") if self._keys else body
