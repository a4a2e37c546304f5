"""`status_of_ending`: what a server's finish reason makes of its reply.

The reasons are data (``finish_reasons.toml``): vendors, servers and gateways each have their own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from keju.files import shipped_toml
from keju.items import Status
from keju.models.base import AskError, status_of
from keju.texts import _

_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+")
_ENUMERATION = re.compile(r"^(?:\w+\.)?(?:(?:finish|stop)_?reason[._])?")
_LONGEST = 60


class FinishReason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reasons with one outcome; `kind` and `retryable` are those of a failure."""

    outcome: Literal["answered", "truncated", "filtered", "unstated", "failed"]
    words: tuple[str, ...]
    sources: tuple[str, ...]
    kind: str = ""
    retryable: bool = False


@cache
def finish_reasons() -> tuple[FinishReason, ...]:
    """All known reasons, by outcome."""
    table = shipped_toml("keju.models", "finish_reasons.toml", dict[str, tuple[FinishReason, ...]])
    return table["reasons"]


def reason_word(value: object) -> str:
    """A finish reason as a text: empty for null, the `type` of an object (SGLang), else as JSON."""
    if isinstance(value, dict) and value.get("type"):
        value = value["type"]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return msgspec.json.encode(value).decode()


def status_of_ending(reason: str, text: str) -> Status:
    """The status of an answer that ended for this reason.

    Raises:
        AskError: the reason is a failure, or is not known.
    """
    row = _known(reason)
    if row is None:
        shown = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"
        raise AskError(
            "bad-response",
            _(
                "the answer ended with the finish reason {!r}, which keju does not know, so it may "
                "be incomplete",
                shown,
            ),
        )
    if row.outcome == "failed":
        raise AskError(
            row.kind,
            _("the server ended the answer before it was complete (finish reason: {})", reason),
            retryable=row.retryable,
        )
    if row.outcome in ("truncated", "filtered"):
        return row.outcome
    return status_of(text)


def stated_status(reason: str) -> Status | None:
    """``truncated`` or ``filtered`` where a stored reason states it; else None."""
    known = _known(reason)
    if known and known.outcome in ("truncated", "filtered"):
        return known.outcome
    return None


def _known(reason: str) -> FinishReason | None:
    word = _NEW_WORD.sub("_", reason.strip()).lower()
    forms = (word, _ENUMERATION.sub("", word, count=1))
    named = (_words().get(form) for form in (*forms, *(each.partition(":")[0] for each in forms)))
    return next(filter(None, named), None)


@cache
def _words() -> dict[str, FinishReason]:
    return {word: each for each in finish_reasons() for word in each.words}
