"""Addresses of servers: their check, and the machine that receives what is sent to them."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from keju.errors import UsageError
from keju.messages import message

_LOCALHOST = "localhost"


def destination_of(url: str) -> str:
    """The host that receives what is sent to an address; empty if it is this machine.

    If the environment's proxy is used for an address of this machine, it is the proxy's host.
    """
    host = urlsplit(url).hostname or ""
    if is_this_machine(host) and (proxy := proxy_for(url)):
        host = urlsplit(proxy if "//" in proxy else f"//{proxy}").hostname or proxy
    return "" if is_this_machine(host) else host


def destinations_of(url: str) -> tuple[str, ...]:
    """`destination_of` as a model declares it (`Capabilities.destinations`)."""
    host = destination_of(url)
    return (host,) if host else ()


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine: ``localhost`` or a loopback address.

    No name is resolved. Addresses of private networks and this machine's own name are other
    machines here.
    """
    name = host.casefold().rstrip(".")
    if name == _LOCALHOST or name.endswith(f".{_LOCALHOST}"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_unspecified


def proxy_for(url: str) -> str | None:
    """The address of the environment's proxy for an address, or None."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def checked_url(url: str, *, what: str, example: str, secret_in: str) -> str:
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
        raise UsageError(message("models.not-an-endpoint", what=what, example=example))
    if any(mark in url for mark in "@?#"):
        raise UsageError(message("models.endpoint-with-secret", what=what, secret_in=secret_in))
    return url.rstrip("/")
