"""Writing of signs: from the stroke model to the cuts of one writer, and to their mask.

As everywhere in this package, pixels follow from integer draws and single IEEE operations only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from keju.items import Point
from keju_synthetic.bones.signs import Sign, Stroke, expand_strokes

Incision = tuple[Point, ...]
"""A chain of straight knife strokes in the unit square."""

_SUPER = 3
"""Masks are drawn this many times larger, then reduced, so that edges come out smooth."""


class Writer(NamedTuple):
    """The habits of one writer, the same for all signs; lengths in parts of the sign's side.

    `slant` shears to the right, `wide` is the proportion, `bend` how far the whole sign is drawn
    out of shape, `shake` how far single points stray, `over` how far cuts run past their ends.
    `width` is the breadth of a cut and `tip` what is left of it at a cut's end. A curve is made of
    `facets` straight pieces from point to point. `turn` is the probability that a sign is mirrored,
    `leave_out` that a cut is missing.
    """

    slant: float
    wide: float
    bend: float
    shake: float
    over: float
    width: float
    tip: float
    facets: int
    turn: float
    leave_out: float


def make_engraver(rng: np.random.Generator, *, width: float = 0.055) -> Writer:
    """An engraver, who cuts curves as straight pieces and ends in points."""
    slant, wide, broad, tip = (float(v) for v in rng.random(4))
    return Writer(
        slant=0.24 * slant - 0.12, wide=0.68 + 0.36 * wide, bend=0.085, shake=0.017, over=0.035,
        width=width * (0.75 + 0.5 * broad), tip=0.25 + 0.4 * tip, facets=2, turn=0.25,
        leave_out=0.025,
    )  # fmt: skip


def make_copyist(rng: np.random.Generator, *, width: float = 0.035) -> Writer:
    """A scholar of today, who copies signs with an even pen."""
    slant, wide, broad = (float(v) for v in rng.random(3))
    return Writer(
        slant=0.16 * slant - 0.08, wide=0.86 + 0.26 * wide, bend=0.07, shake=0.012, over=0.012,
        width=width * (0.8 + 0.5 * broad), tip=0.75, facets=7, turn=0.06, leave_out=0.0,
    )  # fmt: skip


def write_sign(
    sign: Sign,
    writer: Writer,
    rng: np.random.Generator,
    *,
    signs: Mapping[str, Sign],
    variant: int | None = None,
) -> list[Incision]:
    """The cuts of one instance of a sign, from corner to corner of its own box.

    Args:
        sign: what is written.
        writer: by whom.
        rng: the random generator of this instance.
        signs: where parts are found.
        variant: which model; by default the common one in two of three cases.
    """
    if variant is None:
        pick = int(rng.integers(0, 3 * len(sign.models)))
        variant = 0 if pick >= len(sign.models) else pick
    strokes = list(expand_strokes(sign, variant, signs))
    if float(rng.random()) < writer.leave_out * (len(strokes) - 4):
        _drop_stroke(strokes, rng)
    mirrored = sign.turns and float(rng.random()) < writer.turn
    warp = _make_warp(writer, rng, mirrored=mirrored)
    return [_make_incision(stroke, writer, warp, rng) for stroke in strokes]


def _drop_stroke(strokes: list[Stroke], rng: np.random.Generator) -> None:
    """Remove one of the later short cuts, never the outline or stem that identifies the sign."""
    small = [n for n, stroke in enumerate(strokes) if n > 1 and len(stroke.points) == 2]
    if small:
        del strokes[small[int(rng.integers(0, len(small)))]]


class _Warp(NamedTuple):
    """A bent, slanted and perhaps mirrored square."""

    sign: float
    slant: float
    wide: float
    bend: tuple[float, ...]

    def __call__(self, point: Point) -> Point:
        u, v = point[0] - 0.5, point[1] - 0.5
        b = self.bend
        x = self.sign * u * self.wide - self.slant * v
        x += b[0] * u * v + b[1] * (v * v - 0.08) + b[2] * u * u + b[3] * u
        y = v + b[4] * u * v + b[5] * (u * u - 0.08) + b[6] * v * v + b[7] * u * 0.6
        return x + 0.5, y + 0.5


def _make_warp(writer: Writer, rng: np.random.Generator, *, mirrored: bool) -> _Warp:
    draws = [float(v) * 2 - 1 for v in rng.random(10)]
    bends = tuple(4 * writer.bend * draw for draw in draws[:3])
    rest = tuple(2.4 * writer.bend * draw for draw in draws[3:8])
    slant = writer.slant + 0.06 * draws[8]
    wide = writer.wide * (1 + 0.12 * draws[9])
    return _Warp(-1.0 if mirrored else 1.0, slant, wide, bends + rest)


def _make_incision(
    stroke: Stroke, writer: Writer, warp: _Warp, rng: np.random.Generator
) -> Incision:
    strays = rng.random((len(stroke.points), 2)) * 2 - 1
    points = [
        warp((x + float(dx) * writer.shake, y + float(dy) * writer.shake))
        for (x, y), (dx, dy) in zip(stroke.points, strays, strict=True)
    ]
    if stroke.closed:
        points.append(points[0])
    if stroke.smooth:
        points = fit_curve(points, writer.facets, closed=stroke.closed)
    first, last = (float(v) * writer.over for v in rng.random(2))
    points[0] = _extend_end(points[1], points[0], first)
    points[-1] = _extend_end(points[-2], points[-1], last)
    return tuple(points)


def fit_curve(points: Sequence[Point], facets: int, *, closed: bool) -> list[Point]:
    """A smooth line through points (Catmull-Rom) in straight pieces, `facets` a span.

    Args:
        points: at least two; of a closed line the last is the first.
        facets: 1 gives the points themselves.
        closed: whether the line runs round.
    """
    before = points[-2] if closed else points[0]
    after = points[1] if closed else points[-1]
    whole = [before, *points, after]
    line = [points[0]]
    for p0, p1, p2, p3 in zip(whole, whole[1:], whole[2:], whole[3:], strict=False):
        for step in range(1, facets + 1):
            t = step / facets
            line.append((_evaluate_spline(p0[0], p1[0], p2[0], p3[0], t),
                         _evaluate_spline(p0[1], p1[1], p2[1], p3[1], t)))  # fmt: skip
    return line


def _evaluate_spline(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (
        2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t
        + (3 * b - a - 3 * c + d) * t * t * t
    )  # fmt: skip


def _extend_end(before: Point, end: Point, by: float) -> Point:
    x, y = end[0] - before[0], end[1] - before[1]
    length = math.sqrt(x * x + y * y)
    if length == 0:
        return end
    return end[0] + x / length * by, end[1] + y / length * by


def draw_sign_mask(cuts: Sequence[Incision], height: int, writer: Writer) -> Image.Image:
    """The cuts of one sign, white on black, cropped to them.

    Args:
        cuts: from `write`.
        height: pixels of the unit square's side; the mask itself is as large as the cuts are.
        writer: gives the breadth of the cuts.
    """
    side = height * _SUPER
    breadth = max(1.2 * _SUPER, writer.width * side)
    xs = [x for cut in cuts for x, _ in cut]
    ys = [y for cut in cuts for _, y in cut]
    margin = breadth
    left, top = min(xs) * side - margin, min(ys) * side - margin
    wide = _round_up((max(xs) - min(xs)) * side + 2 * margin)
    high = _round_up((max(ys) - min(ys)) * side + 2 * margin)
    tile = Image.new("L", (wide, high), 0)
    pen_ = ImageDraw.Draw(tile)
    for cut in cuts:
        _incise(pen_, [(x * side - left, y * side - top) for x, y in cut], breadth, writer.tip)
    small = tile.resize((wide // _SUPER, high // _SUPER), Image.Resampling.BOX)
    return small.crop(small.getbbox())


def _round_up(length: float) -> int:
    return _SUPER * (int(length / _SUPER) + 1)


def _incise(pen: ImageDraw.ImageDraw, line: list[Point], breadth: float, tip: float) -> None:
    """Draw a chain whose breadth falls to `tip` of itself at both ends."""
    lengths = [
        math.sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0))
        for (x0, y0), (x1, y1) in pairwise(line)
    ]
    whole = sum(lengths)
    taper = min(whole * 0.35, breadth * 2.5) or 1.0
    gone = 0.0
    for (x0, y0), (x1, y1), length in zip(line, line[1:], lengths, strict=False):
        steps = max(1, int(length / (breadth * 0.5)))
        nodes = []
        for step in range(steps + 1):
            part = step / steps
            at = gone + length * part
            near = min(at, whole - at) / taper
            half = breadth / 2 * (tip + (1 - tip) * min(1.0, near))
            nodes.append((x0 + (x1 - x0) * part, y0 + (y1 - y0) * part, half))
        across = ((y1 - y0) / length, (x0 - x1) / length) if length else (0.0, 0.0)
        for one, two in pairwise(nodes):
            pen.polygon(_make_quad(one, two, across), fill=255)
        for x, y, half in (nodes[0], nodes[-1]):
            pen.ellipse([round(v) for v in (x - half, y - half, x + half, y + half)], fill=255)
        gone += length


Node = tuple[float, float, float]


def _make_quad(one: Node, two: Node, across: Point) -> list[tuple[int, int]]:
    (x0, y0, r0), (x1, y1, r1) = one, two
    u, v = across
    corners = [
        (x0 + u * r0, y0 + v * r0), (x1 + u * r1, y1 + v * r1),
        (x1 - u * r1, y1 - v * r1), (x0 - u * r0, y0 - v * r0),
    ]  # fmt: skip
    return [(round(x), round(y)) for x, y in corners]
