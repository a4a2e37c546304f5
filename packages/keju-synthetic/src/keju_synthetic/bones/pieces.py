"""`Piece`: pieces of bone and shell without writing: outline, seams, cracks.

Planes are height × width, 32-bit values in 0..1, as everywhere in this package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from keju.items import Point
from keju_synthetic.bones.sign_writing import fit_curve
from keju_synthetic.noise import Plane, to_plane

PieceKind = Literal["scapula", "plastron", "fragment"]
"""An ox's shoulder blade, the belly shell of a turtle, or a broken piece of either."""

_SUPER = 2

# Outlines in the unit square, clockwise from the top. The upper part of a shoulder blade is its
# socket; the notches at a shell's sides are where the bridges to the back were sawn off.
_SCAPULA: tuple[Point, ...] = (
    (0.34, 0.05), (0.50, 0.02), (0.64, 0.06), (0.68, 0.16), (0.70, 0.34), (0.76, 0.55),
    (0.87, 0.76), (0.93, 0.93), (0.70, 0.97), (0.40, 0.96), (0.12, 0.95), (0.17, 0.74),
    (0.25, 0.52), (0.30, 0.32), (0.29, 0.15),
)  # fmt: skip
_PLASTRON: tuple[Point, ...] = (
    (0.50, 0.03), (0.66, 0.04), (0.80, 0.12), (0.88, 0.24), (0.84, 0.33), (0.93, 0.40),
    (0.94, 0.58), (0.85, 0.66), (0.86, 0.78), (0.78, 0.90), (0.64, 0.97), (0.50, 0.92),
    (0.36, 0.97), (0.22, 0.90), (0.14, 0.78), (0.15, 0.66), (0.06, 0.58), (0.07, 0.40),
    (0.16, 0.33), (0.12, 0.24), (0.20, 0.12), (0.34, 0.04),
)  # fmt: skip
_WHOLE: Mapping[PieceKind, tuple[Point, ...]] = {"scapula": _SCAPULA, "plastron": _PLASTRON}

_SEAMS: tuple[tuple[Point, ...], ...] = (
    ((0.50, 0.0), (0.49, 0.3), (0.51, 0.6), (0.50, 1.0)),
    ((0.10, 0.27), (0.32, 0.20), (0.50, 0.26), (0.68, 0.20), (0.90, 0.27)),
    ((0.04, 0.50), (0.28, 0.46), (0.50, 0.51), (0.72, 0.46), (0.96, 0.50)),
    ((0.12, 0.74), (0.32, 0.70), (0.50, 0.76), (0.68, 0.70), (0.88, 0.74)),
)
"""Where the shields of a belly shell meet: down the middle, and across."""


class Piece(NamedTuple):
    """A piece of bone: where it is, what is cut into it, and where it is cracked or broken.

    `lines` are cracks and seams; `strokes` is the writing, 0 where there is none; `breaks` is 1
    at an edge where another part has broken off, 0 at the old rim and inside.
    """

    mask: Plane
    strokes: Plane
    lines: Plane
    breaks: Plane

    @classmethod
    def make_blank(cls, mask: Plane, lines: Plane | None = None) -> Piece:
        """A whole piece without writing."""
        none = np.zeros_like(mask)
        return cls(mask, none, none if lines is None else lines, none)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return self.mask.shape[0], self.mask.shape[1]


def make_blank_piece(
    size: tuple[int, int], kind: PieceKind, rng: np.random.Generator, *, cracks: int = 6
) -> Piece:
    """A piece that fills an image, without writing.

    Args:
        size: width and height in pixels.
        kind: what it is a piece of.
        rng: the random generator of its outline and its cracks.
        cracks: how many crack signs (卜) the heated hollows on its back have made.
    """
    outline = _make_outline(kind, rng)
    mask = _fill_outline(outline, size)
    lines = Image.new("L", (size[0] * _SUPER, size[1] * _SUPER), 0)
    pen = ImageDraw.Draw(lines)
    fine = max(2, round(size[1] * _SUPER / 420))
    if kind == "plastron":
        for seam in _SEAMS:
            line = displace_midpoints(seam, rng, rough=0.05, halvings=4)
            pen.line(_scale_points(line, lines.size), fill=255, width=2 * fine, joint="curve")
    for line in make_crack_lines(cracks, rng):
        pen.line(_scale_points(line, lines.size), fill=190, width=fine)
    for line in _make_long_cracks(rng):
        pen.line(_scale_points(line, lines.size), fill=230, width=fine)
    soft = lines.resize(size, Image.Resampling.BOX)
    return Piece.make_blank(mask, to_plane(soft) * mask)


def _make_outline(kind: PieceKind, rng: np.random.Generator) -> list[Point]:
    whole = _WHOLE.get(kind)
    if whole is None:
        return _make_fragment_outline(rng)
    shaken = [
        (x + 0.025 * (float(dx) - 0.5), y + 0.02 * (float(dy) - 0.5))
        for (x, y), (dx, dy) in zip(whole, rng.random((len(whole), 2)), strict=True)
    ]
    line = fit_curve([*shaken, shaken[0]], 4, closed=True)
    return displace_midpoints(line, rng, rough=0.10, halvings=2)


