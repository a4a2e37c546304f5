"""`RunSummary`: the outcome of a run, and what to do next; `ModelSummary`: that of one model."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Literal, NamedTuple

import msgspec
from msgspec import field

from keju.files import shipped_toml
from keju.items import Failure, Record
from keju.models import MISSING
from keju.texts import _, hint_of, join_sentences, language

_UNLIKELY_TO_CHANGE = frozenset(
    {"bad-request", "unreadable-image", "missing-answer", "failed-elsewhere"}
)
"""Kinds of failures that the same request would have again when a user sends it again."""


class Hint(NamedTuple):
    """The action that corrects a failure, and how to continue the run afterwards."""

    what: str = ""
    then: str = ""

    @property
    def whole(self) -> str:
        """The whole hint, for the summary of a run."""
        return join_sentences(filter(None, self))


class _HintRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hint for failures of some kinds whose message matches the pattern `says`."""

    kinds: tuple[str, ...]
    hint: str
    hint_zh: str
    says: str = ""
    then: Literal["", "again", "retry", "out", "name"] = ""


def failure_hint(failure: Failure, *, answered: bool = True) -> Hint:
    """The hint for a failure; empty where sending the request again may help.

    If the model has not `answered` in this run, a changed command resumes the run.
    """
    continuations = {
        "": "",
        "again": _("Then run the same command again: it reads only what is new"),
        "retry": _("Then run the same command with --retry-failed"),
        "out": _("Then use another --out: a changed command makes another run")
        if answered
        else _("Then run the corrected command with the same --out: no request has an answer yet"),
        "name": _("Then use another --out: this run keeps the failures of the wrong name"),
    }
    for rule in _rules():
        if failure.kind in rule.kinds and re.search(rule.says, failure.message, re.IGNORECASE):
            hint = rule.hint_zh if language() == "zh" else rule.hint
            return Hint(hint, continuations[rule.then])
    return Hint()


@cache
def _rules() -> tuple[_HintRule, ...]:
    return shipped_toml("keju.running", "hints.toml", dict[str, tuple[_HintRule, ...]])["hints"]


class ModelSummary(msgspec.Struct, kw_only=True):
    """The counts of one model's requests, which are kept up to date while they are sent.

    `statuses` and `failures` (by kind) count the responses that the run now has for the `planned`
    requests, `asked` those that got their response in this call, `attempts` how often something was
    ours
    """

    model: str
    planned: int = 0
    asked: int = 0
    attempts: int = 0
    waited: float = 0.0
    left: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    not_asked: Counter[str] = field(default_factory=Counter)
    halted: str = ""
    hint: str = ""
    then: str = ""
    refused: list[str] = field(default_factory=list)
    not_sent: list[str] = field(default_factory=list)
    trouble: dict[str, str] = field(default_factory=dict)

    @property
    def answered(self) -> bool:
        """Whether the run has a response of the model that is not a failure."""
        return any(count for status, count in self.statuses.items() if status != "failed")


class RunSummary(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The outcome of a run.

    `interrupted`: it was stopped by the user or the system. `used_up` names the part of its budget
    that was used up, if any. `waiting` is the number of requests that servers are processing in
    batches. `cost` is the cost of all the answers in the run by the price file, in `currency`; None
    without one.
    """

    out: str
    items: int
    models: tuple[ModelSummary, ...]
    interrupted: bool = False
    used_up: str = ""
    waiting: int = 0
    cost: float | None = None
    currency: str = ""

    @property
    def failures(self) -> int:
        """The number of requests whose response is a failure."""
        return sum(model.statuses.get("failed", 0) for model in self.models)

    @property
    def left(self) -> int:
        """The number of requests that have no response yet."""
        return sum(model.left for model in self.models)

    @property
    def complete(self) -> bool:
        """Whether every request has a response that is not a failure."""
        return not self.failures and not self.left

    @property
    def advice(self) -> str:
        """The next step for failures and missing responses, one line; empty if none is needed."""
        hints: list[str] = [
            _("{}: {}", model.model, Hint(model.hint, model.then).whole)
            for model in self.models
            if model.hint
        ]
        kinds = {kind for model in self.models for kind in model.failures}
        # The requests of a halted model continue as its hint says.
        is_left = self.left > sum(model.left for model in self.models if model.hint)
        if is_left and self.waiting:
            hints.append(_("Run the same command again later to collect the finished responses"))
        elif is_left:
            again = _("Run the same command again to continue")
            hints.append(hint_of(self.used_up) or again)
        if kinds - _UNLIKELY_TO_CHANGE and (is_left or not hints):
            hints.append(
                _("Add --retry-failed to the same command to send the failed requests again")
            )
        if not hints and kinds - {MISSING}:  # Results that files lack are hinted at by name.
            return _(
                "The same requests would fail again. Correct the causes that are shown above first"
            )
        return join_sentences(hints)
