"""The pages of the queues: the next card, its content, and the submission."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec
from aiohttp import web

from keju.annotation.app import AnnotationApp
from keju.annotation.auth import is_script_request
from keju.annotation.events import Event
from keju.annotation.http import (
    ask_name,
    get_person,
    parse_number,
    read_form,
    redirect,
    render_page,
    respond_rejected,
    respond_saved,
    translate_error,
)
from keju.annotation.pages import get_language
from keju.annotation.queue import Form, Queue, find_progress, parse_seconds
from keju.annotation.signing import (
    NO_NAME,
    OutOfDateError,
    PageBinding,
    find_card,
    hash_content,
    read_binding,
    sign_binding,
)
from keju.errors import UsageError


class QueuePages:
    """The pages of exam, rating, review and adjudication."""

    def __init__(self, app: AnnotationApp) -> None:
        self.app = app
        self.routes = [
            web.get("/{queue}", self.redirect_to_next),
            web.get("/{queue}/all", self.show_all),
            web.get("/{queue}/done", self.show_done),
            web.get(r"/{queue}/{number:\d{1,9}}", self.show_card),
            web.post(r"/{queue}/{number:\d{1,9}}", self.submit),
        ]

    async def redirect_to_next(self, request: web.Request) -> web.StreamResponse:
        """Redirect to the next card."""
        queue, person = self._find_queue(request), get_person(request)
        if not person:
            return ask_name(request, request.path)
        return redirect(self._find_next(queue, person))

    def _find_next(self, queue: Queue, person: str) -> str:
        number = find_progress(self.app.events, queue, person).next
        return f"/{queue.name}/{number}" if number else f"/{queue.name}/done"

    async def show_card(self, request: web.Request) -> web.Response:
        """Show one card."""
        queue, person = self._find_queue(request), get_person(request)
        if not person:
            return ask_name(request, request.path)
        number, subjects = int(request.match_info["number"]), queue.list_subjects(person)
        if not 1 <= number <= len(subjects):
            raise web.HTTPNotFound
        return self._render_card(request, queue, number, subjects[number - 1])

    def _render_card(
        self, request: web.Request, queue: Queue, number: int, subject: str, error: str = "",
    ) -> web.Response:  # fmt: skip
        person, events = get_person(request), self.app.events
        content = hash_content(queue.get_content(subject))
        binding = PageBinding(person=person, queue=queue.name, subject=subject, content=content)
        event = events.find_latest(queue.name, person).get((person, subject))
        before, undone = event, parse_number(request.query.get("was"))
        if undone and (event is None or event.kind == "skip"):
            last = events.get_event(undone)
            if last and (last.person, last.queue, last.subject) == (person, queue.name, subject):
                before = last
        is_shown_again = queue.is_shown_again(subject)
        if is_shown_again and event is None:
            before = None
        values = queue.build_card(subject, before, get_language(request))
        drawable = bool(values.pop("has_boxes", False)) or _asks_boxes(values)
        return render_page(
            request, f"{queue.name}.html.j2", status=400 if error else 200, queue=queue.name,
            number=number, keep=self.app.make_draft_key(binding), ticket=secrets.token_hex(16),
            seen=sign_binding(self.app.signer, binding), error=error,
            progress=find_progress(events, queue, person), spent=event.seconds if event else 0,
            was=event is not None and event.kind == "answer" and not is_shown_again,
            later=event is not None and event.kind == "skip", drawable=drawable, **values,
        )  # fmt: skip

    async def submit(self, request: web.Request) -> web.StreamResponse:
        """Store a submission for the card that the page showed.

        Raises:
            OutOfDateError: the page was shown to another person, or its card has changed.
        """
        queue, person = self._find_queue(request), get_person(request)
        form = await read_form(request)
        if not person:
            raise OutOfDateError(NO_NAME, self._make_path(request))
        binding = self._read_binding(request, form, queue, person)
        action, ticket = form.get("act", "answer"), form.get("ticket", "")[:64]
        if action == "undo":
            return respond_saved(request, self._undo(queue, person, ticket))
        number, subject = find_card(queue, binding), binding.subject
        seconds = parse_seconds(form)
        if action == "skip":
            self._add(queue, person, subject, None, seconds, ticket)
            return respond_saved(request, self._find_next(queue, person))
        try:
            value = queue.read(subject, form)
        except UsageError as error:
            if is_script_request(request):
                return respond_rejected(request, error)
            return self._render_card(
                request, queue, number, subject, translate_error(request, error)
            )
        self._add(queue, person, subject, value, seconds, ticket)
        if queue.is_shown_again(subject):
            return respond_saved(request, f"/{queue.name}/{number}")
        return respond_saved(request, self._find_next(queue, person))

    def _read_binding(
        self, request: web.Request, form: Form, queue: Queue, person: str
    ) -> PageBinding:
        """The binding of a submitted page.

        Raises:
            OutOfDateError: as for `read_binding`; its link leads this person to the same card.
        """
        try:
            return read_binding(self.app.signer, form, queue.name, person, self._make_path(request))
        except OutOfDateError as error:
            subjects = list(queue.list_subjects(person))
            if error.subject in subjects:
                error.link = f"/{queue.name}/{subjects.index(error.subject) + 1}"
            raise

    @staticmethod
    def _make_path(request: web.Request) -> str:
        queue, number = request.match_info["queue"], int(request.match_info["number"])
        return f"/{queue}/{number}" if number else f"/{queue}"

    def _add(
        self, queue: Queue, person: str, subject: str, value: object, seconds: float, ticket: str
    ) -> None:
        # Not in a thread: the response must not be sent before the event is on disk.
        self.app.events.add(
            person, queue.name, subject, msgspec.json.encode(value).decode(),
            kind="answer" if value is not None else "skip", seconds=seconds, ticket=ticket,
        )  # fmt: skip

    def _undo(self, queue: Queue, person: str, ticket: str) -> str:
        last = self.app.events.undo(person, queue.name, ticket)
        subjects = list(queue.list_subjects(person))
        if last is None or last.subject not in subjects:
            return self._find_next(queue, person)
        return f"/{queue.name}/{subjects.index(last.subject) + 1}?was={last.id}"

    async def show_all(self, request: web.Request) -> web.Response:
        """Show all cards of a queue with their states."""
        queue, person = self._find_queue(request), get_person(request)
        if not person:
            return ask_name(request, request.path)
        latest: dict[str, Event] = {
            subject: event
            for (_, subject), event in self.app.events.find_latest(queue.name, person).items()
        }
        states = {"answer": "answered", "skip": "later"}
        cards = [
            states[latest[subject].kind] if subject in latest else ""
            for subject in queue.list_subjects(person)
        ]
        progress = find_progress(self.app.events, queue, person)
        return render_page(request, "all.html.j2", queue=queue.name, cards=cards, progress=progress)

    async def show_done(self, request: web.Request) -> web.StreamResponse:
        """Show the page at the end of a queue."""
        queue, person = self._find_queue(request), get_person(request)
        if not person:
            return ask_name(request, request.path)
        progress = find_progress(self.app.events, queue, person)
        if progress.next:
            return redirect(self._find_next(queue, person))
        binding = sign_binding(self.app.signer, PageBinding(person=person, queue=queue.name))
        return render_page(
            request, "done.html.j2", queue=queue.name, progress=progress,
            ticket=secrets.token_hex(16), seen=binding,
        )  # fmt: skip

    def _find_queue(self, request: web.Request) -> Queue:
        queue = self.app.queues.get(request.match_info["queue"])
        if queue is None:
            raise web.HTTPNotFound
        return queue


def _asks_boxes(values: Mapping[str, object]) -> bool:
    request = values.get("request")
    return getattr(request, "form", "") == "boxes"
