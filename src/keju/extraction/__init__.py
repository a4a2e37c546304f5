"""Reading answers: a value where the response commits to it plainly, and otherwise none.

`Reading` is the result for one response. An unclear response is decided by a person or by an
extractor model, never by a guess.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

READER = "reader:1"
"""The version of the rules; a part of the signature of every `strict` score that reads answers."""

State = Literal["read", "none", "unclear"]
"""`none`: no answer was given: nothing after the reasoning, or a refusal and nothing else."""

_QUOTE = 60


class Reading(NamedTuple):
    """The answer that a response gives.

    Attributes:
        state: whether a value was read.
        value: the value: a letter, a number, ``Yes`` or ``No``, a text, names separated by 、, or
            boxes as JSON. Empty if nothing was read.
        rule: the rule that read it, or the reason why nothing was read, in a few words.
        quote: the piece of the response that the rule read.
    """

    state: State
    value: str = ""
    rule: str = ""
    quote: str = ""

    @property
    def origin(self) -> str:
        """Rule and quote in one line of at most 100 characters, as `Score.extracted_from`."""
        quote = " ".join(self.quote.split())
        if len(quote) > _QUOTE:
            quote = quote[: _QUOTE // 2] + "…" + quote[-_QUOTE // 2 :]
        return f"{self.rule}: “{quote}”" if quote else self.rule


__all__ = ["READER", "Reading", "State"]
