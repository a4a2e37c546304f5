"""Rarer notations of boxes in the words of a response, as lists of four numbers."""

from __future__ import annotations

import re

from keju.metrics.boxes import Axes

NUMBER = r"[-+]?(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})"
_GAP = r"\s{0,4}[,，、;；\s]\s{0,4}"
FOUR = rf"({NUMBER}){_GAP}({NUMBER}){_GAP}({NUMBER}){_GAP}({NUMBER})"
BRACKETED = re.compile(rf"[\[(（【]\s{{0,8}}{FOUR}\s{{0,8}}[\])）】]")
_UNITS = re.compile(r"(?<=[0-9])\s?(?:px|pixels?|像素)(?![a-z])", re.IGNORECASE)
_QUOTED_NUMBER = re.compile(rf"[\"']({NUMBER})[\"']")
_CORNERS = re.compile(
    rf"[(\[]\s{{0,3}}(?:[xX]1?\s?=\s?)?({NUMBER})\s{{0,3}},\s{{0,3}}(?:[yY]1?\s?=\s?)?({NUMBER})\s{{0,3}}[)\]]"
    rf"[^0-9()\[\]\n;]{{0,30}}"
    rf"[(\[]\s{{0,3}}({NUMBER})\s{{0,3}},\s{{0,3}}({NUMBER})\s{{0,3}}[)\]]"
)
_ROW_NUMBER = re.compile(
    r"^[ \t]*\|[ \t]*\d{1,4}[ \t]*\|(?=[^|\n]{0,60}(?:\|[^|\n]{1,20}){4}\|[ \t]*$)", re.MULTILINE
)
_HEADED = re.compile(r"^[ \t]*\|[^|\n]{0,60}(?:\|[^|\n]{1,60}){5}\|[ \t]*$", re.MULTILINE)
_IS = r"\s{0,2}(?:[:=：为]|是|of|is)?\s{0,2}"
_THEN = r"(?:\s?px)?(?:[,;，、；\s]|and\b){1,5}"
_SIZE = {name: rf"\b{name}\s{{0,2}}[:=：]\s{{0,2}}({NUMBER}){_THEN}" for name in "xy"}
_CORNER_AND_SIZE = re.compile(
    _SIZE["x"] + _SIZE["y"] + rf"(?:with\s)?(?:width|w|宽度?){_IS}({NUMBER}){_THEN}"
    rf"(?:height|h|高度?){_IS}({NUMBER})",
    re.IGNORECASE,
)
_POINT_AND_SIZE = re.compile(
    rf"(?:top[- ]left|左上角?)[^()\[\]\n0-9]{{0,20}}[(\[]\s?({NUMBER})\s?,\s?({NUMBER})\s?[)\]]"
    rf"[^0-9\n]{{0,6}}(?:width|w|宽度?)[^0-9\n]{{0,4}}({NUMBER})"
    rf"[^0-9\n]{{0,6}}(?:height|h|高度?)[^0-9\n]{{0,4}}({NUMBER})",
    re.IGNORECASE,
)


def as_lists(body: str, axes: Axes) -> str:
    """A text whose boxes in rarer notations are lists: ``[1, 2, 3, 4]``.

    Two corners in brackets each, a corner with a width and height, numbers with px or in quotation
    marks, and numbered rows of a table.

    Args:
        body: the text, in half-width characters.
        axes: the order that the query declared; only corners are joined to corners.
    """
    plain = _sized(_numbered(_UNITS.sub("", body)))
    plain = _QUOTED_NUMBER.sub(r"\1", plain)
    if axes in {"xyxy", "yxyx"}:
        plain = _once(_CORNERS.sub(r"[\1, \2, \3, \4]", plain))
    return plain


def _once(body: str) -> str:
    """A body without boxes that a line repeats in other words (i.e. top-left …)."""
    lines = body.split("\n")
    for place, line in enumerate(lines):
        found = list(BRACKETED.finditer(line))
        for first, second in zip(reversed(found[:-1]), reversed(found[1:]), strict=True):
            if first.groups() == second.groups():
                lines[place] = lines[place][: second.start()] + lines[place][second.end() :]
    return "\n".join(lines)


def _numbered(body: str) -> str:
    """A body without the number of the row before four numbers in a Markdown table."""
    return _ROW_NUMBER.sub("|", body) if _HEADED.search(body) else body


def _sized(body: str) -> str:
    """A body whose corners with a size (x=1, y=2, width=3, height=4) are two corners."""

    def corners(found: re.Match[str]) -> str:
        left, top, width, height = (float(each) for each in found.groups())
        return f"[{left:.10g}, {top:.10g}, {left + width:.10g}, {top + height:.10g}]"

    return _POINT_AND_SIZE.sub(corners, _CORNER_AND_SIZE.sub(corners, body))
