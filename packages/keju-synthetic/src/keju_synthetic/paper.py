"""Paper with its ageing: tone, fibres, foxing, water stains, worm tracks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from keju_synthetic.noise import Plane, make_noise, ramp, to_plane
from keju_synthetic.wear import Wear

Picture: TypeAlias = NDArray[np.floating[Any]]
"""Height × width × 3, red, green and blue in 0..1, 32 bits each."""

_NEW = np.array([0.925, 0.895, 0.815], np.float32)
_OLD = np.array([0.760, 0.655, 0.480], np.float32)
_FOX = np.array([0.80, 0.62, 0.40], np.float32)
_TIDE = np.array([0.80, 0.70, 0.54], np.float32)


def make_paper(shape: tuple[int, int], wear: Wear, rng: np.random.Generator) -> Picture:
    """A sheet of paper, browner towards its edges, with laid lines and fibres."""
    cloud = make_noise(rng, shape, 320) * 0.6 + make_noise(rng, shape, 90) * 0.4
    brown = wear.age * (0.55 + 0.45 * cloud) + 0.35 * wear.age * _compute_rim(shape, rng)
    tone = ramp(brown, 0, 1)[..., None]
    sheet: Picture = _NEW * (1 - tone) + _OLD * tone
    laid = make_noise(rng, (shape[0], 1), 3.2) - 0.5
    pulp = make_noise(rng, shape, 4) * 0.5 + make_noise(rng, shape, 14) * 0.5 - 0.5
    sheet = sheet * (1 + 0.008 * laid + 0.040 * pulp)[..., None]
    sheet *= (1 - 0.10 * _draw_fibres(shape, rng))[..., None]
    return sheet


def _compute_rim(shape: tuple[int, int], rng: np.random.Generator) -> Plane:
    """1 at the edges, 0 from a tenth of the height inwards, with a wavering border."""
    height, width = shape
    depth = height * 0.10
    down = np.arange(height, dtype=np.float32)[:, None]
    across = np.arange(width, dtype=np.float32)[None, :]
    near = np.minimum(np.minimum(down, height - 1 - down), np.minimum(across, width - 1 - across))
    return ramp(1 - near / depth + (make_noise(rng, shape, 60) - 0.5) * 0.7, 0, 1)


def _draw_fibres(shape: tuple[int, int], rng: np.random.Generator) -> Plane:
    mask = Image.new("L", (shape[1], shape[0]), 0)
    pen = ImageDraw.Draw(mask)
    for _ in range(shape[0] * shape[1] // 9000):
        x, y = int(rng.integers(0, shape[1])), int(rng.integers(0, shape[0]))
        dx, dy = int(rng.integers(-16, 17)), int(rng.integers(-16, 17))
        bend = int(rng.integers(-4, 5))
        points = [(x, y), (x + dx // 2 + bend, y + dy // 2 - bend), (x + dx, y + dy)]
        pen.line(points, fill=int(rng.integers(60, 220)), width=1)
    return to_plane(mask.filter(ImageFilter.GaussianBlur(0.6)))


def add_foxing(sheet: Picture, wear: Wear, rng: np.random.Generator) -> None:
    """Add brown spots, some in clusters."""
    height, width = sheet.shape[:2]
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    for _ in range(round(wear.foxing)):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        for _ in range(int(rng.integers(1, 4))):
            dx, dy = int(rng.integers(-22, 23)), int(rng.integers(-22, 23))
            radius = int(rng.integers(1, 5))
            box = (x + dx - radius, y + dy - radius, x + dx + radius, y + dy + radius)
            pen.ellipse(box, fill=int(rng.integers(40, 190)))
    spots = to_plane(mask.filter(ImageFilter.GaussianBlur(1.6)))
    spots = (spots * (0.5 + 0.5 * make_noise(rng, (height, width), 5)))[..., None]
    sheet *= 1 - spots * (1 - _FOX)


def add_stains(sheet: Picture, wear: Wear, rng: np.random.Generator) -> None:
    """Add water stains: a slightly darker area with a brown tide line; most come from an edge."""
    height, width = sheet.shape[:2]
    down = np.arange(height, dtype=np.float32)[:, None] / height
    across = np.arange(width, dtype=np.float32)[None, :] / height
    for _ in range(round(wear.stains)):
        x, y = float(rng.random()) * width / height, float(rng.random())
        if rng.random() < 0.7:
            y = float(rng.integers(0, 2))
        size = 0.10 + 0.28 * float(rng.random())
        far = ((across - x) ** 2 + (down - y) ** 2) / size**2
        shape = (height, width)
        far = (
            far
            + (make_noise(rng, shape, 150) - 0.5) * 1.5
            + (make_noise(rng, shape, 55) - 0.5) * 0.45
        )
        far = far + (make_noise(rng, shape, 20) - 0.5) * 0.14
        inside = ramp(-far, -1.03, -0.97)
        tide = inside * ramp(far, 0.80, 1.0)
        dark = (inside * 0.28 + tide * 0.5) * (0.5 + 0.5 * float(rng.random()))
        sheet *= 1 - dark[..., None] * (1 - _TIDE)


def draw_worm_holes(shape: tuple[int, int], wear: Wear, rng: np.random.Generator) -> Plane:
    """The mask of worm tracks: 1 where the paper is missing."""
    height, width = shape
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    for _ in range(round(wear.worms)):
        x, y = float(rng.random()) * width, float(rng.random()) * height
        dx, dy = float(rng.random()) - 0.5, float(rng.random()) - 0.5
        radius = 2.0 + 2.5 * float(rng.random())
        for _ in range(int(rng.integers(5, 40))):
            dx += (float(rng.random()) - 0.5) * 0.7
            dy += (float(rng.random()) - 0.5) * 0.7
            dx, dy = max(-1.0, min(1.0, dx)), max(-1.0, min(1.0, dy))
            x, y = x + dx * 4, y + dy * 4
            r = radius * (0.7 + 0.6 * float(rng.random()))
            pen.ellipse((round(x - r), round(y - r), round(x + r), round(y + r)), fill=255)
    return to_plane(mask.filter(ImageFilter.GaussianBlur(0.7)))
