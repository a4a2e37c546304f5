"""`Server`: the routes of the annotation app and the periodic export."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from keju.annotation.app import QUEUES, AnnotationApp
from keju.annotation.auth import AccessControl, Handler, is_script_request, make_local_path
from keju.annotation.http import (
    ask_name,
    get_person,
    read_form,
    redirect,
    render_message,
    render_page,
    respond_image,
    respond_out_of_date,
    respond_rejected,
    set_cookie,
    translate,
    translate_error,
)
from keju.annotation.pages import QUEUE_TEXTS, read_asset
from keju.annotation.queue import find_progress, normalize_name
from keju.annotation.queue_pages import QueuePages
from keju.annotation.sessions import get_session
from keju.annotation.signing import OutOfDateError
from keju.errors import KejuError, UsageError, error_text
from keju.images import thumbnail, upright_file
from keju.texts import Text, _

BODY_BYTES = 4 << 20
"""The maximum size of a form: three bytes per character, with reserve."""

COLLECT_SECONDS = 30.0
_SHOWN_AS_IS = frozenset({"jpg", "png", "webp", "gif", "bmp"})
OLD_FORM = _("This form is from another session. Enter your name again.")


class Server:
    """The aiohttp application of an `AnnotationApp`.

    `exported` has a line for each exported file; `export_error` is the reason why the last export
    failed, or "".
    """

    def __init__(self, annotation: AnnotationApp, access: AccessControl) -> None:
        self.annotation = annotation
        self._access = access
        self.exported: list[Text] = []
        self.export_error = ""
        self._exported_count = -1
        self._lock = asyncio.Lock()
        self.app = web.Application(
            middlewares=[access.__call__, _handle_errors], client_max_size=BODY_BYTES
        )
        self.app.add_routes(
            [
                web.get("/", self.show_start),
                web.get("/who", self.show_name_form),
                web.post("/who", self.set_name),
                web.get("/assets/{name}", self.send_asset),
                web.get("/image/{sha256}", self.send_image),
                *QueuePages(annotation).routes,
            ]
        )
        self.app.cleanup_ctx.append(self._collect_periodically)

    async def show_start(self, request: web.Request) -> web.Response:
        """Show the start page: the person's name, and the available queues."""
        person = get_person(request)
        if not person:
            return ask_name(request, "/")
        app, queues = self.annotation, []
        for name in QUEUES:
            texts, queue = QUEUE_TEXTS[name], app.queues.get(name)
            queues.append({
                "name": name, **texts._asdict(), "closed": app.closed.get(name, ""),
                "progress": find_progress(app.events, queue, person) if queue else None,
            })  # fmt: skip
        return render_page(
            request, "start.html.j2", asks_name=False, about=app.dataset.manifest, queues=queues,
            exported=self.exported, export_error=self.export_error, next="/",
        )  # fmt: skip

    async def show_name_form(self, request: web.Request) -> web.Response:
        """Show the form for changing the name."""
        return ask_name(request, "/")

    async def set_name(self, request: web.Request) -> web.StreamResponse:
        """Set the person's name."""
        form = await read_form(request)
        address = form.get("next", "/")
        # Only a path of our own: "//other" would be another site.
        ours = address.startswith("/") and not address.startswith(("//", "/\\"))
        address = address if ours and address.isascii() and address.isprintable() else "/"
        sessions, session = self._access.sessions, get_session(request)
        if not sessions.has_ticket(session, form.get("ticket", "")):
            return ask_name(request, address, translate(request, OLD_FORM), 409)
        try:
            person = normalize_name(form.get("name", ""))
        except UsageError as error:
            return ask_name(request, address, translate_error(request, error), 400)
        response = redirect(address)
        self._access.set_session(response, sessions.rename(session, person))
        return response

    async def send_asset(self, request: web.Request) -> web.Response:
        """Send a style sheet, a script or the icon."""
        asset = read_asset(request.match_info["name"])
        if asset is None:
            raise web.HTTPNotFound
        return web.Response(body=asset[0], content_type=asset[1], charset="utf-8",
                            headers={"Cache-Control": "no-cache"})  # fmt: skip

    async def send_image(self, request: web.Request) -> web.Response:
        """Send an image upright; formats that browsers do not display are converted to JPEG."""
        ref = self.annotation.images.get(request.match_info["sha256"])
        if ref is None:
            raise web.HTTPNotFound
        data = await asyncio.to_thread(self.annotation.dataset.image_bytes, ref)
        kind = ref.path.rpartition(".")[2]
        if kind not in _SHOWN_AS_IS:
            side = max(ref.width, ref.height)
            data = await asyncio.to_thread(
                thumbnail, data, name=ref.path, max_side=side, quality=92
            )
            kind = "jpg"
        else:
            # Browsers do not turn all formats by EXIF.
            data = await asyncio.to_thread(upright_file, data, name=ref.path)
        return respond_image(data, "jpeg" if kind == "jpg" else kind)

    async def _collect_periodically(self, app: web.Application) -> AsyncIterator[None]:
        """Export new events every half minute, and once more at the end."""
        del app

        async def go() -> None:
            while True:
                await self.collect()
                await asyncio.sleep(COLLECT_SECONDS)

        task = asyncio.create_task(go())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await self.collect()

    async def collect(self) -> None:
        """Export what is new; an error is shown on the start page, and the export is repeated."""
        async with self._lock:
            try:
                count = self.annotation.events.count()
                if count == self._exported_count:
                    return
                self.exported = await asyncio.to_thread(self.annotation.collect)
            except Exception as error:  # noqa: BLE001 - else nothing would be written out any more
                # Submissions are safe in acts.sqlite; the page shows the error, and the export is
                # retried.
                self.export_error = error_text(error) or type(error).__name__
            else:
                self._exported_count, self.export_error = count, ""


@web.middleware
async def _handle_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Store the language of an address in a cookie; turn rejections and errors into pages."""
    if request.method == "GET" and (language := request.query.get("lang")) is not None:
        response = redirect(make_local_path(str(request.rel_url.without_query_params("lang"))))
        set_cookie(response, "lang", language)
        return response
    try:
        return await handler(request)
    except OutOfDateError as stale:
        return respond_out_of_date(request, stale)
    except web.HTTPNotFound:
        title, text = _("Page not found"), _("This address does not exist.")
        return render_message(request, 404, title, text)
    except web.HTTPRequestEntityTooLarge:
        error: KejuError = UsageError("The text has more than 300,000 characters")
        status, title = 413, _("Text too long")
    except KejuError as raised:
        error, status, title = raised, 500, _("The data is not valid")
    if is_script_request(request):
        return respond_rejected(request, error, status=status)
    return render_message(request, status, title, translate_error(request, error))
