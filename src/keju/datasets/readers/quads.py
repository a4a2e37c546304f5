"""`quad_lines`: a page's text lines with four corners each, as M5HisDoc, MTHv2 and ICDAR have them.

A file has a text line per line: ``x1,y1,x2,y2,x3,y3,x4,y4,TEXT``, or in MTHv2 ``TEXT`` before the
coordinates.
"""

from __future__ import annotations

from pathlib import Path

from keju.datasets.readers.base import source_text
from keju.datasets.readers.records import place_words
from keju.errors import DataError
from keju.items import Line, Point

_NUMBERS = 8
_LARGEST = 1e6


def quad_lines(file: Path) -> tuple[Line, ...]:
    """The lines of a page in the order of its file, each with four corners in pixels.

    A file has one of the two layouts; where every line fits both (texts that are numbers), the one
    with the text last is assumed. The text may contain commas.

    Raises:
        DataError: not readable, or a line has neither layout.
    """
    rows = [(n, row) for n, row in enumerate(source_text(file).split("\n"), 1) if row.strip()]
    cells = [row.split(",", _NUMBERS) for _, row in rows]
    after = [_parsed(row[-1], row[:-1]) for row in cells]
    cells = [row.rsplit(",", _NUMBERS) for _, row in rows]
    before = [_parsed(row[0], row[1:]) for row in cells]
    parsed = after if sum(map(bool, after)) >= sum(map(bool, before)) else before
    lines: list[Line] = []
    for (number, __), line in zip(rows, parsed, strict=True):
        if line is None:
            raise DataError(
                "expected x1,y1,x2,y2,x3,y3,x4,y4,TEXT, or TEXT and the eight coordinates",
                file=file,
                item=place_words(f"line {number}"),
                hint="Write coordinates in pixels, separated by commas",
            )
        text, outline = line
        lines.append(Line(id=f"l{len(lines) + 1}", text=text, polygon=outline))
    return tuple(lines)


def _parsed(text: str, numbers: list[str]) -> tuple[str, tuple[Point, ...]] | None:
    """A text and its four corners; None if the numbers are not eight coordinates."""
    if len(numbers) != _NUMBERS:
        return None
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        return None
    if not all(abs(value) < _LARGEST for value in values):
        return None
    return text.strip(), tuple(zip(values[::2], values[1::2], strict=True))
