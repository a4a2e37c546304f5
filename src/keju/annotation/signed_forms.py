"""Signed form fields that bind a submission to the person and the content that the page showed."""

from __future__ import annotations

from keju.annotation.queue import Form, Queue
from keju.annotation.signing import Signer, content_hash
from keju.items import Record
from keju.messages import message

FIELD = "shown"
"""The form field that contains the signed `Shown`."""

CURRENT_CARD = "annotation.open-current-card"
TITLE = "annotation.page-out-of-date"
NO_NAME = "annotation.no-name"
OTHER_PERSON = "annotation.other-person"
CHANGED = "annotation.card-changed"
GONE = "annotation.card-gone"
UNSIGNED = "annotation.page-not-signed"
_PURPOSE = "shown"


class Shown(Record, frozen=True, kw_only=True):
    """Content of a page: the queue, the card by its id, the hash of its content, and the person."""

    person: str
    queue: str
    subject: str = ""
    content: str = ""


class OutOfDateError(Exception):
    """A submission belongs to another person or card than the stored one; answered with 409.

    `link` leads to the current page; `person` and `subject` are those of the submitted page, where
    it was shown to another person.
    """

    def __init__(self, why: str, link: str, person: str = "", subject: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.link = link
        self.person = person
        self.subject = subject


def bound(signer: Signer, shown: Shown) -> str:
    """The value of the form field."""
    return signer.sign(_PURPOSE, shown)


def shown_in(signer: Signer, form: Form, queue: str, person: str, link: str) -> Shown:
    """What the page of a form showed to this person in this queue.

    Raises:
        OutOfDateError: the form is not signed, or it was shown to another person.
    """
    shown = signer.read(_PURPOSE, form.get(FIELD, ""), Shown)
    if shown is None or shown.queue != queue:
        raise OutOfDateError(message(UNSIGNED), link)
    if shown.person != person:
        why = message(OTHER_PERSON, person=shown.person)
        raise OutOfDateError(why, link, shown.person, shown.subject)
    return shown


def card_of(queue: Queue, shown: Shown) -> int:
    """The current number of a page's card, from 1 on.

    Raises:
        OutOfDateError: the card does not exist any more, or its content has changed.
    """
    subjects = queue.subjects(shown.person)
    if shown.subject not in subjects:
        raise OutOfDateError(message(GONE), f"/{queue.name}")
    number = list(subjects).index(shown.subject) + 1
    if content_hash(queue.content(shown.subject)) != shown.content:
        raise OutOfDateError(message(CHANGED), f"/{queue.name}/{number}")
    return number
