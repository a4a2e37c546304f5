"""Frames and rules for a page whose source contains only the outlines of its lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from keju.items import Line
from keju.layout.order import group_columns
from keju_synthetic.page_layout import READ, PlacedLine, Rect

_GUTTER = 1.9
"""Distance in pitches above which columns, with nothing between them, are on two leaves."""

_PAD = 0.28
"""How far the frame stays off the text, in pitches."""

_SHORTEST = 0.12
"""Pieces of rule shorter than this part of the frame's height are not drawn."""


class FrameLines(NamedTuple):
    """Strong bars and thin rules of a page, and the x of its gutters."""

    bars: list[Rect]
    rules: list[Rect]
    gutters: list[float]


class _Column(NamedTuple):
    x0: float
    x1: float

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2


def make_frame(placed: Sequence[PlacedLine], width: int, height: int) -> FrameLines:
    """A frame around the running text of each leaf, and rules between its columns.

    Where the columns leave a gap that a centre column fills, the frame goes around both sides; an
    empty gap is a gutter. A rule is drawn only where there is no character.

    Args:
        placed: every line of the page.
        width: of the page in pixels.
        height: of the page in pixels.
    """
    columns = _find_columns(placed)
    if len(columns) < 2:
        return FrameLines([], [], [])
    pitch = median(right.middle - left.middle for left, right in pairwise(columns))
    leaves, gutters = _group_leaves(columns, placed, pitch)
    framed = FrameLines([], [], gutters)
    for leaf in leaves:
        _add_frame(framed, leaf, placed, (width, height), pitch)
    return framed


def _find_columns(placed: Sequence[PlacedLine]) -> list[_Column]:
    """The columns of the running text, from left to right."""
    lines = [
        Line(id="", text=line.text, polygon=_list_corners(line.box))
        for line in placed
        if line.kind in READ
    ]
    spans = [
        _Column(
            min(x for line in column for x, _ in line.polygon),
            max(x for line in column for x, _ in line.polygon),
        )
        for column in group_columns(lines)
    ]
    return sorted(spans)


def _group_leaves(
    columns: list[_Column], placed: Sequence[PlacedLine], pitch: float
) -> tuple[list[list[_Column]], list[float]]:
    leaves, gutters = [[columns[0]]], []
    beside = [line.box for line in placed if line.kind in {"centre", "number"}]
    for left, right in pairwise(columns):
        empty = not any(left.middle < (box.x0 + box.x1) / 2 < right.middle for box in beside)
        if right.x0 - left.x1 > _GUTTER * pitch and empty:
            leaves.append([])
            gutters.append((left.x1 + right.x0) / 2)
        leaves[-1].append(right)
    return leaves, gutters


def _add_frame(
    framed: FrameLines,
    leaf: list[_Column],
    placed: Sequence[PlacedLine],
    size: tuple[int, int],
    pitch: float,
) -> None:
    width, height = size
    left, right = leaf[0].x0, leaf[-1].x1
    running = [line.box for line in placed if line.kind in READ]
    within = [box for box in running if left <= (box.x0 + box.x1) / 2 <= right]
    pad, thick, thin = _PAD * pitch, height * 0.0040, height * 0.0014
    aside = [line.box for line in placed if line.kind not in READ]
    off_left = min([pad, *(left - box.x1 for box in aside if box.x1 <= left)]) / 2
    off_right = min([pad, *(box.x0 - right for box in aside if box.x0 >= right)]) / 2
    inside = Rect(
        max(thick, left - off_left),
        max(thick, min(box.y0 for box in within) - pad),
        min(width - thick, right + off_right),
        min(height - thick, max(box.y1 for box in within) + pad),
    )
    framed.bars.extend(
        bar
        for bar in _make_border(inside, thick)
        if not any(_overlap(bar, line.box) for line in placed)
    )
    for one, other in pairwise(leaf):
        x = (one.x1 + other.x0) / 2
        framed.rules.extend(_cut_rule(x, thin, inside, [line.box for line in placed]))


def _make_border(inside: Rect, thick: float) -> list[Rect]:
    x0, y0, x1, y1 = inside
    return [
        Rect(x0 - thick, y0 - thick, x1 + thick, y0),
        Rect(x0 - thick, y1, x1 + thick, y1 + thick),
        Rect(x0 - thick, y0 - thick, x0, y1 + thick),
        Rect(x1, y0 - thick, x1 + thick, y1 + thick),
    ]


def _cut_rule(x: float, thin: float, inside: Rect, boxes: Sequence[Rect]) -> list[Rect]:
    """The pieces of a rule at `x` that cross no box."""
    pieces, y = [], inside.y0
    least = _SHORTEST * (inside.y1 - inside.y0)
    for box in sorted((box for box in boxes if box.x0 < x < box.x1), key=lambda box: box.y0):
        if box.y0 - y > least:
            pieces.append((y, box.y0))
        y = max(y, box.y1)
    if inside.y1 - y > least:
        pieces.append((y, inside.y1))
    return [Rect(x - thin / 2, start, x + thin / 2, end) for start, end in pieces]


def _overlap(one: Rect, other: Rect) -> bool:
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    return across > 0 and min(one.y1, other.y1) - max(one.y0, other.y0) > 0


def _list_corners(box: Rect) -> tuple[tuple[float, float], ...]:
    x0, y0, x1, y1 = box
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
