"""`AccessControl`: a request needs the token, an allowed Host header and our own origin.

The token of the address excludes other people and programs on the network or the machine. It starts
a session, whose signed cookie is checked in later requests. The check of the Host header excludes
pages of other sites whose name resolves to this machine (DNS rebinding). The check of the Origin
header prevents such pages from sending forms.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from html import escape
from urllib.parse import urlsplit

from aiohttp import web

from keju.annotation.pages import get_language
from keju.annotation.sessions import Session, Sessions
from keju.annotation.signing import Signer
from keju.texts import Text, _

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
_HTML = {"en": "en", "zh": "zh-Hans"}
_ENTER = (
    "<!doctype html><html lang={lang}><meta charset=utf-8><meta http-equiv=refresh "
    'content="0;url={address}"><title>keju</title><p><a href="{address}">{label}</a></p>'
)
_REJECTED = (
    "<!doctype html><html lang={lang}><meta charset=utf-8><title>keju: {title}</title>"
    "<h1>{title}</h1><p>{text}</p>"
)


class AccessControl:
    """Admits requests or rejects them with 403.

    The port distinguishes the cookies of several servers on `host`.
    """

    def __init__(self, signer: Signer, token: str, host: str, port: int) -> None:
        self._token = token
        self.sessions = Sessions(signer, token)
        self._cookie = f"keju-{port}"
        self._host = host

    @web.middleware
    async def __call__(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check one request, and remove the token from the address."""
        if reason := self._find_foreign_reason(request):
            return _reject(request, reason)
        shown = request.query.get("t")
        session = self.sessions.read(request.cookies.get(self._cookie, ""))
        if shown is not None and self._is_token(shown):
            response = self._start_session(request, session)
        elif shown is not None or session is None:
            return _reject(
                request,
                _(
                    "This address has no valid token, or the session has ended. Open the whole "
                    "address that keju serve printed, including the token."
                ),
            )
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
        self.sessions.set_cookie(response, self._cookie, session)

    def _start_session(self, request: web.Request, before: Session | None) -> web.StreamResponse:
        """Start a session for the same person, and remove the token from the address."""
        local_path = make_local_path(str(request.rel_url.without_query_params("t")))
        if request.headers.get("Sec-Fetch-Site") == "cross-site":
            # Browsers follow a redirect that started at another site without SameSite=Strict
            # cookies.
            language = get_language(request)
            label = _("Open the pages").render(language)
            text = _ENTER.format(
                lang=_HTML[language], address=escape(local_path), label=escape(label)
            )
            response = web.Response(text=text, content_type="text/html")
        else:
            response = web.Response(status=303, headers={"Location": local_path})
        self.set_session(response, self.sessions.start(before.person if before else ""))
        return response

    def _is_token(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._token.encode())

    def _find_foreign_reason(self, request: web.Request) -> Text | None:
        """The reason why a request is not from one of our own pages, or None if it is."""
        name = _parse_host(request.headers.get("Host", ""))
        if not self._is_ours(name):
            return _(
                "This server does not accept requests for this host name. Open the address that "
                "keju serve printed."
            )
        origin = request.headers.get("Origin")
        if request.method in {"GET", "HEAD"} or origin is None:
            return None
        is_ours = origin.partition("://")[2] == request.headers.get("Host")
        return None if is_ours else _("This form was sent from another site.")

    def _is_ours(self, name: str) -> bool:
        if name in {"localhost", self._host}:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return not is_loopback(self._host) and name == socket.gethostname().lower()
        return address.is_loopback or not is_loopback(self._host)


def is_script_request(request: web.Request) -> bool:
    """Whether our own script sent the request; it expects JSON."""
    return request.headers.get("X-Keju") == "script"


def make_local_path(address: str) -> str:
    """Make a path of this server; two leading slashes would lead browsers to another site."""
    return "/" + address.lstrip("/\\")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parse_host(host: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _reject(request: web.Request, reason: Text) -> web.Response:
    language = get_language(request)
    text = reason.render(language)
    if is_script_request(request):
        return web.json_response({"error": text}, status=403, headers=_HEADERS)
    title = _("No access").render(language)
    html = _REJECTED.format(lang=_HTML[language], title=escape(title), text=escape(text))
    return web.Response(status=403, text=html, content_type="text/html", headers=_HEADERS)
