"""`Pen`: a brush with strokes and washes that darken each other, or a graver with printed lines.

A `Brush` paints and a `Graver` cuts; both are a `Pen`, so that one motif serves a painting and a
woodblock print. Lengths are in pixels of the finished picture; y grows downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from keju.items import Point
from keju_synthetic.noise import Plane, make_noise, ramp, to_image, to_plane

Path: TypeAlias = NDArray[np.float64]
"""n × 2: the points of a line, close enough together to be joined by straight pieces."""

Colour: TypeAlias = tuple[float, float, float]
"""How much of red, green and blue light a full layer lets through; above 1 it is body colour."""

Profile: TypeAlias = tuple[float, ...]
"""The width of a stroke along its way, in parts of its greatest, at evenly spaced places."""

Span: TypeAlias = tuple[float, float]
"""The y where a wash is full, and the y where it has faded away."""

INK: Colour = (0.11, 0.11, 0.12)
SHEET: Colour = (1.0, 1.0, 1.0)

EVEN: Profile = (0.8, 1.0, 1.0, 1.0, 0.8)
TAPER: Profile = (0.7, 1.0, 0.8, 0.5, 0.08)
LEAF: Profile = (0.12, 0.55, 1.0, 0.9, 0.45, 0.03)
THREAD: Profile = (0.35, 0.8, 1.0, 0.9, 0.3)
NAIL: Profile = (1.0, 0.8, 0.45, 0.2, 0.04)

_STEP = 3.0
_BROAD = 5.0
"""From this width on a stroke holds enough ink to gather at its rim."""

_BLOCK = 2
"""A block is cut this many times larger than it prints, like every mask of this package."""


class Pen(Protocol):
    """A tool that draws motifs: a brush or a graver."""

    rng: np.random.Generator
    width: int
    height: int
    painting: bool

    def stroke(
        self,
        points: Iterable[Point],
        width: float,
        *,
        tone: float = 0.85,
        colour: Colour = INK,
        profile: Profile = TAPER,
        dry: float = 0.0,
    ) -> None:
        """Draw a line through `points`; `tone` is how dark it is, `dry` how much paper shows."""

    def tint(
        self,
        outline: Iterable[Point],
        *,
        tone: float,
        colour: Colour = INK,
        soft: float = 0.0,
        fade: Span | None = None,
    ) -> None:
        """Tint the area of `outline`; a graver cuts only solid tones, without washes."""

    def cover(
        self,
        outline: Iterable[Point],
        *,
        colour: Colour = SHEET,
        strength: float = 1.0,
        soft: float = 0.0,
        fade: Span | None = None,
    ) -> None:
        """Hide everything under `outline`, with bare paper or with body colour."""


def get_direction(degrees: float) -> Point:
    """The unit vector of a direction, clockwise from the right; the same on every machine."""
    angle = math.radians(degrees)
    return round(math.cos(angle), 9), round(math.sin(angle), 9)


def offset_point(x: float, y: float, degrees: float, reach: float) -> Point:
    """The point `reach` from (x, y) in a direction."""
    dx, dy = get_direction(degrees)
    return x + dx * reach, y + dy * reach


def make_ellipse(x: float, y: float, wide: float, high: float, *, turn: float = 0.0) -> list[Point]:
    """The outline of an ellipse of these half-widths, turned by `turn` degrees."""
    along, across = get_direction(turn)
    points = []
    for step in range(28):
        c, s = get_direction(step * 360 / 28)
        points.append((x + c * wide * along - s * high * across,
                       y + c * wide * across + s * high * along))  # fmt: skip
    return points


def smooth(points: Iterable[Point], *, closed: bool = False) -> list[Point]:
    """A curve through `points` (Catmull and Rom), as a line of short pieces."""
    return [(float(x), float(y)) for x, y in _fit_curve(list(points), closed=closed)]


def jitter_points(points: Sequence[Point], amount: float, rng: np.random.Generator) -> list[Point]:
    """The same points, each moved by up to `amount` either way."""
    moves = rng.random((len(points), 2)) * 2 - 1
    return [
        (x + float(dx) * amount, y + float(dy) * amount)
        for (x, y), (dx, dy) in zip(points, moves, strict=True)
    ]


class Frame:
    """Places the points of a motif: its middle, its size, its turn, and which way it faces."""

    def __init__(
        self, x: float, y: float, size: float, *, turn: float = 0.0, flip: bool = False
    ) -> None:
        self._x, self._y, self._size = x, y, size
        self._along, self._across = get_direction(turn)
        self._way = -1 if flip else 1

    def __call__(self, *points: Point) -> list[Point]:
        """The points, given in parts of the size, on the sheet."""
        return [self.place(px, py) for px, py in points]

    def place(self, px: float, py: float) -> Point:
        """One point of the motif on the sheet."""
        px *= self._way
        return (self._x + self._size * (px * self._along - py * self._across),
                self._y + self._size * (px * self._across + py * self._along))  # fmt: skip

    def scale(self, share: float) -> float:
        """A length given in parts of the size."""
        return share * self._size


def _fit_curve(points: list[Point], *, closed: bool = False) -> Path:
    knots = np.asarray(points, dtype=np.float64)
    if len(knots) < 2:
        return knots
    if closed:
        padded = np.concatenate([knots[-1:], knots, knots[:2]])
    else:
        padded = np.concatenate([knots[:1] * 2 - knots[1:2], knots, knots[-1:] * 2 - knots[-2:-1]])
    pieces = []
    for place in range(len(padded) - 3):
        p0, p1, p2, p3 = padded[place : place + 4]
        dx, dy = p2 - p1
        count = max(2, int(math.sqrt(dx * dx + dy * dy) / _STEP) + 1)
        t = (np.arange(count, dtype=np.float64) / count)[:, None]
        pieces.append(
            p1
            + 0.5 * t * ((p2 - p0) + t * ((2 * p0 - 5 * p1 + 4 * p2 - p3)
                                          + t * (3 * (p1 - p2) + p3 - p0)))
        )  # fmt: skip
    pieces.append(padded[-2:-1])
    return np.concatenate(pieces)


def _make_ribbon(
    path: Path, width: float, profile: Profile, rough: float, rng: np.random.Generator
) -> list[Point]:
    """The outline of a stroke along `path`."""
    ahead = np.concatenate([path[1:], path[-1:]]) - np.concatenate([path[:1], path[:-1]])
    length = np.sqrt(ahead[:, 0] ** 2 + ahead[:, 1] ** 2)
    length[length == 0] = 1.0
    normal = np.stack([-ahead[:, 1] / length, ahead[:, 0] / length], axis=1)
    share = np.arange(len(path)) / max(1, len(path) - 1)
    half = np.interp(share, np.arange(len(profile)) / (len(profile) - 1), profile) * width / 2
    # A hand wavers over several widths of the line, not from point to point.
    knots = len(path) // 5 + 2
    along = share * (knots - 1)
    waver = [
        1 + (np.interp(along, np.arange(knots), rng.random(knots)) - 0.5) * rough for _ in range(2)
    ]
    left = path + normal * (half * waver[0])[:, None]
    right = path - normal * (half * waver[1])[:, None]
    return [(float(x), float(y)) for x, y in np.concatenate([left, right[::-1]])]


class Brush:
    """Paints: every layer lets only a part of the light through, so strokes darken each other.

    Args:
        width: pixels of the sheet.
        height: pixels of the sheet.
        rng: the random generator of the hand's unevenness.
        crisp: 1 for a careful line (工筆), 0 for a free and rough one (寫意).
    """

    painting = True

    def __init__(
        self, width: int, height: int, rng: np.random.Generator, *, crisp: float = 0.3
    ) -> None:
        self.width, self.height, self.rng = width, height, rng
        self.light = np.ones((height, width, 3), np.float32)
        self._rough = 0.5 * (1 - crisp)
        shape = (height, width)
        self._mottle = make_noise(rng, shape, 34) * 0.6 + make_noise(rng, shape, 9) * 0.4
        self._tooth = make_noise(rng, shape, 2.2)

    def stroke(
        self,
        points: Iterable[Point],
        width: float,
        *,
        tone: float = 0.85,
        colour: Colour = INK,
        profile: Profile = TAPER,
        dry: float = 0.0,
    ) -> None:
        """Draw a line; see `Pen`."""
        path = _fit_curve(list(points))
        if len(path) < 2:
            return
        outline = _make_ribbon(path, max(width, 0.9), profile, self._rough, self.rng)
        placed = self._draw_mask(outline, 0.0)
        if placed is None:
            return
        mask, box = placed
        if dry > 0:
            gaps = self._tooth[box[1] : box[3], box[0] : box[2]]
            mottle = self._mottle[box[1] : box[3], box[0] : box[2]]
            mask = mask * (1 - dry * ramp(gaps * 0.7 + mottle * 0.3, 0.62 - 0.3 * dry, 0.68))
        if width >= _BROAD:
            mottle = self._mottle[box[1] : box[3], box[0] : box[2]]
            mask = _pool_ink(mask, 1.4) * (0.78 + 0.30 * mottle)
        self._lay(mask * tone, box, colour)

    def tint(
        self,
        outline: Iterable[Point],
        *,
        tone: float,
        colour: Colour = INK,
        soft: float = 0.0,
        fade: Span | None = None,
    ) -> None:
        """Lay a wash; see `Pen`. It pools a little here and there."""
        placed = self._draw_mask(outline, soft)
        if placed is None:
            return
        mask, box = placed
        mottle = self._mottle[box[1] : box[3], box[0] : box[2]]
        if soft <= 1.5:
            mask = _pool_ink(mask, 2.2)
        mask = mask * (tone * (0.72 + 0.5 * mottle)) * _compute_fade(box, fade)
        self._lay(np.clip(mask, 0, 1), box, colour)

    def cover(
        self,
        outline: Iterable[Point],
        *,
        colour: Colour = SHEET,
        strength: float = 1.0,
        soft: float = 0.0,
        fade: Span | None = None,
    ) -> None:
        """Hide everything below; see `Pen`."""
        placed = self._draw_mask(outline, soft)
        if placed is None:
            return
        mask, (x0, y0, x1, y1) = placed
        mask = (mask * strength * _compute_fade((x0, y0, x1, y1), fade))[..., None]
        region = self.light[y0:y1, x0:x1]
        region *= 1 - mask
        region += mask * np.asarray(colour, np.float32)

    def add_mist(self, y: float, depth: float, *, strength: float = 1.0) -> None:
        """Draw a band of mist over the sheet, in which the drawing around `y` fades."""
        down = np.arange(self.height, dtype=np.float32)[:, None]
        drift = (make_noise(self.rng, (self.height, self.width), 120) - 0.5) * 1.4
        near = ramp(1 - np.abs(down - y) / depth + drift, 0.0, 0.8) * strength
        self.light = (self.light + (1 - self.light) * near[..., None]).astype(np.float32)

    def _lay(self, mask: Plane, box: tuple[int, int, int, int], colour: Colour) -> None:
        x0, y0, x1, y1 = box
        self.light[y0:y1, x0:x1] *= 1 - mask[..., None] * (1 - np.asarray(colour, np.float32))

    def _draw_mask(
        self, outline: Iterable[Point], soft: float
    ) -> tuple[Plane, tuple[int, int, int, int]] | None:
        points = list(outline)
        pad = 3 * soft + 2
        x0 = max(0, int(min(x for x, _ in points) - pad))
        y0 = max(0, int(min(y for _, y in points) - pad))
        x1 = min(self.width, int(max(x for x, _ in points) + pad) + 1)
        y1 = min(self.height, int(max(y for _, y in points) + pad) + 1)
        if x0 >= x1 or y0 >= y1:
            return None
        k = 4 if (x1 - x0) * (y1 - y0) < 40_000 else 2
        image = Image.new("L", ((x1 - x0) * k, (y1 - y0) * k), 0)
        ImageDraw.Draw(image).polygon(
            [(round((x - x0) * k), round((y - y0) * k)) for x, y in points], fill=255
        )
        image = image.reduce(k)
        if soft > 0:
            image = image.filter(ImageFilter.GaussianBlur(soft))
        return to_plane(image), (x0, y0, x1, y1)


def _pool_ink(mask: Plane, reach: float) -> Plane:
    """A wet shape: ink gathers at its rim and is a little thinner within."""
    blurred = to_plane(to_image(mask).filter(ImageFilter.GaussianBlur(reach)))
    pooled: Plane = mask * (0.86 + 0.55 * (1 - blurred))
    return np.minimum(pooled, 1.0)


def _compute_fade(box: tuple[int, int, int, int], fade: Span | None) -> Plane | float:
    if fade is None:
        return 1.0
    full, gone = fade
    down = np.arange(box[1], box[3], dtype=np.float32)[:, None]
    share: Plane = np.clip((down - gone) / (full - gone), 0, 1)
    return share


class Graver:
    """Cuts a block: lines that print black, and nothing between black and paper.

    The block is `mask`, white where it prints, at twice the picture's size.
    """

    painting = False

    def __init__(self, width: int, height: int, rng: np.random.Generator) -> None:
        self.width, self.height, self.rng = width, height, rng
        self.mask = Image.new("L", (width * _BLOCK, height * _BLOCK), 0)
        self._pen = ImageDraw.Draw(self.mask)

    def stroke(
        self,
        points: Iterable[Point],
        width: float,
        *,
        tone: float = 0.85,
        colour: Colour = INK,
        profile: Profile = TAPER,
        dry: float = 0.0,
    ) -> None:
        """Cut a line; see `Pen`. Faint and dry lines are only thinner."""
        del colour
        path = _fit_curve(list(points))
        if len(path) < 2:
            return
        thin = max(1.2, width * (0.55 + 0.45 * min(1.0, tone / 0.8)) * (1 - 0.4 * dry))
        profile = tuple(max(0.45, share) for share in profile)
        self._fill(_make_ribbon(path, thin, profile, 0.22, self.rng), 255)

    def tint(
        self,
        outline: Iterable[Point],
        *,
        tone: float,
        colour: Colour = INK,
        soft: float = 0.0,
        fade: Span | None = None,
    ) -> None:
        """Cut a solid black where `tone` is at least one half; see `Pen`."""
        if tone >= 0.5 and soft == 0.0 and fade is None and colour == INK:
            self._fill(outline, 255)

    def cover(
        self,
        outline: Iterable[Point],
        *,
        colour: Colour = SHEET,
        strength: float = 1.0,
        soft: float = 0.0,
        fade: Span | None = None,
    ) -> None:
        """Cut everything away; see `Pen`."""
        del colour, strength, soft, fade
        self._fill(outline, 0)

    def _fill(self, outline: Iterable[Point], value: int) -> None:
        points = [(round(x * _BLOCK), round(y * _BLOCK)) for x, y in outline]
        self._pen.polygon(points, fill=value)
