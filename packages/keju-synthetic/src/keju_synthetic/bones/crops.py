"""Images of one sign: copied by hand, or cropped from a rubbing or a photograph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageOps

from keju_synthetic.bones.pieces import Piece, displace_midpoints
from keju_synthetic.bones.renderings import draw_hand_copy, draw_photo, draw_rubbing
from keju_synthetic.bones.sign_writing import (
    Writer,
    draw_sign_mask,
    make_copyist,
    make_engraver,
    write_sign,
)
from keju_synthetic.bones.signs import Sign
from keju_synthetic.noise import Plane, to_plane

CropGround = Literal["hand", "rubbing", "photo", "small"]
"""Copied by hand (as in HWOBC), rubbed (as in OBC306), photographed, or rubbed and reduced to 28
pixels in a square with black sides (as in Oracle-MNIST)."""

_SMALL = 28


class CropPlan(NamedTuple):
    """How a crop is made: `height` in pixels, `wear` in 0..1."""

    ground: CropGround
    height: int
    wear: float


def draw_sign_crop(
    sign: Sign,
    plan: CropPlan,
    rng: np.random.Generator,
    *,
    signs: Mapping[str, Sign],
    variant: int | None = None,
) -> Image.Image:
    """An image of one sign by a writer of its own.

    Args:
        sign: what is written.
        plan: how it looks.
        rng: the random generator of writer, instance and ground.
        signs: where parts, and the neighbours in a rubbing, are found.
        variant: which model; by default mostly the common one.
    """
    by_hand = plan.ground == "hand"
    writer = (
        make_copyist(rng) if by_hand else make_engraver(rng, width=_choose_cut_width(sign, rng))
    )
    side = round(plan.height * (0.66 if by_hand else 0.70 + 0.16 * float(rng.random())))
    if plan.ground == "small":
        side = max(side, 60)
    mask = draw_sign_mask(write_sign(sign, writer, rng, signs=signs, variant=variant), side, writer)
    if by_hand:
        strokes = _paste_centred(mask, (plan.height, plan.height), rng, stray=0.04)
        return draw_hand_copy(strokes, rng, grain=plan.height / 200)
    piece = _make_surroundings(mask, plan, writer, rng, signs)
    grain = piece.shape[0] / 110 * (0.75 + 0.6 * float(rng.random()))
    if plan.ground == "photo":
        return draw_photo(piece, rng, wear=plan.wear, grain=grain)
    picture = draw_rubbing(piece, rng, wear=plan.wear, grain=grain, lift=_choose_lift(rng))
    return _reduce_to_square(picture) if plan.ground == "small" else picture


def _choose_cut_width(sign: Sign, rng: np.random.Generator) -> float:
    """The breadth of cuts, in parts of the sign's side; signs of many cuts have fine ones."""
    return (0.050 + 0.034 * float(rng.random())) * (0.72 if len(sign.models[0]) > 7 else 1.0)


def _paste_centred(
    mask: Image.Image, shape: tuple[int, int], rng: np.random.Generator, *, stray: float
) -> Plane:
    board = Image.new("L", (shape[1], shape[0]), 0)
    off_x, off_y = ((float(v) * 2 - 1) * stray for v in rng.random(2))
    x = round((shape[1] - mask.width) / 2 + off_x * shape[1])
    y = round((shape[0] - mask.height) / 2 + off_y * shape[0])
    board.paste(mask, (x, y))
    return to_plane(board)


def _make_surroundings(
    mask: Image.Image,
    plan: CropPlan,
    writer: Writer,
    rng: np.random.Generator,
    signs: Mapping[str, Sign],
) -> Piece:
    """The sign on its part of the bone, with the neighbours, cracks and rim of a crop."""
    loose = float(rng.random())
    margin = round(mask.height * (0.02 + 0.24 * loose * loose)) + 2
    shape = (mask.height + 2 * margin, max(mask.width, mask.height // 4) + 2 * margin)
    strokes = _paste_centred(mask, shape, rng, stray=0.02 + 0.06 * loose)
    chance = [float(v) for v in rng.random(4)]
    if chance[0] < 0.25 + 0.3 * plan.wear:
        strokes = np.maximum(strokes, _draw_neighbour(mask.height, shape, writer, rng, signs))
    whole = Image.new("L", (shape[1], shape[0]), 255)
    if chance[1] < 0.22 * plan.wear + 0.02:
        ImageDraw.Draw(whole).polygon(_make_missing_corner(shape, rng), fill=0)
    lines = Image.new("L", (shape[1], shape[0]), 0)
    if chance[2] < 0.15 + 0.5 * plan.wear:
        start, end = (float(v) for v in rng.random(2))
        crack = displace_midpoints([(start, 0.0), (end, 1.0)], rng, rough=0.12, halvings=4)
        path = [(round(x * shape[1]), round(y * shape[0])) for x, y in crack]
        ImageDraw.Draw(lines).line(path, fill=220, width=max(1, mask.height // 60))
    ground = to_plane(whole)
    return Piece.make_blank(ground, to_plane(lines) * ground)._replace(strokes=strokes * ground)


def _draw_neighbour(
    height: int,
    shape: tuple[int, int],
    writer: Writer,
    rng: np.random.Generator,
    signs: Mapping[str, Sign],
) -> Plane:
    """The visible edge of the sign above or below the crop's own sign."""
    names = list(signs)
    other = signs[names[int(rng.integers(0, len(names)))]]
    mask = draw_sign_mask(write_sign(other, writer, rng, signs=signs), height, writer)
    board = Image.new("L", (shape[1], shape[0]), 0)
    seen = round(height * (0.04 + 0.07 * float(rng.random())))
    y = seen - mask.height if float(rng.random()) < 0.5 else shape[0] - seen
    board.paste(mask, ((shape[1] - mask.width) // 2, y))
    return to_plane(board)


def _choose_lift(rng: np.random.Generator) -> float:
    """The `lift` of a rubbing: mostly near 0 (black), sometimes up to 1.8 (thin and grey)."""
    thin = float(rng.random())
    return thin * thin * 1.8


def _make_missing_corner(shape: tuple[int, int], rng: np.random.Generator) -> list[tuple[int, int]]:
    """A corner or a side of the crop where the bone has ended."""
    one, two, side = (float(v) for v in rng.random(3))
    rim = displace_midpoints(
        [(0.0, 0.34 * one - 0.02), (1.0, 0.34 * two - 0.02)], rng, rough=0.12, halvings=4
    )
    points = [(-0.1, -0.1), *rim, (1.1, -0.1)]
    if side < 0.6:
        points = [(x, 1 - y) for x, y in points]
    if side > 0.8 or side < 0.3:
        points = [(y, x) for x, y in points]
    return [(round(x * shape[1]), round(y * shape[0])) for x, y in points]


def _reduce_to_square(picture: Image.Image) -> Image.Image:
    """The image in a square of 28 pixels: the longer side fills it, the rest is black."""
    scale = _SMALL / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    square = Image.new("L", (_SMALL, _SMALL), 0)
    small = ImageOps.autocontrast(picture.resize(size, Image.Resampling.BOX), cutoff=(0, 2))
    square.paste(small, ((_SMALL - size[0]) // 2, (_SMALL - size[1]) // 2))
    return square
