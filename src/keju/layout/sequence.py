"""Reading order inside one column: rows from top to bottom, in a row from right to left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keju.layout.boxes import Boxes, Floats

_MAX_OVERLAP = 0.35
"""Boxes may overlap by this share of a character without being side by side."""

_MAX_CLEAR_OVERLAP = 0.2
"""The same, where lines must be shown to be in separate rows."""

_BREAK = 1.5
"""Gap between two pieces of a broken note, in widths of its rows."""

_DEEPEST = 40


def order_column(boxes: Boxes, members: Sequence[int]) -> list[int]:
    """The reading order of the boxes of one column.

    The column is cut into bands entirely below each other, a band into rows entirely beside each
    other, a row into bands again, and so on: main text, then the right and the left half of a note,
    then main text. Two note bands that touch are one note whose lines were both broken there. Boxes
    that no cut can separate are ordered by their centres.
    """
    return _bands(boxes, list(members), 0)


def _bands(boxes: Boxes, members: list[int], depth: int) -> list[int]:
    if len(members) < 2:
        return members
    bands = _mend_notes(boxes, _part(members, *_tall(boxes, members)))
    if len(bands) == 1:
        return _rows(boxes, members, depth)
    return [place for band in bands for place in _rows(boxes, band, depth)]


def _rows(boxes: Boxes, members: list[int], depth: int) -> list[int]:
    if len(members) < 2:
        return members
    rows = _part(members, *_wide(boxes, members, _MAX_OVERLAP))[::-1]
    if len(rows) == 1 or depth > _DEEPEST:
        return sorted(members, key=lambda at: (boxes.cy[at], -boxes.cx[at], at))
    return [place for row in rows for place in _bands(boxes, row, depth + 1)]


def _tall(boxes: Boxes, members: Sequence[int]) -> tuple[Floats, Floats]:
    """Vertical extents, reduced by a share of a character at both ends."""
    some = boxes.take(members)
    inset = _MAX_OVERLAP * np.minimum(some.width, some.height)
    return some.y0 + inset, some.y1 - inset


def _wide(boxes: Boxes, members: Sequence[int], soft: float) -> tuple[Floats, Floats]:
    """Horizontal extents, reduced in the same way."""
    some = boxes.take(members)
    return some.x0 + soft * some.width, some.x1 - soft * some.width


def _part(members: Sequence[int], low: Floats, high: Floats) -> list[list[int]]:
    """Divide members into groups whose extents do not overlap, in ascending order."""
    order = np.lexsort((high, low))
    groups: list[list[int]] = []
    end = -np.inf
    for at in order:
        if not groups or low[at] >= end:
            groups.append([])
            end = high[at]
        groups[-1].append(members[at])
        end = max(end, high[at])
    return groups


def _mend_notes(boxes: Boxes, bands: list[list[int]]) -> list[list[int]]:
    """Join bands that are pieces of one double-row note, broken at the same height."""
    joined: list[list[int]] = []
    for band in bands:
        if joined and _goes_on(boxes, joined[-1], band):
            joined[-1] = joined[-1] + band
        else:
            joined.append(band)
    return joined


def _goes_on(boxes: Boxes, upper: list[int], lower: list[int]) -> bool:
    """Whether two adjacent bands continue the same two or more rows."""
    over, under = boxes.take(upper), boxes.take(lower)
    width = float(np.median(np.concatenate([over.width, under.width])))
    if under.y0.min() - over.y1.max() > _BREAK * width:
        return False
    rows, below, both = (_clear_rows(boxes, some) for some in (upper, lower, upper + lower))
    shared = all(set(row) & set(upper) and set(row) & set(lower) for row in both)
    return shared and 1 < len(rows) == len(below) == len(both)


def _clear_rows(boxes: Boxes, members: list[int]) -> list[list[int]]:
    return _part(members, *_wide(boxes, members, _MAX_CLEAR_OVERLAP))
