"""Printing of masks: ragged edges, faint patches, cracks, bleeding."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from keju_synthetic.noise import Plane, make_noise, ramp, to_plane
from keju_synthetic.wear import Wear


def press(
    mask: Image.Image,
    wear: Wear,
    rng: np.random.Generator,
    *,
    unit_size: float,
    weight: float = 0.0,
) -> Plane:
    """Print a mask.

    Args:
        mask: the raised parts of the block, white on black.
        wear: how worn the block is and how well it took ink.
        rng: the random generator.
        unit_size: pixels of the mask for one pixel of an image 1200 pixels high.
        weight: thickens (> 0) or thins the strokes.

    Returns:
        The ink coverage, 0..1, of the mask's size.
    """
    shape, u = (mask.height, mask.width), unit_size
    radius = (0.6 + 0.65 * wear.bleed) * u
    soft = to_plane(mask.filter(ImageFilter.GaussianBlur(radius)))
    edge = make_noise(rng, shape, 1.7 * u) * 0.55 + make_noise(rng, shape, 4.5 * u) * 0.45 - 0.5
    pressure = make_noise(rng, shape, 130 * u) * 0.65 + make_noise(rng, shape, 35 * u) * 0.35
    level = 0.47 - weight - 0.07 * wear.bleed + (0.5 - pressure) * 0.16
    ink = ramp(soft + edge * wear.rough - level, -0.13, 0.13)
    ink *= 1 - _compute_starvation(pressure, wear.starve, u, rng)
    return ink * (0.86 + 0.14 * make_noise(rng, shape, 12 * u))


def _compute_starvation(
    pressure: Plane, starve: float, unit_size: float, rng: np.random.Generator
) -> Plane:
    """The mask of missing ink: patches of low pressure, along the grain of the wood."""
    shape, u = pressure.shape, unit_size
    grain = (
        make_noise(rng, shape, 1.3 * u, stretch=4) * 0.6
        + make_noise(rng, shape, 3.5 * u, stretch=2) * 0.4
    )
    thirst = ramp(1 - pressure, 0.32, 0.78) * starve
    return ramp(grain + thirst, 0.86, 1.12) * min(1.0, 0.55 + 0.5 * starve)


def crack(ink: Plane, count: int, rng: np.random.Generator) -> None:
    """Remove the ink along `count` cracks across the block."""
    height, width = ink.shape
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    for _ in range(count):
        y = float(rng.random()) * height
        steps = 24
        points = []
        for step in range(steps + 1):
            y += (float(rng.random()) - 0.5) * height * 0.006
            points.append((round(width * step / steps), round(y)))
        first = int(rng.integers(0, steps // 3))
        last = int(rng.integers(steps // 2, steps + 1))
        pen.line(points[first : last + 1], fill=255, width=int(rng.integers(3, 8)))
    ink *= 1 - to_plane(mask.filter(ImageFilter.GaussianBlur(1)))
