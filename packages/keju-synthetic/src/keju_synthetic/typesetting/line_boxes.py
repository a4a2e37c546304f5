"""`LineBox`: the box of a line of type and its lean, measured on an annotated outline.

Outlines are drawn by hand or by a program around the ink of the source, and those of neighbours
overlap. New type needs boxes that do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from keju.items import Point
from keju_synthetic.page_layout import Rect

_LEVELS = 15
_MOST_LEAN = 0.15
_LEAST = 0.5
"""A box that has lost more than this part of a side to its neighbours is dropped."""


class LineBox(NamedTuple):
    """The box of a line, upright around its middle, and its lean: pixels aside for one down."""

    box: Rect
    lean: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.box.x1 - self.box.x0

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.box.y1 - self.box.y0


def measure_box(polygon: Sequence[Point]) -> LineBox | None:
    """Measure an outline: its sides are the medians of what it spans at fifteen heights.

    Medians make it robust to single strokes that stick out. None if the outline has no area.
    """
    points = list(polygon)
    if len(points) < 3:
        return None
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    spans = list(_measure_spans(points, top, bottom))
    if not spans or bottom - top < 1:
        return None
    lean = _measure_lean(spans) if len(spans) == _LEVELS else 0.0
    middle = (top + bottom) / 2
    left = median(low - lean * (y - middle) for y, low, _ in spans)
    right = median(high - lean * (y - middle) for y, _, high in spans)
    return LineBox(Rect(left, top, right, bottom), lean) if right - left >= 1 else None


def _measure_spans(
    points: list[Point], top: float, bottom: float
) -> Iterator[tuple[float, float, float]]:
    """At each height the leftmost and rightmost points of the outline."""
    ring = [*points, points[0]]
    for level in range(_LEVELS):
        y = top + (bottom - top) * (level + 0.5) / _LEVELS
        crossed = [
            x0 + (x1 - x0) * (y - y0) / (y1 - y0)
            for (x0, y0), (x1, y1) in pairwise(ring)
            if (y0 <= y) != (y1 <= y)
        ]
        if crossed:
            yield y, min(crossed), max(crossed)


def _measure_lean(spans: Sequence[tuple[float, float, float]]) -> float:
    """The median slope between middles half an outline apart; 0 where the line hardly is one."""
    middles = [(y, (low + high) / 2) for y, low, high in spans]
    half = len(middles) // 2
    slopes = [(x1 - x0) / (y1 - y0)
              for (y0, x0), (y1, x1) in zip(middles, middles[half:], strict=False)]  # fmt: skip
    wide = median(high - low for _, low, high in spans)
    lean = median(slopes)
    long_enough = middles[-1][0] - middles[0][0] > 2 * wide
    return lean if long_enough and abs(lean) < _MOST_LEAN else 0.0


def separate_boxes(beds: Sequence[LineBox]) -> list[LineBox | None]:
    """Boxes that do not overlap: two that did now meet in the middle of their overlap.

    A box that would lose too much is dropped (None), the one with the largest loss first, and the
    others get its room.
    """
    kept: list[LineBox | None] = list(beds)
    while True:
        cut = _cut_overlaps(kept)
        losses = [
            (_compute_remainder(before, after), -place)
            for place, (before, after) in enumerate(zip(kept, cut, strict=True))
            if before is not None and after is not None
        ]
        worst = min(losses, default=(1.0, 0))
        if worst[0] >= _LEAST:
            return cut
        kept[-worst[1]] = None


def _compute_remainder(before: LineBox, after: LineBox) -> float:
    return min(after.width / before.width, after.height / before.height)


def _cut_overlaps(beds: Sequence[LineBox | None]) -> list[LineBox | None]:
    edges = [None if bed is None else list(bed.box) for bed in beds]
    there = [(place, bed.box) for place, bed in enumerate(beds) if bed is not None]
    for number, (one, a) in enumerate(there):
        for other, b in there[number + 1 :]:
            across = min(a.x1, b.x1) - max(a.x0, b.x0)
            down = min(a.y1, b.y1) - max(a.y0, b.y0)
            if across <= 0 or down <= 0:
                continue
            low, high = (0, 2) if across <= down else (1, 3)
            # Their middles decide which of the two comes first.
            first, last = (one, other) if a[low] + a[high] <= b[low] + b[high] else (other, one)
            ahead, behind = edges[first], edges[last]
            if ahead is not None and behind is not None:
                ends = (a, b) if first == one else (b, a)
                meet = (ends[0][high] + ends[1][low]) / 2
                ahead[high] = min(ahead[high], meet)
                behind[low] = max(behind[low], meet)
    return [
        bed if bed is None or edge is None else bed._replace(box=Rect(*edge))
        for bed, edge in zip(beds, edges, strict=True)
    ]
