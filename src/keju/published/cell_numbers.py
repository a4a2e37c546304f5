"""Numbers in the cells of a leaderboard, as spreadsheets, papers and web pages write them.

A cell is a number if it can be read in one way only. Everything else (``<0.1``, ``5O.0``, ``1/3``,
``40-50``) is not read, and the audit names it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import unescape
from typing import Literal, NamedTuple

from keju.published.tables import Cell, Mark

DecimalSign = Literal["point", "comma", "both", "unknown"]
"""The decimal sign that the cells of a table show."""

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
_LATEX = (
    (re.compile(r"\$|\\[,;:! ]|\\(?:h?phantom|hspace\*?)\{[^{}]*\}|(?<=\d)~"), ""),
    (re.compile(r"\\(?=[%#&])"), ""),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"(?<=\d)['\u2019\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))"), "'"),
    (re.compile(r"^(\s*[*_]*[+-])\s+(?=[\d.])"), r"\1"),
)

_BRACED = r"(?P<inner>(?:[^{}]|\{[^{}]*\})+)"
_TAGGED = r"(?P<inner>(?:(?!</(?P=tag)>).)+)"
_PATTERNS: tuple[tuple[Mark, str], ...] = (
    ("bold", r"\*\*(?P<inner>(?:(?!\*\*).)+)\*\*"),
    ("bold", r"__(?P<inner>(?:(?!__).)+)__"),
    ("bold", rf"\\(?:textbf|mathbf|bm|boldsymbol)\s*\{{{_BRACED}\}}"),
    ("bold", rf"\{{?\\(?:bf|bfseries)\b{_BRACED}\}}?"),
    ("bold", rf"<(?P<tag>b|strong)>{_TAGGED}</(?P=tag)>"),
    ("underline", r"_(?P<inner>[^_]+)_"),
    ("underline", rf"\\(?:underline|uline|ul)\s*\{{{_BRACED}\}}"),
    ("underline", rf"<(?P<tag>u|ins)>{_TAGGED}</(?P=tag)>"),
    ("", r"\*(?P<inner>[^*]+)\*"),
    ("", r"`(?P<inner>[^`]+)`"),
    ("", rf"\{{{_BRACED}\}}"),
    ("", rf"\\(?:text|textit|textrm|texttt|emph|mathrm|mathit|num)\s*\{{{_BRACED}\}}"),
    ("", r"\\(?:cellcolor|color)(?:\[[^\]]*\])?\{[^{}]*\}(?P<inner>.+)"),
    ("", rf"\\(?:textcolor|colorbox)(?:\[[^\]]*\])?\{{[^{{}}]*\}}\s*\{{{_BRACED}\}}"),
    ("", rf"<(?P<tag>i|em|span|font|mark|code|small|p|div)(?:\s[^<>]*)?>{_TAGGED}</(?P=tag)>"),
)
_EMPHASIS = tuple(
    (mark, re.compile(rf"\s*(?:{pattern})\s*", re.IGNORECASE | re.DOTALL))
    for mark, pattern in _PATTERNS
)

_SIMPLE = re.compile(r"\s*([+-]?\d{1,20}(?:[.,]\d{1,20})?)(%?)\s*", re.ASCII)
"""Most cells; the other forms take fifty times as long."""

_LONGEST = 200
"""Characters above which a cell is a text."""

_UNIT = re.compile(r"\s*(%|‰|分)\s*\Z")
_NOTE = re.compile(
    r"""\s*(?:
      [*†‡§¶\#∗⋆★☆↑↓▲▼△▽]                                     # a footnote sign, an arrow
    | \\(?:dagger|ddagger|ast|star|uparrow|downarrow)
    | \[\w{1,3}\] | \\footnotemark(?:\[\w*\])? | \\footnote\{[^{}]*\}
    | \^\{?(?:[*†‡§¶\#∗⋆a-zA-Z,\s]|\\[a-z]+)+\}?                 # 50.0^{*}, 50.0^\dagger
    | <sup>[^<>\d]*</sup> | \\textsuperscript\{[^{}\d]*\}
    | _\{[^{}]*\} | <sub>[^<>]*</sub> | \\textsubscript\{[^{}]*\}
    | \([^()]*\) | \[\s*NUMBER\s*[,;~-]\s*NUMBER\s*\]            # a rank or a change; an interval
    | \{?\s*\\(?:tiny|scriptsize|footnotesize|small)\b[^{}]*\}?
    | (?:±|\+/-|\\pm)\s*NUMBER | [↑↓▲▼△▽]\s*NUMBER
    )\s*\Z""".replace("NUMBER", r"[+-]?\.?\d[\d.,]*%?"),
    re.VERBOSE,
)
_RAISED = re.compile(
    r"\s*(?:\^\{?\d+\}?|<sup>\s*\d+\s*</sup>|\\textsuperscript\{\d+\}"
    r"|[\u00b9\u00b2\u00b3\u2070-\u2079\u02b0-\u02b8\u1d2c-\u1dbf\u00aa\u00ba]+)\s*\Z"
)
"""A number above the line is a footnote after ``50.0``, but may be a power after ``10``."""

_PLAIN = re.compile(r"[+-]?(?:\d+\.?|\d*\.(?P<decimals>\d+))(?:[eE](?P<power>[+-]?\d{1,3}))?")
_FORM = re.compile(
    r"""[+-]?(?:
      (?P<point>\d{1,3}(?:[,']\d{3})+\.\d+ | \d*\.(?:\d{1,2}|\d{4,}) | 0?\.\d+
        | \d{1,3}(?:,\d{3}){2,})
    | (?P<comma>\d{1,3}(?:[.']\d{3})+,\d+ | \d+,(?:\d{1,2}|\d{4,}) | 0,\d+
        | \d{1,3}(?:\.\d{3}){2,})
    | (?P<grouped>\d{1,3}(?:'\d{3})+)
    | (?P<either>\d{1,3}[.,]\d{3})
    )""",
    re.VERBOSE,
)


class _Parts(NamedTuple):
    """A cell without what surrounds its number: emphasis, footnotes, a unit."""

    number: str
    unit: str
    mark: Mark


def is_empty(text: str) -> bool:
    """Whether a cell says that there is no value."""
    if _SIMPLE.fullmatch(text) or len(text) > _LONGEST:
        return False
    inner, _ = _without_emphasis(_plain(text).strip())
    return inner.casefold() in _EMPTY


def decimal_sign(texts: Iterable[str]) -> DecimalSign:
    """The decimal sign that the cells of a table show."""
    forms = [form for text in texts if (form := _FORM.fullmatch(_parts(text).number))]
    points = any(form["point"] for form in forms)
    commas = any(form["comma"] for form in forms)
    if points and commas:
        return "both"
    return "point" if points else "comma" if commas else "unknown"


def number_cell(text: str, sign: DecimalSign) -> Cell:
    """Read a cell of a table with that decimal sign; its value is None where it is not a number.

    ``0,912`` and ``1.234,5`` have one meaning in every table. ``1,234`` has the table's, and none
    where the table has both signs. A value in per mille becomes one in percent.
    """
    parts = _parts(text)
    number = _with_point(parts.number, sign)
    found = _PLAIN.fullmatch(number)
    if found is None:
        return Cell(text=text.strip(), value=None, decimals=0, mark=parts.mark)
    decimals = len(found["decimals"] or "") - int(found["power"] or 0)
    value = float(number)
    if parts.unit == "‰":
        value, decimals = value / 10, decimals + 1
        number = f"{value:.{max(decimals, 0)}f}"
    return Cell(text=number, value=value, decimals=max(decimals, 0), mark=parts.mark)


def _with_point(number: str, sign: DecimalSign) -> str:
    """The number with a decimal point and without signs between thousands; empty if unclear."""
    form = _FORM.fullmatch(number)
    if form is None:
        return number
    if form["either"] and "." in number:
        return "" if sign == "comma" else number
    if form["either"] and sign == "both":
        return ""
    if form["comma"] or (form["either"] and sign == "comma"):
        return number.replace(".", "").replace("'", "").replace(",", ".")
    return number.replace(",", "").replace("'", "")


def _parts(text: str) -> _Parts:
    if found := _SIMPLE.fullmatch(text):
        return _Parts(found[1], found[2], "")
    if len(text) > _LONGEST:
        return _Parts("", "", "")
    number, unit, mark = _plain(text).strip(), "", ""
    before = None
    while before != number:
        before = number
        number, emphasis = _without_emphasis(number)
        mark = emphasis if mark != "bold" and emphasis else mark
        if found := _UNIT.search(number):
            number, unit = number[: found.start()], unit or found[1]
        number = _NOTE.sub("", number)
        if (raised := _RAISED.search(number)) and re.search(r"\d[.,]\d", number[: raised.start()]):
            number = number[: raised.start()]
    return _Parts(number.strip(), unit, mark)  # type: ignore[arg-type]  # `mark` is a Mark


def _without_emphasis(text: str) -> tuple[str, Mark]:
    """The text inside bold, underline and colours, and the strongest mark of them."""
    mark: Mark = ""
    while found := next(
        ((each, match) for each, form in _EMPHASIS if (match := form.fullmatch(text))), None
    ):
        each, match = found
        text = match["inner"].strip()
        mark = each if each and mark != "bold" else mark
    return text, mark


def _plain(text: str) -> str:
    """A cell in ASCII where it has other forms of digits, signs and spaces."""
    text = unescape(text).translate(_CHARACTERS)
    text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    for form, plain in _LATEX:
        text = form.sub(plain, text)
    return text
