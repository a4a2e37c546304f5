"""Masks of characters and frames, white on black, at twice the final size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PIL import Image, ImageDraw

from keju_synthetic.fonts import Font, HandSpec, load_face
from keju_synthetic.page_layout import Glyph, Layout, Rect

SCALE = 2
"""Masks are drawn this many times larger than the image, so that edges come out smooth."""

_BASELINE = 0.38
"""From the middle of a CJK em down to the baseline: the em reaches from .88 above to .12 below."""

_MOST_CHIPS = 8

Fonts = Mapping[str, tuple[HandSpec, Font]]


def draw_glyphs(
    layout: Layout, fonts: Fonts, rng: np.random.Generator, *, chips: float
) -> dict[str, Image.Image]:
    """One mask for each hand with its characters.

    Each character is slightly shifted, distorted, and cut deeper or shallower than others, and has
    about `chips` breaks in its strokes.
    """
    masks: dict[str, Image.Image] = {}
    for glyph in layout.glyphs:
        if glyph.hand not in masks:
            masks[glyph.hand] = make_blank_mask(layout)
        hand, font = fonts[glyph.hand]
        _stamp(masks[glyph.hand], glyph, (hand, font), rng, chips)
    return masks


def make_blank_mask(layout: Layout) -> Image.Image:
    """An empty mask of a layout."""
    return Image.new("L", (layout.width * SCALE, layout.height * SCALE), 0)


def _stamp(
    mask: Image.Image,
    glyph: Glyph,
    cut: tuple[HandSpec, Font],
    rng: np.random.Generator,
    chips: float,
) -> None:
    hand, font = cut
    shift_x, shift_y, turn, grow, deep = (float(v) * 2 - 1 for v in rng.random(5))
    em = max(8, round(glyph.em * SCALE * (1 + hand.sway * grow)))
    side = 2 * em
    tile = Image.new("L", (side, side), 0)
    face = load_face(font.path, font.face, em)
    start = side / 2 - face.getlength(glyph.char) / 2
    # What is less than white is printed thinner: the press looks where half of it is reached.
    shade = round(255 * (1 - hand.vary * (4 + 4 * deep)))
    ImageDraw.Draw(tile).text(
        (round(start), round(side / 2 + em * _BASELINE)), glyph.char, fill=shade, font=face,
        anchor="ls",
    )  # fmt: skip
    _chip(tile, em, chips, rng)
    if hand.width != 1:
        tile = tile.resize((round(side * hand.width), side), Image.Resampling.BICUBIC)
    tile = _distort_tile(tile, hand.vary * em, rng)
    tile = tile.rotate(turn * hand.sway * 60, Image.Resampling.BICUBIC)
    x = glyph.x * SCALE + shift_x * hand.sway * em - tile.width / 2
    y = glyph.y * SCALE + shift_y * hand.sway * em - tile.height / 2
    mask.paste(255, (round(x), round(y)), tile)


def _chip(tile: Image.Image, em: int, chips: float, rng: np.random.Generator) -> None:
    """Break the strokes of the character in a tile, as in worn wood.

    The breaks of a lower wear are part of those of a higher one.
    """
    pen = ImageDraw.Draw(tile)
    reach = max(2, em // 11)
    for _ in range(_MOST_CHIPS):
        x, y, dx, dy, wide, chance = rng.random(6)
        if chance * _MOST_CHIPS < chips:
            left, top = round(em * (0.5 + x)), round(em * (0.5 + y))
            end = (left + round((dx * 2 - 1) * reach), top + round((dy * 2 - 1) * reach))
            pen.line((left, top, *end), fill=0, width=max(1, round(em * (0.02 + 0.035 * wide))))


def _distort_tile(tile: Image.Image, far: float, rng: np.random.Generator) -> Image.Image:
    """The tile with each corner of the character moved by up to `far` pixels either way."""
    wide, high = tile.size
    # The character fills the middle half of the tile, so its corners move half as far.
    moves = [2 * far * (float(v) * 2 - 1) for v in rng.random(8)]
    corners = (0.0, 0.0, 0.0, high, wide, high, wide, 0.0)
    quad = tuple(corner + move for corner, move in zip(corners, moves, strict=True))
    return tile.transform(tile.size, Image.Transform.QUAD, quad, Image.Resampling.BICUBIC)


def draw_frame(layout: Layout, rng: np.random.Generator) -> tuple[Image.Image, Image.Image]:
    """The strong parts of the frame, and the thin rules; none is quite straight."""
    strong, thin = make_blank_mask(layout), make_blank_mask(layout)
    pen, fine = ImageDraw.Draw(strong), ImageDraw.Draw(thin)
    for bar in layout.bars:
        pen.polygon(_make_wavering_bar(bar, layout.height, rng), fill=255)
    for rule in layout.rules:
        fine.polygon(_make_wavering_bar(rule, layout.height, rng), fill=255)
    return strong, thin


def _make_wavering_bar(rect: Rect, height: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The outline of a bar whose long sides waver, as a graver's hand does."""
    x0, y0, x1, y1 = (round(value * SCALE) for value in rect)
    upright = y1 - y0 > x1 - x0
    low, high, near, far = (y0, y1, x0, x1) if upright else (x0, x1, y0, y1)
    far = max(near, far - 1)
    reach, steps = max(1, round(height * 0.0009 * SCALE)), max(1, (high - low) // 60)
    along = [low + (high - low) * step // steps for step in range(steps + 1)]
    drift, off = 0, []
    for _ in along:
        drift = max(-reach, min(reach, drift + int(rng.integers(-1, 2))))
        off.append(drift)
    ragged = [int(rng.integers(0, 2)) for _ in along]
    one = [(near + d, at) for at, d in zip(along, off, strict=True)]
    other = [(far + d + r, at) for at, d, r in zip(along, off, ragged, strict=True)]
    outline = [*one, *reversed(other)]
    return outline if upright else [(at, across) for across, at in outline]
