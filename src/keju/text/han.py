"""Han characters, and tables of characters for `str.translate`."""

from __future__ import annotations

import re
from collections.abc import Callable

_HAN = (
    "\u4e00-\u9fff"  # URO
    "\u3400-\u4dbf"  # Extension A
    "\U00020000-\U0002a6df"  # Extension B
    "\U0002a700-\U0002ebef"  # Extensions C to F
    "\U0002ebf0-\U0002ee5f"  # Extension I
    "\U00030000-\U000323af"  # Extensions G and H
    "\uf900-\ufaff"  # compatibility ideographs
    "\U0002f800-\U0002fa1f"  # their supplement
    "〇々"
)
HAN_RUN = re.compile(f"[{_HAN}]+")
"""One Han character or more, one after another."""
_OTHER = re.compile(f"[^{_HAN}]")


class CharacterTable(dict[int, str]):
    """The replacement of each character, computed on its first use; "" deletes the character.

    A plain dict raises an exception for each character of a text that it does not have, which takes
    longer than the conversion of the others.
    """

    def __init__(self, find: Callable[[str], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, code: int) -> str:
        character = self[code] = self._find(chr(code))
        return character


def is_han(char: str) -> bool:
    """Whether one character is a Han character: an ideograph of any block, 〇 or 々.

    Radicals (U+2E80 to U+2FDF) are not: they are symbols of components, and `normalise` converts
    them to their ideographs from the layer ``compatibility`` on. Private-use characters are not
    either.
    """
    return HAN_RUN.match(char) is not None


def has_han(text: str) -> bool:
    """Whether a text has a Han character."""
    return HAN_RUN.search(text) is not None


def all_han(text: str) -> bool:
    """Whether a text has Han characters only; true of the empty text."""
    return _OTHER.search(text) is None


def count_han(text: str) -> int:
    """The number of Han characters in a text."""
    return sum(map(len, HAN_RUN.findall(text)))


def han_only(text: str) -> str:
    """The Han characters of a text, in order."""
    return text.translate(_KEPT)


_KEPT = CharacterTable(lambda char: char if is_han(char) else "")


def _narrow(char: str) -> str:
    if char == "\u3000":
        return " "
    return chr(ord(char) - 0xFEE0) if 0xFF01 <= ord(char) < 0xFF5F else char


_NARROW = CharacterTable(_narrow)


def to_half_width(text: str) -> str:
    """A text of the same length whose full-width forms (Ｙｅｓ, １２, ：) are ASCII."""
    return text.translate(_NARROW)
