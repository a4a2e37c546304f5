"""``baseline:hog``: similarity of characters by histograms of oriented gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from keju.models.base import ModelOptions
from keju.models.baselines.pairs import PairBaseline
from keju.outlines import Grey, border_level

SIDE, CELL, BINS, BLOCK = 48, 8, 9, 2
"""Pixels of the square to which an image is scaled and of a cell, directions over half a turn,
cells of a block's side (Dalal and Triggs 2005; the square is ours)."""

_CLIP = 0.2
_SMALL = 1e-3
_THRESHOLD = 0.66

Descriptor = NDArray[np.float32]


class Hog(PairBaseline[Descriptor]):
    """The cosine of two descriptors; for candidates of classes.

    Ranked by it, a query's candidates are its nearest neighbours. The declared threshold is that
    of greatest balanced accuracy over pairs of Oracle-MNIST's crops.
    """

    def __init__(self, options: ModelOptions) -> None:
        super().__init__(
            "hog",
            options,
            candidates="classes",
            threshold=_THRESHOLD,
            descriptor=f"side {SIDE}, cell {CELL}, bins {BINS}, block {BLOCK}",
        )

    def describe(self, grey: Grey) -> Descriptor:
        """Bright ink on dark, in a square, as a vector of length 1."""
        return descriptor(_square(grey))

    def compare(self, one: Descriptor, other: Descriptor) -> float:
        """The cosine; descriptors have no negative values, so it is in 0..1."""
        return min(1.0, float(one @ other))


def descriptor(grey: Grey) -> Descriptor:
    """The histograms of an image whose sides are multiples of `CELL`, as one unit vector.

    Square roots of the grey values, simple differences, votes divided between the two nearest
    directions, overlapping blocks normalised to length 1, clipped and normalised again. An image
    without any edge gives a vector of zeros.
    """
    level = np.sqrt(grey.astype(np.float32) / 255)
    down, across = np.gradient(level)
    size = np.hypot(down, across)
    turn = np.arctan2(down, across) % np.pi * (BINS / np.pi) - 0.5
    low = np.floor(turn)
    share = turn - low
    rows, columns = (length // CELL for length in grey.shape)
    cell = np.arange(grey.shape[0])[:, None] // CELL * columns + np.arange(grey.shape[1]) // CELL
    first = cell * BINS + low.astype(int) % BINS
    second = cell * BINS + (low.astype(int) + 1) % BINS
    total = rows * columns * BINS
    votes = _votes(first, size * (1 - share), total) + _votes(second, size * share, total)
    blocks = np.lib.stride_tricks.sliding_window_view(
        votes.reshape(rows, columns, BINS), (BLOCK, BLOCK), axis=(0, 1)
    ).reshape(-1, BINS * BLOCK * BLOCK)
    blocks = np.minimum(_scaled(blocks), _CLIP)
    whole = _scaled(blocks).ravel()
    return (whole / max(float(np.linalg.norm(whole)), _SMALL)).astype(np.float32)


def _votes(
    place: NDArray[np.int64], weight: NDArray[np.float32], total: int
) -> NDArray[np.float64]:
    return np.asarray(np.bincount(place.ravel(), weight.ravel(), total), dtype=np.float64)


def _scaled(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = blocks / np.sqrt((blocks**2).sum(axis=1, keepdims=True) + _SMALL)
    return scaled


def _square(grey: Grey) -> Grey:
    """The image padded to a square with its border's grey, bright on dark, `SIDE` wide."""
    behind = border_level(grey)
    if behind > 127:
        grey, behind = 255 - grey, 255 - behind
    height, width = grey.shape
    side = max(height, width)
    canvas = Image.new("L", (side, side), behind)
    canvas.paste(Image.fromarray(grey), ((side - width) // 2, (side - height) // 2))
    return np.asarray(canvas.resize((SIDE, SIDE), Image.Resampling.BILINEAR))
