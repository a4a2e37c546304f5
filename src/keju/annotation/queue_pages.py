"""The pages of the queues: the next card, its content, and the submission."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec
from aiohttp import web

from keju.annotation.app import AnnotationApp
from keju.annotation.auth import by_script
from keju.annotation.events import Event
from keju.annotation.http import (
    ask_name,
    form_of,
    language_at,
    number_in,
    page,
    person_at,
    refused,
    said_to,
    see,
    sent,
)
from keju.annotation.queue import Form, Queue, progress_of, seconds_of
from keju.annotation.signed_forms import NO_NAME, OutOfDateError, Shown, bound, card_of, shown_in
from keju.annotation.signing import content_hash
from keju.errors import UsageError
from keju.messages import message


class QueuePages:
    """The pages of exam, rating, review and adjudication."""

    def __init__(self, app: AnnotationApp) -> None:
        self.app = app
        self.routes = [
            web.get("/{queue}", self.go_on),
            web.get("/{queue}/all", self.all_cards),
            web.get("/{queue}/done", self.done),
            web.get(r"/{queue}/{number:\d{1,9}}", self.card),
            web.post(r"/{queue}/{number:\d{1,9}}", self.submit),
        ]

    async def go_on(self, request: web.Request) -> web.StreamResponse:
        """Redirect to the next card."""
        queue, person = self._queue(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        return see(self._next(queue, person))

    def _next(self, queue: Queue, person: str) -> str:
        number = progress_of(self.app.events, queue, person).next
        return f"/{queue.name}/{number}" if number else f"/{queue.name}/done"

    async def card(self, request: web.Request) -> web.Response:
        """One card."""
        queue, person = self._queue(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        number, subjects = int(request.match_info["number"]), queue.subjects(person)
        if not 1 <= number <= len(subjects):
            raise web.HTTPNotFound
        return self._card(request, queue, number, subjects[number - 1])

    def _card(
        self, request: web.Request, queue: Queue, number: int, subject: str, error: str = "",
    ) -> web.Response:  # fmt: skip
        person, events = person_at(request), self.app.events
        content = content_hash(queue.content(subject))
        seen = Shown(person=person, queue=queue.name, subject=subject, content=content)
        event = events.progress(queue.name, person).get((person, subject))
        before, taken_back = event, number_in(request.query.get("was"))
        if taken_back and (event is None or event.kind == "skip"):
            last = events.event(taken_back)
            if last and (last.person, last.queue, last.subject) == (person, queue.name, subject):
                before = last
        is_shown_again = queue.is_shown_again(subject)
        if is_shown_again and event is None:
            before = None
        shown = queue.shown(subject, before, language_at(request))
        drawable = bool(shown.pop("has_boxes", False)) or _asks_boxes(shown)
        return page(
            request, f"{queue.name}.html.j2", status=400 if error else 200, queue=queue.name,
            number=number, keep=self.app.unsent(seen), ticket=secrets.token_hex(16),
            seen=bound(self.app.signer, seen), error=error,
            progress=progress_of(events, queue, person), spent=event.seconds if event else 0,
            was=event is not None and event.kind == "answer" and not is_shown_again,
            later=event is not None and event.kind == "skip", drawable=drawable, **shown,
        )  # fmt: skip

    async def submit(self, request: web.Request) -> web.StreamResponse:
        """Store a submission for the card that the page showed.

        Raises:
            OutOfDateError: the page was shown to another person, or its card has changed.
        """
        queue, person = self._queue(request), person_at(request)
        form = await form_of(request)
        if not person:
            raise OutOfDateError(message(NO_NAME), self._here(request))
        seen = self._seen(request, form, queue, person)
        what, ticket = form.get("act", "answer"), form.get("ticket", "")[:64]
        if what == "undo":
            return sent(request, self._undo(queue, person, ticket))
        number, subject = card_of(queue, seen), seen.subject
        seconds = seconds_of(form)
        if what == "skip":
            self._add(queue, person, subject, None, seconds, ticket)
            return sent(request, self._next(queue, person))
        try:
            value = queue.read(subject, form)
        except UsageError as error:
            if by_script(request):
                return refused(request, error)
            return self._card(request, queue, number, subject, said_to(request, error))
        self._add(queue, person, subject, value, seconds, ticket)
        again = f"/{queue.name}/{number}"
        return sent(request, again if queue.is_shown_again(subject) else self._next(queue, person))

    def _seen(self, request: web.Request, form: Form, queue: Queue, person: str) -> Shown:
        """What the page of a form showed; an error links to the same card for this person."""
        try:
            return shown_in(self.app.signer, form, queue.name, person, self._here(request))
        except OutOfDateError as error:
            subjects = list(queue.subjects(person))
            if error.subject in subjects:
                error.link = f"/{queue.name}/{subjects.index(error.subject) + 1}"
            raise

    @staticmethod
    def _here(request: web.Request) -> str:
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
        subjects = list(queue.subjects(person))
        if last is None or last.subject not in subjects:
            return self._next(queue, person)
        return f"/{queue.name}/{subjects.index(last.subject) + 1}?was={last.id}"

    async def all_cards(self, request: web.Request) -> web.Response:
        """All cards of a queue, with their state."""
        queue, person = self._queue(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        said: dict[str, Event] = {
            subject: event
            for (_, subject), event in self.app.events.progress(queue.name, person).items()
        }
        states = {"answer": "answered", "skip": "later"}
        cards = [
            states[said[subject].kind] if subject in said else ""
            for subject in queue.subjects(person)
        ]
        progress = progress_of(self.app.events, queue, person)
        return page(request, "all.html.j2", queue=queue.name, cards=cards, progress=progress)

    async def done(self, request: web.Request) -> web.StreamResponse:
        """The page at the end of a queue."""
        queue, person = self._queue(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        progress = progress_of(self.app.events, queue, person)
        if progress.next:
            return see(self._next(queue, person))
        seen = bound(self.app.signer, Shown(person=person, queue=queue.name))
        return page(request, "done.html.j2", queue=queue.name, progress=progress,
                    ticket=secrets.token_hex(16), seen=seen)  # fmt: skip

    def _queue(self, request: web.Request) -> Queue:
        queue = self.app.queues.get(request.match_info["queue"])
        if queue is None:
            raise web.HTTPNotFound
        return queue


def _asks_boxes(shown: Mapping[str, object]) -> bool:
    asked = shown.get("asked")
    return getattr(asked, "form", "") == "boxes"
