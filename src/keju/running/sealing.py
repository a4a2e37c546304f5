"""Text that nobody vouches for, set between marks that it cannot know, inside a prompt."""

from __future__ import annotations

from itertools import count

from keju.files import sha256_bytes

_OTHER_BRACKETS = str.maketrans("⟦⟧", "〔〕")


def seal_of(*shown: str) -> str:
    """A number of 16 digits that stands nowhere in what is shown; a mark that holds it is sure.

    It is drawn from everything that is shown: a text that knew the number would have another one.
    """
    whole = "\0".join(shown)
    data = whole.encode("utf-8", "replace")
    for attempt in count():
        seal = sha256_bytes(b"%d\0%s" % (attempt, data))[:16]
        if seal not in whole:
            return seal
    raise AssertionError("unreachable")


def without_marks(text: str) -> str:
    """A text whose own brackets are others than those of the marks, so that it can close none."""
    return text.translate(_OTHER_BRACKETS)
