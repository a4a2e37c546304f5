"""Helpers of all pages: the person, the language, form data and responses."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from aiohttp import web

from keju.annotation.auth import by_script
from keju.annotation.pages import LANGUAGES, render, words_in
from keju.annotation.queue import Form
from keju.annotation.sessions import session_of, ticket_of
from keju.annotation.signed_forms import CURRENT_CARD, TITLE, OutOfDateError
from keju.errors import KejuError
from keju.messages import message

_YEAR = 365 * 24 * 3600
BODY_SECONDS = 60.0
"""Maximum seconds for the body of a form."""


def message_page(request: web.Request, status: int, title: str, text: str) -> web.Response:
    """A page with one message."""
    return page(request, "message.html.j2", status=status, title=translated(request, title),
                message=translated(request, text))  # fmt: skip


def page(
    request: web.Request, template: str, *, status: int = 200, **shown: object
) -> web.Response:
    """A page of a template."""
    text = render(template, language_at(request), **{"person": person_at(request), **shown})
    return web.Response(status=status, text=text, content_type="text/html")


def picture(data: bytes, kind: str) -> web.Response:
    """An image, which browsers may cache: its name is its hash."""
    return web.Response(
        body=data, content_type=f"image/{kind}",
        headers={"Cache-Control": "private, max-age=86400, immutable"},
    )  # fmt: skip


def sent(request: web.Request, there: str) -> web.StreamResponse:
    """A submission was saved: redirect a browser to the next page, or name it to a script."""
    return web.json_response({"next": there}) if by_script(request) else see(there)


def refused(request: web.Request, error: KejuError, *, status: int = 400) -> web.Response:
    """A submission was rejected: show the reason."""
    return web.json_response({"error": said_to(request, error)}, status=status)


def out_of_date(request: web.Request, error: OutOfDateError) -> web.Response:
    """A submission was not stored: the reason, with a link to the current page."""
    text, label = translated(request, error.why), translated(request, message(CURRENT_CARD))
    if by_script(request):
        answer = {"error": text, "link": error.link, "label": label}
        return web.json_response(answer, status=409)
    return page(request, "message.html.j2", status=409, title=translated(request, message(TITLE)),
                message=text, link=error.link, label=label)  # fmt: skip


def see(there: str) -> web.Response:
    """A redirect to another page."""
    return web.Response(status=303, headers={"Location": there})


async def form_of(request: web.Request) -> Form:
    """The submitted form, without files.

    Raises:
        HTTPBadRequest: it is not a form, or its encoding is unknown.
        HTTPRequestTimeout: it is not complete after `BODY_SECONDS`.
    """
    try:
        async with asyncio.timeout(BODY_SECONDS):
            posted = await request.post()
    except TimeoutError:
        raise web.HTTPRequestTimeout(
            text=translated(request, message("annotation.form-too-slow"))
        ) from None
    except (ValueError, LookupError, RuntimeError, web.RequestPayloadError):
        raise web.HTTPBadRequest(
            text=translated(request, message("annotation.form-unreadable"))
        ) from None
    return {name: value for name, value in posted.items() if isinstance(value, str)}


def remember(response: web.Response, name: str, value: str) -> None:
    """Store a value in the browser for a year."""
    response.set_cookie(
        f"keju-{name}", quote(value), max_age=_YEAR, samesite="Lax", httponly=True
    )  # fmt: skip


def person_at(request: web.Request) -> str:
    """The person of the session; empty until a name was given."""
    return session_of(request).person


def language_at(request: web.Request) -> str:
    """The language of pages."""
    said = request.cookies.get("keju-lang", "")
    if said in LANGUAGES:
        return said
    return "zh" if request.headers.get("Accept-Language", "").lower().startswith("zh") else "en"


def said_to(request: web.Request, error: KejuError) -> str:
    """An error in that language."""
    return error.render(language_at(request))


def translated(request: web.Request, text: str) -> str:
    """A text in that language."""
    return words_in(language_at(request))(text)


def number_in(said: str | None) -> int:
    """A number in an address; 0 if it is not one."""
    return int(said) if said and said.isascii() and said.isdecimal() and len(said) < 12 else 0


def ask_name(request: web.Request, there: str, error: str = "", status: int = 200) -> web.Response:
    """The page that asks for the person's name, and then redirects."""
    return page(
        request, "start.html.j2", status=status, asks_name=True, next=there, error=error,
        name_ticket=ticket_of(request),
    )  # fmt: skip
