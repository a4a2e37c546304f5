"""Chinese punctuation: convert half-width marks of a Chinese text to full-width ones."""

from __future__ import annotations

import re
from typing import Literal

from keju.text.han import count_han, has_han

Quotes = Literal["curly", "corner"]

_HAN = r"\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_MARKS = "。，、；：？！…—”’」』）》〉"
_AFTER = rf"(?<=[{_HAN}{_MARKS}])"
_BEFORE = rf"(?=[{_HAN}“‘「『（《〈])"
_HALF_KATAKANA = str.maketrans("｡｢｣､･", "。「」、・")
_FULL = str.maketrans(",;:?!", "，；：？！")
_STRAIGHT: dict[Quotes, tuple[str, str]] = {"curly": ("“”", "‘’"), "corner": ("「」", "『』")}

_TITLE = re.compile(r"<<([^<>\n]+)>>")
_DOUBLE = re.compile(r'"([^"\n]*)"')
_SINGLE = re.compile(r"(?<![A-Za-z0-9])'([^'\n]*)'(?![A-Za-z0-9])")
_BRACKETS = re.compile(rf"({_AFTER})?\(([^()\n]*)\)")
_DOTS = re.compile(rf"{_AFTER}\.{{3,}}|\.{{3,}}{_BEFORE}")
_DASHES = re.compile(rf"{_AFTER}-{{2,}}|-{{2,}}{_BEFORE}")
_STOP = re.compile(rf"{_AFTER}\.(?![A-Za-z0-9.])[ \t]*")
_PAUSES = re.compile(rf"{_AFTER}[,;:?!]+[ \t]*|(?<![,;:?!])[,;:?!]+[ \t]*{_BEFORE}")


def is_chinese(text: str) -> bool:
    """Whether a text is mainly Chinese, with perhaps some Latin words."""
    han = count_han(text)
    return han > 0 and han >= sum(char.isascii() and char.isalpha() for char in text)


def chinese_punctuation(text: str, quotes: Quotes = "curly") -> str:
    """A Chinese text with full-width marks; any other text unchanged.

    Commas, colons, stops and similar marks become full-width next to Chinese characters (not within
    numbers, times or Latin words), brackets where they contain or follow Chinese, ``...`` becomes
    ……, ``--`` ——, ``<<…>>`` 《…》, and straight quotes around Chinese become curly or corner
    quotes. Spaces after such marks are removed. Marks that are full-width already stay, including
    quotes of either kind.
    """
    if not is_chinese(text):
        return text
    double, single = _STRAIGHT[quotes]
    text = text.translate(_HALF_KATAKANA)
    text = _TITLE.sub(lambda found: _within(found[0], found[1], "《》"), text)
    text = _DOUBLE.sub(lambda found: _within(found[0], found[1], double), text)
    text = _SINGLE.sub(lambda found: _within(found[0], found[1], single), text)
    before = ""
    # A mark may be beside another that has just become Chinese.
    while before != text:
        before = text
        text = _DOTS.sub("……", text)
        text = _DASHES.sub("——", text)
        text = _BRACKETS.sub(_bracketed, text)
        text = _PAUSES.sub(lambda found: found[0].rstrip(" \t").translate(_FULL), text)
        text = _STOP.sub("。", text)
    return text


def _within(whole: str, inner: str, marks: str) -> str:
    return f"{marks[0]}{inner}{marks[1]}" if has_han(inner) else whole


def _bracketed(found: re.Match[str]) -> str:
    chinese = found[1] is not None or has_han(found[2])
    return f"（{found[2]}）" if chinese else found[0]
