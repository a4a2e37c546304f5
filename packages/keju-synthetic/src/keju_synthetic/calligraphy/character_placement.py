"""Placement of each character of a work on its sheet: pure geometry.

Lengths are pixels of the finished image; y grows downwards; columns go from right to left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from keju.items import LineKind, Point
from keju_synthetic.page_layout import Rect
from keju_synthetic.seals.carving import SealDesign

Measure = Callable[[str], Rect]
"""The ink of a character in parts of the em, from the middle of the em."""


class PlacedCharacter(NamedTuple):
    """A character as it is to be written: the middle of its em, and its turn in degrees.

    `dry` in 0..1 is how little ink the brush holds; `fresh` begins a column or follows a pause.
    """

    char: str
    x: float
    y: float
    em: float
    turn: float = 0.0
    dry: float = 0.0
    fresh: bool = False


class TextColumn(NamedTuple):
    """A column as a line of the reference."""

    kind: LineKind
    text: str
    outline: tuple[Point, ...]


class Placed(NamedTuple):
    """A seal at its place; `turn` in degrees."""

    cut: SealDesign
    box: Rect
    turn: float = 0.0


class Manner(NamedTuple):
    """How a hand sets its characters.

    `free` in 0..1: 0 sets each in a cell of a grid, 1 sets each below the ink of the last. `vary`
    is how much sizes differ, `sway` how far characters leave the axis, `lean` how far columns
    leave the upright, `spent` how dry the brush gets before it is dipped again.
    """

    free: float
    vary: float
    sway: float
    lean: float
    spent: float


MANNERS: dict[str, Manner] = {
    "楷书": Manner(free=0.0, vary=0.035, sway=0.012, lean=0.0, spent=0.25),
    "行书": Manner(free=0.8, vary=0.13, sway=0.035, lean=0.010, spent=0.62),
    "草书": Manner(free=1.0, vary=0.22, sway=0.055, lean=0.018, spent=1.0),
}
"""By the name of the script style."""


class WrittenText(NamedTuple):
    """Signs and columns of a piece of text, in reading order."""

    signs: list[PlacedCharacter]
    columns: list[TextColumn]


def write_columns(
    text: str,
    region: Rect,
    columns: int,
    manner: Manner,
    measure: Measure,
    rng: np.random.Generator,
    *,
    kind: LineKind = "main",
) -> WrittenText:
    """Write a text into a region in at most `columns` columns, as large as it fits.

    Args:
        text: without punctuation.
        region: the area to fill.
        columns: how many columns the region has.
        manner: how the hand sets characters.
        measure: the ink box of a character.
        rng: the random generator.
        kind: of the lines.
    """
    sizes = _draw_sizes(len(text), manner.vary, rng)
    wide = (region.x1 - region.x0) / columns
    high = region.y1 - region.y0
    em = wide * 0.94
    while True:
        steps = [
            _compute_step(sign, size, em, manner, measure)
            for sign, size in zip(text, sizes, strict=True)
        ]
        breaks = _break_columns(steps, high)
        if len(breaks) <= columns or em < 4:
            break
        em *= 0.975
    inks = _draw_dryness(len(text), manner.spent, rng)
    signs: list[PlacedCharacter] = []
    found: list[TextColumn] = []
    spread = 0.0
    for number, (start, end) in enumerate(breaks):
        middle = region.x1 - wide * (number + 0.5)
        # A full column is spread over its whole height, as a writer who sees the end coming does.
        # The last column keeps the distance of the one before it.
        if end < len(text) or number == 0:
            most = em * (0.35 if columns > 1 else 0.9)
            spread = min((high - sum(steps[start:end])) / (end - start), most)
        drift = (float(rng.random()) * 2 - 1) * manner.lean
        y = region.y0
        written = []
        for place in range(start, end):
            size, ink = em * sizes[place], measure(text[place])
            step = steps[place] + spread
            down = y + step / 2 - (ink.y0 + ink.y1) / 2 * size * manner.free
            sway = (float(rng.random()) * 2 - 1) * manner.sway * em
            x = middle + drift * (y - region.y0) + sway
            turn = (float(rng.random()) * 2 - 1) * manner.sway * 55
            written.append(
                PlacedCharacter(text[place], x, down, size, turn, inks[place], place == start)
            )
            y += step
        signs += written
        found.append(TextColumn(kind, text[start:end], compute_outline(written, measure)))
    return WrittenText(signs, found)


def _draw_sizes(count: int, vary: float, rng: np.random.Generator) -> list[float]:
    """Random sizes around 1 with autocorrelation: a large one mostly follows a large one."""
    sizes, now = [], 0.0
    for _ in range(count):
        now = 0.45 * now + float(rng.random()) * 2 - 1
        sizes.append(1 + vary * max(-1.5, min(1.3, now)) * 0.8)
    return sizes


def _compute_step(sign: str, size: float, em: float, manner: Manner, measure: Measure) -> float:
    """The height of a character in its column, in pixels."""
    ink = measure(sign)
    natural = (ink.y1 - ink.y0) + 0.10
    return em * size * (manner.free * natural + (1 - manner.free) * 1.06)


def _break_columns(steps: list[float], high: float) -> list[tuple[int, int]]:
    """First and last (excluded) character of each column."""
    breaks, start, used = [], 0, 0.0
    for place, step in enumerate(steps):
        if used + step > high and place > start:
            breaks.append((start, place))
            start, used = place, 0.0
        used += step
    return [*breaks, (start, len(steps))]


def _draw_dryness(count: int, spent: float, rng: np.random.Generator) -> list[float]:
    """The dryness of the brush at each character; it is dipped every few characters."""
    inks, dry, left = [], 0.0, int(rng.integers(4, 9))
    for _ in range(count):
        if left == 0:
            dry, left = 0.0, int(rng.integers(4, 10))
        inks.append(min(1.0, dry * spent))
        dry += 0.08 + 0.14 * float(rng.random())
        left -= 1
    return inks


def compute_outline(signs: list[PlacedCharacter], measure: Measure) -> tuple[Point, ...]:
    """The upright box of the ink of upright signs."""
    boxes = [(sign, measure(sign.char)) for sign in signs]
    x0 = min(sign.x + ink.x0 * sign.em for sign, ink in boxes)
    x1 = max(sign.x + ink.x1 * sign.em for sign, ink in boxes)
    y0 = min(sign.y + ink.y0 * sign.em for sign, ink in boxes)
    y1 = max(sign.y + ink.y1 * sign.em for sign, ink in boxes)
    return (_round_point(x0, y0), _round_point(x1, y0), _round_point(x1, y1), _round_point(x0, y1))


class Fan(NamedTuple):
    """A folding fan: the middle of its circles, their radii, and half its spread in radians."""

    x: float
    y: float
    outer: float
    inner: float
    half: float

    def find_point(self, radius: float, angle: float) -> Point:
        """A point; `angle` 0 is straight up and grows to the right."""
        # Rounded, so that the last digit of a machine's sine decides nothing.
        sine, cosine = round(math.sin(angle), 7), round(math.cos(angle), 7)
        return self.x + radius * sine, self.y - radius * cosine


def write_fan(
    text: str, fan: Fan, columns: int, manner: Manner, rng: np.random.Generator
) -> WrittenText:
    """Write a text on a fan: columns point to its pivot, every second one is short."""
    wide = 2 * fan.half * 0.90 / columns
    deep = fan.outer - fan.inner
    room = [0.86 if number % 2 == 0 else 0.40 for number in range(columns)]
    em = min(wide * (fan.outer * 0.62 + fan.inner * 0.38) * 0.92, deep * 0.20)
    while sum(math.floor(part * deep / (em * 1.02)) for part in room) < len(text):
        em *= 0.98
    sizes = _draw_sizes(len(text), manner.vary, rng)
    inks = _draw_dryness(len(text), manner.spent, rng)
    signs: list[PlacedCharacter] = []
    found: list[TextColumn] = []
    start = 0
    for number, part in enumerate(room):
        angle = fan.half * 0.90 - wide * (number + 0.5)
        count = min(math.floor(part * deep / (em * 1.02)), len(text) - start)
        if count <= 0:
            break
        radius = fan.outer - deep * 0.07
        # Characters get smaller towards the pivot, where the pleats are closer together.
        signs_here = []
        for place in range(start, start + count):
            size = em * sizes[place] * (0.80 + 0.22 * (radius - fan.inner) / deep)
            radius -= size * 0.5
            x, y = fan.find_point(
                radius, angle + (float(rng.random()) * 2 - 1) * manner.sway * 0.02
            )
            signs_here.append(
                PlacedCharacter(
                    text[place], x, y, size, -math.degrees(angle), inks[place], place == start
                )
            )
            radius -= size * 0.52
        half = wide * 0.42
        corners = [(fan.outer - deep * 0.05, -half), (fan.outer - deep * 0.05, half),
                   (radius, half), (radius, -half)]  # fmt: skip
        outline = tuple(_round_point(*fan.find_point(far, angle + off)) for far, off in corners)
        signs += signs_here
        found.append(TextColumn("main", text[start : start + count], outline))
        start += count
    return WrittenText(signs, found)


def _round_point(x: float, y: float) -> Point:
    return round(x, 2), round(y, 2)
