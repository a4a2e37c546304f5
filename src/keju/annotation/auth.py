"""Access control: requests need the token, the right Host header and our own origin.

The token of the address keeps out other people and programs on the network or the machine. It
starts a session, whose signed cookie is checked from then on. The check of the Host header keeps
out pages of other sites whose name resolves to this machine (DNS rebinding); the check of the
Origin header keeps such pages from sending forms.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from html import escape
from urllib.parse import urlsplit

from aiohttp import web

from keju.annotation.sessions import Session, Sessions
from keju.annotation.signing import Signer

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
_OPEN_AGAIN = (
    "This address has no token or an old one, or the session has ended. Open the whole address "
    "that keju serve printed, from http to the end of the token."
)
_ENTER = (
    '<!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=refresh content="0;url={0}">'
    '<title>keju</title><p><a href="{0}">Open the pages</a></p>'
)
_REFUSED = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>keju: no entry</title>"
    "<h1>No entry</h1><p>{}</p>"
)


class AccessControl:
    """Admits requests or rejects them with 403.

    Args:
        signer: signs the cookies.
        token: what the address must contain at the first visit.
        host: the address that the server listens on.
        port: its port, which also distinguishes the cookies of two servers.
    """

    def __init__(self, signer: Signer, token: str, host: str, port: int) -> None:
        self._token = token
        self.sessions = Sessions(signer, token)
        self._cookie = f"keju-{port}"
        self._host = host

    @web.middleware
    async def __call__(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check one request, and remove the token from the address."""
        if why := self._foreign_reason(request):
            return _refusal(request, why)
        shown = request.query.get("t")
        session = self.sessions.read(request.cookies.get(self._cookie, ""))
        if shown is not None and self._is_token(shown):
            response = self._entered(request, session)
        elif shown is not None or session is None:
            return _refusal(request, _OPEN_AGAIN)
        else:
            self.sessions.attach(request, session)
            try:
                response = await handler(request)
            except web.HTTPException as error:
                error.headers.update(_HEADERS)
                raise
        response.headers.update(_HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    def set_session(self, response: web.StreamResponse, session: Session) -> None:
        """Set the cookie of a session."""
        self.sessions.put(response, self._cookie, session)

    def _entered(self, request: web.Request, before: Session | None) -> web.StreamResponse:
        """Start a session for the same person, and remove the token from the address."""
        rest = own_path(str(request.rel_url.without_query_params("t")))
        if request.headers.get("Sec-Fetch-Site") == "cross-site":
            # Browsers follow a redirect that started at another site without SameSite=Strict
            # cookies.
            response = web.Response(text=_ENTER.format(escape(rest)), content_type="text/html")
        else:
            response = web.Response(status=303, headers={"Location": rest})
        self.set_session(response, self.sessions.new(before.person if before else ""))
        return response

    def _is_token(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._token.encode())

    def _foreign_reason(self, request: web.Request) -> str:
        """Why a request does not come from one of our own pages; empty where it does."""
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


def by_script(request: web.Request) -> bool:
    """Whether our own script sent the request; it expects JSON."""
    return request.headers.get("X-Keju") == "script"


def own_path(address: str) -> str:
    """A path of this server; two leading slashes would lead browsers to another site."""
    return "/" + address.lstrip("/\\")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on that address."""
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


def _refusal(request: web.Request, why: str) -> web.Response:
    if by_script(request):
        return web.json_response({"error": why}, status=403, headers=_HEADERS)
    return web.Response(
        status=403, text=_REFUSED.format(why), content_type="text/html", headers=_HEADERS
    )
