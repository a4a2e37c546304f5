"""Pressing a seal: paste, uneven pressure and the grain of what it is pressed on."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from keju.building.camera import expose
from keju.building.noise import Plane, field, ramp, unit
from keju.building.paper import Picture, add_foxing, add_stains, make_paper, make_silk
from keju.building.seals.cutting import Cut, cut_seal
from keju.building.wear import Wear
from keju.items import Point

Ground = Literal["paper", "silk", "ruled"]
"""What a seal is pressed on: plain paper, silk, or the ruled margin of a printed page."""

_PASTES = (
    np.array([0.76, 0.17, 0.11], np.float32),
    np.array([0.68, 0.15, 0.13], np.float32),
    np.array([0.80, 0.27, 0.14], np.float32),
    np.array([0.57, 0.15, 0.12], np.float32),
)
"""Cinnabar pastes, fresh to darkened."""

_MOST_TURN = 0.045
_FILLED = 0.74


class Impression(NamedTuple):
    """A picture of a pressed seal, and the outline of the seal in it, in pixels."""

    image: Image.Image
    outline: tuple[Point, ...]


def press_seal(
    cut: Cut, *, height: int, ground: Ground, wear: Wear, rng: np.random.Generator
) -> Impression:
    """Press a seal in the middle of a picture of its own.

    Args:
        cut: the seal.
        height: of the picture in pixels; its width leaves the seal a like margin on all sides.
        ground: what it is pressed on.
        wear: age of the ground, evenness of the paste, and the scan.
        rng: where chance comes from.

    Raises:
        DataError: the legend cannot be cut.
    """
    mask = cut_seal(cut, round(height * _FILLED), rng)
    margin = height - mask.height
    width = mask.width + margin
    x, y = (
        margin * (0.42 + 0.16 * float(rng.random())),
        margin * (0.42 + 0.16 * float(rng.random())),
    )
    whole = Image.new("L", (width, height), 0)
    whole.paste(mask, (round(x), round(y)))
    turn = (float(rng.random()) * 2 - 1) * _MOST_TURN
    # The sine of an angle this small is the angle.
    whole = whole.rotate(math.degrees(turn), Image.Resampling.BICUBIC)
    page = _ground(ground, (height, width), wear, rng)
    page = lay_paste(page, whole, worn=min(1.0, 0.15 + 0.7 * wear.starve), rng=rng)
    image = expose(page, wear, "colour", rng)
    corners = [(x, y), (x + mask.width, y), (x + mask.width, y + mask.height), (x, y + mask.height)]
    return Impression(image, tuple(_turned(p, turn, width, height) for p in corners))


def lay_paste(
    page: Picture, mask: Image.Image, *, worn: float, rng: np.random.Generator
) -> Picture:
    """A picture with seal paste where `mask` is white.

    Paste is squeezed out at the edges of what is cut, thin where the hand pressed less, and
    leaves the hollows of the ground bare; `worn` in 0..1 is how much of that.
    """
    shape = (mask.height, mask.width)
    size = max(1.0, mask.height / 380)
    soft = unit(mask.filter(ImageFilter.GaussianBlur(0.9 * size)))
    far = unit(mask.filter(ImageFilter.GaussianBlur(3.2 * size)))
    edge = field(rng, shape, 2.2 * size) * 0.6 + field(rng, shape, 7 * size) * 0.4 - 0.5
    ink = ramp(soft + edge * (0.30 + 0.35 * worn) - 0.46, -0.16, 0.16)
    rim = ramp(soft - far, 0.02, 0.40)
    pressure = field(rng, shape, 150 * size) * 0.6 + field(rng, shape, 45 * size) * 0.4
    grain = field(rng, shape, 1.8 * size) * 0.5 + field(rng, shape, 4.5 * size) * 0.5
    bare = ramp(grain + (0.62 - pressure) * (0.35 + 0.5 * worn), 0.66 - 0.10 * worn, 0.92)
    density = 0.80 + 0.18 * rim - 0.22 * worn * (1 - pressure)
    alpha = ink * (1 - bare * (0.35 + 0.6 * worn)) * density
    paste = _PASTES[int(rng.integers(0, len(_PASTES)))]
    tone = paste * (1.04 - 0.16 * rim - 0.10 * field(rng, shape, 20 * size))[..., None]
    cover: Plane = alpha[..., None]
    # Paste darkens what is beneath instead of hiding it, so that writing shows through a seal.
    return (page * (1 - cover) + page * tone * cover * 0.55 + tone * cover * 0.45).astype(
        np.float32
    )


def _ground(
    ground: Ground, shape: tuple[int, int], wear: Wear, rng: np.random.Generator
) -> Picture:
    if ground == "silk":
        return make_silk(shape, wear, rng)
    page = make_paper(shape, wear, rng)
    add_foxing(page, wear, rng)
    add_stains(page, wear, rng)
    if ground == "ruled":
        page *= 1 - (_rules(shape, rng) * 0.80)[..., None]
    return page


def _rules(shape: tuple[int, int], rng: np.random.Generator) -> Plane:
    """Two or three printed rules and the foot of the frame."""
    height, width = shape
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    step = width * (0.34 + 0.08 * float(rng.random()))
    x = step * float(rng.random())
    foot = round(height * (0.93 + 0.03 * float(rng.random())))
    while x < width:
        pen.line([(x, 0), (x + 2, foot)], fill=210, width=max(1, height // 260))
        x += step
    pen.line([(0, foot), (width, foot + 1)], fill=255, width=max(3, height // 75))
    worn = field(rng, shape, 3) * 0.5 + field(rng, shape, 24) * 0.5
    return unit(mask.filter(ImageFilter.GaussianBlur(0.8))) * (1 - ramp(worn, 0.52, 0.72))


def _turned(point: Point, turn: float, width: int, height: int) -> Point:
    """Where a point of the flat picture lies after the turn (counter-clockwise as one looks)."""
    x, y = point[0] - width / 2, point[1] - height / 2
    level = math.sqrt(1 - turn * turn)
    return (
        round(min(max(width / 2 + x * level + y * turn, 0.0), float(width)), 2),
        round(min(max(height / 2 - x * turn + y * level, 0.0), float(height)), 2),
    )
