"""``baseline:components``: characters as connected components of ink."""

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
from keju.models.lru import LruCache
from keju.models.request_pixels import grey_image
from keju.outlines import Grey, border_level
from keju.texts import _

_BOARD = 0.25
"""Share of the image: a foreground object of at least this size is a bone or plastron."""
_AROUND = 1 / 6
"""Share of the board's side: the radius within which the surface is assumed to be evenly bright."""
_SPECK, _CRACK = 0.012, 0.5
"""Shares of the board's side: shorter components are dirt, longer ones a crack or the board's rim.
"""
_STROKE, _GAP, _SMALL = 0.15, 0.12, 0.4
"""Shares of the usual length, which covers half of the ink: shorter components are not strokes;
strokes at most this far apart are one character; shorter groups of ink are not characters."""

Boxes = tuple[tuple[int, int, int, int], ...]
Mask = NDArray[np.uint8]


class Components(Baseline):
    """Connected components of ink, with near ones joined: their boxes, or their number.

    Ink is what differs from the surface around it in grey by Otsu's threshold, lighter or darker,
    whichever differs more strongly. The constants are round numbers that worked both on the bundled
    set's synthetic bones and on boards of Oracle-MNIST's crops.
    """

    def __init__(self, options: ModelOptions) -> None:
        del options
        self._kept: LruCache[Boxes] = LruCache(256)
        sizes = (_BOARD, _AROUND, _SPECK, _CRACK, _STROKE, _GAP, _SMALL)
        super().__init__("components", sizes=", ".join(f"{size:.3g}" for size in sizes))

    def unsupported_reason(self, request: Request) -> str:
        """Supports only counts and boxes of one image."""
        if request.form not in {"number", "boxes"}:
            return _("components only counts and gives boxes")
        return "" if len(request.images) == 1 else _("components looks at one image")

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        """The boxes from top to bottom, in the requested convention, or their number.

        Raises:
            AskError: the image cannot be read.
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
    """Boxes of the writing: left, top, right, bottom in pixels, the right and bottom exclusive."""
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
    """A mask of the ink, as 255."""
    smooth = cv2.medianBlur(grey, 3).astype(np.float32)
    weight, around = inside.astype(np.float32), (1 + 2 * round(_AROUND * side),) * 2
    apart = smooth - cv2.blur(smooth * weight, around) / np.maximum(cv2.blur(weight, around), 1e-3)
    # Cubes: a little ink with a strong contrast outweighs much unevenness of the surface.
    bright = (np.clip(apart[inside], 0, None) ** 3).mean()
    dark = (np.clip(-apart[inside], 0, None) ** 3).mean()
    strong = np.clip(apart if bright > dark else -apart, 0, 255).astype(np.uint8)
    threshold, _ = cv2.threshold(strong[inside], 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return np.where(inside & (strong > max(threshold, 1)), 255, 0).astype(np.uint8)


def _usual(lengths: NDArray[np.int32], weights: NDArray[np.int32]) -> float:
    """The weighted median of the lengths, which many specks do not change."""
    order = np.argsort(lengths, kind="stable")
    cumulative = np.cumsum(weights[order])
    return float(lengths[order][np.searchsorted(cumulative, cumulative[-1] / 2)])


def _row(numbers: Sequence[float]) -> str:
    return f"[{', '.join(f'{number:.6g}' for number in numbers)}]"


def _board(grey: Grey) -> Mask:
    """The writing surface: the one large foreground object, else the whole image."""
    apart: Any = np.abs(grey.astype(np.int16) - border_level(grey)).astype(np.uint8)
    _, separated = cv2.threshold(apart, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    found, _ = cv2.findContours(separated, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
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
