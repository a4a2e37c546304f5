"""`is_error_text`, `looks_like_error`: texts that programs store in place of an answer.

The wordings are data (``error_texts.toml``), each with the program and the place in its source.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from keju.files import shipped_toml

_LONGEST = 400
"""The number of characters at the beginning of an answer that are searched for an error."""


class ErrorText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wording that is a failure: where in an answer it counts, and which program writes it."""

    program: str
    text: str
    where: Literal["anywhere", "start", "whole"]
    source: str
    examples: tuple[str, ...]

    def matches(self, text: str) -> bool:
        """Whether an answer is this failure; letter case and outer spaces do not count."""
        wording, answer = self.text.strip().casefold(), text.strip().casefold()
        if self.where == "anywhere":
            return wording in answer
        return answer.startswith(wording) if self.where == "start" else answer == wording


class Suspect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A regular expression of texts that look like an error."""

    pattern: str
    examples: tuple[str, ...]


class ErrorTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All wordings that are failures, and all patterns of texts that look like an error."""

    errors: tuple[ErrorText, ...]
    suspects: tuple[Suspect, ...]


@cache
def error_texts() -> ErrorTexts:
    """The wordings and patterns of error_texts.toml."""
    return shipped_toml("keju.models", "error_texts.toml", ErrorTexts)


def is_error_text(text: str, *, certain: bool = False) -> bool:
    """Whether a text is one that a program stores when it got no answer.

    Args:
        text: the text in place of an answer.
        certain: count only wordings that the programs themselves search for anywhere; others are
            beginnings that a model's own answer could have.
    """
    wordings = error_texts().errors
    return any(each.matches(text) for each in wordings if each.where == "anywhere" or not certain)


def looks_like_error(text: str) -> bool:
    """Whether an answer is an error text or begins like one."""
    beginning = text.strip()[:_LONGEST]
    patterns = (suspect.pattern for suspect in error_texts().suspects)
    return is_error_text(text) or any(re.search(it, beginning, re.IGNORECASE) for it in patterns)
