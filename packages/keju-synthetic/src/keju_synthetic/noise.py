"""Smooth random fields, the same on every machine.

Pixels depend only on integer draws, Pillow's resampling and single additions, multiplications and
comparisons, which IEEE 754 rounds exactly: no exp, sin, matrix product or sum over many values,
whose last bit differs between processors.
"""

from __future__ import annotations

import zlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Plane: TypeAlias = NDArray[np.floating[Any]]
"""Height × width, 32-bit values mostly in 0..1."""


def make_generator(seed: int, *names: str) -> np.random.Generator:
    """A random generator for these names, so that a new image does not change another one."""
    return np.random.Generator(np.random.PCG64([seed, *(zlib.crc32(n.encode()) for n in names)]))


def make_noise(
    rng: np.random.Generator, shape: tuple[int, int], cell: float, *, stretch: float = 1.0
) -> Plane:
    """A smooth random field of values in 0..1, uniformly distributed at its knots.

    Args:
        rng: the random generator of the values.
        shape: height and width in pixels.
        cell: distance of the knots in pixels across; the grain of the field.
        stretch: how many times longer than wide the grain is, downwards.
    """
    height, width = shape
    rows = int(height / (cell * stretch)) + 4
    columns = int(width / cell) + 4
    knots = rng.integers(0, 256, size=(rows, columns), dtype=np.uint8)
    full = (max(width, round(columns * cell)), max(height, round(rows * cell * stretch)))
    image = Image.fromarray(knots).resize(full, Image.Resampling.BICUBIC)
    return to_plane(image.crop((0, 0, width, height)))


def to_plane(image: Image.Image) -> Plane:
    """An 8-bit image as values in 0..1."""
    return np.asarray(image, dtype=np.float32) / np.float32(255)


def to_image(plane: Plane) -> Image.Image:
    """Values in 0..1 as an 8-bit image."""
    return Image.fromarray((np.clip(plane, 0, 1) * 255 + 0.5).astype(np.uint8))


def ramp(plane: Plane, low: float, high: float) -> Plane:
    """0 below `low`, 1 above `high`, linear between."""
    slope: Plane = np.clip((plane - low) / (high - low), 0, 1).astype(np.float32)
    return slope
