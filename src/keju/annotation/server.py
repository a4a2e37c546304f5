"""`Server`: the routes of the annotation app and the periodic export."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from keju.annotation.app import DESKS, AnnotationApp
from keju.annotation.auth import AccessControl, Handler, by_script, own_path
from keju.annotation.author_pages import AuthorPages
from keju.annotation.http import (
    ask_name,
    form_of,
    message_page,
    out_of_date,
    page,
    person_at,
    picture,
    refused,
    remember,
    said_to,
    see,
    translated,
)
from keju.annotation.pages import QUEUE_TEXTS, asset
from keju.annotation.queue import person_of, progress_of
from keju.annotation.queue_pages import QueuePages
from keju.annotation.sessions import session_of
from keju.annotation.signed_forms import OutOfDateError
from keju.errors import KejuError, UsageError
from keju.images import thumbnail
from keju.messages import message

BODY_BYTES = 4 << 20
"""The maximum size of a form: three bytes per character, with reserve."""

COLLECT_SECONDS = 30.0
_SHOWN_AS_IS = frozenset({"jpg", "png", "webp", "gif", "bmp"})
_THUMB = 320
_THUMBS = 2000
_FILES = ("ratings.csv", "verdicts.jsonl", "adjudicated.csv")
OLD_FORM = "annotation.old-form"


class Server:
    """The aiohttp application of a `AnnotationApp`; `trouble` is why the last export failed."""

    def __init__(self, pages: AnnotationApp, access: AccessControl) -> None:
        self.pages = pages
        self._access = access
        self.kept: list[str] = []
        self.trouble = ""
        self._seen = -1
        self._turn = asyncio.Lock()
        self._thumbs: dict[str, bytes] = {}
        self.app = web.Application(
            middlewares=[access.__call__, _settings], client_max_size=BODY_BYTES
        )
        self.app.add_routes(
            [
                web.get("/", self.start),
                web.get("/who", self.who),
                web.post("/who", self.be),
                web.post("/collect", self.collect_now),
                web.get("/files/{name}", self.file),
                web.get("/assets/{name}", self.asset),
                web.get("/image/{sha256}", self.image),
                web.get("/thumb/{sha256}", self.thumb),
                *AuthorPages(pages).routes,
                *QueuePages(pages).routes,
            ]
        )
        self.app.cleanup_ctx.append(self._collecting)

    async def start(self, request: web.Request) -> web.Response:
        """The start page: the person's name, and the available queues."""
        person = person_at(request)
        if not person:
            return ask_name(request, "/")
        pages, queues = self.pages, []
        count = len(list(pages.authoring.written(pages.events, person)))
        for name in (*DESKS[:3], "authoring", *DESKS[3:]):
            said, queue = QUEUE_TEXTS[name], pages.queues.get(name)
            queues.append({
                "name": name, **said._asdict(), "closed": pages.closed.get(name, ""),
                "progress": progress_of(pages.events, queue, person) if queue else None,
                "count": count,
            })  # fmt: skip
        return page(
            request, "start.html.j2", asks_name=False, about=pages.dataset.manifest, queues=queues,
            kept=self.kept, trouble=self.trouble, next="/",
            files=[name for name in _FILES if (pages.people / name).is_file()],
        )  # fmt: skip

    async def who(self, request: web.Request) -> web.Response:
        """The page for changing the person."""
        return ask_name(request, "/")

    async def be(self, request: web.Request) -> web.StreamResponse:
        """Set the person's name."""
        form = await form_of(request)
        there = form.get("next", "/")
        # Only a path of our own: "//other" would be another site.
        ours = there.startswith("/") and not there.startswith(("//", "/\\"))
        there = there if ours and there.isascii() and there.isprintable() else "/"
        sessions, session = self._access.sessions, session_of(request)
        if not sessions.has_ticket(session, form.get("ticket", "")):
            return ask_name(request, there, translated(request, message(OLD_FORM)), 409)
        try:
            person = person_of(form.get("name", ""))
        except UsageError as error:
            return ask_name(request, there, said_to(request, error), 400)
        response = see(there)
        self._access.set_session(response, sessions.renamed(session, person))
        return response

    async def collect_now(self, request: web.Request) -> web.StreamResponse:
        """Export everything."""
        del request
        await self._collect()
        return see("/")

    async def file(self, request: web.Request) -> web.StreamResponse:
        """An exported file as a download, up to date."""
        name = request.match_info["name"]
        if name not in _FILES:
            raise web.HTTPNotFound
        await self._collect()
        path = self.pages.people / name
        if not path.is_file():
            raise web.HTTPNotFound
        return web.Response(
            body=await asyncio.to_thread(path.read_bytes),
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
            content_type="application/octet-stream",
        )

    async def asset(self, request: web.Request) -> web.Response:
        """A style sheet, a script or the seal."""
        found = asset(request.match_info["name"])
        if found is None:
            raise web.HTTPNotFound
        return web.Response(body=found[0], content_type=found[1], charset="utf-8",
                            headers={"Cache-Control": "no-cache"})  # fmt: skip

    async def image(self, request: web.Request) -> web.Response:
        """An image, byte for byte; one that browsers do not display is converted to JPEG."""
        ref = self.pages.images.get(request.match_info["sha256"])
        if ref is None:
            raise web.HTTPNotFound
        data = await asyncio.to_thread(self.pages.dataset.image_bytes, ref)
        kind = ref.path.rpartition(".")[2]
        if kind not in _SHOWN_AS_IS:
            side = max(ref.width, ref.height)
            data = await asyncio.to_thread(
                thumbnail, data, name=ref.path, max_side=side, quality=92
            )
            kind = "jpg"
        return picture(data, "jpeg" if kind == "jpg" else kind)

    async def thumb(self, request: web.Request) -> web.Response:
        """A small copy of an image."""
        ref = self.pages.images.get(request.match_info["sha256"])
        if ref is None:
            raise web.HTTPNotFound
        if ref.sha256 not in self._thumbs:
            data = await asyncio.to_thread(self.pages.dataset.image_bytes, ref)
            small = await asyncio.to_thread(thumbnail, data, name=ref.path, max_side=_THUMB)
            if len(self._thumbs) >= _THUMBS:
                self._thumbs.clear()
            self._thumbs[ref.sha256] = small
        return picture(self._thumbs[ref.sha256], "jpeg")

    # Export.

    async def _collecting(self, app: web.Application) -> AsyncIterator[None]:
        """Export what is new every half minute, and once more at the end."""
        del app

        async def go() -> None:
            while True:
                await self._collect()
                await asyncio.sleep(COLLECT_SECONDS)

        task = asyncio.create_task(go())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await self._collect()

    async def _collect(self) -> None:
        async with self._turn:
            try:
                count = self.pages.events.count()
                if count == self._seen:
                    return
                self.kept = await asyncio.to_thread(self.pages.collect)
            except Exception as error:  # noqa: BLE001 - else nothing would be written out any more
                # Submissions are safe in acts.sqlite; the page shows the error, and the export is
                # retried.
                self.trouble = str(error) or type(error).__name__
            else:
                self._seen, self.trouble = count, ""


@web.middleware
async def _settings(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Store the language of an address in a cookie; turn rejections and errors into pages."""
    if request.method == "GET" and (language := request.query.get("lang")) is not None:
        response = see(own_path(str(request.rel_url.without_query_params("lang"))))
        remember(response, "lang", language)
        return response
    try:
        return await handler(request)
    except OutOfDateError as stale:
        return out_of_date(request, stale)
    except web.HTTPNotFound:
        title, text = message("annotation.not-found"), message("annotation.no-such-page")
        return message_page(request, 404, title, text)
    except web.HTTPRequestEntityTooLarge:
        error: KejuError = UsageError(message("annotation.text-too-long"))
        status, title = 413, message("annotation.too-long")
    except KejuError as raised:
        error, status, title = raised, 500, message("annotation.data-damaged")
    if by_script(request):
        return refused(request, error, status=status)
    return message_page(request, status, title, said_to(request, error))
