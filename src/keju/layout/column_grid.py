"""`ColumnGrid`: the width of a page's columns, and the lines that share a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keju.layout.boxes import Booleans, Boxes, Floats, Indices

_MOST = 800
"""Statistics are taken over this many of the longest lines, so that time stays bounded."""

_FARTHEST = 3.0
"""Lines more than this number of line widths apart are not in neighbouring columns."""

_OFF = 0.4
"""Maximum difference, in column widths, between it and twice the distance of two halves of a note.
"""


class Pair(NamedTuple):
    """Two lines side by side that share a column: indices of the right one and of the left one."""

    right: int
    left: int


class ColumnGrid(NamedTuple):
    """The column grid of a page.

    `column_width` is the distance from one column to the next; `line_width` the usual width of a
    line that has a column to itself; `pairs` the lines that demonstrably share a column, because
    another line of that column is centred directly above or below the two.
    """

    column_width: float
    line_width: float
    pairs: tuple[Pair, ...]


def measure_column_grid(boxes: Boxes, notes: Sequence[int] = ()) -> ColumnGrid:
    """Find the column width of straightened boxes, whether or not most lines are half-width.

    A line whose centre is on the border between two lines directly below (or above) it is the stem
    of a double-row note, and the distance of the two is half a column. Where a page has no such
    junction but two distinct widths, one half of the other, the widths decide. Otherwise every line
    has a column to itself.

    Args:
        boxes: the boxes of the running text.
        notes: indices of those that the source labels as notes. The labels only decide ambiguous
            cases, because sources also use them for lines that fill a column, or are shifted.

    Source: our reading.
    """
    if not len(boxes):
        return ColumnGrid(0.0, 0.0, ())
    longest = np.sort(np.argsort(-boxes.height, kind="stable")[:_MOST])
    some = boxes.take(longest)
    right, left = _neighbours(some, level=True)
    joints = _junctions(some, right, left)
    half = _half_lines(some, joints, np.isin(longest, np.asarray(notes, dtype=np.intp)))
    both = half[right] & half[left]
    twice = 2 * (some.cx[right] - some.cx[left])[both]
    shared = np.minimum(some.height[right], some.height[left])[both]
    wide = some.take(np.flatnonzero(~half))
    line_width = (
        _median(wide.width, wide.height) if len(wide) else 2 * _median(some.width, some.height)
    )
    right, left = _neighbours(wide, level=False)
    once = wide.cx[right] - wide.cx[left]
    distances = np.concatenate([twice, once])
    weights = np.concatenate([shared, np.minimum(wide.height[right], wide.height[left])])
    near = distances <= _FARTHEST * line_width if line_width > 0 else distances > 0
    column_width = _median(distances[near], weights[near]) if near.any() else 1.15 * line_width
    column_width = max(column_width, 0.8 * line_width)
    return ColumnGrid(column_width, line_width, _pairs(some, longest, joints, half, column_width))


class _Joint(NamedTuple):
    """A pair of lines side by side and a line that is the stem of both."""

    off: float
    right: int
    left: int
    stem: int


def _pairs(
    boxes: Boxes, names: Indices, joints: Sequence[_Joint], half: Booleans, column_width: float
) -> tuple[Pair, ...]:
    """Pairs of half-width lines about half a column width apart; a line is in at most one."""
    found: list[Pair] = []
    used: set[int] = set()
    for _, right, left, _ in sorted(joints):
        apart = 2 * (boxes.cx[right] - boxes.cx[left])
        fits = half[right] and half[left] and abs(apart - column_width) < _OFF * column_width
        if fits and not used & {right, left}:
            used |= {right, left}
            found.append(Pair(int(names[right]), int(names[left])))
    return tuple(found)


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value at which half of the weight is reached; `values` must not be empty."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def _median(values: Floats, weights: Floats) -> float:
    if not len(values):
        return 0.0
    return weighted_median(values, weights if weights.sum() > 0 else np.ones(len(weights)))


def _neighbours(boxes: Boxes, *, level: bool) -> tuple[Indices, Indices]:
    """For each line the nearest one to its left: any, or if `level` one at the same height."""
    if not len(boxes):
        none = np.empty(0, dtype=np.intp)
        return none, none
    apart = boxes.cx[:, None] - boxes.cx
    shared = np.minimum(boxes.y1[:, None], boxes.y1) - np.maximum(boxes.y0[:, None], boxes.y0)
    is_level = shared > 0.5 * np.minimum(boxes.height[:, None], boxes.height)
    clear = apart > 0.5 * np.minimum(boxes.width[:, None], boxes.width)
    distance = np.where((is_level | (not level)) & clear, apart, np.inf)
    nearest = np.argmin(distance, axis=1)
    right = np.flatnonzero(np.isfinite(distance.min(axis=1)))
    return right, nearest[right]


def _junctions(boxes: Boxes, right: Indices, left: Indices) -> list[_Joint]:
    """The neighbours that have a stem, each with its best centred stem."""
    joints: list[_Joint] = []
    for one, two in zip(right.tolist(), left.tolist(), strict=True):
        apart = boxes.cx[one] - boxes.cx[two]
        mean = (boxes.width[one] + boxes.width[two]) / 2
        if abs(boxes.width[one] - boxes.width[two]) > 0.5 * mean:
            continue
        off = np.abs(boxes.cx - (boxes.cx[one] + boxes.cx[two]) / 2) / apart
        over, under = boxes.cy < boxes.y0[one], boxes.cy > boxes.y1[one]
        above = over & _meets(boxes.y1, boxes.y0[one], boxes.y0[two], apart)
        below = under & _meets(boxes.y0, boxes.y1[one], boxes.y1[two], apart)
        stems = np.flatnonzero((off < 0.25) & (boxes.width > 1.15 * mean) & (above | below))
        if len(stems):
            stem = int(stems[np.argmin(off[stems])])
            joints.append(_Joint(float(off[stem]), one, two, stem))
    return joints


def _meets(edge: Floats, one: float, other: float, reach: float) -> Booleans:
    """Whether an edge is at the common top (or bottom) of two lines."""
    if abs(one - other) > 1.2 * reach:
        return np.zeros(len(edge), dtype=bool)
    near: Booleans = np.less(np.abs(edge - (one + other) / 2), 0.9 * reach)
    return near


def _half_lines(boxes: Boxes, joints: Sequence[_Joint], notes: Booleans) -> Booleans:
    """Which lines are half a column wide; none where a line has a column to itself.

    Junctions count where they are many, or where stems are clearly wider and common, or where the
    source labels the halves as notes and the stems not.
    """
    if joints:
        halves = np.array([(joint.right, joint.left) for joint in joints]).ravel()
        stems = np.array([joint.stem for joint in joints])
        half = _median(boxes.width[halves], boxes.height[halves])
        stem = _median(boxes.width[stems], boxes.height[stems])
        narrow: Booleans = np.less_equal(boxes.width, np.sqrt(half * stem))
        common = boxes.height[~narrow].sum() > 0.1 * boxes.height.sum()
        clear = len(joints) > 1 and stem > 1.3 * half and common
        if clear or len(joints) > max(2, 0.08 * len(boxes)):
            return narrow
        if notes[halves].mean() > 0.8 and notes[stems].mean() < 0.2:
            return notes
    split: Booleans = np.less_equal(boxes.width, _split_widths(boxes.width, boxes.height))
    return split


def _split_widths(widths: Floats, weights: Floats) -> float:
    """The border between two distinct widths, one about half of the other; else 0."""
    order = np.argsort(widths, kind="stable")
    values, shares = widths[order], weights[order]
    total = shares.sum()
    if len(values) < 4 or not total > 0:
        return 0.0
    below = np.cumsum(shares)[:-1] / total
    sums = np.cumsum(shares * values)
    low = sums[:-1] / np.maximum(np.cumsum(shares)[:-1], 1e-300)
    high = (sums[-1] - sums[:-1]) / np.maximum(total - np.cumsum(shares)[:-1], 1e-300)
    between = below * (1 - below) * (high - low) ** 2
    cut = int(np.argmax(between))
    distinct = 1.5 * low[cut] <= high[cut] <= 2.7 * low[cut]
    if not distinct or not 0.1 <= below[cut] <= 0.9:
        return 0.0
    return float(np.sqrt(low[cut] * high[cut]))
