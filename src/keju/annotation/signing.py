"""`Signer`: signed values, which a browser cannot change; `PageBinding`, which binds a form."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TypeVar

import msgspec

from keju.annotation.queue import Form, Queue
from keju.files import sha256_bytes
from keju.items import Record
from keju.texts import _

_T = TypeVar("_T")


class Signer:
    """Signs JSON values with HMAC-SHA256."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    def sign(self, purpose: str, value: object) -> str:
        """Sign a value for a purpose; return the value and its signature as one ASCII text."""
        body = urlsafe_b64encode(msgspec.json.encode(value)).decode()
        return f"{body}.{self._sign(purpose, body)}"

    def read(self, purpose: str, text: str, kind: type[_T]) -> _T | None:
        """Read the value of a signed text; None if the signature is not valid for the purpose."""
        body, _, signature = text.rpartition(".")
        expected = self._sign(purpose, body)
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            return None
        try:
            return msgspec.json.decode(urlsafe_b64decode(body), type=kind)
        except (ValueError, msgspec.DecodeError):
            return None

    def _sign(self, purpose: str, body: str) -> str:
        signed = f"{purpose}\0{body}".encode("utf-8", "replace")
        return hmac.digest(self._key, signed, "sha256").hex()


def hash_content(content: object) -> str:
    """The hash of what a page shows: 32 hexadecimal digits."""
    return sha256_bytes(msgspec.json.encode(content, order="deterministic"))[:32]


FIELD = "shown"
"""The name of the form field that contains the signed `PageBinding`."""

CURRENT_CARD = _("Open the current card")
TITLE = _("This page is out of date")
NO_NAME = _(
    "No name is set in this browser. Enter your name, then submit this page again. Nothing was "
    "stored."
)
CHANGED = _("The content of this card has changed since the page was opened. Nothing was stored.")
GONE = _("This card does not exist any more. Nothing was stored.")
UNSIGNED = _(
    "This page was not made by this server for this card, or was changed. Nothing was stored."
)
_PURPOSE = "shown"


class PageBinding(Record, frozen=True, kw_only=True):
    """The person, queue and card to which a page is bound, with the hash of the card's content."""

    person: str
    queue: str
    subject: str = ""
    content: str = ""


class OutOfDateError(Exception):
    """The page of a submission was for another person or card, or is old; answered with 409.

    `link` leads to the current page. `person` and `subject` are those of the submitted page if it
    was shown to another person.
    """

    def __init__(self, why: str, link: str, person: str = "", subject: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.link = link
        self.person = person
        self.subject = subject


def sign_binding(signer: Signer, binding: PageBinding) -> str:
    """The value of the form field."""
    return signer.sign(_PURPOSE, binding)


def read_binding(signer: Signer, form: Form, queue: str, person: str, link: str) -> PageBinding:
    """Read the binding of a submitted page, and check its person and queue.

    Raises:
        OutOfDateError: the form is not signed, or the page was shown to another person.
    """
    binding = signer.read(_PURPOSE, form.get(FIELD, ""), PageBinding)
    if binding is None or binding.queue != queue:
        raise OutOfDateError(UNSIGNED, link)
    if binding.person != person:
        why = _(
            "This page was shown to {}, but another person uses this browser now. Nothing was "
            "stored.",
            binding.person,
        )
        raise OutOfDateError(why, link, binding.person, binding.subject)
    return binding


def find_card(queue: Queue, binding: PageBinding) -> int:
    """Find the current number of a page's card, from 1.

    Raises:
        OutOfDateError: the card does not exist any more, or its content has changed.
    """
    subjects = queue.list_subjects(binding.person)
    if binding.subject not in subjects:
        raise OutOfDateError(GONE, f"/{queue.name}")
    number = list(subjects).index(binding.subject) + 1
    if hash_content(queue.get_content(binding.subject)) != binding.content:
        raise OutOfDateError(CHANGED, f"/{queue.name}/{number}")
    return number