def _make_fragment_outline(rng: np.random.Generator) -> list[Point]:
    """A polygon of six to nine corners on a circle drawn long, its sides broken."""
    corners = int(rng.integers(6, 10))
    points = []
    for corner in range(corners):
        far, along = (float(v) for v in rng.random(2))
        x, y = _find_circle_point((corner + 0.6 * along) / corners)
        reach = 0.49 - 0.15 * far * far
        points.append((0.5 + x * reach, 0.5 + y * reach))
    return displace_midpoints([*points, points[0]], rng, rough=0.16, halvings=5)


def _find_circle_point(turn: float) -> Point:
    """A point of the circle of radius 1, found without sine: by the half-angle formulas."""
    quarter, rest = divmod(turn * 4, 1)
    t = 0.4142135623730951 * (2 * rest - 1)
    x, y = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    # From the diagonal frame of the quarter back to the upright one.
    x, y = (x - y) * 0.7071067811865476, (x + y) * 0.7071067811865476
    for _ in range(int(quarter) % 4):
        x, y = -y, x
    return x, y


def displace_midpoints(
    line: Sequence[Point], rng: np.random.Generator, *, rough: float, halvings: int
) -> list[Point]:
    """A line broken by midpoint displacement: each half strays by `rough` of its length.

    Args:
        line: its points; they stay.
        rng: the random generator.
        rough: how far a midpoint strays, in parts of the distance of its neighbours.
        halvings: how often each piece is halved.
    """
    points = list(line)
    for _ in range(halvings):
        strays = rng.random(len(points) - 1) * 2 - 1
        finer = [points[0]]
        for ((x0, y0), (x1, y1)), stray in zip(pairwise(points), strays, strict=True):
            off = rough * float(stray)
            finer.append(((x0 + x1) / 2 + (y1 - y0) * off, (y0 + y1) / 2 - (x1 - x0) * off))
            finer.append((x1, y1))
        points = finer
    return points


def make_crack_lines(count: int, rng: np.random.Generator) -> list[list[Point]]:
    """Cracks by heat: pairs of an upright line and a short one that branches off it."""
    lines = []
    for _ in range(count):
        x, y, long, side, at, rise = (float(v) for v in rng.random(6))
        x, y, high = 0.12 + 0.76 * x, 0.1 + 0.7 * y, 0.06 + 0.06 * long
        joint = (x + 0.004, y + high * (0.35 + 0.3 * at))
        reach = (0.04 + 0.03 * side) * (1 if x < 0.5 else -1)
        lines.append(
            displace_midpoints([(x, y), joint, (x, y + high)], rng, rough=0.06, halvings=2)
        )
        lines.append(
            displace_midpoints(
                [joint, (joint[0] + reach, joint[1] - 0.03 * rise)], rng, rough=0.1, halvings=2
            )
        )
    return lines


def _make_long_cracks(rng: np.random.Generator) -> list[list[Point]]:
    """One to three long cracks from somewhere on the rim inwards."""
    lines = []
    for _ in range(int(rng.integers(1, 4))):
        x0, x1, y1 = (float(v) for v in rng.random(3))
        start = (x0, 0.0 if float(rng.random()) < 0.5 else 1.0)
        end = (0.15 + 0.7 * x1, 0.25 + 0.5 * y1)
        lines.append(displace_midpoints([start, end], rng, rough=0.13, halvings=5))
    return lines


def _fill_outline(outline: Sequence[Point], size: tuple[int, int]) -> Plane:
    big = Image.new("L", (size[0] * _SUPER, size[1] * _SUPER), 0)
    ImageDraw.Draw(big).polygon(_scale_points(outline, big.size), fill=255)
    return to_plane(big.resize(size, Image.Resampling.BOX))


def _scale_points(line: Sequence[Point], size: tuple[int, int]) -> list[tuple[int, int]]:
    return [(round(x * size[0]), round(y * size[1])) for x, y in line]


def rotate_piece(piece: Piece, degrees: float) -> Piece:
    """The piece rotated counter-clockwise, in an image large enough for all of it."""
    planes = (_rotate_plane(plane, degrees) for plane in piece)
    return trim_piece(Piece(*planes))


def _rotate_plane(plane: Plane, degrees: float) -> Plane:
    image = Image.fromarray((plane * 255 + 0.5).astype(np.uint8))
    return to_plane(image.rotate(degrees, Image.Resampling.BICUBIC, expand=True))


def trim_piece(piece: Piece, margin: int = 6) -> Piece:
    """The piece in an image that ends `margin` pixels beside it."""
    rows = np.flatnonzero((piece.mask > 0.5).any(axis=1))
    columns = np.flatnonzero((piece.mask > 0.5).any(axis=0))
    if rows.size == 0:
        return piece
    height, width = int(rows[-1] - rows[0]) + 1, int(columns[-1] - columns[0]) + 1
    planes = []
    for plane in piece:
        inner = plane[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        out = np.zeros((height + 2 * margin, width + 2 * margin), np.float32)
        out[margin : margin + height, margin : margin + width] = inner
        planes.append(out)
    return Piece(*planes)


def erode_mask(mask: Plane, distance: float) -> Plane:
    """The mask eroded by about `distance` pixels, as 0 or 1."""
    image = Image.fromarray((mask * 255 + 0.5).astype(np.uint8))
    soft = to_plane(image.filter(ImageFilter.GaussianBlur(max(0.5, distance / 2))))
    return (soft > 0.975).astype(np.float32)


def count_pixels(mask: Plane) -> int:
    """The number of pixels of a mask that are more than half covered."""
    return int(np.count_nonzero(mask > 0.5))
