"""Classification of Han characters."""

from __future__ import annotations

_BLOCKS = (
    (0x4E00, 0x9FFF),  # URO
    (0x3400, 0x4DBF),  # Extension A
    (0x20000, 0x2A6DF),  # Extension B
    (0x2A700, 0x2EBEF),  # Extensions C to F
    (0x2EBF0, 0x2EE5F),  # Extension I
    (0x30000, 0x323AF),  # Extensions G and H
    (0xF900, 0xFAFF),  # compatibility ideographs
    (0x2F800, 0x2FA1F),  # their supplement
)
_SINGLE = frozenset("〇々")


def is_han(char: str) -> bool:
    """Whether one character is a Han character: an ideograph of any block, 〇 or 々.

    Radicals (U+2E80 to U+2FDF) are not: they are symbols of components, and `normalise` converts
    them to their ideographs from the layer ``compatibility`` on. Private-use characters are not
    either.
    """
    code = ord(char)
    return any(first <= code <= last for first, last in _BLOCKS) or char in _SINGLE


def han_only(text: str) -> str:
    """The Han characters of a text, in order."""
    return text.translate(_KEPT)


class _Kept(dict[int, str | None]):
    """A translation table that is filled on demand: Han characters stay, others are deleted."""

    def __missing__(self, code: int) -> str | None:
        kept = self[code] = chr(code) if is_han(chr(code)) else None
        return kept


_KEPT = _Kept()
