"""`is_error_text`, `looks_like_error`: texts that programs store in place of an answer.

The wordings are data (``error_texts.toml``), each with the program and the place in its source.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from keju.files import shipped_toml

_LONGEST = 400
"""The number of characters at the beginning of an answer that are searched for an error."""


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A regular expression of error texts; see error_texts.toml."""

    pattern: str
    examples: tuple[str, ...]
    certain: bool = False
    program: str = ""
    source: str = ""

    def matches(self, text: str) -> bool:
        """Whether a text has this wording; letter case and outer spaces do not count."""
        return re.search(self.pattern, text.strip(), re.IGNORECASE) is not None


class ErrorTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All wordings that are failures, and all of texts that look like an error."""

    errors: tuple[Wording, ...]
    suspects: tuple[Wording, ...]


@cache
def error_texts() -> ErrorTexts:
    """The wordings of error_texts.toml."""
    return shipped_toml("keju.models", "error_texts.toml", ErrorTexts)


def is_error_text(text: str, *, certain: bool = False) -> bool:
    """Whether a text is one that a program stores when it got no answer.

    Args:
        text: the text in place of an answer.
        certain: count only wordings that the programs themselves search for anywhere; others are
            beginnings that a model's own answer could have.
    """
    return any(
        wording.matches(text) for wording in error_texts().errors if wording.certain or not certain
    )


def looks_like_error(text: str) -> bool:
    """Whether an answer is an error text or begins like one."""
    beginning = text.strip()[:_LONGEST]
    return is_error_text(text) or any(
        wording.matches(beginning) for wording in error_texts().suspects
    )
