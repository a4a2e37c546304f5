"""Brush ink: it bleeds where the brush is wet, and breaks into streaks where it is dry (飛白)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from keju_synthetic.calligraphy.character_placement import PlacedCharacter
from keju_synthetic.fonts import Font, load_face
from keju_synthetic.noise import Plane, make_noise, ramp, to_image, to_plane
from keju_synthetic.page_layout import Rect
from keju_synthetic.recipe import HandSpec

SCALE = 2
"""Ink is drawn this many times larger than the image."""

_PROBE = 400
_BASELINE = 0.38
"""From the middle of a CJK em down to the baseline."""


class WritingBrush(NamedTuple):
    """A hand and its font."""

    hand: HandSpec
    font: Font

    def make_measure(self) -> Callable[[str], Rect]:
        """A function that gives the ink box of a character, in parts of the em from its middle."""
        face = load_face(self.font.path, self.font.face, _PROBE)
        known: dict[str, Rect] = {}

        def ink(sign: str) -> Rect:
            if sign not in known:
                x0, y0, x1, y1 = face.getbbox(sign, anchor="ls")
                shift = face.getlength(sign) / 2
                wide = self.hand.width / _PROBE
                known[sign] = Rect(
                    (x0 - shift) * wide, y0 / _PROBE + _BASELINE,
                    (x1 - shift) * wide, y1 / _PROBE + _BASELINE,
                )  # fmt: skip
            return known[sign]

        return ink


class Ink(NamedTuple):
    """Ink coverage and dryness of the brush, each 0..1, at the oversized scale."""

    cover: Plane
    dry: Plane


def write_characters(
    signs: Sequence[PlacedCharacter],
    brush: WritingBrush,
    size: tuple[int, int],
    rng: np.random.Generator,
    *,
    joined: float = 0.0,
) -> Ink:
    """Write characters; each instance differs.

    Args:
        signs: the characters in writing order.
        brush: hand and font; every sign has an outline in it.
        size: width and height of the finished image.
        rng: the random generator.
        joined: probability, 0 to 1, that the brush continues to the next character of a column
            without leaving the paper.
    """
    wide, high = size[0] * SCALE, size[1] * SCALE
    mask = Image.new("L", (wide, high), 0)
    dryness = Image.new("L", (wide, high), 0)
    threads = Image.new("L", (wide, high), 0)
    last: tuple[float, float] | None = None
    for sign in signs:
        tile, at = _draw_tile(sign, brush, rng)
        mask.paste(255, at, tile)
        dryness.paste(round(255 * sign.dry), at, tile.filter(ImageFilter.MaxFilter(9)))
        first, end = _find_stroke_ends(tile, at)
        if last and not sign.fresh and rng.random() < joined:
            _draw_thread(threads, last, first, sign.em * SCALE, rng)
        last = end
    mask.paste(255, (0, 0), threads)
    unit_size = SCALE * size[1] / 900
    dry = to_plane(dryness.filter(ImageFilter.GaussianBlur(3 * unit_size)))
    return Ink(_lay_ink(mask, dry, unit_size, brush.hand.weight, rng), dry)


def _draw_tile(
    sign: PlacedCharacter, brush: WritingBrush, rng: np.random.Generator
) -> tuple[Image.Image, tuple[int, int]]:
    """The mask of one slightly distorted character, and the place of its upper left corner."""
    hand, font = brush
    em = max(8, round(sign.em * SCALE))
    side = 2 * em
    tile = Image.new("L", (side, side), 0)
    face = load_face(font.path, font.face, em)
    start = side / 2 - face.getlength(sign.char) / 2
    at = (round(start), round(side / 2 + em * _BASELINE))
    ImageDraw.Draw(tile).text(at, sign.char, fill=255, font=face, anchor="ls")
    if hand.width != 1:
        tile = tile.resize((round(side * hand.width), side), Image.Resampling.BICUBIC)
    tile = _distort_tile(tile, hand.sway * 1.6 * em, rng)
    tile = tile.rotate(sign.turn, Image.Resampling.BICUBIC)
    x, y = sign.x * SCALE - tile.width / 2, sign.y * SCALE - tile.height / 2
    return tile, (round(x), round(y))


def _distort_tile(tile: Image.Image, far: float, rng: np.random.Generator) -> Image.Image:
    """The tile bent over a mesh of nine nodes: strokes shift against one another."""
    wide, high = tile.size
    xs = [0, wide // 3, wide // 2, wide - wide // 3, wide]
    ys = [0, high // 3, high // 2, high - high // 3, high]
    moves = (rng.random((5, 5, 2)) * 2 - 1) * far
    # The rim stays, so that nothing is torn.
    moves[0], moves[-1], moves[:, 0], moves[:, -1] = 0, 0, 0, 0
    mesh = []
    for row in range(4):
        for column in range(4):
            corners = ((row, column), (row + 1, column), (row + 1, column + 1), (row, column + 1))
            quad = tuple(
                float(value)
                for r, c in corners
                for value in (xs[c] + moves[r, c, 0], ys[r] + moves[r, c, 1])
            )
            mesh.append(((xs[column], ys[row], xs[column + 1], ys[row + 1]), quad))
    return tile.transform(tile.size, Image.Transform.MESH, mesh, Image.Resampling.BILINEAR)


def _find_stroke_ends(
    tile: Image.Image, at: tuple[int, int]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The points where the ink of a tile begins at the top and ends at the bottom."""
    pixels = np.asarray(tile) > 128
    rows = np.flatnonzero(pixels.any(axis=1))
    if rows.size == 0:
        middle = (at[0] + tile.width / 2, at[1] + tile.height / 2)
        return middle, middle
    ends = []
    for row in (int(rows[0]), int(rows[-1])):
        columns = np.flatnonzero(pixels[row])
        ends.append((at[0] + float(columns[len(columns) // 2]), at[1] + float(row)))
    return ends[0], ends[1]


def _draw_thread(
    mask: Image.Image,
    start: tuple[float, float],
    end: tuple[float, float],
    em: float,
    rng: np.random.Generator,
) -> None:
    """Draw the thin connecting stroke from one character to the next (牽絲)."""
    far = abs(end[0] - start[0]) + abs(end[1] - start[1])
    if far > em * 0.75 or end[1] < start[1] - em * 0.05:
        return
    bow = em * 0.16 * (float(rng.random()) * 2 - 1)
    pen = ImageDraw.Draw(mask)
    steps = 14
    for step in range(steps + 1):
        t = step / steps
        bulge = 4 * t * (1 - t)
        x = start[0] + (end[0] - start[0]) * t + bow * bulge
        y = start[1] + (end[1] - start[1]) * t
        radius = em * (0.026 - 0.014 * bulge)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)


def _lay_ink(
    mask: Image.Image, dry: Plane, u: float, weight: float, rng: np.random.Generator
) -> Plane:
    """The ink coverage: bleeding where wet, streaks along the strokes where dry."""
    shape = (mask.height, mask.width)
    soft = to_plane(mask.filter(ImageFilter.GaussianBlur(1.3 * u)))
    fibre = make_noise(rng, shape, 2.2 * u) * 0.5 + make_noise(rng, shape, 5 * u) * 0.5 - 0.5
    wet = ramp(0.35 - dry, 0, 0.35)
    level = 0.50 - weight - 0.10 * wet + 0.06 * dry
    ink = ramp(soft + fibre * (0.16 + 0.22 * dry) - level, -0.16, 0.16)
    streaks = _make_streaks(mask, u, rng)
    patch = make_noise(rng, shape, 55 * u) * 0.6 + make_noise(rng, shape, 18 * u) * 0.4
    thirst = ramp(dry * (0.60 + 0.7 * patch), 0.20, 1.10)
    # The rim of a stroke holds its ink longest, its belly opens first.
    belly = ramp(to_plane(mask.filter(ImageFilter.GaussianBlur(4.5 * u))), 0.45, 0.95)
    bare = ramp(streaks + thirst * (0.30 + 0.30 * belly), 0.74, 0.92) * ramp(thirst, 0.02, 0.25)
    ink = ink * (1 - 0.86 * bare)
    pooled = make_noise(rng, shape, 26 * u)
    return ink * (0.84 + 0.16 * wet * pooled + 0.10 * (1 - dry) * (1 - wet))


def _make_streaks(mask: Image.Image, u: float, rng: np.random.Generator) -> Plane:
    """Bristle marks, 0..1, along the direction of the strokes."""
    shape = (mask.height, mask.width)
    flat = to_plane(mask.filter(ImageFilter.GaussianBlur(3 * u)))
    gx = np.zeros(shape, np.float32)
    gy = np.zeros(shape, np.float32)
    gx[:, 1:-1] = flat[:, 2:] - flat[:, :-2]
    gy[1:-1] = flat[2:] - flat[:-2]
    tensor = [_smooth(part, 5 * u) for part in (gx * gx, gy * gy, gx * gy)]
    across, down, cross = tensor
    upright = ramp(across - down - 1.2 * np.abs(cross), -0.02, 0.04)
    level = ramp(down - across - 1.2 * np.abs(cross), -0.02, 0.04)
    rising = ramp(1.2 * cross - np.abs(across - down), -0.02, 0.04)
    falling = ramp(-1.2 * cross - np.abs(across - down), -0.02, 0.04)
    whole = upright + level + rising + falling + np.float32(0.001)
    fine, long = 1.5 * u, 16.0
    columns = make_noise(rng, shape, fine, stretch=long)
    rows = make_noise(rng, (shape[1], shape[0]), fine, stretch=long).T
    slopes = [_make_slanted_streaks(shape, fine, long, angle, rng) for angle in (45, -45)]
    return (
        upright * columns + level * rows + falling * slopes[0] + rising * slopes[1]
        + np.float32(0.0005)
    ) / whole  # fmt: skip


def _make_slanted_streaks(
    shape: tuple[int, int], fine: float, long: float, angle: float, rng: np.random.Generator
) -> Plane:
    side = round((shape[0] + shape[1]) * 0.75) + 4
    tall = to_image(make_noise(rng, (side, side), fine, stretch=long))
    turned = tall.rotate(angle, Image.Resampling.BILINEAR)
    x, y = (side - shape[1]) // 2, (side - shape[0]) // 2
    if x < 0 or y < 0:
        return to_plane(turned.resize((shape[1], shape[0]), Image.Resampling.BILINEAR))
    return to_plane(turned.crop((x, y, x + shape[1], y + shape[0])))


def _smooth(plane: Plane, radius: float) -> Plane:
    """A signed plane blurred, scaled so that strong edges are near ±1."""
    image = to_image(plane * 12 + np.float32(0.5))
    return to_plane(image.filter(ImageFilter.GaussianBlur(radius))) * 2 - 1
