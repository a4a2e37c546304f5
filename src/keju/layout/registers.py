"""Registers: a page (or leaf) divided horizontally into registers, each with columns of its own."""

from __future__ import annotations

import numpy as np

from keju.layout.boxes import Boxes
from keju.layout.column_grid import ColumnGrid, measure_column_grid
from keju.layout.columns import divide

_FEWEST = 5
"""The minimum number of columns in a register."""

_MIN_IMPROVEMENT = 0.015
"""Minimum improvement of the fit by two registers over one, in `misfit` per column."""

_INSET = 0.35
"""The share of a box's size by which it may reach over a height that divides registers."""

_GAPS = 3
"""The number of widest gaps that are tried."""

_GUTTER = 0.5
"""Minimum difference between a gutter and the usual blank between columns, in column widths."""


def split_registers(boxes: Boxes, grid: ColumnGrid) -> list[list[int]]:
    """Indices of the boxes of each register in reading order; all in one where there is one only.

    A gap at one height in all columns is not evidence of registers: lists, tables of contents and
    verse have it and are read column by column. The evidence is that columns are not aligned below
    each other, so that no vertical cut fits both. In a spread each leaf has registers of its own,
    right leaf first.

    Source: our reading.
    """
    everything = list(range(len(boxes)))
    if len(boxes) < 2 * _FEWEST:
        return [everything]
    leaves = _leaves(boxes, grid)
    registers = [found for leaf in leaves for found in _registers(boxes, leaf)]
    return registers if len(registers) > len(leaves) else [everything]


def _registers(boxes: Boxes, leaf: list[int]) -> list[list[int]]:
    """A leaf's boxes, divided recursively at the height where the columns fit best."""
    best, improvement = None, _MIN_IMPROVEMENT
    for upper, lower in _gaps(boxes, leaf):
        improved = _improvement(boxes, leaf, upper, lower)
        if improved > improvement:
            best, improvement = (upper, lower), improved
    if best is None:
        return [leaf]
    return _registers(boxes, best[0]) + _registers(boxes, best[1])


def _improvement(boxes: Boxes, leaf: list[int], upper: list[int], lower: list[int]) -> float:
    """How much better columns fit if they are divided above and below separately, per column."""
    parts = [boxes.take(upper), boxes.take(lower)]
    grids = [measure_column_grid(part) for part in parts]
    divided = [divide(part, grid) for part, grid in zip(parts, grids, strict=True)]
    columns = min(each.occupied(part) for each, part in zip(divided, parts, strict=True))
    if columns < _FEWEST:
        return 0.0
    heights = [float(part.y1.max() - part.y0.min()) for part in parts]
    apart = [division.misfit for division in divided]
    both = boxes.take(leaf)
    plain = [ColumnGrid(grid.column_width, grid.line_width, ()) for grid in grids]
    together = min(divide(both, grid).misfit for grid in (measure_column_grid(both), *plain))
    return (together - float(np.average(apart, weights=heights))) / columns


def _gaps(boxes: Boxes, leaf: list[int]) -> list[tuple[list[int], list[int]]]:
    """The divisions of boxes into those entirely above a height and those entirely below it."""
    some = boxes.take(leaf)
    inset = _INSET * np.minimum(some.width, some.height)
    top, bottom = some.y0 + inset, some.y1 - inset
    order = np.argsort(top, kind="stable")
    reached = np.maximum.accumulate(bottom[order])
    free = np.flatnonzero(top[order][1:] >= reached[:-1]) + 1
    free = free[(free >= _FEWEST) & (free <= len(leaf) - _FEWEST)]
    widest = np.argsort(reached[free - 1] - top[order][free], kind="stable")
    free = np.sort(free[widest[:_GAPS]])
    return [
        ([leaf[at] for at in order[:cut]], [leaf[at] for at in order[cut:]])
        for cut in free.tolist()
    ]


def _leaves(boxes: Boxes, grid: ColumnGrid) -> list[list[int]]:
    """The two leaves of a spread, right leaf first, by the widest blank near the middle."""
    low, high = float(boxes.x0.min()), float(boxes.x1.max())
    order = np.argsort(boxes.x0, kind="stable")
    reached = np.maximum.accumulate(boxes.x1[order])
    blank = boxes.x0[order][1:] - reached[:-1]
    middle = (boxes.x0[order][1:] + reached[:-1]) / 2
    central = np.abs(middle - (low + high) / 2) < 0.15 * (high - low)
    wide = np.flatnonzero(central & (blank > np.median(blank) + _GUTTER * grid.column_width))
    if not len(wide):
        return [list(range(len(boxes)))]
    cut = int(wide[np.argmax(blank[wide])]) + 1
    return [sorted(order[cut:].tolist()), sorted(order[:cut].tolist())]
