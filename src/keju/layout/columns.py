"""Segmentation of a straightened page into columns, by the cheapest set of vertical cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keju.layout.boxes import Boxes, Floats
from keju.layout.column_grid import ColumnGrid

_STEPS = 24
"""Grid steps per column width; cuts are searched on this grid."""

_MOST_STEPS = 30_000

_NARROWEST, _WIDEST = 0.4, 1.6
"""The least and greatest width of a column, as a share of the page's column width."""

_SPARSE = 0.1
"""Writing over this share of a column's height may be outside of all columns at no cost."""

_EDGE = 0.1
"""Share of a box's width that a cut may remove at no cost: boxes overlap a little."""

_CORE = 0.2
"""Share of a box's width at either side that does not count as written."""

_THIN = 0.3
"""No box counts as narrower than this share of a column width."""

_STRETCH = 0.8
"""Cost of a column that is one column width too wide, in cuts along a whole column."""

_NEW = 0.04
"""Cost of one more column: of two equal divisions the one with fewer columns is preferred."""

_BARE = 2.0
"""Cost of leaving a strip of one column width that is full of writing outside of all columns."""

_STRIP = 0.25
"""Strips between columns that are narrower than this share of a column width are empty."""

_SHARE = 0.2
"""A box may be assigned to a column that contains this share of its width."""

_TOGETHER = 0.3
"""The benefit of keeping the two halves of a note in one column, in shares of a box's width."""

_ROOM = 1.15
"""Maximum width of boxes side by side in one column, as a share of the column width.

It is above 1 because boxes are drawn generously."""


class Column(NamedTuple):
    """A column of a page: its left and right edge, and the indices of its boxes."""

    x0: float
    x1: float
    members: tuple[int, ...]


def cut_columns(boxes: Boxes, grid: ColumnGrid) -> list[Column]:
    """Divide boxes into columns, right to left; every box is in exactly one.

    Vertical cuts are placed so that they cross as little writing as possible and are about one
    column width apart where there is writing; both are costs, and the cheapest set of cuts is found
    by dynamic programming over the page's width. Lines known to share a column count as one box. A
    box belongs to the column that contains most of its width, unless its place there is occupied
    and the next column has room.

    Source: our reading.
    """
    if not len(boxes):
        return []
    spans = divide(boxes, grid).spans
    filled = _fill(boxes, spans, grid)
    return [
        Column(*spans[at], tuple(filled[at])) for at in range(len(spans) - 1, -1, -1) if filled[at]
    ]


class Division(NamedTuple):
    """A division of a page's width: columns' left and right edges, from left to right.

    `misfit` is the cost of cut writing and of uneven columns, of which a good division has little.
    """

    spans: list[tuple[float, float]]
    misfit: float

    def occupied(self, boxes: Boxes) -> int:
        """The number of spans that contain the centre of a box."""
        return len(np.unique(np.searchsorted(np.array(self.spans)[:, 0], boxes.cx)))


def divide(boxes: Boxes, grid: ColumnGrid) -> Division:
    """Find the cheapest vertical cuts.

    A nearly empty strip between columns is a column too if it contains a box.
    """
    left, right = float(boxes.x0.min()), float(boxes.x1.max())
    step = max(grid.column_width / _STEPS, (right - left) / _MOST_STEPS)
    if not grid.column_width > 0 or not step > 0:
        return Division([(left, right)], 0.0)
    left -= grid.column_width
    size = int(np.ceil((right + grid.column_width - left) / step)) + 1
    crossing, filled = _profiles(boxes, grid, left, step, size)
    found, cost = _cheapest(crossing, filled, grid.column_width / step)
    spans = [(left + step * start, left + step * end) for start, end in found]
    edges = [left, *(edge for span in spans for edge in span), left + step * (size - 1)]
    strips = list(zip(edges[::2], edges[1::2], strict=True))
    spans += [strip for strip in strips if strip[1] - strip[0] > _STRIP * grid.column_width]
    return Division(sorted(spans), cost - _NEW * len(found))


def _profiles(
    boxes: Boxes, grid: ColumnGrid, left: float, step: float, size: int
) -> tuple[Floats, Floats]:
    """Over the grid: the cost of a cut there, and the amount of writing there.

    A cut through a box, or through the box around two lines that share a column, costs its weight
    times the depth of the cut, from 0 near its edge to ½ in its middle. These piecewise linear
    functions are summed by the changes of their slopes.
    """
    tall = float(np.quantile(boxes.y1, 0.95) - np.quantile(boxes.y0, 0.05))
    tall = max(tall, float(boxes.height.max())) or 1.0
    weight = np.maximum(boxes.height, 1e-6 * tall) / tall
    half = np.maximum(boxes.width, _THIN * grid.column_width) / 2
    x0, x1 = boxes.cx - half, boxes.cx + half
    pairs = np.array(grid.pairs, dtype=np.intp).reshape(-1, 2)
    x0 = np.concatenate([x0, x0[pairs].min(axis=1)])
    x1 = np.concatenate([x1, x1[pairs].max(axis=1)])
    weight = np.concatenate([weight, weight[pairs].min(axis=1)])
    ordinary = x1 - x0 <= _WIDEST * grid.column_width
    x0, x1, weight = (x0[ordinary] - left) / step, (x1[ordinary] - left) / step, weight[ordinary]
    wide = np.maximum(x1 - x0, 1e-9)
    slope = weight / (1 - 2 * _EDGE) / wide
    bends = ((x0 + _EDGE * wide, slope), ((x0 + x1) / 2, -2 * slope), (x1 - _EDGE * wide, slope))
    rise, level = np.zeros(size), np.zeros(size)
    for place, change in bends:
        at = np.minimum(np.ceil(place).astype(np.intp), size - 1)
        np.add.at(rise, at, change)
        np.add.at(level, at, -change * place)
    crossing = np.cumsum(rise) * np.arange(size) + np.cumsum(level)
    filled = np.zeros(size + 1)
    np.add.at(filled, np.ceil(x0 + _CORE * wide).astype(np.intp), weight)
    np.add.at(filled, np.floor(x1 - _CORE * wide).astype(np.intp) + 1, -weight)
    return np.maximum(0, crossing), np.cumsum(filled)[:size]


