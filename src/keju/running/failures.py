"""`hint_of`: the action that corrects the failures of a model's requests."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from keju.files import shipped_toml
from keju.items import Failure
from keju.texts import _, join_sentences, language


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


def hint_of(failure: Failure, *, answered: bool = True) -> Hint:
    """Return the hint for a failure; empty where sending the request again may help.

    Args:
        failure: the failure.
        answered: whether the run has an answer of this model. Without one, a changed command
            resumes the run.
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
