"""What the pages have in common: a person goes through cards at a desk, one after the other.

The exam, rating, review and adjudication are desks: each deals every person cards in an order of
that person's, shows one at a time and reads what comes back. Whatever is left for later comes again
at the end.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from keju.errors import UsageError
from keju.web.acts import Act, Acts

LONGEST = 300_000
"""Characters of one field; a page of a book has a thousand."""
_LONGEST_NAME = 60
_LONGEST_TIME = 24 * 3600.0
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that fonts draw as nothing."""

Form = Mapping[str, str]


class Desk(Protocol):
    """One kind of work; `name` is also its address and its template."""

    name: str

    def subjects(self, person: str) -> Sequence[str]:
        """What is to be decided, in the order in which this person gets it."""

    def shown(self, subject: str, act: Act | None, language: str) -> dict[str, object]:
        """What the page of one card shows; `act` is what this person said of it before."""

    def content(self, subject: str) -> object:
        """All that a card shows of dataset, run and settings, as msgspec writes it.

        A form is refused if this has changed since its page was made.
        """

    def read(self, subject: str, form: Form) -> object:
        """What a person sent, as it is stored.

        Raises:
            UsageError: it is no answer; the person is told why.
        """

    def lingers(self, subject: str) -> bool:
        """Whether the card is shown once more after it was answered."""


class Standing(NamedTuple):
    """Where a person stands at a desk: the number of cards, of those answered, and left for later.

    `next` is the number of the card that comes now, from 1 on; None where all is answered.
    """

    cards: int
    answered: int
    later: int
    next: int | None


def standing_of(acts: Acts, desk: Desk, person: str) -> Standing:
    """Where a person stands: first what was never shown, then what was left, longest ago first."""
    subjects = desk.subjects(person)
    said = {subject: act for (_, subject), act in acts.standing(desk.name, person).items()}
    there = [(number, said.get(subject)) for number, subject in enumerate(subjects, start=1)]
    answered = sum(act is not None and act.kind == "answer" for _, act in there)
    left = [(act.id, number) for number, act in there if act is not None and act.kind == "skip"]
    fresh = next((number for number, act in there if act is None), None)
    later = min(left)[1] if left else None
    return Standing(len(subjects), answered, len(left), fresh or later)


def person_of(name: str) -> str:
    """A name as it is kept: composed, its white space made single.

    Raises:
        UsageError: it is empty, too long, or holds characters that cannot be seen.
    """
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    if not plain:
        raise UsageError("Please give your name")
    if len(plain) > _LONGEST_NAME:
        raise UsageError("This name is too long: 60 characters at most")
    unseen = {"Cc", "Cf", "Cs", "Co", "Cn"}
    if any(char in _BLANK or unicodedata.category(char) in unseen for char in plain):
        raise UsageError("This name holds characters that cannot be seen")
    return plain


def seconds_of(form: Form) -> float:
    """The time that a page says it was looked at; 0 where it says nothing that makes sense."""
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        return 0.0
    return round(seconds, 1) if 0 <= seconds <= _LONGEST_TIME else 0.0


def text_of(form: Form, field: str, *, needed: str = "") -> str:
    """A text of a form, line ends made one kind.

    Raises:
        UsageError: it is too long, or empty where it is `needed` (which says so to the person).
    """
    text = form.get(field, "").replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > LONGEST:
        raise UsageError("This text is too long: 300,000 characters at most")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise UsageError("This text holds half a character")
    if needed and not text:
        raise UsageError(needed)
    return text


def lines_of(form: Form, field: str) -> tuple[str, ...]:
    """The lines of a text of a form that hold anything.

    Raises:
        UsageError: as `text_of`.
    """
    return tuple(line.strip() for line in text_of(form, field).split("\n") if line.strip())
