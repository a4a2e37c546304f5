"""`FailureWatch` stops a model whose requests fail; `hint_of` names the action that corrects it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from keju.files import shipped_toml
from keju.items import Failure, Response
from keju.texts import _, join_sentences, language

SAME_MESSAGE_LIMIT = 5
"""The number of failures with the same message, before any success, that stops a model."""

SAME_KIND_LIMIT = 25
"""The number of failures of one kind with different messages, before any success, that stops a
model."""

_ENDPOINT_KINDS = frozenset({"auth", "rate", "server", "timeout", "connection"})
_SAME_AGAIN = frozenset({"auth", "bad-request", "bad-response", "engine", "unreadable-image"})
_UNLIKELY_TO_CHANGE = frozenset(
    {"bad-request", "unreadable-image", "missing-answer", "failed-elsewhere"}
)
_WITH_DIGITS = re.compile(r"[\w.:-]*\d[\w.:-]*")


class FailureWatch:
    """Watch a model's responses and decide when to stop its requests.

    Args:
        succeeded: whether the run already has an answer of this model.
    """

    def __init__(self, *, succeeded: bool = False) -> None:
        self.succeeded = succeeded
        self._in_a_row = 0
        self._same_message: Counter[tuple[str, str]] = Counter()
        self._kinds: Counter[str] = Counter()

    def note(self, response: Response, dead_after: int) -> str:
        """Return why the model must be stopped after this response, or an empty string.

        It is stopped after `SAME_MESSAGE_LIMIT` failures with the same message, or
        `SAME_KIND_LIMIT` failures of one kind, before the first success, if the same requests would
        fail again; and after `dead_after` failures of its server in a row.
        """
        if response.error is None or response.status != "failed":
            self._in_a_row = 0
            self.succeeded |= response.error is None
            return ""
        kind, said = response.error.kind, response.error.message
        self._in_a_row = self._in_a_row + 1 if kind in _ENDPOINT_KINDS else 0
        if response.attempts and kind in _SAME_AGAIN and not self.succeeded:
            # Numbers and names with digits (tokens, ids of requests, sizes) are not compared.
            place = (kind, _WITH_DIGITS.sub("#", said))
            self._same_message[place] += 1
            if self._same_message[place] >= SAME_MESSAGE_LIMIT:
                return _(
                    "{} requests failed with the same message and none succeeded: {}",
                    SAME_MESSAGE_LIMIT,
                    said,
                )
            self._kinds[kind] += 1
            if self._kinds[kind] >= SAME_KIND_LIMIT:
                return _(
                    "{} requests failed and none succeeded. The last message: {}",
                    SAME_KIND_LIMIT,
                    said,
                )
        if self._in_a_row >= dead_after:
            return _("{} requests in a row failed. The last message: {}", self._in_a_row, said)
        return ""


class Hint(NamedTuple):
    """The action that corrects a failure, and how to continue the run afterwards."""

    what: str = ""
    then: str = ""

    @property
    def whole(self) -> str:
        """The whole hint, for the summary of a run."""
        return join_sentences(filter(None, (self.what, self.then)))


class _Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hint for failures of some kinds whose message matches the pattern `says`."""

    kinds: tuple[str, ...]
    hint: str
    hint_zh: str
    says: str = ""
    then: Literal["", "again", "retry", "out", "name"] = ""


def _how_to_continue(then: str, *, answered: bool) -> str:
    """How to continue a run after a correction, by `then` of a hint."""
    if then == "again":
        return _("Then run the same command again: it reads only what is new")
    if then == "retry":
        return _("Then run the same command with --retry-failed")
    if then == "out":
        return (
            _("Then use another --out: a changed command makes another run")
            if answered
            else _(
                "Then run the corrected command with the same --out: no request has an answer yet"
            )
        )
    return (
        _("Then use another --out: this run keeps the failures of the wrong name")
        if then == "name"
        else ""
    )


def hint_of(failure: Failure, *, answered: bool = True) -> Hint:
    """Return the hint for a failure; empty where sending the request again may help.

    Args:
        failure: the failure.
        answered: whether the run has an answer of this model. Without one, a changed command
            resumes the run.
    """
    for each, pattern in _hints():
        if failure.kind in each.kinds and pattern.search(failure.message):
            hint = each.hint_zh if language() == "zh" else each.hint
            return Hint(hint, _how_to_continue(each.then, answered=answered))
    return Hint()


def may_change(kind: str) -> bool:
    """Whether the same request may succeed when a user sends it again."""
    return kind not in _UNLIKELY_TO_CHANGE


@cache
def _hints() -> tuple[tuple[_Declared, re.Pattern[str]], ...]:
    hints = shipped_toml("keju.running", "hints.toml", dict[str, tuple[_Declared, ...]])["hints"]
    return tuple((each, re.compile(each.says, re.IGNORECASE)) for each in hints)
