"""`Queue`, the protocol of annotation queues: a person works through cards one after the other.

Exam, rating, review and adjudication are queues. A queue shows each person its cards one at a time,
in that person's order, and reads the answers. Postponed cards are shown again at the end.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from keju.annotation.events import Event, EventLog
from keju.definitions import task
from keju.errors import UsageError
from keju.items import Item

LONGEST = 300_000
"""The maximum length of one field in characters; a page of a book has about a thousand."""
_LONGEST_NAME = 60
_LONGEST_TIME = 24 * 3600.0
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that fonts render as nothing."""

Form = Mapping[str, str]


class Queue(Protocol):
    """One queue; `name` is also its address and its template."""

    name: str

    def list_subjects(self, person: str) -> Sequence[str]:
        """The ids of the cards, in the order of this person."""

    def build_card(self, subject: str, event: Event | None, language: str) -> dict[str, object]:
        """The values that the template of a card shows."""

    def get_content(self, subject: str) -> object:
        """All values of the dataset, the run and the settings that a card shows.

        They are hashed with msgspec. A submission is rejected if they have changed since its page
        was made.
        """

    def read(self, subject: str, form: Form) -> object:
        """Read a submission; return the record to store.

        Raises:
            UsageError: the submission is not valid; the message is for the person.
        """

    def is_shown_again(self, subject: str) -> bool:
        """Whether the card is shown once more after it was answered; by default not."""
        del subject
        return False


def describe_task(item: Item, language: str) -> dict[str, object]:
    """The values that a card shows of an item's task."""
    asks = task(item.task)
    name = asks.name_zh if language == "zh" else asks.name_en
    return {"task": name, "task_id": asks.id, "query": item.query}


def format_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table that spreadsheets open; without the byte order mark they do not read it as UTF-8."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return "\ufeff" + stream.getvalue()


class Progress(NamedTuple):
    """A person's progress in a queue: the number of cards, of answered and of postponed cards.

    `next` is the number of the next card, from 1; None if all cards are answered.
    """

    cards: int
    answered: int
    later: int
    next: int | None


def find_progress(events: EventLog, queue: Queue, person: str) -> Progress:
    """A person's progress in a queue.

    The next card is the first one without an event, otherwise the one that was postponed first.
    """
    subjects = queue.list_subjects(person)
    latest = {
        subject: event for (_, subject), event in events.find_latest(queue.name, person).items()
    }
    cards = [(number, latest.get(subject)) for number, subject in enumerate(subjects, start=1)]
    answered = sum(event is not None and event.kind == "answer" for _, event in cards)
    postponed = [
        (event.id, number) for number, event in cards if event is not None and event.kind == "skip"
    ]
    new = next((number for number, event in cards if event is None), None)
    later = min(postponed)[1] if postponed else None
    return Progress(len(subjects), answered, len(postponed), new or later)


def normalize_name(name: str) -> str:
    """Normalise a person's name: NFC, with single spaces.

    Raises:
        UsageError: the name is empty, too long, or contains invisible characters.
    """
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    if not plain:
        raise UsageError("Enter your name")
    if len(plain) > _LONGEST_NAME:
        raise UsageError("The name has more than 60 characters")
    unseen = {"Cc", "Cf", "Cs", "Co", "Cn"}
    if any(char in _BLANK or unicodedata.category(char) in unseen for char in plain):
        raise UsageError("The name contains invisible characters")
    return plain


def parse_seconds(form: Form) -> float:
    """The time in seconds for which a page was displayed; 0 if the form has no valid number."""
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        return 0.0
    return round(seconds, 1) if 0 <= seconds <= _LONGEST_TIME else 0.0


def read_text(form: Form, field: str, *, needed: str = "") -> str:
    """A text of a form, stripped, with uniform line ends.

    `needed` is the error for an empty text, if the text may not be empty.

    Raises:
        UsageError: the text is too long, contains half a character, or is empty.
    """
    text = form.get(field, "").replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > LONGEST:
        raise UsageError("The text has more than 300,000 characters")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise UsageError("The text contains half of a character. Enter it again")
    if needed and not text:
        raise UsageError(needed)
    return text


def read_lines(form: Form, field: str) -> tuple[str, ...]:
    """The lines of a text of a form, stripped, without empty ones.

    Raises:
        UsageError: as for `read_text`.
    """
    return tuple(line.strip() for line in read_text(form, field).split("\n") if line.strip())
