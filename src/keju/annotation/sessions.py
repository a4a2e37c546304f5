"""Sessions: a signed cookie that names the person, and the ticket that a change of person needs.

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
    """One browser's session. `person` is empty until a name was given; `started` is Unix time."""

    id: str
    started: int
    person: str = ""


class Sessions:
    """Makes and reads session cookies.

    Args:
        signer: signs them.
        token: of the address; a new token ends all sessions.
        now: the clock, in seconds.
    """

    def __init__(self, signer: Signer, token: str, now: Callable[[], float] = time.time) -> None:
        self._signer = signer
        self._purpose = f"session {sha256_bytes(token.encode())}"
        self._now = now

    def new(self, person: str = "") -> Session:
        """A session that starts now."""
        return Session(id=secrets.token_hex(16), started=int(self._now()), person=person)

    def renamed(self, session: Session, person: str) -> Session:
        """The session of another person, which ends when the first one would have ended."""
        return replace(session, id=secrets.token_hex(16), person=person)

    def read(self, cookie: str) -> Session | None:
        """The session of a cookie; None if it is not signed here, or has ended."""
        session = self._signer.read(self._purpose, cookie, Session)
        if session is None or not 0 <= self._now() - session.started + 60 < LIFETIME + 60:
            return None
        return session

    def put(self, response: web.StreamResponse, name: str, session: Session) -> None:
        """Set the cookie. ``SameSite=Strict``: links and forms of other sites come without it."""
        response.set_cookie(
            name, self._signer.sign(self._purpose, session),
            httponly=True, samesite="Strict", path="/", max_age=LIFETIME,
        )  # fmt: skip

    def attach(self, request: web.Request, session: Session) -> None:
        """Keep the session with its request."""
        request[_VISIT] = (session, self.ticket(session))

    def ticket(self, session: Session) -> str:
        """The field in the form of a name by which only a page of this session can send it."""
        return self._signer.sign("name", session.id)

    def has_ticket(self, session: Session, ticket: str) -> bool:
        """Whether a form was made for this session."""
        return self._signer.read("name", ticket, str) == session.id


def session_of(request: web.Request) -> Session:
    """The session that access control found."""
    session: Session = request[_VISIT][0]
    return session


def ticket_of(request: web.Request) -> str:
    """The ticket of the request's session."""
    return str(request[_VISIT][1])
