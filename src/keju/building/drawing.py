"""Characters, frames and seals drawn as clean masks, white on black, at twice the final size."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from PIL import Image, ImageDraw

from keju.building.composing import Glyph, Ink, Layout, Mark, Rect
from keju.building.fonts import Font, load_face
from keju.building.recipe import HandSpec

SCALE = 2
"""Masks are drawn this many times larger than the picture, so that edges come out smooth."""

_BASELINE = 0.38
"""From the middle of a CJK em down to the baseline: the em reaches from .88 above to .12 below."""

Fonts = Mapping[str, tuple[HandSpec, Font]]


def draw_glyphs(
    layout: Layout, fonts: Fonts, rng: np.random.Generator, *, ink: Ink, chips: float = 0.0
) -> dict[str, Image.Image]:
    """One mask a hand with the characters of that ink.

    Each sits a little off its place, is pulled a little out of shape, is cut a little deeper or
    shallower than others, and has about `chips` breaks in its strokes.
    """
    masks: dict[str, Image.Image] = {}
    for glyph in layout.glyphs:
        if glyph.ink != ink:
            continue
        if glyph.hand not in masks:
            masks[glyph.hand] = blank(layout)
        hand, font = fonts[glyph.hand]
        _stamp(masks[glyph.hand], glyph, (hand, font), rng, chips)
    return masks


def blank(layout: Layout) -> Image.Image:
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
    tile = _pulled(tile, hand.vary * em, rng)
    tile = tile.rotate(turn * hand.sway * 60, Image.Resampling.BICUBIC)
    x = glyph.x * SCALE + shift_x * hand.sway * em - tile.width / 2
    y = glyph.y * SCALE + shift_y * hand.sway * em - tile.height / 2
    mask.paste(255, (round(x), round(y)), tile)


def _chip(tile: Image.Image, em: int, chips: float, rng: np.random.Generator) -> None:
    """Break the strokes of the character in a tile, as worn or ill-cut wood has it."""
    pen = ImageDraw.Draw(tile)
    count = int(chips * 2 * float(rng.random()) + float(rng.random()))
    for _ in range(count):
        x, y = (em // 2 + int(rng.integers(0, em)) for _ in range(2))
        reach = max(2, em // 11)
        dx, dy = (int(rng.integers(-reach, reach + 1)) for _ in range(2))
        wide = int(rng.integers(max(1, em // 45), max(2, em // 18) + 1))
        pen.line((x, y, x + dx, y + dy), fill=0, width=wide)


def _pulled(tile: Image.Image, far: float, rng: np.random.Generator) -> Image.Image:
    """The tile with each corner of the character moved by up to `far` pixels either way."""
    wide, high = tile.size
    # The character fills the middle half of the tile, so its corners move half as far.
    moves = [2 * far * (float(v) * 2 - 1) for v in rng.random(8)]
    corners = (0.0, 0.0, 0.0, high, wide, high, wide, 0.0)
    quad = tuple(corner + move for corner, move in zip(corners, moves, strict=True))
    return tile.transform(tile.size, Image.Transform.QUAD, quad, Image.Resampling.BICUBIC)


def draw_frame(layout: Layout) -> tuple[Image.Image, Image.Image]:
    """The strong parts of the frame, and the thin rules."""
    strong, thin = blank(layout), blank(layout)
    pen, fine = ImageDraw.Draw(strong), ImageDraw.Draw(thin)
    for bar in layout.bars:
        pen.rectangle(_scaled(bar), fill=255)
    for shape in layout.shapes:
        pen.polygon([(round(x * SCALE), round(y * SCALE)) for x, y in shape], fill=255)
    for rule in layout.rules:
        fine.rectangle(_scaled(rule), fill=255)
    return strong, thin


def _scaled(rect: Rect) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = (round(value * SCALE) for value in rect)
    return x0, y0, max(x0, x1 - 1), max(y0, y1 - 1)


def draw_seal(mask: Image.Image, mark: Mark, font: Font) -> None:
    """Cut a seal into a mask: characters fill their cells, columns from right to left."""
    x0, y0, x1, y1 = (round(value * SCALE) for value in mark.box)
    side = x1 - x0
    tile = Image.new("L", (side, y1 - y0), 0)
    pen = ImageDraw.Draw(tile)
    outline = pen.ellipse if mark.round else pen.rounded_rectangle
    edge = max(2, side // 22)
    whole = (0, 0, tile.width - 1, tile.height - 1)
    if mark.white:
        outline(whole, fill=255)
    else:
        outline(whole, outline=255, width=edge)
    inset = side * (0.17 if mark.round else 0.09)
    for sign, cell in zip(mark.legend, _cells(len(mark.legend), side, inset), strict=True):
        shape = _filled(sign, cell, font)
        at = (round(cell.x0), round(cell.y0))
        tile.paste(0 if mark.white else 255, at, shape)
    mask.paste(255, (x0, y0), tile)


def _cells(count: int, side: float, inset: float) -> list[Rect]:
    """Cells in reading order: top to bottom, columns from right to left."""
    columns = 1 if count <= 2 else math.ceil(math.sqrt(count) - 0.3)
    rows = math.ceil(count / columns)
    wide = (side - 2 * inset) / columns
    cells = []
    for place in range(count):
        column, row = divmod(place, rows)
        in_column = min(rows, count - column * rows)
        high = (side - 2 * inset) / in_column
        x, y = side - inset - wide * (column + 1), inset + high * row
        gap = side * 0.018
        cells.append(Rect(x + gap, y + gap, x + wide - gap, y + high - gap))
    return cells


def _filled(sign: str, cell: Rect, font: Font) -> Image.Image:
    em, most = 160, 1.5
    tile = Image.new("L", (2 * em, 2 * em), 0)
    face = load_face(font.path, font.face, em)
    ImageDraw.Draw(tile).text((em // 2, em + 60), sign, fill=255, font=face, anchor="ls")
    shape = tile.crop(tile.getbbox())
    wide, high = cell.x1 - cell.x0, cell.y1 - cell.y0
    # Flat and narrow characters are stretched only so far and keep to the middle of their cell.
    grow = min(wide / shape.width, high / shape.height) * most
    size = (round(min(wide, shape.width * grow)), round(min(high, shape.height * grow)))
    whole = Image.new("L", (round(wide), round(high)), 0)
    at = ((whole.width - size[0]) // 2, (whole.height - size[1]) // 2)
    whole.paste(shape.resize(size, Image.Resampling.BOX), at)
    return whole
