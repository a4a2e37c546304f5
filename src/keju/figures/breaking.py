"""Line breaking for texts in drawings, which have no automatic one."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_HAN = r"[\u2e80-\U0003ffff]"
_UNITS = re.compile(rf"[^\s\u2e80-\U0003ffff]+\s*|\s+|{_HAN}[，。；：、！？」』）》]*")
"""Units that are not broken: a word, or a Han character with the marks that may not begin a line.
"""


def wide(text: str) -> int:
    """The width of a text in columns: a Han character has two, others one."""
    return sum(2 if ord(sign) >= 0x2E80 else 1 for sign in text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """The text in lines of at most `width` columns, broken between words or Han characters."""
    line = ""
    for word in _UNITS.findall(text):
        for part in textwrap.wrap(word, width, drop_whitespace=False) or [word]:
            if line and wide(line + part.rstrip()) > width:
                yield line.rstrip()
                line = ""
            line += part if line else part.lstrip()
    if line.strip():
        yield line.rstrip()
