"""`quad_lines`: a page's text lines with four corners each, as M5HisDoc, MTHv2 and ICDAR have them.

A file has a text line per line: ``x1,y1,x2,y2,x3,y3,x4,y4,TEXT``, or in MTHv2 ``TEXT`` before the
coordinates.
"""

from __future__ import annotations

import re
from pathlib import Path

from keju.datasets.readers.base import source_text
from keju.datasets.readers.records import Place
from keju.items import Line
from keju.texts import _

_NUMBER = r"\s*-?[0-9]{1,6}(?:[.][0-9]*)?\s*"
_CORNERS = rf"(?P<corners>{_NUMBER}(?:,{_NUMBER}){{7}})"
_LAYOUTS = (re.compile(rf"{_CORNERS},(?P<text>.*)"), re.compile(rf"(?P<text>.*),{_CORNERS}"))


def quad_lines(file: Path) -> tuple[Line, ...]:
    """The lines of a page in the order of its file, each with four corners in pixels.

    A file has one of the two layouts; where every line fits both (texts that are numbers), the one
    with the text last is assumed. The text may contain commas.

    Raises:
        DataError: not readable, or a line has neither layout.
    """
    rows = [(n, row) for n, row in enumerate(source_text(file).split("\n"), 1) if row.strip()]
    layouts = [[layout.fullmatch(row) for _number, row in rows] for layout in _LAYOUTS]
    matches = max(layouts, key=lambda found: sum(map(bool, found)))
    lines: list[Line] = []
    for (number, _row), match in zip(rows, matches, strict=True):
        if match is None:
            raise Place(file, f"line {number}").error(
                _("expected x1,y1,x2,y2,x3,y3,x4,y4,TEXT, or TEXT and the eight coordinates"),
                _("Write coordinates in pixels, separated by commas"),
            )
        numbers = [float(text) for text in match["corners"].split(",")]
        corners = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        lines.append(Line(id=f"l{len(lines) + 1}", text=match["text"].strip(), polygon=corners))
    return tuple(lines)
