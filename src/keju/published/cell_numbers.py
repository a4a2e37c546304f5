"""Numbers in the cells of a leaderboard, as spreadsheets, papers and web pages write them.

A cell is a number if it can be read in one way only. Everything else (``<0.1``, ``5O.0``, ``1/3``,
``40-50``, ``50,0``) is not read, and the audit names it.
"""

from __future__ import annotations

import re
import unicodedata

from keju.published.tables import Cell, Mark

_EMPTY = frozenset(
    ("", "-", "--", "---", "/", "\\", "n/a", "na", "n.a.", "nan", "none", "null", "...", "…",
     "無", "无")
)  # fmt: skip

_CHARACTERS = (
    dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58"), "-")
    | dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A)])
    | dict.fromkeys([0xFE0E, 0xFE0F, 0xFEFF])
    | {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFF01, 0xFF5F)}
    | {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFE50, 0xFE6C)}
)

_EMPHASIS: tuple[tuple[Mark, re.Pattern[str]], ...] = (
    ("bold", re.compile(r"\*\*(?P<inner>.+)\*\*|\\textbf\{(?P<latex>.+)\}")),
    ("underline", re.compile(r"_(?P<inner>.+)_|\\underline\{(?P<latex>.+)\}")),
)

_LONGEST = 200
"""Characters above which a cell is a text."""

_UNIT = re.compile(r"\s*\\?[%分]\Z")
_NOTE = re.compile(
    r"""\s*(?:
      [*†‡§¶\#∗⋆★☆↑↓▲▼△▽]                                     # a footnote sign, an arrow
    | \[\w{1,3}\] | \([^()]*\) | \[\s*NUMBER\s*[,;~-]\s*NUMBER\s*\]  # a rank, an interval
    | (?:±|\+/-|\\pm) \s* NUMBER | [↑↓▲▼△▽]\s*NUMBER
    )\s*\Z""".replace("NUMBER", r"[+-]?\.?\d[\d.,]*%?"),
    re.VERBOSE,
)
_NUMBER = re.compile(r"[+-]?(?:\d{1,20}\.?|\d{0,20}\.(?P<decimals>\d{1,20}))", re.ASCII)


def is_empty(text: str) -> bool:
    """Whether a cell says that there is no value."""
    if _NUMBER.fullmatch(text) or len(text) > _LONGEST:
        return False
    return _without_emphasis(_plain(text))[0].casefold() in _EMPTY


def number_cell(text: str) -> Cell:
    """Read a cell; its value is None where it is not a number."""
    mark: Mark = ""
    number = text.strip()
    if not _NUMBER.fullmatch(number) and len(number) <= _LONGEST:
        number, mark = _without_emphasis(_plain(number))
        before = None
        while before != number:
            before = number
            number, inner = _without_emphasis(_NOTE.sub("", _UNIT.sub("", number)))
            mark = mark or inner
    match = _NUMBER.fullmatch(number)
    if match is None:
        return Cell(text=text.strip(), value=None, decimals=0, mark=mark)
    return Cell(text=number, value=float(number), decimals=len(match["decimals"] or ""), mark=mark)


def _without_emphasis(text: str) -> tuple[str, Mark]:
    """The text inside bold and underline, and the stronger mark of them."""
    for mark, form in _EMPHASIS:
        if match := form.fullmatch(text):
            text, inner = _without_emphasis((match["inner"] or match["latex"]).strip())
            return text, "bold" if inner == "bold" else mark
    return text, ""


def _plain(text: str) -> str:
    """A cell in ASCII where it has other forms of digits, signs and spaces."""
    text = text.translate(_CHARACTERS).replace("$", "")
    text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return re.sub(r"^([+-])\s+(?=[\d.])", r"\1", text.strip())
