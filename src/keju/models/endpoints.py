"""Addresses of servers, the environment's proxies, and keys that must not be stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from keju.errors import UsageError

_SHORTEST = 8
"""The minimum length of a key; a shorter one, such as EMPTY for a local server, is a word."""

_PLACEHOLDERS = frozenset({
    "lm-studio", "not-needed", "not-required", "no-key-required", "no-api-key", "placeholder",
    "dummy-key", "fake-key", "anything", "your-api-key", "undefined",
})  # fmt: skip
"""Placeholder keys from the documentation of local servers, which are not hidden."""

_MIN_KEY_LENGTH = 16
_KEY_NAMES = re.compile("KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)


def _host_of(url: str) -> str:
    """The host of an http or https address; empty for any other text."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:
        return ""
    return (usable and parts.hostname) or ""


def checked_url(url: str) -> str:
    """The address of a server as the user gives it, without a slash at its end.

    Raises:
        UsageError: not an http or https address of a host, or one that may contain a secret.
    """
    if not _host_of(url) or any(mark in url for mark in "@?#"):
        raise UsageError(
            "not the address of a server: it looks like http://localhost:8000/v1, without user, "
            "password and query, because run.json stores it. Put the secret into an environment "
            "variable"
        )
    return url.rstrip("/")


def destinations_of(url: str) -> tuple[str, ...]:
    """The host that receives what is sent to an address; none if it is this machine.

    If the environment's proxy is used for an address of this machine, it is the proxy's host.
    """
    host = _host_of(url)
    if is_this_machine(host):
        host = _host_of(proxy_for(url))
    return () if not host or is_this_machine(host) else (host,)


def is_this_machine(host: str) -> bool:
    """Whether a host is ``localhost`` or a loopback address; no name is resolved."""
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


def proxy_for(url: str) -> str:
    """The address of the environment's proxy for an address, or an empty string.

    It may contain a password (see `without_password`). A value without a scheme is the address of
    an HTTP proxy, as other programs read it. The variable ``all_proxy`` counts where there is none
    for the scheme of the address.

    Raises:
        UsageError: keju cannot use the proxy.
    """
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname) or proxy_bypass(parts.netloc):
        return ""
    proxies = getproxies()
    address = proxies.get(parts.scheme, proxies.get("all", "")).strip()
    if address and "://" not in address:
        address = f"http://{address}"
    if address and not _host_of(address):
        raise UsageError(
            "the proxy of the environment for {0} ({0}_proxy or all_proxy) is not an HTTP proxy, "
            "the only kind that keju supports. Set it to an address such as http://127.0.0.1:7890 "
            "(most SOCKS proxies listen for HTTP too), or set no_proxy={1} to reach this server "
            "without a proxy",
            parts.scheme,
            parts.hostname,
        )
    return address


def without_password(url: str) -> str:
    """The address of a proxy without user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


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

    Empty keys, short ones (`_SHORTEST`) and placeholders are not hidden.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        secrets = {
            key for key in keys if len(key) >= _SHORTEST and key.casefold() not in _PLACEHOLDERS
        }
        # A longer key may contain a shorter one.
        self._keys = sorted(secrets, key=len, reverse=True)
        self._escaped = re.compile("|".join(map(_escaped, self._keys)), re.IGNORECASE)

    def hide(self, text: str) -> str:
        """Return a text without the keys."""
        for key in self._keys:
            text = text.replace(key, "***")
        # The pattern is slow, and a key contains no line break (\\n).
        may_be_escaped = self._keys and ("\\u" in text or "\\/" in text)
        return self._escaped.sub("***", text) if may_be_escaped else text

    def hide_bytes(self, body: bytes) -> bytes:
        """Return a reply without the keys, which are in ASCII."""
        return self.hide(body.decode("latin-1")).encode("latin-1") if self._keys else body


def _escaped(key: str) -> str:
    """A pattern of a key, each character as it is or as JSON may escape it."""
    marks = ((re.escape(mark), f"{ord(mark):04x}") for mark in key)
    return "".join(rf"(?:{plain}|\\u{code}|\\{plain})" for plain, code in marks)
