"""The pages of the queues: the next card, its content, and the submission."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec
from aiohttp import web

from keju.annotation.app import AnnotationApp
from keju.annotation.auth import by_script
from keju.annotation.events import Act
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
from keju.annotation.queue import Desk, Form, seconds_of, standing_of
from keju.annotation.signed_forms import NO_NAME, OutOfDateError, Shown, bound, card_of, shown_in
from keju.annotation.signing import content_hash
from keju.errors import UsageError


class DeskPages:
    """The pages of exam, rating, review and adjudication."""

    def __init__(self, hall: AnnotationApp) -> None:
        self.hall = hall
        self.routes = [
            web.get("/{desk}", self.go_on),
            web.get("/{desk}/all", self.all_cards),
            web.get("/{desk}/done", self.done),
            web.get(r"/{desk}/{number:\d{1,9}}", self.card),
            web.post(r"/{desk}/{number:\d{1,9}}", self.act),
        ]

    async def go_on(self, request: web.Request) -> web.StreamResponse:
        """Redirect to the next card."""
        desk, person = self._desk(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        return see(self._next(desk, person))

    def _next(self, desk: Desk, person: str) -> str:
        number = standing_of(self.hall.acts, desk, person).next
        return f"/{desk.name}/{number}" if number else f"/{desk.name}/done"

    async def card(self, request: web.Request) -> web.Response:
        """One card."""
        desk, person = self._desk(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        number, subjects = int(request.match_info["number"]), desk.subjects(person)
        if not 1 <= number <= len(subjects):
            raise web.HTTPNotFound
        return self._card(request, desk, number, subjects[number - 1])

    def _card(
        self, request: web.Request, desk: Desk, number: int, subject: str, error: str = "",
    ) -> web.Response:  # fmt: skip
        person, acts = person_at(request), self.hall.acts
        content = content_hash(desk.content(subject))
        seen = Shown(person=person, desk=desk.name, subject=subject, content=content)
        act = acts.standing(desk.name, person).get((person, subject))
        before, taken_back = act, number_in(request.query.get("was"))
        if taken_back and (act is None or act.kind == "skip"):
            last = acts.act(taken_back)
            if last and (last.person, last.desk, last.subject) == (person, desk.name, subject):
                before = last
        lingers = desk.lingers(subject)
        if lingers and act is None:
            before = None
        shown = desk.shown(subject, before, language_at(request))
        drawable = bool(shown.pop("has_boxes", False)) or _asks_boxes(shown)
        return page(
            request, f"{desk.name}.html.j2", status=400 if error else 200, desk=desk.name,
            number=number, keep=self.hall.unsent(seen), ticket=secrets.token_hex(16),
            seen=bound(self.hall.signer, seen), error=error,
            standing=standing_of(acts, desk, person), spent=act.seconds if act else 0,
            was=act is not None and act.kind == "answer" and not lingers,
            later=act is not None and act.kind == "skip", drawable=drawable, **shown,
        )  # fmt: skip

    async def act(self, request: web.Request) -> web.StreamResponse:
        """Store a submission for the card that the page showed.

        Raises:
            OutOfDateError: the page was shown to another person, or its card has changed.
        """
        desk, person = self._desk(request), person_at(request)
        form = await form_of(request)
        if not person:
            raise OutOfDateError(NO_NAME, self._here(request))
        seen = self._seen(request, form, desk, person)
        what, ticket = form.get("act", "answer"), form.get("ticket", "")[:64]
        if what == "undo":
            return sent(request, self._undo(desk, person, ticket))
        number, subject = card_of(desk, seen), seen.subject
        seconds = seconds_of(form)
        if what == "skip":
            self._add(desk, person, subject, None, seconds, ticket)
            return sent(request, self._next(desk, person))
        try:
            value = desk.read(subject, form)
        except UsageError as error:
            if by_script(request):
                return refused(request, error)
            return self._card(request, desk, number, subject, said_to(request, error))
        self._add(desk, person, subject, value, seconds, ticket)
        again = f"/{desk.name}/{number}"
        return sent(request, again if desk.lingers(subject) else self._next(desk, person))

    def _seen(self, request: web.Request, form: Form, desk: Desk, person: str) -> Shown:
        """What the page of a form showed; an error links to the same card for this person."""
        try:
            return shown_in(self.hall.signer, form, desk.name, person, self._here(request))
        except OutOfDateError as error:
            subjects = list(desk.subjects(person))
            if error.subject in subjects:
                error.link = f"/{desk.name}/{subjects.index(error.subject) + 1}"
            raise

    @staticmethod
    def _here(request: web.Request) -> str:
        desk, number = request.match_info["desk"], int(request.match_info["number"])
        return f"/{desk}/{number}" if number else f"/{desk}"

    def _add(
        self, desk: Desk, person: str, subject: str, value: object, seconds: float, ticket: str
    ) -> None:
        # Not in a thread: the response must not be sent before the event is on disk.
        self.hall.acts.add(
            person, desk.name, subject, msgspec.json.encode(value).decode(),
            kind="answer" if value is not None else "skip", seconds=seconds, ticket=ticket,
        )  # fmt: skip

    def _undo(self, desk: Desk, person: str, ticket: str) -> str:
        last = self.hall.acts.undo(person, desk.name, ticket)
        subjects = list(desk.subjects(person))
        if last is None or last.subject not in subjects:
            return self._next(desk, person)
        return f"/{desk.name}/{subjects.index(last.subject) + 1}?was={last.id}"

    async def all_cards(self, request: web.Request) -> web.Response:
        """All cards of a queue, with their state."""
        desk, person = self._desk(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        said: dict[str, Act] = {
            subject: act for (_, subject), act in self.hall.acts.standing(desk.name, person).items()
        }
        states = {"answer": "answered", "skip": "later"}
        cards = [
            states[said[subject].kind] if subject in said else ""
            for subject in desk.subjects(person)
        ]
        standing = standing_of(self.hall.acts, desk, person)
        return page(request, "all.html.j2", desk=desk.name, cards=cards, standing=standing)

    async def done(self, request: web.Request) -> web.StreamResponse:
        """The page at the end of a queue."""
        desk, person = self._desk(request), person_at(request)
        if not person:
            return ask_name(request, request.path)
        standing = standing_of(self.hall.acts, desk, person)
        if standing.next:
            return see(self._next(desk, person))
        seen = bound(self.hall.signer, Shown(person=person, desk=desk.name))
        return page(request, "done.html.j2", desk=desk.name, standing=standing,
                    ticket=secrets.token_hex(16), seen=seen)  # fmt: skip

    def _desk(self, request: web.Request) -> Desk:
        desk = self.hall.desks.get(request.match_info["desk"])
        if desk is None:
            raise web.HTTPNotFound
        return desk


def _asks_boxes(shown: Mapping[str, object]) -> bool:
    asked = shown.get("asked")
    return getattr(asked, "form", "") == "boxes"
