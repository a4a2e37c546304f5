"""Detection of marginalia: head and foot margins, and the centre column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from keju.items import LineKind
from keju.layout.boxes import Boxes, Floats
from keju.layout.column_grid import ColumnGrid
from keju.layout.columns import Column

MARGINAL_KINDS: frozenset[LineKind] = frozenset(
    {"head", "foot", "centre", "number", "margin", "seal"}
)
"""Kinds of line that are not part of the running text, whatever their origin."""

_STEPS = 400

_NARROW = 0.8
"""Writing narrower than this share of a full line counts as smaller than the main text."""

_ENOUGH, _ENOUGH_INSIDE = 2.5, 3.5
"""Sufficient evidence for a centre column at the edge of the text, and elsewhere."""


class Frame(NamedTuple):
    """The height over which the running text extends."""

    top: float
    bottom: float


def find_frame(boxes: Boxes, share: float = 0.5) -> Frame:
    """The heights between which the running text extends.

    Args:
        boxes: straightened boxes.
        share: the frame begins and ends where the width covered with writing reaches this share of
            the maximum.
    """
    low, high = float(boxes.y0.min()), float(boxes.y1.max())
    if not high > low:
        return Frame(low, high)
    at = low + (high - low) * (np.arange(_STEPS) + 0.5) / _STEPS
    taken = np.zeros(_STEPS + 1)
    np.add.at(taken, np.searchsorted(at, boxes.y0), boxes.width)
    np.add.at(taken, np.searchsorted(at, boxes.y1), -boxes.width)
    cover = np.cumsum(taken)[:_STEPS]
    dense = np.flatnonzero(cover >= share * np.quantile(cover, 0.95))
    return Frame(float(at[dense[0]]), float(at[dense[-1]]))


def find_margins(boxes: Boxes, grid: ColumnGrid) -> dict[int, LineKind]:
    """Lines entirely above the text (``head``) or below it (``foot``), by index.

    Such a line is smaller than the main text and beyond the ends of the columns: a first row of
    full-size headings that only few columns have is text.

    Source: our reading of 眉批 and 地腳 notes and of folio numbers written outside of the frame.
    """
    found: dict[int, LineKind] = {}
    if len(boxes) < 3:
        return found
    mass = boxes.width * boxes.height
    inner = find_frame(boxes)
    small = boxes.width < _NARROW * grid.line_width
    outside = (boxes.y1 < inner.top) | (boxes.y0 > inner.bottom)
    candidates = small & outside & (mass[small & outside].sum() <= 0.3 * mass.sum())
    outer = find_frame(boxes.take(np.flatnonzero(~candidates)), 0.2)
    sides: tuple[tuple[LineKind, Floats], ...] = (
        ("head", outer.top - boxes.y1),
        ("foot", boxes.y0 - outer.bottom),
    )
    for kind, gap in sides:
        near = np.flatnonzero(candidates & (gap > -0.1 * grid.column_width))
        found |= dict.fromkeys(near.tolist(), kind)
    return found


def find_centre(
    boxes: Boxes,
    columns: Sequence[Column],
    grid: ColumnGrid,
    *,
    middle: float,
    width: float,
) -> list[Column]:
    """Which columns are a centre column (版心): running title, chapter, page number.

    A fold-bound leaf that was scanned open shows it in the middle; a bound book shows half of it at
    either outer edge. Its features are the same everywhere: smaller writing than the main text's,
    in few pieces, with gaps where the other columns continue, off the grid of the columns, similar
    at both edges.

    Args:
        boxes: straightened boxes of the page.
        columns: the page's columns, right to left.
        grid: the column grid of the page.
        middle: the position of the middle of the page, straightened.
        width: width of the page.
    """
    if len(columns) < 3:
        return []
    found: list[Column] = []
    left = list(columns)
    for end in (0, -1):
        opposite = columns[-1 - end]
        for enough in (_ENOUGH, _ENOUGH_INSIDE):
            score = _likeness(boxes, left, end, grid)
            score += _mirrored(boxes, left[end], opposite, grid)
            if len(left) < 3 or score < enough:
                break
            found.append(left.pop(end))
    inner = [
        at
        for at in range(1, len(left) - 1)
        if abs((left[at].x0 + left[at].x1) / 2 - middle) < 0.12 * width
        and _likeness(boxes, left, at, grid) >= _ENOUGH_INSIDE
    ]
    return found + [left[at] for at in inner]


def _likeness(boxes: Boxes, columns: Sequence[Column], at: int, grid: ColumnGrid) -> float:
    """A score of how much a column looks like a centre column; see `find_centre`."""
    own = boxes.take(columns[at].members)
    others = boxes.take([m for c in columns if c is not columns[at] for m in c.members])
    frame = find_frame(others)
    tall = frame.bottom - frame.top
    pieces = _merged(own.y0, own.y1)
    written = sum(y1 - y0 for y0, y1 in pieces)
    if written > 0.75 * tall or any(own.beside(at).any() for at in range(len(own))):
        return -_ENOUGH_INSIDE
    narrow = float(own.width.max()) / grid.line_width if grid.line_width > 0 else 1.0
    gaps = [Frame(high[1], low[0]) for high, low in pairwise(pieces)]
    blank = [gap for gap in gaps if gap.bottom - gap.top > 0.8 * grid.column_width]
    odd = sum(_density(others, gap) > 0.5 for gap in blank)
    below = (pieces[0][0] - frame.top) / grid.column_width
    return float(
        1.5 * (narrow < _NARROW)
        + min(2, odd)
        + 0.5 * (odd > 0 and written < 0.5 * tall)
        + (1.0 if narrow < _NARROW else 0.5) * (below > 0.75)
        + 1.0 * _off_grid(boxes, columns, at, grid)
    )


def _density(boxes: Boxes, gap: Frame) -> float:
    """The mean share of the page's width that is covered with writing at the heights of a gap.

    1 is the share where the page is densest.
    """
    shared = np.minimum(boxes.y1, gap.bottom) - np.maximum(boxes.y0, gap.top)
    there = float((np.clip(shared, 0, None) * boxes.width).sum()) / (gap.bottom - gap.top)
    levels = np.quantile(np.concatenate([boxes.y0, boxes.y1]), np.linspace(0.05, 0.95, 19))
    most = max(float(boxes.width[(boxes.y0 <= y) & (boxes.y1 >= y)].sum()) for y in levels)
    return there / most if most > 0 else 0.0


def _mirrored(boxes: Boxes, column: Column, opposite: Column, grid: ColumnGrid) -> float:
    """1 where a column has two or more pieces that the opposite edge of the page repeats."""
    if column is opposite:
        return 0.0
    one, other = (boxes.take(each.members) for each in (column, opposite))
    pieces, repeated = _merged(one.y0, one.y1), _merged(other.y0, other.y1)
    near = 0.6 * grid.column_width
    alike = sum(
        any(abs(y0 - z0) < near and abs(y1 - z1) < near for z0, z1 in repeated) for y0, y1 in pieces
    )
    return float(alike > 1)


def _merged(y0: Floats, y1: Floats) -> list[tuple[float, float]]:
    """Overlapping intervals merged, from top to bottom."""
    spans: list[tuple[float, float]] = []
    for at in np.argsort(y0, kind="stable"):
        if spans and y0[at] <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], float(y1[at])))
        else:
            spans.append((float(y0[at]), float(y1[at])))
    return spans


def _off_grid(boxes: Boxes, columns: Sequence[Column], at: int, grid: ColumnGrid) -> bool:
    """Whether a column is nearer to its neighbours, or farther away, than columns are."""
    at %= len(columns)
    near = [_middle(boxes, column) for column in columns[max(at - 1, 0) : at + 2]]
    steps = [(one - other) / grid.column_width for one, other in pairwise(near)]
    step = sum(steps) / len(steps)
    return abs(step - max(1, round(step))) > 0.15


def _middle(boxes: Boxes, column: Column) -> float:
    own = boxes.take(column.members)
    return float(own.x0.min() + own.x1.max()) / 2
