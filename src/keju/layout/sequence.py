"""Reading order inside one column: rows from top to bottom, in a row from right to left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keju.layout.boxes import Boxes

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
    bands: list[list[int]] = []
    for band in _part(boxes, members, _MAX_OVERLAP, across=False):
        if bands and _goes_on(boxes, bands[-1], band):
            bands[-1] = bands[-1] + band
        else:
            bands.append(band)
    return [place for band in bands for place in _rows(boxes, band, depth)]


def _rows(boxes: Boxes, members: list[int], depth: int) -> list[int]:
    if len(members) < 2:
        return members
    rows = _part(boxes, members, _MAX_OVERLAP, across=True)[::-1]
    if len(rows) == 1 or depth > _DEEPEST:
        return sorted(members, key=lambda at: (boxes.cy[at], -boxes.cx[at], at))
    return [place for row in rows for place in _bands(boxes, row, depth + 1)]


def _part(boxes: Boxes, members: Sequence[int], overlap: float, *, across: bool) -> list[list[int]]:
    """Divide members into groups beside each other, or below each other, in ascending order.

    Boxes of two groups overlap at most by a share of a character at either end.
    """
    some = boxes.take(members)
    if across:
        low, high = some.x0 + overlap * some.width, some.x1 - overlap * some.width
    else:
        inset = overlap * np.minimum(some.width, some.height)
        low, high = some.y0 + inset, some.y1 - inset
    groups: list[list[int]] = []
    end = -np.inf
    for at in np.lexsort((high, low)):
        if not groups or low[at] >= end:
            groups.append([])
            end = high[at]
        groups[-1].append(members[at])
        end = max(end, high[at])
    return groups


def _goes_on(boxes: Boxes, upper: list[int], lower: list[int]) -> bool:
    """Whether two adjacent bands are pieces of one note: they continue the same two or more rows.

    Its lines were broken at the same height.
    """
    over, under = boxes.take(upper), boxes.take(lower)
    width = float(np.median(np.concatenate([over.width, under.width])))
    if under.y0.min() - over.y1.max() > _BREAK * width:
        return False
    upper_rows, lower_rows, rows = (
        _part(boxes, band, _MAX_CLEAR_OVERLAP, across=True)
        for band in (upper, lower, upper + lower)
    )
    shared = all(set(row) & set(upper) and set(row) & set(lower) for row in rows)
    return shared and 1 < len(upper_rows) == len(lower_rows) == len(rows)
