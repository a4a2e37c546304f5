"""``baseline:components``: where there is ink, there is a character."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from keju.items import Request
from keju.metrics.boxes import box_convention, from_pixels
from keju.models.base import Answer, ModelOptions
from keju.models.baselines.base import Baseline
from keju.models.pictures import grey_image
from keju.models.recent import Recent
from keju.outlines import Grey, border_level

_BOARD = 0.25
"""Of the image: what stands out from the ground and is as large is a bone or plastron."""
_AROUND = 1 / 6
"""Of the board's side: as far around is the surface taken to be evenly bright."""
_SPECK, _CRACK = 0.012, 0.5
"""Of the board's side: what is no longer is dirt, what is longer is a crack or the board's rim."""
_STROKE, _GAP, _SMALL = 0.15, 0.12, 0.4
"""Of the usual length, in which half the ink is: what is shorter is no stroke; strokes as near are
of one character; joined ink that is shorter is none."""

Boxes = tuple[tuple[int, int, int, int], ...]
Mask = NDArray[np.uint8]


class Components(Baseline):
    """Connected components of ink, near ones joined: their boxes, or how many they are.

    Ink is what differs from the surface around it in grey by Otsu's threshold, lighter or darker,
    whichever differs more strongly. The constants are round numbers that served on the bundled
    set's synthetic bones and on boards of Oracle-MNIST's crops alike.
    """

    def __init__(self, options: ModelOptions) -> None:
        del options
        self._kept: Recent[Boxes] = Recent(256)
        sizes = (_BOARD, _AROUND, _SPECK, _CRACK, _STROKE, _GAP, _SMALL)
        super().__init__("components", sizes=", ".join(f"{size:.3g}" for size in sizes))

    def declines(self, request: Request) -> str:
        """Everything but counts and boxes of one image."""
        if request.form not in {"number", "boxes"}:
            return f"components counts and gives boxes, no answer of the form {request.form}"
        return "" if len(request.images) == 1 else "components looks at one image"

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The boxes from top to bottom, in the convention that was asked for, or their number.

        Raises:
            AskError: the image can't be read.
        """
        ref = request.images[0]
        boxes = await asyncio.to_thread(
            self._kept.get, ref.sha256, lambda: ink_boxes(grey_image(request, images, 0))
        )
        if request.form == "number":
            return Answer(text=str(len(boxes)))
        convention = box_convention(request.box_convention)
        rows = from_pixels(boxes, convention, width=ref.width, height=ref.height).tolist()
        return Answer(text=f"[{', '.join(map(_row, rows))}]")


def ink_boxes(grey: Grey) -> Boxes:
    """Boxes of what is written: left, top, right, bottom in pixels, the right and bottom open."""
    inside = _board(grey) > 0
    side = float(np.sqrt(inside.sum()))
    ink = _ink(grey, inside, side)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink)
    longer, area = stats[:, 2:4].max(axis=1), stats[:, 4]
    kept = (longer > _SPECK * side) & (longer < _CRACK * side)
    kept[0] = False
    if not kept.any():
        return ()
    usual = _usual(longer[kept], area[kept])
    ink[~(kept & (longer > _STROKE * usual))[labels]] = 0
    gap = max(1, round(_GAP * usual))
    _, groups = cv2.connectedComponents(cv2.dilate(ink, np.ones((gap, gap), np.uint8)))
    boxes = np.array(list(_boxes_of(ink, groups)))
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    longer = np.maximum(width, height)
    large = boxes[longer > _SMALL * _usual(longer, width * height)]
    return tuple(sorted(map(tuple, large.tolist()), key=lambda box: (box[1], box[0])))


def _ink(grey: Grey, inside: NDArray[np.bool_], side: float) -> Mask:
    """Where there is ink, as 255."""
    smooth = cv2.medianBlur(grey, 3).astype(np.float32)
    weight, around = inside.astype(np.float32), (1 + 2 * round(_AROUND * side),) * 2
    apart = smooth - cv2.blur(smooth * weight, around) / np.maximum(cv2.blur(weight, around), 1e-3)
    # Cubes: a little ink that is far from the surface outweighs much of its unevenness.
    bright = (np.clip(apart[inside], 0, None) ** 3).mean()
    dark = (np.clip(-apart[inside], 0, None) ** 3).mean()
    strong = np.clip(apart if bright > dark else -apart, 0, 255).astype(np.uint8)
    threshold, _ = cv2.threshold(strong[inside], 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return np.where(inside & (strong > max(threshold, 1)), 255, 0).astype(np.uint8)


def _usual(lengths: NDArray[np.int32], weights: NDArray[np.int32]) -> float:
    """The length up to which the lengths hold half the weight: many specks do not move it."""
    order = np.argsort(lengths, kind="stable")
    held = np.cumsum(weights[order])
    return float(lengths[order][np.searchsorted(held, held[-1] / 2)])


def _row(numbers: Sequence[float]) -> str:
    return f"[{', '.join(f'{number:.6g}' for number in numbers)}]"


def _board(grey: Grey) -> Mask:
    """What is written on: the one large thing that stands out from the ground, else everything."""
    apart: Any = np.abs(grey.astype(np.int16) - border_level(grey)).astype(np.uint8)
    _, stands = cv2.threshold(apart, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    found, _ = cv2.findContours(stands, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = max(found, key=cv2.contourArea, default=None)
    if largest is None or cv2.contourArea(largest) < _BOARD * grey.size:
        return np.full(grey.shape, 255, dtype=np.uint8)
    board: Mask = np.zeros(grey.shape, dtype=np.uint8)
    cv2.drawContours(board, [largest], -1, 255, cv2.FILLED)
    rim = max(3, round(_SPECK * min(grey.shape)))
    inner = np.asarray(cv2.erode(board, np.ones((rim, rim), np.uint8)), dtype=np.uint8)
    return inner if inner.any() else board


def _boxes_of(ink: Mask, groups: NDArray[np.int32]) -> Iterator[tuple[int, int, int, int]]:
    """The box of each group's ink."""
    rows, columns = np.nonzero(ink)
    group = groups[rows, columns]
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    for places in np.split(order, starts[1:]):
        y, x = rows[places], columns[places]
        yield int(x.min()), int(y.min()), int(x.max()) + 1, int(y.max()) + 1
