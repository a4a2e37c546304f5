"""`break_between_characters`: Chinese text that Rich wraps at any character."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_OPENING = "（「『《〈【“‘［｛"
_CLOSING = "，。、；：！？）」』》〉】”’…％·］｝"
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = rf"\s*(?:[{_OPENING}]*(?:[{_HAN}]|[^\s{_HAN}{_OPENING}{_CLOSING}]+)[{_CLOSING}]*|\S)\s*"


def break_between_characters() -> None:
    """Let Rich break lines between Chinese characters, but not before closing punctuation.

    Rich breaks lines at spaces only, so that a Chinese paragraph begins a new line after each
    Latin word, and lines can begin with a comma. It also counts characters instead of cells where
    it removes the space at the end of a line, and cuts the last word instead.
    """
    from rich import _wrap
    from rich.text import Text

    _wrap.re_word = re.compile(_WORD)
    Text.rstrip_end = _rstrip_end  # type: ignore[method-assign,assignment]


def _rstrip_end(text: Text, size: int) -> None:
    """Remove spaces at the end of a text that is wider than `size` cells."""
    spaces = len(text.plain) - len(text.plain.rstrip())
    excess = min(spaces, text.cell_len - size)
    if excess > 0:
        text.right_crop(excess)
