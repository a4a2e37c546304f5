"""Detection of halves of double-row notes (雙行夾注), by geometry alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keju.layout.boxes import Boxes
from keju.layout.column_grid import ColumnGrid
from keju.layout.columns import Column

_HALF = 0.75
"""The maximum width of half a note, as a share of a column width."""

_MOST = 1_000
"""A column with more half-width lines than this is not a text column."""

_SMALL, _ASIDE = 0.68, 0.12
"""The maximum width of a single half, as a share of a full line, and its minimum distance from the
column's middle."""


def find_notes(boxes: Boxes, columns: Sequence[Column], grid: ColumnGrid) -> set[int]:
    """The indices of lines that are half-width and beside another such line in a column.

    A single half-width line is a note too where it is at one side of a column with other text: its
    second row is short or missing.
    """
    return {place for column in columns for place in _in_column(boxes, column, grid)}


def _in_column(boxes: Boxes, column: Column, grid: ColumnGrid) -> set[int]:
    own = boxes.take(column.members)
    narrow = np.flatnonzero(own.width <= _HALF * grid.column_width)
    if len(narrow) > _MOST:
        return set()
    half = own.take(narrow)
    half_lines = narrow[[bool(half.beside(at).any()) for at in range(len(half))]]
    whole = np.delete(np.arange(len(own)), narrow)
    if len(whole) or len(half_lines):
        pair = own.take(half_lines)
        middle = np.median(own.cx[whole]) if len(whole) else (pair.x0.min() + pair.x1.max()) / 2
        small = own.width < _SMALL * grid.line_width
        alone = np.flatnonzero(small & (np.abs(own.cx - middle) > _ASIDE * grid.column_width))
        half_lines = np.union1d(half_lines, alone)
    return {column.members[at] for at in half_lines.tolist()}
