"""Who is let in: those with the token, asking this machine by its own name, from its own pages.

The token keeps out other people and programs on the network or the machine; the check of the Host
header keeps out pages of other sites that have their name point here (DNS rebinding); the check of
the Origin header keeps such pages from sending forms.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_YEAR = 365 * 24 * 3600
_REFUSED = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>keju: no entry</title>"
    "<h1>No entry</h1><p>{}</p>"
)


class Gate:
    """Lets requests in or refuses them with 403.

    Args:
        token: what the address must hold at the first visit, and the cookie from then on.
        host: the address that the server listens at.
        port: its port, which also keeps two servers' cookies apart.
    """

    def __init__(self, token: str, host: str, port: int) -> None:
        self._token = token
        self._cookie = f"keju-{port}"
        self._host = host

    @web.middleware
    async def __call__(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check one request; the token is then taken out of the address."""
        if why := self._stranger(request):
            return _refusal(why)
        shown = request.query.get("t")
        if shown is not None and self._is_token(shown):
            rest = own_path(str(request.rel_url.without_query_params("t")))
            response: web.StreamResponse = web.Response(status=303, headers={"Location": rest})
            response.set_cookie(
                self._cookie, self._token, httponly=True, samesite="Lax", max_age=_YEAR
            )
        elif shown is not None or not self._is_token(request.cookies.get(self._cookie, "")):
            return _refusal(
                "This address lacks the token, or has an old one. Use the whole address that "
                "keju serve printed, from ?t= to its end."
            )
        else:
            try:
                response = await handler(request)
            except web.HTTPException as error:
                error.headers.update(_HEADERS)
                raise
        response.headers.update(_HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    def _is_token(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._token.encode())

    def _stranger(self, request: web.Request) -> str:
        """Why a request is not from one of our own pages; empty where it is."""
        name = _name(request.headers.get("Host", ""))
        if not self._is_ours(name):
            return "This server does not go by the name that it was asked for."
        origin = request.headers.get("Origin")
        if request.method in {"GET", "HEAD"} or origin is None:
            return ""
        ours = origin.partition("://")[2] == request.headers.get("Host")
        return "" if ours else "This form comes from another site."

    def _is_ours(self, name: str) -> bool:
        if name in {"localhost", self._host}:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return not is_loopback(self._host) and name == socket.gethostname().lower()
        return address.is_loopback or not is_loopback(self._host)


def own_path(address: str) -> str:
    """A path of this server: what begins with two slashes would lead browsers to another site."""
    return "/" + address.lstrip("/\\")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _refusal(why: str) -> web.Response:
    return web.Response(
        status=403, text=_REFUSED.format(why), content_type="text/html", headers=_HEADERS
    )
