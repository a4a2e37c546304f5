"""Whether a text is in simplified or in traditional characters, by those of one script only."""

from __future__ import annotations

from functools import cache

_FEWEST = 2


def is_simplified(text: str, fewest: int = _FEWEST) -> bool:
    """Whether a text has characters of the simplified script only, and none of the other."""
    only = [_script(char) for char in text]
    return only.count("simplified") >= fewest and "traditional" not in only


def is_traditional(text: str, fewest: int = _FEWEST) -> bool:
    """Whether a text has characters of the traditional script only, and none of the other."""
    only = [_script(char) for char in text]
    return only.count("traditional") >= fewest and "simplified" not in only


@cache
def _script(char: str) -> str:
    """The one script that a character is used in; an empty text for both or none."""
    in_gb, in_big5 = _encodes(char, "gb2312"), _encodes(char, "big5")
    if in_gb == in_big5 or char.isascii():
        return ""
    return "simplified" if in_gb else "traditional"


def _encodes(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
