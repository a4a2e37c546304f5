"""Visible surfaces of solids: surfaces of revolution, tubes, slabs and faces, with normals.

Only additions, multiplications, divisions and square roots decide pixels (see `noise`), so that
every machine draws the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from keju.items import Point
from keju_synthetic.noise import Plane, ramp, to_plane

TILT = 0.17
"""Sine of the angle at which the camera looks down."""

_LEVEL = math.sqrt(1 - TILT * TILT)

Box = tuple[slice, slice]


class Surface:
    """The visible surface, pixel by pixel; later parts hide earlier ones.

    `cover` is 1 where there is something. `normal` points away from it: right, up, towards the
    camera. `relief` is 1 where it is raised and 0 where it is deep, `pigment` where it is painted,
    `light` how much of the light gets there.
    """

    def __init__(self, width: int, height: int) -> None:
        shape = (height, width)
        self.cover = np.zeros(shape, np.float32)
        self.normal = np.zeros((*shape, 3), np.float32)
        self.relief = np.full(shape, 0.5, np.float32)
        self.pigment = np.zeros(shape, np.float32)
        self.light = np.ones(shape, np.float32)
        self.inside = np.zeros(shape, np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        height, width = self.cover.shape
        return height, width

    def lay(
        self,
        box: Box,
        mask: NDArray[np.bool_],
        normal: NDArray[np.float32],
        *,
        relief: Plane | None = None,
        pigment: Plane | None = None,
        light: Plane | None = None,
        inside: bool = False,
    ) -> None:
        """Put a part in front, where `mask` is true within `box`."""
        self.cover[box][mask] = 1
        self.normal[box][mask] = normal[mask]
        self.relief[box][mask] = 0.5 if relief is None else relief[mask]
        self.pigment[box][mask] = 0 if pigment is None else pigment[mask]
        self.light[box][mask] = 1 if light is None else light[mask]
        self.inside[box][mask] = float(inside)


def smooth(points: Sequence[Point], rounds: int = 3) -> list[Point]:
    """A chain of points with its corners cut, again and again; its ends stay."""
    chain = list(points)
    for _ in range(rounds):
        if len(chain) < 3:
            break
        cut = [chain[0]]
        for (x0, y0), (x1, y1) in itertools.pairwise(chain):
            cut.append((0.75 * x0 + 0.25 * x1, 0.75 * y0 + 0.25 * y1))
            cut.append((0.25 * x0 + 0.75 * x1, 0.25 * y0 + 0.75 * y1))
        chain = [*cut, chain[-1]]
    return chain


def compute_angle(u: Plane) -> Plane:
    """The angle whose sine is `u`, in -1..1 for a quarter turn either way.

    Abramowitz and Stegun 4.4.45, to four digits: a library's arcsine differs between machines.
    """
    far = np.abs(np.clip(u, -1, 1))
    slope = 1.5707288 + far * (-0.2121144 + far * (0.0742610 - 0.0187293 * far))
    value = 1 - np.sqrt(1 - far) * slope / 1.5707963
    result: Plane = np.where(u < 0, -value, value).astype(np.float32)
    return result


def revolve(
    surface: Surface,
    foot: Point,
    profile: Sequence[Point],
    *,
    relief: Image.Image | None = None,
    pigment: Image.Image | None = None,
    open_: bool = True,
) -> None:
    """Add a surface of revolution.

    Args:
        surface: the surface to add it to.
        foot: pixel of the middle of its foot.
        profile: radius and height, in pixels, from the foot up; heights don't fall.
        relief: the relief of half its surface, unrolled, from the rim down.
        pigment: what is painted on it, likewise.
        open_: whether one looks into its mouth.
    """
    chain = smooth(profile)
    count = max(2, math.ceil(chain[-1][1] - chain[0][1]))
    heights = np.linspace(chain[0][1], chain[-1][1], count)
    radii = np.interp(heights, [h for _, h in chain], [r for r, _ in chain])
    slopes = np.zeros(count)
    slopes[1:-1] = (radii[2:] - radii[:-2]) / np.maximum(heights[2:] - heights[:-2], 1e-6)
    most = float(radii.max()) + 2
    box = _make_box(surface, foot[0] - most, foot[1] - heights[-1] - most * TILT,
                    foot[0] + most, foot[1] - heights[0] + most * TILT)  # fmt: skip
    y, x = _make_grid(box)
    top = np.full(x.shape, -1, np.int32)
    for number in range(count):
        _fill_disc(top, x - foot[0], y - foot[1] + heights[number], radii[number], number)
    mask = top >= 0
    at = np.maximum(top, 0)
    u = np.clip((x - foot[0]) / np.maximum(radii[at], 1e-6), -1, 1).astype(np.float32)
    front = np.where(y >= foot[1] - heights[at], 1.0, -1.0) * np.sqrt(1 - u * u)
    slope = slopes[at]
    long = np.sqrt(1 + slope * slope)
    normal = _tilt_normals(u / long, -slope / long, front / long)
    part = (at / (count - 1)).astype(np.float32)
    across = (compute_angle(u) + 1) / 2
    surface.lay(
        box, mask, normal,
        relief=_sample(relief, across, 1 - part), pigment=_sample(pigment, across, 1 - part),
    )  # fmt: skip
    if open_:
        _add_mouth(surface, (foot[0], foot[1] - heights[-1]), float(radii[-1]))


def _fill_disc(top: NDArray[np.int32], dx: Plane, dy: Plane, radius: float, number: int) -> None:
    if radius <= 0.5:
        return
    rows = np.flatnonzero(np.abs(dy[:, 0]) <= radius * TILT)
    if rows.size == 0:
        return
    part = slice(int(rows[0]), int(rows[-1]) + 1)
    flat = dy[part] / TILT
    top[part][dx[part] * dx[part] + flat * flat <= radius * radius] = number


def _add_mouth(surface: Surface, middle: Point, radius: float) -> None:
    """Add the lip and the visible part of the inside."""
    for part, inside in ((1.0, False), (0.92, True)):
        r = radius * part
        box = _make_box(surface, middle[0] - r, middle[1] - r * TILT, middle[0] + r,
                        middle[1] + r * TILT)  # fmt: skip
        y, x = _make_grid(box)
        u, v = (x - middle[0]) / r, (y - middle[1]) / (r * TILT)
        mask = u * u + v * v <= 1
        if inside:
            back = np.sqrt(np.maximum(0.0, 1 - u * u))
            normal = _tilt_normals(-u * 0.9, np.full(u.shape, 0.25, np.float32), back)
            depth = ramp((v + back) / np.maximum(2 * back, 0.05), 0.0, 0.9)
            surface.lay(box, mask, normal, light=0.62 - 0.46 * depth, inside=True)
        else:
            flat = np.zeros_like(u)
            surface.lay(box, mask, _tilt_normals(flat, flat + 1, flat), light=flat + 0.95)


def add_tube(
    surface: Surface,
    path: Sequence[Point],
    radii: Sequence[float],
    *,
    flat: float = 1.0,
) -> None:
    """Add a round bar along a path; `radii` (pixels) are spread over it, `flat` < 1 flattens it."""
    chain = smooth(path)
    most = max(radii) + 2
    box = _make_box(surface, min(x for x, _ in chain) - most, min(y for _, y in chain) - most,
                    max(x for x, _ in chain) + most, max(y for _, y in chain) + most)  # fmt: skip
    y, x = _make_grid(box)
    best = np.full(x.shape, np.inf, np.float32)
    off_x, off_y = np.zeros_like(x), np.zeros_like(x)
    at = np.linspace(0, 1, len(chain))
    thick = np.interp(at, np.linspace(0, 1, len(radii)), radii)
    for number, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(chain)):
        dx, dy = x1 - x0, y1 - y0
        length = dx * dx + dy * dy
        if length == 0:
            continue
        part = np.clip(((x - x0) * dx + (y - y0) * dy) / length, 0, 1)
        px, py = x - x0 - part * dx, y - y0 - part * dy
        radius = thick[number] + (thick[number + 1] - thick[number]) * part
        far = (px * px + py * py) / (radius * radius)
        nearer = far < best
        best[nearer] = far[nearer]
        off_x[nearer] = (px / radius)[nearer]
        off_y[nearer] = (py / radius)[nearer]
    mask = best <= 1
    forward = np.sqrt(np.maximum(0.0, 1 - np.minimum(best, 1)))
    long = np.sqrt(off_x * off_x * flat + off_y * off_y * flat + forward * forward + 1e-9)
    root = math.sqrt(flat)
    normal = np.stack([off_x * root / long, -off_y * root / long, forward / long], axis=-1)
    surface.lay(box, mask, normal.astype(np.float32))


def add_slab(
    surface: Surface,
    outlines: Sequence[Sequence[Point]],
    *,
    round_: float,
    holes: Sequence[Sequence[Point]] = (),
    relief: Image.Image | None = None,
    pigment: Image.Image | None = None,
) -> None:
    """Add a flat piece seen from the front, its edges rounded over `round_` pixels.

    `relief` and `pigment` have the size of the surface.
    """
    height, width = surface.shape
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    for outline in outlines:
        pen.polygon([(float(x), float(y)) for x, y in outline], fill=255)
    for hole in holes:
        pen.polygon([(float(x), float(y)) for x, y in hole], fill=0)
    normal = compute_rounded_normals(mask, round_)
    whole = (slice(0, height), slice(0, width))
    surface.lay(
        whole, to_plane(mask) > 0.5, normal,
        relief=None if relief is None else to_plane(relief),
        pigment=None if pigment is None else to_plane(pigment),
    )  # fmt: skip


def compute_rounded_normals(mask: Image.Image, radius: float) -> NDArray[np.float32]:
    """Normals of a mask whose edges are rounded over `radius` pixels."""
    high = to_plane(mask.filter(ImageFilter.GaussianBlur(radius * 0.55)))
    right, up = compute_slopes(high)
    right, up = right * radius * 1.5, up * radius * 1.5
    long = np.sqrt(1 + 0 * right)
    far = np.sqrt(right * right + up * up)
    held = np.minimum(far, 0.97) / np.maximum(far, 1e-6)
    right, up = right * held, up * held
    forward = np.sqrt(np.maximum(0.05, long - right * right - up * up))
    return np.stack([right, up, forward], axis=-1).astype(np.float32)


def compute_slopes(high: Plane) -> tuple[Plane, Plane]:
    """The slopes of a height map to the right and upwards, per pixel."""
    right, up = np.zeros_like(high), np.zeros_like(high)
    right[:, 1:-1] = (high[:, :-2] - high[:, 2:]) / 2
    up[1:-1] = (high[2:] - high[:-2]) / 2
    return right, up


def add_face(
    surface: Surface,
    corners: tuple[Point, Point, Point],
    normal: tuple[float, float, float],
    *,
    relief: Image.Image | None = None,
    light: float = 1.0,
) -> None:
    """Add a flat parallelogram: its upper left, upper right and lower left corners, in pixels."""
    (x0, y0), (x1, y1), (x2, y2) = corners
    xs = [x0, x1, x2, x1 + x2 - x0]
    ys = [y0, y1, y2, y1 + y2 - y0]
    box = _make_box(surface, min(xs), min(ys), max(xs), max(ys))
    y, x = _make_grid(box)
    ax, ay, bx, by = x1 - x0, y1 - y0, x2 - x0, y2 - y0
    area = ax * by - ay * bx
    across = ((x - x0) * by - (y - y0) * bx) / area
    down = ((y - y0) * ax - (x - x0) * ay) / area
    mask = (across >= 0) & (across <= 1) & (down >= 0) & (down <= 1)
    right, up, forward = (np.full(x.shape, value, np.float32) for value in normal)
    surface.lay(
        box, mask, _tilt_normals(right, up, forward), relief=_sample(relief, across, down),
        light=np.full(x.shape, light, np.float32),
    )  # fmt: skip


def _tilt_normals(right: Plane, up: Plane, forward: Plane) -> NDArray[np.float32]:
    """Directions of the solid in the frame of the tilted camera."""
    return np.stack(
        [right, up * _LEVEL - forward * TILT, up * TILT + forward * _LEVEL], axis=-1
    ).astype(np.float32)


def _sample(picture: Image.Image | None, across: Plane, down: Plane) -> Plane | None:
    if picture is None:
        return None
    values = to_plane(picture)
    rows = np.clip(down * values.shape[0], 0, values.shape[0] - 1).astype(np.int32)
    columns = np.clip(across * values.shape[1], 0, values.shape[1] - 1).astype(np.int32)
    sampled: Plane = values[rows, columns]
    return sampled


def _make_box(surface: Surface, x0: float, y0: float, x1: float, y1: float) -> Box:
    height, width = surface.shape
    return (
        slice(max(0, math.floor(y0)), min(height, math.ceil(y1) + 1)),
        slice(max(0, math.floor(x0)), min(width, math.ceil(x1) + 1)),
    )


def _make_grid(box: Box) -> tuple[Plane, Plane]:
    """Y and x of each pixel of a box."""
    rows, columns = box
    y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None]
    x = np.arange(columns.start, columns.stop, dtype=np.float32)[None, :]
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    return np.broadcast_to(y, shape).copy(), np.broadcast_to(x, shape).copy()
