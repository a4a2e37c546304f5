"""Placement of crops of characters on a ground in columns, with the box of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from keju.errors import DataError
from keju.items import Box
from keju.messages import message
from keju_synthetic.bones.pieces import erode_mask
from keju_synthetic.noise import Plane, ramp, to_image, to_plane

_TRIES = 240
"""Number of places that are tried for a passage."""


class Inscription(NamedTuple):
    """Writing on a ground: its strokes, and the box of each crop in the order of the crops.

    `columns` are the places of the crops, column by column as they are read.
    """

    strokes: Plane
    boxes: tuple[Box, ...]
    columns: tuple[tuple[int, ...], ...]


def place_inscriptions(
    passages: Sequence[Sequence[Image.Image]],
    ground: Plane,
    rng: np.random.Generator,
    *,
    leftwards: bool = True,
    gap: float = 0.16,
    keep_off: Plane | None = None,
) -> Inscription | None:
    """Set passages of crops in columns, each passage in a block of its own.

    Args:
        passages: masks of characters, white strokes on black, as large as they are to be.
        ground: where there is room, 0..1; crops keep off its edge.
        rng: the random generator.
        leftwards: columns follow from right to left, else from left to right.
        gap: mean distance of crops, in parts of the largest crop's side.
        keep_off: places to leave empty, 0..1.

    Returns:
        The writing, or None where the crops do not all fit at their size.
    """
    crops = [crop for passage in passages for crop in passage]
    board = np.zeros_like(ground)
    if not crops:
        return Inscription(board, (), ())
    side = max(max(crop.size) for crop in crops)
    free = erode_mask(ground, side * 0.2) > 0.5
    if keep_off is not None:
        free &= keep_off < 0.3
    boxes: list[Box] = []
    columns: list[tuple[int, ...]] = []
    for passage in passages:
        block = _find_room(passage, free, rng, side * gap, leftwards=leftwards)
        if block is None:
            return None
        for column in block:
            columns.append(tuple(range(len(boxes), len(boxes) + len(column))))
            boxes += [_stamp(board, passage[number], at) for number, at in column]
            for number, (x, y) in column:
                wide, high = passage[number].size
                around = round(side * gap)
                free[max(0, y - around) : y + high + around,
                     max(0, x - around) : x + wide + around] = False  # fmt: skip
    return Inscription(board, tuple(boxes), tuple(columns))


def extract_strokes(crop: Image.Image) -> Image.Image:
    """The strokes of a crop, as `place_inscriptions` needs them: white on black, cropped to them.

    Pixels on the strokes' side of the middle grey become strokes. The ground is the median along
    the rim, so that both rubbings and copies by hand can be used.

    Raises:
        DataError: the crop is of one tone.
    """
    grey = to_plane(ImageOps.autocontrast(crop.convert("L"), cutoff=1))
    rim = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    dark_ground = float(np.median(rim)) < 0.5
    strokes = ramp(grey if dark_ground else 1 - grey, 0.45, 0.75)
    mask = to_image(strokes)
    box = mask.point(lambda value: 255 if value > 127 else 0).getbbox()
    if box is None or float(grey.max()) == float(grey.min()):
        raise DataError(message("synthetic.crop-without-strokes"))
    return mask.crop(box)


At = tuple[int, int]
Block = list[list[tuple[int, At]]]
"""Columns of crops, each with its number and the place of its upper left corner."""


def _find_room(
    passage: Sequence[Image.Image],
    free: NDArray[np.bool_],
    rng: np.random.Generator,
    gap: float,
    *,
    leftwards: bool,
) -> Block | None:
    """A block in which the whole passage is on free ground; long columns are tried first."""
    room = _FreeArea(free)
    if room.width < 1 or not free.any():
        return None
    longest = len(passage)
    for attempt in range(_TRIES):
        most = max(2, longest - attempt * longest // _TRIES)
        x, y = float(rng.random()) * room.width, float(rng.random()) * room.height * 0.8
        block = _make_block(passage, (x, y), most, gap, rng, leftwards=leftwards)
        if all(room.is_free(at, passage[number].size) for column in block for number, at in column):
            return block
    return None


def _make_block(
    passage: Sequence[Image.Image],
    corner: tuple[float, float],
    most: int,
    gap: float,
    rng: np.random.Generator,
    *,
    leftwards: bool,
) -> Block:
    """Columns of about equal length, `most` at the longest, from the upper corner onwards."""
    columns = -(-len(passage) // most)
    lengths = [
        len(passage) * (n + 1) // columns - len(passage) * n // columns for n in range(columns)
    ]
    block: Block = []
    x, first = corner[0], 0
    for length in lengths:
        numbers = range(first, first + length)
        wide = max(passage[number].width for number in numbers)
        middle = x - wide / 2 if leftwards else x + wide / 2
        y = corner[1] + gap * float(rng.random())
        column = []
        for number in numbers:
            crop = passage[number]
            sway = (float(rng.random()) - 0.5) * gap
            column.append((number, (round(middle - crop.width / 2 + sway), round(y))))
            y += crop.height + gap * (0.6 + 0.8 * float(rng.random()))
        block.append(column)
        x += (wide + 1.4 * gap) * (-1 if leftwards else 1)
        first += length
    return block


class _FreeArea:
    """A fast test whether a rectangle is free (summed-area table)."""

    def __init__(self, free: NDArray[np.bool_]) -> None:
        self.height, self.width = free.shape
        self._sums: NDArray[np.int64] = np.zeros((self.height + 1, self.width + 1), np.int64)
        self._sums[1:, 1:] = free.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)

    def is_free(self, at: At, size: tuple[int, int]) -> bool:
        """Whether all pixels of a rectangle are free."""
        (x0, y0), (wide, high) = at, size
        x1, y1 = x0 + wide, y0 + high
        if x0 < 0 or y0 < 0 or x1 > self.width or y1 > self.height:
            return False
        s = self._sums
        return int(s[y1, x1] - s[y0, x1] - s[y1, x0] + s[y0, x0]) == wide * high


def _stamp(board: Plane, crop: Image.Image, at: At) -> Box:
    x, y = at
    strokes = to_plane(crop.convert("L"))
    part = board[y : y + crop.height, x : x + crop.width]
    np.maximum(part, strokes, out=part)
    return Box(x0=float(x), y0=float(y), x1=float(x + crop.width), y1=float(y + crop.height))
