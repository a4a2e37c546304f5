"""`Layout`: the place of every character, line and rule of a page: pure geometry.

Lengths are in pixels of the finished image, before skew and warp; y grows downwards.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from keju.items import LineKind, Point
from keju_synthetic.recipe import HandSpec

Ink = Literal["black", "red"]

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
    ink: Ink = "black"


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

    `lines` are in reading order, the lines around the text after those of the text. `paper` is the
    visible paper; the rest of the image is the mat below it. `bars` and `shapes` are printed
    with `line_ink`; `rules` are thin and print badly. `gutters` are the x of book gutters.
    """

    width: int
    height: int
    paper: Rect
    glyphs: list[Glyph]
    lines: list[PlacedLine]
    bars: list[Rect]
    rules: list[Rect]
    shapes: list[list[Point]]
    gutters: list[float]
    line_ink: Ink = "black"


_LOW = {"一": 0.5, "二": 0.7, "三": 0.85, "四": 0.85, "曰": 0.8, "日": 0.8, "口": 0.8, "之": 0.9,
        "以": 0.9, "心": 0.85, "人": 0.9, "也": 0.9, "工": 0.85, "山": 0.9, "小": 0.9}  # fmt: skip
"""How much room a low character takes of what others take, where a hand keeps no grid."""


class Setting(NamedTuple):
    """Cells for one kind of text: distance from character to character, em, and hand.

    Where the hand is `free`, low characters take less room than others.
    """

    pitch: float
    em: float
    hand: str
    free: bool = False


def compute_em(pitch: float, room: float, hand: HandSpec) -> float:
    """The em that fills a cell `pitch` high and `room` wide."""
    return min(pitch * 1.04, room / hand.width) * hand.fill


def convert_forms(text: str, hand: HandSpec) -> str:
    """`text` in the forms that a hand writes."""
    return "".join(hand.forms.get(sign, sign) for sign in text)


def set_column(
    text: str, kind: LineKind, x: float, top: float, setting: Setting, ink: Ink = "black"
) -> tuple[list[Glyph], PlacedLine]:
    """One column of characters from `top` down around `x`, and its line."""
    rooms = [_LOW.get(sign, 1.0) if setting.free else 1.0 for sign in text]
    unit = setting.pitch * len(text) / sum(rooms) if rooms else 0.0
    glyphs, y = [], top
    for sign, room in zip(text, rooms, strict=True):
        glyphs.append(Glyph(sign, x, y + unit * room / 2, setting.em, setting.hand, ink))
        y += unit * room
    half = setting.em / 2
    slack = max(0.0, (setting.pitch - setting.em) / 2)
    bottom = top + setting.pitch * len(text)
    box = Rect(x - half, top + slack, x + half, bottom - slack)
    return glyphs, PlacedLine(kind, text, box)


def collect_characters(layout: Layout) -> dict[str, str]:
    """The distinct characters that each hand has to draw."""
    needed: dict[str, dict[str, None]] = {}
    for glyph in layout.glyphs:
        needed.setdefault(glyph.hand, {})[glyph.char] = None
    return {hand: "".join(signs) for hand, signs in needed.items()}
