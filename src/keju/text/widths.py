"""Conversion of full-width letters, digits and marks to ASCII."""

from __future__ import annotations

from keju.text.character_table import CharacterTable

_WIDE = range(0xFF01, 0xFF5F)


def _narrow(char: str) -> str:
    if char == "\u3000":
        return " "
    return chr(ord(char) - 0xFEE0) if ord(char) in _WIDE else char


_NARROW = CharacterTable(_narrow)


def to_half_width(text: str) -> str:
    """A text of the same length whose full-width forms (Ｙｅｓ, １２, ：) are ASCII."""
    return text.translate(_NARROW)
