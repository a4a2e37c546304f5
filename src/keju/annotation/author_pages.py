"""The pages on which people write new items."""

from __future__ import annotations

import secrets

import msgspec
from aiohttp import web

from keju.annotation.app import AnnotationApp
from keju.annotation.auth import is_script_request
from keju.annotation.authoring import list_kinds
from keju.annotation.fields import format_boxes
from keju.annotation.http import (
    ask_name,
    get_person,
    parse_number,
    read_form,
    render_page,
    respond_rejected,
    respond_saved,
    translate_error,
)
from keju.annotation.queue import Form, parse_seconds
from keju.annotation.signing import (
    CHANGED,
    NO_NAME,
    UNSIGNED,
    OutOfDateError,
    PageBinding,
    hash_content,
    read_binding,
    sign_binding,
)
from keju.errors import UsageError
from keju.items import Item

_PAGE = 120
"""Images on one page."""


class AuthorPages:
    """A gallery of images, and a page for each new item about one."""

    def __init__(self, app: AnnotationApp) -> None:
        self.app = app
        self.routes = [
            web.get("/authoring", self.show_gallery),
            web.get("/authoring/{subject}", self.show_item),
            web.post("/authoring/{subject}", self.save),
        ]

    async def show_gallery(self, request: web.Request) -> web.Response:
        """Show the images about which items can be written, and the person's own items."""
        person = get_person(request)
        if not person:
            return ask_name(request, request.path)
        queue = self.app.authoring
        refs = list(queue.images.values())
        pages = max(1, -(-len(refs) // _PAGE))
        page = min(pages, max(1, parse_number(request.query.get("page")) or 1))
        own = [item for _, item in queue.list_items(self.app.events, person)]
        first = (page - 1) * _PAGE
        return render_page(
            request, "gallery.html.j2", images=refs[first : first + _PAGE], first=first, page=page,
            pages=pages, own=own,
        )  # fmt: skip

    async def show_item(self, request: web.Request) -> web.Response:
        """Show the page for writing an item, a new one or one's own."""
        person, subject = get_person(request), request.match_info["subject"]
        if not person:
            return ask_name(request, request.path)
        queue = self.app.authoring
        item = self._find_own(person, subject)
        if item is None:
            ref = queue.images.get(request.query.get("image", ""))
            if ref is None or subject != "new":
                raise web.HTTPNotFound
            text = queue.find_transcription(ref.sha256)
            item = Item(id="new", benchmark="", task="", images=(ref,), transcription=text or None)
        return self._render_item(request, item, saved=item.id != "new")

    def _render_item(self, request: web.Request, item: Item, *, saved: bool) -> web.Response:
        binding = self._bind_page(get_person(request), item.id, item.images[0].sha256)
        return render_page(
            request, "author.html.j2", subject=item.id, ticket=secrets.token_hex(16),
            keep=self.app.make_draft_key(binding), seen=sign_binding(self.app.signer, binding),
            image=item.images[0], item=item, kinds=list_kinds(), saved=saved,
            chosen=f"{item.task}/{item.query}".rstrip("/"),
            boxes=format_boxes(item.boxes),
        )  # fmt: skip

    async def save(self, request: web.Request) -> web.StreamResponse:
        """Save an item, or discard one's own.

        Raises:
            OutOfDateError: the page was shown to another person, or showed another item or image.
        """
        person, subject = get_person(request), request.match_info["subject"]
        form, queue, events = await read_form(request), self.app.authoring, self.app.events
        if not person:
            raise OutOfDateError(NO_NAME, "/authoring")
        ticket = form.get("ticket", "")[:64]
        if subject != "new" and self._find_own(person, subject) is None:
            raise web.HTTPNotFound
        self._check_current(form, person, subject, ticket)
        if form.get("act") == "discard":
            events.add(person, queue.name, subject, "null", kind="skip", ticket=ticket)
            return respond_saved(request, "/authoring")
        name = queue.make_subject(person, ticket) if subject == "new" else subject
        try:
            item = queue.read(person, name, form)
        except UsageError as error:
            if is_script_request(request):
                return respond_rejected(request, error)
            raise web.HTTPBadRequest(text=translate_error(request, error)) from None
        value = msgspec.json.encode(item).decode()
        events.add(person, queue.name, name, value, seconds=parse_seconds(form), ticket=ticket)
        return respond_saved(request, "/authoring")

    def _bind_page(self, person: str, subject: str, image: str) -> PageBinding:
        """The binding of the page of an image, for a new item or for the person's stored item."""
        known = self.app.authoring.find_transcription(image)
        content = hash_content((image, self._find_own(person, subject) or known))
        return PageBinding(person=person, queue="authoring", subject=subject, content=content)

    def _check_current(self, form: Form, person: str, subject: str, ticket: str) -> None:
        submitted = read_binding(self.app.signer, form, "authoring", person, "/authoring")
        now = self._bind_page(person, subject, form.get("image", ""))
        # The same page changed the item and repeats the request, because the response was lost.
        repeated = subject != "new" and self.app.events.was_sent_last(
            person, "authoring", subject, ticket
        )
        if submitted.subject != subject:
            raise OutOfDateError(UNSIGNED, "/authoring")
        if submitted.content != now.content and not repeated:
            raise OutOfDateError(
                CHANGED, f"/authoring/{subject}" if subject != "new" else "/authoring"
            )

    def _find_own(self, person: str, subject: str) -> Item | None:
        own = self.app.authoring.list_items(self.app.events, person)
        return next((item for _, item in own if item.id == subject), None)
