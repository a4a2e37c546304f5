"""Ink detection: grey values, the local paper grey, and marks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

LONG_SIDE = 1600
"""Pixels: columns of thirty characters still have 50 pixels per character."""

STEP = 2
"""Sampling step in pixels, in both directions."""

Grey = NDArray[np.float32]

_BLOCK = 32
"""Size in pixels of the blocks in which the paper's own grey is estimated."""

_NINETIETH = 9 * ((_BLOCK // STEP) ** 2 - 1) // 10
"""Index of the lower of the two sampled values of a block between which 90 in 100 of them lie."""

_AROUND = 5
"""Width in blocks of the neighbourhood that determines the paper's grey at a place."""

_MARK = 0.15
"""Minimum difference in grey between a mark and the paper."""

_TURNED = 0.4
"""An image with a darker median is light on dark."""


class Page(NamedTuple):
    """An image with dark writing on light, 0 to 1; `turned` if it was inverted."""

    grey: Grey
    turned: bool


def to_grey(image: Image.Image) -> Grey:
    """Grey values, 0 to 1, the longer side at most `LONG_SIDE`."""
    grey = image.convert("L")
    scale = LONG_SIDE / max(grey.size)
    if scale < 1:
        size = (max(1, round(grey.width * scale)), max(1, round(grey.height * scale)))
        grey = grey.resize(size, Image.Resampling.BOX)
    return np.asarray(grey, np.float32) / np.float32(255)


def dark_on_light(grey: Grey) -> Page:
    """The image with its values inverted where it is mostly dark, as a rubbing is."""
    turned = bool(np.median(grey[::STEP, ::STEP]) < _TURNED)
    return Page(1 - grey if turned else grey, turned)


def estimate_paper(page: Grey) -> Grey:
    """The local grey of the paper: that of the lighter parts of the surroundings."""
    import cv2  # noqa: PLC0415 - slow to import

    height, width = page.shape
    rows, columns = -(-height // _BLOCK), -(-width // _BLOCK)
    padded = np.pad(page, ((0, rows * _BLOCK - height), (0, columns * _BLOCK - width)), mode="edge")
    blocks = padded.reshape(rows, _BLOCK, columns, _BLOCK).swapaxes(1, 2)
    some = blocks[:, :, ::STEP, ::STEP].reshape(rows, columns, -1)
    # The 90th percentile. Sorting takes an eighth of the time of np.percentile's own selection.
    two = np.sort(some, axis=2)[:, :, _NINETIETH : _NINETIETH + 2]
    light = np.percentile(two, 50, axis=2).astype(np.float32)
    around = cv2.dilate(light, np.ones((_AROUND, _AROUND), np.uint8))
    smooth = Image.fromarray(around).resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(smooth)


def find_marks(page: Grey, paper: Grey) -> NDArray[np.bool_]:
    """The pixels that are clearly darker than the paper around them."""
    marks: NDArray[np.bool_] = page < paper - _MARK
    return marks
