"""Putting crops of characters onto a ground in columns, with the box of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from keju.building.bones.pieces import inner
from keju.building.noise import Plane, unit
from keju.items import Box


class Inscription(NamedTuple):
    """Writing on a ground: its strokes, and the box of each crop in the order of the crops.

    `columns` are the places of the crops, column by column as they are read.
    """

    strokes: Plane
    boxes: tuple[Box, ...]
    columns: tuple[tuple[int, ...], ...]


def compose(
    passages: Sequence[Sequence[Image.Image]],
    ground: Plane,
    rng: np.random.Generator,
    *,
    leftwards: bool = True,
    gap: float = 0.16,
    keep_off: Plane | None = None,
) -> Inscription | None:
    """Set passages of crops in columns, each passage beginning a new column.

    Args:
        passages: masks of characters, white strokes on black, as large as they are to be.
        ground: where there is room, 0..1; crops keep off its edge.
        rng: where chance comes from.
        leftwards: columns follow from right to left, else from left to right.
        gap: least distance of crops, in parts of the largest crop's side.
        keep_off: places to leave empty, 0..1.

    Returns:
        The writing, or None where the crops do not all find room at their size.
    """
    crops = [crop for passage in passages for crop in passage]
    if not crops:
        return Inscription(np.zeros_like(ground), (), ())
    side = max(max(crop.size) for crop in crops)
    room = _Room(ground, side * 0.2, keep_off)
    board = np.zeros_like(ground)
    boxes: list[Box] = []
    columns: list[tuple[int, ...]] = []
    step = side * (1 + gap)
    width = ground.shape[1]
    x = side * (0.5 + 0.4 * float(rng.random()))
    for passage in passages:
        left = list(range(len(boxes), len(boxes) + len(passage)))
        while left:
            if x > width - side / 2:
                return None
            middle = width - x if leftwards else x
            put = _column(crops, left, room, middle, side * gap, rng)
            if len(put) >= min(2, len(left)):
                boxes += [_stamp(board, crops[number], at) for number, at in put]
                columns.append(tuple(number for number, _ in put))
                left = left[len(put) :]
            x += step if put else side * 0.25
        x += side * gap
    return Inscription(board, tuple(boxes), tuple(columns))


class _Room:
    """Answers quickly whether a rectangle is free, from sums over the upper left."""

    def __init__(self, ground: Plane, margin: float, keep_off: Plane | None) -> None:
        free = inner(ground, margin) > 0.5
        if keep_off is not None:
            free &= keep_off < 0.3
        self.height, self.width = free.shape
        self._sums: NDArray[np.int64] = np.zeros((self.height + 1, self.width + 1), np.int64)
        self._sums[1:, 1:] = free.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)

    def holds(self, x: int, y: int, size: tuple[int, int]) -> bool:
        x1, y1 = x + size[0], y + size[1]
        if x < 0 or y < 0 or x1 > self.width or y1 > self.height:
            return False
        s = self._sums
        return int(s[y1, x1] - s[y, x1] - s[y1, x] + s[y, x]) == size[0] * size[1]


At = tuple[int, int]


def _column(
    crops: Sequence[Image.Image],
    left: Sequence[int],
    room: _Room,
    middle: float,
    gap: float,
    rng: np.random.Generator,
) -> list[tuple[int, At]]:
    """As many of the crops as find room one below the other around `middle`."""
    put: list[tuple[int, At]] = []
    y = float(rng.random()) * gap
    for number in left:
        crop = crops[number]
        sway = (float(rng.random()) - 0.5) * gap
        x = round(middle - crop.width / 2 + sway)
        while y + crop.height <= room.height and not room.holds(x, round(y), crop.size):
            if put and y > put[-1][1][1] + crops[put[-1][0]].height + 4 * gap:
                return put
            y += max(2.0, gap / 3)
        if y + crop.height > room.height:
            break
        put.append((number, (x, round(y))))
        y = round(y) + crop.height + gap * (0.7 + 0.6 * float(rng.random()))
    return put


def _stamp(board: Plane, crop: Image.Image, at: At) -> Box:
    x, y = at
    strokes = unit(crop.convert("L"))
    part = board[y : y + crop.height, x : x + crop.width]
    np.maximum(part, strokes, out=part)
    return Box(x0=float(x), y0=float(y), x1=float(x + crop.width), y1=float(y + crop.height))
