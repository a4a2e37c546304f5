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
from keju.models.pictures import Grey, border_level, grey_image
from keju.models.recent import Recent

_BOARD = 0.25
"""Of the image: what stands out from the ground and is as large is a bone or plastron."""
_SPECK, _CRACK = 0.012, 0.5
"""Of the board's side: what is no longer than that on its longer side is dirt, what is longer is a
crack or the board's rim."""
_GAP = 0.25
"""Of a component's usual side: strokes as near as that are of one character."""

Boxes = tuple[tuple[int, int, int, int], ...]
Mask = NDArray[np.uint8]


class Components(Baseline):
    """Connected components of ink, near ones joined: their boxes, or how many they are.

    Ink is what differs from the board in grey, either way, by Otsu's threshold. The constants were
    chosen by eye and not fitted to any benchmark.
    """

    def __init__(self, options: ModelOptions) -> None:
        del options
        self._kept: Recent[Boxes] = Recent(256)
        super().__init__(
            "components", board=str(_BOARD), speck=str(_SPECK), crack=str(_CRACK), gap=str(_GAP)
        )

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
    board = _board(grey)
    inside = board > 0
    level = int(np.median(grey[inside]))
    apart: Any = np.abs(grey.astype(np.int16) - level).astype(np.uint8)
    threshold, _ = cv2.threshold(apart[inside], 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    ink = np.where(inside & (apart > max(threshold, 1)), 255, 0).astype(np.uint8)
    side = float(np.sqrt(inside.sum()))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink)
    longer = stats[:, 2:4].max(axis=1)
    kept = (longer > _SPECK * side) & (longer < _CRACK * side)
    kept[0] = False
    if not kept.any():
        return ()
    ink[~kept[labels]] = 0
    gap = max(1, round(_GAP * float(np.median(longer[kept]))))
    joined = cv2.dilate(ink, np.ones((gap, gap), np.uint8))
    _, groups = cv2.connectedComponents(joined)
    return tuple(sorted(_boxes_of(ink, groups), key=lambda box: (box[1], box[0])))


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
    return np.asarray(cv2.erode(board, np.ones((rim, rim), np.uint8)), dtype=np.uint8)


def _boxes_of(ink: Mask, groups: NDArray[np.int32]) -> Iterator[tuple[int, int, int, int]]:
    """The box of each group's ink."""
    rows, columns = np.nonzero(ink)
    group = groups[rows, columns]
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    for places in np.split(order, starts[1:]):
        y, x = rows[places], columns[places]
        yield int(x.min()), int(y.min()), int(x.max()) + 1, int(y.max()) + 1
