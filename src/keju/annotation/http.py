"""Functions for requests and responses: the person, the language, form data, pages, redirects."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from aiohttp import web

from keju.annotation.auth import is_script_request
from keju.annotation.pages import get_language, render
from keju.annotation.queue import Form
from keju.annotation.sessions import get_session, get_ticket
from keju.annotation.signing import CURRENT_CARD, TITLE, OutOfDateError
from keju.errors import KejuError
from keju.texts import _, in_language

_YEAR = 365 * 24 * 3600
BODY_SECONDS = 60.0
"""Maximum seconds for the body of a form."""


def render_message(request: web.Request, status: int, title: str, text: str) -> web.Response:
    """Respond with a page that shows one message."""
    return render_page(
        request, "message.html.j2", status=status, title=translate(request, title),
        message=translate(request, text),
    )  # fmt: skip


def render_page(
    request: web.Request, template: str, /, *, status: int = 200, **values: object
) -> web.Response:
    """Respond with the page of a template, filled with the given values."""
    text = render(template, get_language(request), **{"person": get_person(request), **values})
    return web.Response(status=status, text=text, content_type="text/html")


def respond_image(data: bytes, kind: str) -> web.Response:
    """Respond with an image. Browsers may cache it, because its address contains its hash."""
    return web.Response(
        body=data, content_type=f"image/{kind}",
        headers={"Cache-Control": "private, max-age=86400, immutable"},
    )  # fmt: skip


def respond_saved(request: web.Request, address: str) -> web.StreamResponse:
    """Respond that a submission was saved: redirect a browser, or send the address to a script."""
    return web.json_response({"next": address}) if is_script_request(request) else redirect(address)


def respond_rejected(request: web.Request, error: KejuError, *, status: int = 400) -> web.Response:
    """Respond to a script that a submission was rejected, with the reason."""
    return web.json_response({"error": translate_error(request, error)}, status=status)


def respond_out_of_date(request: web.Request, error: OutOfDateError) -> web.Response:
    """Respond that a submission was not stored, with the reason and a link to the current page."""
    text, label = translate(request, error.why), translate(request, CURRENT_CARD)
    if is_script_request(request):
        answer = {"error": text, "link": error.link, "label": label}
        return web.json_response(answer, status=409)
    return render_page(
        request, "message.html.j2", status=409, title=translate(request, TITLE),
        message=text, link=error.link, label=label,
    )  # fmt: skip


def redirect(address: str) -> web.Response:
    """Redirect to another page."""
    return web.Response(status=303, headers={"Location": address})


async def read_form(request: web.Request) -> Form:
    """Read the submitted form, without files.

    Raises:
        HTTPBadRequest: the body is not a form, or its encoding is unknown.
        HTTPRequestTimeout: the body is not complete after `BODY_SECONDS`.
    """
    try:
        async with asyncio.timeout(BODY_SECONDS):
            posted = await request.post()
    except TimeoutError:
        raise web.HTTPRequestTimeout(
            text=translate(request, _("The form did not arrive in time. Submit it again"))
        ) from None
    except (ValueError, LookupError, RuntimeError, web.RequestPayloadError):
        raise web.HTTPBadRequest(
            text=translate(request, _("The submitted form is not valid. Reload the page"))
        ) from None
    return {name: value for name, value in posted.items() if isinstance(value, str)}


def set_cookie(response: web.Response, name: str, value: str) -> None:
    """Store a value in the browser for a year."""
    response.set_cookie(
        f"keju-{name}", quote(value), max_age=_YEAR, samesite="Lax", httponly=True
    )  # fmt: skip


def get_person(request: web.Request) -> str:
    """The person of the session, or "" before a name was given."""
    return get_session(request).person


def translate_error(request: web.Request, error: KejuError) -> str:
    """The text of an error in the language of the request."""
    return error.render(get_language(request))


def translate(request: web.Request, text: str) -> str:
    """A text in the language of the request."""
    return in_language(get_language(request), text)


def parse_number(text: str | None) -> int:
    """A number in an address; 0 if the text is not a number."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 12 else 0


def ask_name(
    request: web.Request, address: str, error: str = "", status: int = 200
) -> web.Response:
    """Respond with the page that asks for the person's name and then redirects to `address`."""
    return render_page(
        request, "start.html.j2", status=status, asks_name=True, next=address, error=error,
        name_ticket=get_ticket(request),
    )  # fmt: skip