def _cheapest(
    crossing: Floats, filled: Floats, column_width: float
) -> tuple[list[tuple[int, int]], float]:
    """Grid positions where the columns of the cheapest division start and end; and its cost."""
    size = len(crossing)
    widths = np.arange(
        max(1, int(_NARROWEST * column_width)), int(np.ceil(_WIDEST * column_width)) + 1
    )
    price = _NEW + _STRETCH * (widths / column_width - 1) ** 2
    bare = _BARE * np.maximum(0, filled - _SPARSE) / column_width
    # Cheapest way to the left edge of a column: from a strip between columns, or at a cut.
    enter = np.full(size, np.inf)
    strip, cut = np.full(size, np.inf), np.full(size, np.inf)
    strip[0] = enter[0] = 0.0
    start_of = np.zeros(size, dtype=np.intp)
    for at in range(1, size):
        reach = widths[: np.searchsorted(widths, at, side="right")]
        if len(reach):
            total = enter[at - reach] + price[: len(reach)]
            pick = int(np.argmin(total))
            cut[at] = total[pick] + crossing[at]
            start_of[at] = at - reach[pick]
        strip[at] = min(strip[at - 1], cut[at - 1]) + bare[at - 1]
        enter[at] = min(cut[at], strip[at] + crossing[at])
    found: list[tuple[int, int]] = []
    at, in_column = size - 1, bool(cut[-1] < strip[-1])
    while at > 0:
        if in_column:
            start = int(start_of[at])
            found.append((start, at))
            at, in_column = start, bool(cut[start] <= strip[start] + crossing[start])
        else:
            at, in_column = at - 1, bool(cut[at - 1] < strip[at - 1])
    return found[::-1], float(min(cut[-1], strip[-1]))


def _fill(boxes: Boxes, spans: Sequence[tuple[float, float]], grid: ColumnGrid) -> list[list[int]]:
    """The indices of the boxes in each of the spans."""
    edges = np.array(spans, dtype=np.float64)
    filled: list[list[int]] = [[] for _ in spans]
    partner = dict(grid.pairs) | {left: right for right, left in grid.pairs}
    undecided: list[tuple[float, int, list[tuple[int, float]]]] = []
    for place in range(len(boxes)):
        choices = _choices(boxes.x0[place], boxes.x1[place], edges, grid)
        if len(choices) == 1:
            filled[choices[0][0]].append(place)
        else:
            undecided.append((choices[0][1], place, choices))
    for _, place, choices in sorted(undecided, reverse=True):
        costs = []
        for at, share in choices:
            crowd = _overload(boxes, place, filled[at], grid)
            costs.append((crowd - share - _TOGETHER * (partner.get(place) in filled[at]), at))
        filled[min(costs)[1]].append(place)
    return filled


def _choices(x0: float, x1: float, edges: Floats, grid: ColumnGrid) -> list[tuple[int, float]]:
    """Spans that contain a large part of an extent, best first, with that part; at least one."""
    width = x1 - x0
    if 0 < width <= _WIDEST * grid.column_width:
        shares = (np.minimum(edges[:, 1], x1) - np.maximum(edges[:, 0], x0)) / width
        good = np.flatnonzero(shares >= _SHARE)
        if len(good):
            return sorted(((int(at), float(shares[at])) for at in good), key=lambda it: -it[1])
    middle = (x0 + x1) / 2
    away = np.maximum(edges[:, 0] - middle, middle - edges[:, 1])
    return [(int(np.argmin(away)), 1.0)]


def _overload(boxes: Boxes, place: int, members: Sequence[int], grid: ColumnGrid) -> float:
    """By how much of its own width a box would overfill a column beside the boxes already in it."""
    if not members:
        return 0.0
    there = boxes.take(members)
    shared = np.minimum(there.y1, boxes.y1[place]) - np.maximum(there.y0, boxes.y0[place])
    height, width = boxes.height[place], boxes.width[place]
    part = np.clip(shared, 0, None) / (height or 1.0)
    taken = float((part * there.width).sum())
    return float(max(0.0, taken + width - _ROOM * grid.column_width) / (width or 1.0))
