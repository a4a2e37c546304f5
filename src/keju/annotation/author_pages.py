"""The pages on which people write new items."""

from __future__ import annotations

import secrets

import msgspec
from aiohttp import web

from keju.annotation.app import AnnotationApp
from keju.annotation.auth import by_script
from keju.annotation.authoring import kinds
from keju.annotation.fields import rows_of
from keju.annotation.http import (
    ask_name,
    form_of,
    number_in,
    page,
    person_at,
    refused,
    said_to,
    sent,
)
from keju.annotation.queue import Form, seconds_of
from keju.annotation.signed_forms import (
    CHANGED,
    NO_NAME,
    UNSIGNED,
    OutOfDateError,
    Shown,
    bound,
    shown_in,
)
from keju.annotation.signing import content_hash
from keju.errors import UsageError
from keju.items import Item
from keju.messages import message

_PAGE = 120
"""Images on one page."""


class AuthorPages:
    """A gallery of images, and a page for each new item about one."""

    def __init__(self, app: AnnotationApp) -> None:
        self.app = app
        self.routes = [
            web.get("/authoring", self.gallery),
            web.get("/authoring/{subject}", self.author),
            web.post("/authoring/{subject}", self.write),
        ]

    async def gallery(self, request: web.Request) -> web.Response:
        """The images about which items can be written, and the person's own items."""
        person = person_at(request)
        if not person:
            return ask_name(request, request.path)
        queue = self.app.authoring
        refs = list(queue.images.values())
        pages = max(1, -(-len(refs) // _PAGE))
        shown = min(pages, max(1, number_in(request.query.get("page")) or 1))
        mine = [item for _, item in queue.written(self.app.events, person)]
        first = (shown - 1) * _PAGE
        return page(request, "gallery.html.j2", shown=refs[first : first + _PAGE], first=first,
                     page=shown, pages=pages, mine=mine)  # fmt: skip

    async def author(self, request: web.Request) -> web.Response:
        """The page for writing an item, new or one's own."""
        person, subject = person_at(request), request.match_info["subject"]
        if not person:
            return ask_name(request, request.path)
        queue = self.app.authoring
        item = self._mine(person, subject)
        if item is None:
            ref = queue.images.get(request.query.get("image", ""))
            if ref is None or subject != "new":
                raise web.HTTPNotFound
            text = queue.transcription(ref.sha256)
            item = Item(id="new", benchmark="", task="", images=(ref,), transcription=text or None)
        return self._author(request, item, saved=item.id != "new")

    def _author(self, request: web.Request, item: Item, *, saved: bool) -> web.Response:
        seen = self._shown(person_at(request), item.id, item.images[0].sha256)
        return page(
            request, "author.html.j2", subject=item.id, ticket=secrets.token_hex(16),
            keep=self.app.unsent(seen), seen=bound(self.app.signer, seen),
            image=item.images[0], item=item, kinds=kinds(), saved=saved,
            chosen=f"{item.task}/{item.query}".rstrip("/"),
            boxes=rows_of(item.boxes),
        )  # fmt: skip

    async def write(self, request: web.Request) -> web.StreamResponse:
        """Save an item, or discard one's own.

        Raises:
            OutOfDateError: the page was shown to another person, or showed another item or image.
        """
        person, subject = person_at(request), request.match_info["subject"]
        form, queue, events = await form_of(request), self.app.authoring, self.app.events
        if not person:
            raise OutOfDateError(message(NO_NAME), "/authoring")
        ticket = form.get("ticket", "")[:64]
        if subject != "new" and self._mine(person, subject) is None:
            raise web.HTTPNotFound
        self._check(form, person, subject, ticket)
        if form.get("act") == "discard":
            events.add(person, queue.name, subject, "null", kind="skip", ticket=ticket)
            return sent(request, "/authoring")
        name = queue.subject(person, ticket) if subject == "new" else subject
        try:
            item = queue.read(person, name, form)
        except UsageError as error:
            if by_script(request):
                return refused(request, error)
            raise web.HTTPBadRequest(text=said_to(request, error)) from None
        value = msgspec.json.encode(item).decode()
        events.add(person, queue.name, name, value, seconds=seconds_of(form), ticket=ticket)
        return sent(request, "/authoring")

    def _shown(self, person: str, subject: str, image: str) -> Shown:
        """The content of a page about an image: a person's item as stored now, or a new one."""
        known = self.app.authoring.transcription(image)
        content = content_hash((image, self._mine(person, subject) or known))
        return Shown(person=person, queue="authoring", subject=subject, content=content)

    def _check(self, form: Form, person: str, subject: str, ticket: str) -> None:
        seen = shown_in(self.app.signer, form, "authoring", person, "/authoring")
        now = self._shown(person, subject, form.get("image", ""))
        # The item was changed by the same page, sent again because its response was lost.
        again = subject != "new" and self.app.events.sent_last(person, "authoring", subject, ticket)
        if seen.subject != subject:
            raise OutOfDateError(message(UNSIGNED), "/authoring")
        if seen.content != now.content and not again:
            raise OutOfDateError(
                message(CHANGED), f"/authoring/{subject}" if subject != "new" else "/authoring"
            )

    def _mine(self, person: str, subject: str) -> Item | None:
        written = self.app.authoring.written(self.app.events, person)
        return next((item for _, item in written if item.id == subject), None)
