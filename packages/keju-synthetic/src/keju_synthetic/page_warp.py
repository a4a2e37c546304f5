"""`PageWarp`: skew and warp of a page, the same for its pixels and the outlines of its lines."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from keju.items import Point
from keju_synthetic.page_layout import Rect

_CELL = 48
"""Distance of the mesh's nodes, in pixels of the finished image."""

_SIDES = 6
"""The number of pieces of a long side of a line's box, so that its outline can bend."""


class PageWarp:
    """A smooth map from the finished image back to the flat page, known at a mesh of nodes.

    Between the nodes it is bilinear, like Pillow's mesh transform, so that a polygon follows its
    characters to a fraction of a pixel.

    Args:
        size: width and height of the image in pixels.
        slope: sine of the skew; positive turns the page clockwise.
        depth: how far the page bends, in pixels.
        rng: the random generator of the shape of the bend.
    """

    def __init__(
        self, size: tuple[int, int], *, slope: float, depth: float, rng: np.random.Generator
    ) -> None:
        self.size = size
        width, height = size
        self._columns = -(-width // _CELL)
        self._rows = -(-height // _CELL)
        x = np.arange(self._columns + 1, dtype=np.float64)[None, :] * _CELL
        y = np.arange(self._rows + 1, dtype=np.float64)[:, None] * _CELL
        shape = (self._rows + 1, self._columns + 1)
        bend_x, bend_y = (_make_waves(rng, shape) * depth for _ in range(2))
        level = math.sqrt(1 - slope * slope)
        from_x, from_y = x - width / 2, y - height / 2
        self._x = level * from_x + slope * from_y + width / 2 + bend_x
        self._y = level * from_y - slope * from_x + height / 2 + bend_y

    def warp_image(self, image: Image.Image, *, scale: int) -> Image.Image:
        """The bent image, `scale` times as large as the finished image; outside is black."""
        cell = _CELL * scale
        mesh = []
        for row in range(self._rows):
            for column in range(self._columns):
                box = (column * cell, row * cell, (column + 1) * cell, (row + 1) * cell)
                corners = (
                    (row, column),
                    (row + 1, column),
                    (row + 1, column + 1),
                    (row, column + 1),
                )
                quad = tuple(
                    float(value * scale)
                    for corner in corners
                    for value in (self._x[corner], self._y[corner])
                )
                mesh.append((box, quad))
        bent = image.transform(
            (self._columns * cell, self._rows * cell),
            Image.Transform.MESH,
            mesh,
            Image.Resampling.BILINEAR,
        )
        return bent.crop((0, 0, self.size[0] * scale, self.size[1] * scale))

    def warp_box(self, box: Rect, lean: float = 0.0) -> tuple[Point, ...]:
        """The outline of a box of the flat page, in pixels of the finished image.

        Points outside the image are moved to its edge.

        Args:
            box: the box.
            lean: by how many pixels it moves to the right for each pixel downwards.
        """
        x0, y0, x1, y1 = box
        steps = [y0 + (y1 - y0) * step / _SIDES for step in range(_SIDES + 1)]
        off = [lean * (y - (y0 + y1) / 2) for y in steps]
        right = [(x1 + dx, y) for y, dx in zip(steps, off, strict=True)]
        left = [(x0 + dx, y) for y, dx in zip(steps, off, strict=True)]
        flat = [*right, *reversed(left)]
        return tuple(self._warp_points(flat))

    def _warp_points(self, points: Iterable[Point]) -> Iterable[Point]:
        width, height = self.size
        for x, y in points:
            bent_x, bent_y = x, y
            for _ in range(12):
                back_x, back_y = self._unwarp_point(bent_x, bent_y)
                bent_x, bent_y = bent_x + x - back_x, bent_y + y - back_y
            yield (
                round(min(max(bent_x, 0.0), float(width)), 1),
                round(min(max(bent_y, 0.0), float(height)), 1),
            )

    def _unwarp_point(self, x: float, y: float) -> Point:
        column = min(max(int(x // _CELL), 0), self._columns - 1)
        row = min(max(int(y // _CELL), 0), self._rows - 1)
        u, v = x / _CELL - column, y / _CELL - row
        return (
            _interpolate(self._x[row : row + 2, column : column + 2], u, v),
            _interpolate(self._y[row : row + 2, column : column + 2], u, v),
        )


def _interpolate(corners: NDArray[np.float64], u: float, v: float) -> float:
    upper = corners[0, 0] * (1 - u) + corners[0, 1] * u
    lower = corners[1, 0] * (1 - u) + corners[1, 1] * u
    return float(upper * (1 - v) + lower * v)


def _make_waves(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Values in -1..1 over the nodes, smooth over about a third of the page."""
    knots = rng.integers(0, 256, size=(5, 5), dtype=np.uint8)
    smooth = Image.fromarray(knots).resize((shape[1], shape[0]), Image.Resampling.BICUBIC)
    return np.asarray(smooth, dtype=np.float64) / 127.5 - 1
