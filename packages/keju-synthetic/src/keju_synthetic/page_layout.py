"""`Layout`: the place of every character, line and rule of a page: pure geometry.

Lengths are in pixels of the finished image, before skew and warp; y grows downwards.
"""

from __future__ import annotations

from typing import NamedTuple

from keju.items import LineKind

READ: frozenset[LineKind] = frozenset({"main", "note", "title", "author"})
"""The kinds that belong to the text of a page; the others are around it."""


class Rect(NamedTuple):
    """Left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float


class Glyph(NamedTuple):
    """A character to be drawn: the middle of its cell and its em, in pixels."""

    char: str
    x: float
    y: float
    em: float
    hand: str


class PlacedLine(NamedTuple):
    """A line of text at its place, with the box of its characters.

    `lean` is by how many pixels the line moves to the right for each pixel downwards, around the
    middle of its box.
    """

    kind: LineKind
    text: str
    box: Rect
    lean: float = 0.0


class Layout(NamedTuple):
    """A composed image.

    `bars` are the strong lines of the frame; `rules` are thin and print badly. `gutters` are the x
    of book gutters.
    """

    width: int
    height: int
    glyphs: list[Glyph]
    lines: list[PlacedLine]
    bars: list[Rect]
    rules: list[Rect]
    gutters: list[float]
