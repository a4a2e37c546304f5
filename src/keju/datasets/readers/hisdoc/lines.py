"""The text lines of M5HisDoc and MTHv2: four corners and a text per line."""

from __future__ import annotations

from pathlib import Path

from keju.datasets.readers.base import source_text
from keju.errors import DataError
from keju.items import Line, Point
from keju.messages import message

_NUMBERS = 8
_LARGEST = 1e6


def lines_of(file: Path) -> tuple[Line, ...]:
    """The lines of a page in the order of its file, each with the outline of four corners.

    In M5HisDoc the text comes after the coordinates, in MTHv2 before them (both seen in code that
    reads the release). A file has one of the two layouts; where every line fits both (texts that
    are numbers), M5HisDoc's is assumed. The text may contain commas.

    Raises:
        DataError: not readable, or a line has neither layout.
    """
    rows = [(n, row) for n, row in enumerate(source_text(file).split("\n"), 1) if row.strip()]
    after = [_after(row) for _, row in rows]
    before = [_before(row) for _, row in rows]
    parsed = after if sum(map(bool, after)) >= sum(map(bool, before)) else before
    found: list[Line] = []
    for (number, _), line in zip(rows, parsed, strict=True):
        if line is None:
            raise DataError(
                message("datasets.hisdoc-line-invalid"), file=file, item=f"line {number}"
            )
        text, outline = line
        found.append(Line(id=f"l{len(found) + 1}", text=text, polygon=outline))
    return tuple(found)


def _after(row: str) -> tuple[str, tuple[Point, ...]] | None:
    *numbers, text = row.split(",", _NUMBERS)
    outline = _outline(numbers)
    return (text.strip(), outline) if outline else None


def _before(row: str) -> tuple[str, tuple[Point, ...]] | None:
    text, *numbers = row.rsplit(",", _NUMBERS)
    outline = _outline(numbers)
    return (text.strip(), outline) if outline else None


def _outline(numbers: list[str]) -> tuple[Point, ...]:
    """The four corners; empty if these are not eight coordinates."""
    if len(numbers) != _NUMBERS:
        return ()
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        return ()
    if not all(abs(value) < _LARGEST for value in values):
        return ()
    return tuple(zip(values[::2], values[1::2], strict=True))
