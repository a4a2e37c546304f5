"""Delimiters for untrusted text in a prompt, which the text itself cannot contain."""

from __future__ import annotations

from itertools import count

from keju.files import sha256_bytes

_OTHER_BRACKETS = str.maketrans("⟦⟧", "〔〕")


def seal_of(*shown: str) -> str:
    """A number of 16 digits that occurs nowhere in the texts, so that a delimiter with it is safe.

    It is computed from all the texts: a text that contained the number would have another one.
    """
    whole = "\0".join(shown)
    data = whole.encode("utf-8", "replace")
    for attempt in count():
        seal = sha256_bytes(b"%d\0%s" % (attempt, data))[:16]
        if seal not in whole:
            return seal
    raise AssertionError("unreachable")


def without_marks(text: str) -> str:
    """A text with other brackets than those of the delimiters, so that it cannot close one."""
    return text.translate(_OTHER_BRACKETS)
