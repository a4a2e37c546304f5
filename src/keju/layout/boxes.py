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


def outline(polygon: Sequence[Point]) -> Outline | None:
    """Measure one polygon; None where it has no usable point.

    The width of a wavy outline is its area divided by its height, and its centre the centroid, so
    that a swash stroke that was included has little influence.
    """
    points = [(x, y) for x, y in polygon if math.isfinite(x) and math.isfinite(y)]
    if not points:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top = min(xs), min(ys)
    wide, high = max(xs) - left, max(ys) - top
    whole = Outline(left + wide / 2, top + high / 2, wide, high, None, upright=True)
    if not wide * high > 0 or len(points) < 3:
        return whole
    moments = _moments(points, left + wide / 2, top + high / 2)
    if moments is None or not 0.2 <= moments.area / (wide * high) < _UPRIGHT:
        return whole
    lean = None
    if high > 2.5 * wide or moments.yy > 6 * moments.xx:
        lean = math.degrees(0.5 * math.atan2(2 * moments.xy, moments.yy - moments.xx))
    return Outline(moments.cx, top + high / 2, moments.area / high, high, lean, upright=False)


class _Moments(NamedTuple):
    area: float
    cx: float
    cy: float
    xx: float
    yy: float
    xy: float


def _moments(points: Sequence[Point], x_mid: float, y_mid: float) -> _Moments | None:
    """Area, centre and central second moments of a polygon, by Green's theorem."""
    area = cx = cy = xx = yy = xy = 0.0
    x, y = points[-1][0] - x_mid, points[-1][1] - y_mid
    for point in points:
        x2, y2 = point[0] - x_mid, point[1] - y_mid
        cross = x * y2 - x2 * y
        area += cross / 2
        cx += (x + x2) * cross / 6
        cy += (y + y2) * cross / 6
        xx += (x * x + x * x2 + x2 * x2) * cross / 12
        yy += (y * y + y * y2 + y2 * y2) * cross / 12
        xy += (x * y2 + 2 * x * y + 2 * x2 * y2 + x2 * y) * cross / 24
        x, y = x2, y2
    if not abs(area) > 0:
        return None
    cx, cy = cx / area, cy / area
    return _Moments(
        abs(area),
        cx + x_mid,
        cy + y_mid,
        xx / area - cx * cx,
        yy / area - cy * cy,
        xy / area - cx * cy,
    )


def straighten(lines: Sequence[Line], degrees: float) -> Boxes:
    """The lines' boxes after the page is rotated so that its columns are vertical.

    Args:
        lines: lines that all have an outline.
        degrees: the page's skew as `estimate_skew` returns it; the page is rotated by the same
            angle in the other direction.
    """
    found = [_straightened(line.polygon, degrees) for line in lines]
    edges = np.array(found, dtype=np.float64).reshape(-1, 4)
    return Boxes(edges[:, 0], edges[:, 1], edges[:, 2], edges[:, 3])


def _straightened(polygon: Sequence[Point], degrees: float) -> tuple[float, ...]:
    drawn = outline(polygon)
    assert drawn is not None, "lines without an outline are set apart before"
    if drawn.upright or not degrees:
        return upright_box(drawn, degrees)
    straight = outline([rotate(x, y, degrees) for x, y in polygon])
    assert straight is not None
    return upright_box(straight, 0.0)


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
