"""Conversion of full-width letters, digits and marks to ASCII."""

from __future__ import annotations

_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}


def to_half_width(text: str) -> str:
    """A text of the same length whose full-width forms (Ｙｅｓ, １２, ：) are ASCII."""
    return text.translate(_NARROW)
