"""Lines as upright boxes: measure outlines, and remove the skew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keju.items import Line, Point

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Booleans = NDArray[np.bool_]

_UPRIGHT = 0.97
"""An outline that fills this share of its bounding box counts as an upright box."""

_LEAST_WIDTH = 0.35
"""No box is narrowed below this share of its drawn width when its skew is removed."""


@dataclass(frozen=True)
class Boxes:
    """Upright boxes as parallel arrays: left, right, top and bottom edges."""

    x0: Floats
    x1: Floats
    y0: Floats
    y1: Floats

    @property
    def width(self) -> Floats:
        """Widths of the boxes."""
        return self.x1 - self.x0

    @property
    def height(self) -> Floats:
        """Heights of the boxes."""
        return self.y1 - self.y0

    @property
    def cx(self) -> Floats:
        """Horizontal centres."""
        return (self.x0 + self.x1) / 2

    @property
    def cy(self) -> Floats:
        """Vertical centres."""
        return (self.y0 + self.y1) / 2

    def __len__(self) -> int:
        return len(self.x0)

    def beside(self, at: int) -> Booleans:
        """Which boxes are side by side with the one at this index: at its height, apart from it."""
        shared = np.minimum(self.y1, self.y1[at]) - np.maximum(self.y0, self.y0[at])
        level = shared > 0.5 * np.minimum(self.height, self.height[at])
        apart = np.abs(self.cx - self.cx[at]) > 0.5 * np.minimum(self.width, self.width[at])
        is_neighbour: Booleans = np.logical_and(level, apart)
        return is_neighbour

    def take(self, which: Indices | Sequence[int]) -> Boxes:
        """The boxes at these indices."""
        at = np.asarray(which, dtype=np.intp)
        return Boxes(self.x0[at], self.x1[at], self.y0[at], self.y1[at])


class Outline(NamedTuple):
    """Measurements of a polygon, of its area rather than of its bounding box.

    `lean` is the angle of its long axis from the vertical in degrees, positive where the foot is to
    the right of the head; None where the polygon does not show it (an upright box, or not
    elongated).
    """

    cx: float
    cy: float
    width: float
    height: float
    lean: float | None
    upright: bool


@np.errstate(over="ignore", invalid="ignore")
def outline(polygon: Sequence[Point]) -> Outline | None:
    """Measure one polygon; None where it has no usable point.

    The width of a wavy outline is its area divided by its height, and its centre the centroid, so
    that a swash stroke that was included has little influence.
    """
    points = np.array([(x, y) for x, y in polygon if math.isfinite(x) and math.isfinite(y)])
    if not len(points):
        return None
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    wide, high = size.tolist()
    middle = low + size / 2
    x_middle, y_middle = middle.tolist()
    upright_outline = Outline(x_middle, y_middle, wide, high, None, upright=True)
    if not wide * high > 0 or len(points) < 3:
        return upright_outline
    # Area, centre and central second moments by Green's theorem, around the middle.
    x2, y2 = (points - middle).T
    x, y = np.roll(x2, 1), np.roll(y2, 1)
    cross = x * y2 - x2 * y
    area = cross.sum() / 2
    if not abs(area) > 0 or not 0.2 <= abs(area) / (wide * high) < _UPRIGHT:
        return upright_outline
    cx, cy = ((x + x2) * cross).sum() / 6 / area, ((y + y2) * cross).sum() / 6 / area
    xx = ((x * x + x * x2 + x2 * x2) * cross).sum() / 12 / area - cx * cx
    yy = ((y * y + y * y2 + y2 * y2) * cross).sum() / 12 / area - cy * cy
    lean = None
    if high > 2.5 * wide or yy > 6 * xx:
        xy = ((x * y2 + 2 * x * y + 2 * x2 * y2 + x2 * y) * cross).sum() / 24 / area - cx * cy
        lean = math.degrees(0.5 * math.atan2(2 * xy, yy - xx))
    return Outline(
        x_middle + float(cx), y_middle, float(abs(area)) / high, high, lean, upright=False
    )


def straighten(lines: Sequence[Line], degrees: float) -> Boxes:
    """The lines' boxes after the page is rotated so that its columns are vertical.

    Args:
        lines: lines that all have an outline.
        degrees: the page's skew as `estimate_skew` returns it; the page is rotated by the same
            angle in the other direction.
    """
    edges = []
    for line in lines:
        shape, skew = outline(line.polygon), degrees
        assert shape is not None, "lines without an outline are set apart before"
        if degrees and not shape.upright:
            shape, skew = outline([rotate(x, y, degrees) for x, y in line.polygon]), 0.0
            assert shape is not None
        edges.append(upright_box(shape, skew))
    return Boxes(*np.array(edges, dtype=np.float64).reshape(-1, 4).T)


def upright_box(drawn: Outline, degrees: float) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of the writing in an outline, with the page's skew removed.

    A box that was drawn upright around skewed writing is wider and higher than the writing.
    """
    tangent = abs(math.tan(math.radians(degrees)))
    width = max(drawn.width - drawn.height * tangent, _LEAST_WIDTH * drawn.width)
    height = max(drawn.height - drawn.width * tangent, _LEAST_WIDTH * drawn.height)
    cx, cy = rotate(drawn.cx, drawn.cy, degrees)
    return cx - width / 2, cx + width / 2, cy - height / 2, cy + height / 2


def rotate(x: float, y: float, degrees: float) -> Point:
    """The position of a point after the page's skew is removed; see `straighten`."""
    angle = math.radians(degrees)
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)
