"""`CharacterTable`: a table for `str.translate` that is filled on demand; `to_half_width`."""

from __future__ import annotations

from collections.abc import Callable


class CharacterTable(dict[int, str]):
    """The replacement of each character, computed on its first use; "" deletes the character.

    A plain dict raises an exception for each character of a text that it does not have, which takes
    longer than the conversion of the others.
    """

    def __init__(self, find: Callable[[str], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, code: int) -> str:
        found = self[code] = self._find(chr(code))
        return found


_WIDE = range(0xFF01, 0xFF5F)


def _narrow(char: str) -> str:
    if char == "\u3000":
        return " "
    return chr(ord(char) - 0xFEE0) if ord(char) in _WIDE else char


_NARROW = CharacterTable(_narrow)


def to_half_width(text: str) -> str:
    """A text of the same length whose full-width forms (Ｙｅｓ, １２, ：) are ASCII."""
    return text.translate(_NARROW)
