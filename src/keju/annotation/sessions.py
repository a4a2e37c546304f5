"""`Sessions`: signed cookies with the person, and the ticket that a change of the name needs.

The cookie does not contain the token of the address, because browsers send a cookie of 127.0.0.1 to
the services on all its ports.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web
from msgspec.structs import replace

from keju.annotation.signing import Signer
from keju.files import sha256_bytes
from keju.items import Record

LIFETIME = 12 * 3600
"""Seconds from opening the address to the end of the session."""

# aiohttp before 3.14 has only string keys.
_VISIT: Any = getattr(web, "RequestKey", lambda name, _: name)("keju-visit", tuple)


class Session(Record, frozen=True, kw_only=True):
    """The session of a browser: `person` is "" before a name was given; `started` is Unix time."""

    id: str
    started: int
    person: str = ""


class Sessions:
    """Makes and reads session cookies.

    A new token ends all sessions.
    """

    def __init__(self, signer: Signer, token: str, now: Callable[[], float] = time.time) -> None:
        self._signer = signer
        self._purpose = f"session {sha256_bytes(token.encode())}"
        self._now = now

    def start(self, person: str = "") -> Session:
        """Start a session."""
        return Session(id=secrets.token_hex(16), started=int(self._now()), person=person)

    def rename(self, session: Session, person: str) -> Session:
        """Change the person of a session; the new session ends at the same time."""
        return replace(session, id=secrets.token_hex(16), person=person)

    def read(self, cookie: str) -> Session | None:
        """Read the session of a cookie; None if the signature is not valid or the session ended."""
        session = self._signer.read(self._purpose, cookie, Session)
        if session is None or not 0 <= self._now() - session.started + 60 < LIFETIME + 60:
            return None
        return session

    def set_cookie(self, response: web.StreamResponse, name: str, session: Session) -> None:
        """Set the cookie. With ``SameSite=Strict``, requests from other sites do not have it."""
        response.set_cookie(
            name, self._signer.sign(self._purpose, session),
            httponly=True, samesite="Strict", path="/", max_age=LIFETIME,
        )  # fmt: skip

    def attach(self, request: web.Request, session: Session) -> None:
        """Store the session in its request."""
        # The signed field allows only pages of this session to send a name.
        request[_VISIT] = (session, self._signer.sign("name", session.id))

    def has_ticket(self, session: Session, ticket: str) -> bool:
        """Whether the ticket of a form belongs to this session."""
        return self._signer.read("name", ticket, str) == session.id


def get_session(request: web.Request) -> Session:
    """The session that access control stored in the request."""
    session: Session = request[_VISIT][0]
    return session


def get_ticket(request: web.Request) -> str:
    """The ticket of the request's session."""
    return str(request[_VISIT][1])
