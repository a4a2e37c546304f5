"""`Queue`, the protocol of annotation queues: a person works through cards one after the other.

Exam, rating, review and adjudication are queues: each deals every person cards in that person's
order, shows one at a time and reads the answer. Cards left for later come again at the end.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from keju.annotation.events import Event, EventLog
from keju.errors import UsageError
from keju.messages import message

LONGEST = 300_000
"""The maximum length of one field in characters; a page of a book has a thousand."""
_LONGEST_NAME = 60
_LONGEST_TIME = 24 * 3600.0
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that fonts render as nothing."""

Form = Mapping[str, str]


class Queue(Protocol):
    """One queue; `name` is also its address and its template."""

    name: str

    def subjects(self, person: str) -> Sequence[str]:
        """The cards, in the order of this person."""

    def shown(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """The content of one card's page; `event` is this person's earlier event about it."""

    def content(self, subject: str) -> object:
        """Everything from dataset, run and settings that a card shows, for hashing with msgspec.

        A submission is rejected if this has changed since its page was made.
        """

    def read(self, subject: str, form: Form) -> object:
        """A person's submission, in the stored form.

        Raises:
            UsageError: it is not a valid answer; the message is for the person.
        """

    def is_shown_again(self, subject: str) -> bool:
        """Whether the card is shown once more after it was answered."""


class Progress(NamedTuple):
    """A person's progress in a queue: the number of all, of answered and of postponed cards.

    `next` is the number of the next card, from 1 on; None when all are answered.
    """

    cards: int
    answered: int
    later: int
    next: int | None


def progress_of(events: EventLog, queue: Queue, person: str) -> Progress:
    """A person's progress: first cards never shown, then those left for later, oldest first."""
    subjects = queue.subjects(person)
    said = {subject: event for (_, subject), event in events.progress(queue.name, person).items()}
    there = [(number, said.get(subject)) for number, subject in enumerate(subjects, start=1)]
    answered = sum(event is not None and event.kind == "answer" for _, event in there)
    left = [
        (event.id, number) for number, event in there if event is not None and event.kind == "skip"
    ]
    fresh = next((number for number, event in there if event is None), None)
    later = min(left)[1] if left else None
    return Progress(len(subjects), answered, len(left), fresh or later)


def person_of(name: str) -> str:
    """A name in its stored form: NFC, with single spaces.

    Raises:
        UsageError: it is empty, too long, or contains invisible characters.
    """
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    if not plain:
        raise UsageError(message("annotation.name-missing"))
    if len(plain) > _LONGEST_NAME:
        raise UsageError(message("annotation.name-too-long"))
    unseen = {"Cc", "Cf", "Cs", "Co", "Cn"}
    if any(char in _BLANK or unicodedata.category(char) in unseen for char in plain):
        raise UsageError(message("annotation.name-unprintable"))
    return plain


def seconds_of(form: Form) -> float:
    """The time that a page reports as displayed; 0 if it reports no valid number."""
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        return 0.0
    return round(seconds, 1) if 0 <= seconds <= _LONGEST_TIME else 0.0


def text_of(form: Form, field: str, *, needed: str = "") -> str:
    """A text of a form, with uniform line ends.

    Raises:
        UsageError: it is too long, or empty although `needed`, the id of the message, is given.
    """
    text = form.get(field, "").replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > LONGEST:
        raise UsageError(message("annotation.text-too-long"))
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise UsageError(message("annotation.text-half-character"))
    if needed and not text:
        raise UsageError(message(needed))
    return text


def lines_of(form: Form, field: str) -> tuple[str, ...]:
    """The lines of a text of a form that are not empty.

    Raises:
        UsageError: as `text_of`.
    """
    return tuple(line.strip() for line in text_of(form, field).split("\n") if line.strip())
