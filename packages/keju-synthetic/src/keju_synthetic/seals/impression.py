"""Impressions of seals: paste, uneven pressure and the grain of the ground."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from keju.items import Point
from keju_synthetic.camera import expose
from keju_synthetic.noise import Plane, make_noise, ramp, to_image, to_plane
from keju_synthetic.paper import Picture, add_foxing, add_stains, make_paper, make_silk
from keju_synthetic.seals.carving import SealDesign, carve_seal
from keju_synthetic.wear import Wear

Ground = Literal["paper", "silk", "ruled"]
"""The ground of an impression: plain paper, silk, or the ruled margin of a printed page."""

_PASTES = (
    np.array([0.76, 0.17, 0.11], np.float32),
    np.array([0.68, 0.15, 0.13], np.float32),
    np.array([0.80, 0.27, 0.14], np.float32),
    np.array([0.57, 0.15, 0.12], np.float32),
)
"""Cinnabar pastes, fresh to darkened."""

_MOST_TURN = 0.045
_FILLED = 0.74
_LARGER = 4


class Impression(NamedTuple):
    """An image of a pressed seal, and the outline of the seal in it, in pixels."""

    image: Image.Image
    outline: tuple[Point, ...]


def press_seal(
    cut: SealDesign, *, height: int, ground: Ground, wear: Wear, rng: np.random.Generator
) -> Impression:
    """Press a seal in the middle of an image of its own.

    Args:
        cut: the seal.
        height: of the image in pixels; its width leaves the seal a like margin on all sides.
        ground: what it is pressed on.
        wear: age of the ground, evenness of the paste, and the scan.
        rng: the random generator.

    Raises:
        DataError: the legend cannot be cut.
    """
    mask = carve_seal(cut, round(height * _FILLED), rng)
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
    page = _draw_ground(ground, (height, width), wear, rng)
    page = lay_paste(page, whole, worn=min(1.0, 0.15 + 0.7 * wear.starve), rng=rng)
    image = expose(page, wear, "colour", rng)
    corners = [(x, y), (x + mask.width, y), (x + mask.width, y + mask.height), (x, y + mask.height)]
    return Impression(image, tuple(_rotate_point(p, turn, width, height) for p in corners))


class Paste(NamedTuple):
    """Seal paste on a ground: its coverage (0..1) and its colour."""

    cover: Plane
    tone: Picture

    def apply(self, page: Picture) -> Picture:
        """An image of the same size with the paste on it.

        Paste darkens what is beneath instead of hiding it, so writing shows through a seal.
        """
        cover = self.cover[..., None]
        seen = page * (1 - cover) + (page * 0.55 + 0.45) * self.tone * cover
        return seen.astype(np.float32)

    def reduce(self, scale: int) -> Paste:
        """The same paste at a `scale` times smaller size."""
        cover = to_image(self.cover).reduce(scale)
        tone = Image.fromarray((np.clip(self.tone, 0, 1) * 255 + 0.5).astype(np.uint8))
        return Paste(to_plane(cover), to_plane(tone.reduce(scale)))


def spread_paste(mask: Image.Image, *, worn: float, rng: np.random.Generator) -> Paste:
    """Paste where `mask` is white.

    It is squeezed out at the edges of what is cut, thin where the hand pressed less, and leaves
    the hollows of the ground bare; `worn` in 0..1 is how much of that.
    """
    shape = (mask.height, mask.width)
    size = max(1.0, mask.height / 380)
    soft = to_plane(mask.filter(ImageFilter.GaussianBlur(0.9 * size)))
    far = to_plane(mask.filter(ImageFilter.GaussianBlur(3.2 * size)))
    edge = make_noise(rng, shape, 2.2 * size) * 0.6 + make_noise(rng, shape, 7 * size) * 0.4 - 0.5
    ink = ramp(soft + edge * (0.30 + 0.35 * worn) - 0.46, -0.16, 0.16)
    rim = ramp(soft - far, 0.02, 0.40)
    pressure = make_noise(rng, shape, 150 * size) * 0.6 + make_noise(rng, shape, 45 * size) * 0.4
    grain = make_noise(rng, shape, 1.8 * size) * 0.5 + make_noise(rng, shape, 4.5 * size) * 0.5
    bare = ramp(grain + (0.62 - pressure) * (0.35 + 0.5 * worn), 0.66 - 0.10 * worn, 0.92)
    density = 0.80 + 0.18 * rim - 0.22 * worn * (1 - pressure)
    colour = _PASTES[int(rng.integers(0, len(_PASTES)))]
    tone = colour * (1.04 - 0.16 * rim - 0.10 * make_noise(rng, shape, 20 * size))[..., None]
    return Paste(ink * (1 - bare * (0.35 + 0.6 * worn)) * density, tone)


def lay_paste(
    page: Picture, mask: Image.Image, *, worn: float, rng: np.random.Generator
) -> Picture:
    """An image with paste where a mask of its size is white (see `spread_paste`)."""
    return spread_paste(mask, worn=worn, rng=rng).apply(page)


def press_on_page(
    page: Picture,
    cut: SealDesign,
    middle: Point,
    height: int,
    *,
    worn: float,
    rng: np.random.Generator,
) -> tuple[Picture, tuple[Point, ...]]:
    """Press a seal on an image; small seals stay sharp, as they are cut and pressed larger.

    Args:
        page: the image.
        cut: the seal.
        middle: the middle of the impression, in pixels.
        height: of the seal in pixels.
        worn: 0..1, how uneven the paste is.
        rng: the random generator.

    Returns:
        The image with the seal, and the seal's outline in pixels, cut to the image.
    """
    high, wide = page.shape[:2]
    stamp = carve_seal(cut, height * _LARGER, rng)
    rim = height // 12 * _LARGER
    whole = Image.new("L", (_round_up(stamp.width + 2 * rim), _round_up(stamp.height + 2 * rim)), 0)
    whole.paste(stamp, (rim, rim))
    whole = whole.rotate((float(rng.random()) - 0.5) * 4, Image.Resampling.BICUBIC)
    paste = spread_paste(whole, worn=worn, rng=rng).reduce(_LARGER)
    down, across = paste.cover.shape
    left, top = round(middle[0] - across / 2), round(middle[1] - down / 2)
    rows = slice(max(0, top), min(high, top + down))
    columns = slice(max(0, left), min(wide, left + across))
    inside = (
        slice(rows.start - top, rows.stop - top),
        slice(columns.start - left, columns.stop - left),
    )
    page = page.copy()
    part = Paste(paste.cover[inside], paste.tone[inside])
    page[rows, columns] = part.apply(page[rows, columns])
    half_x, half_y = stamp.width / _LARGER / 2, height / 2
    corners = ((-half_x, -half_y), (half_x, -half_y), (half_x, half_y), (-half_x, half_y))
    outline = tuple(_clip_point(middle[0] + x, middle[1] + y, wide, high) for x, y in corners)
    return page, outline


def _round_up(side: int) -> int:
    return -(-side // _LARGER) * _LARGER


def _clip_point(x: float, y: float, width: int, height: int) -> Point:
    """A point moved into the image."""
    return (
        round(min(max(x, 0.0), float(width)), 2),
        round(min(max(y, 0.0), float(height)), 2),
    )


def _draw_ground(
    ground: Ground, shape: tuple[int, int], wear: Wear, rng: np.random.Generator
) -> Picture:
    if ground == "silk":
        return make_silk(shape, wear, rng)
    page = make_paper(shape, wear, rng)
    add_foxing(page, wear, rng)
    add_stains(page, wear, rng)
    if ground == "ruled":
        page *= 1 - (_draw_rules(shape, rng) * 0.80)[..., None]
    return page


def _draw_rules(shape: tuple[int, int], rng: np.random.Generator) -> Plane:
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
    worn = make_noise(rng, shape, 3) * 0.5 + make_noise(rng, shape, 24) * 0.5
    return to_plane(mask.filter(ImageFilter.GaussianBlur(0.8))) * (1 - ramp(worn, 0.52, 0.72))


def _rotate_point(point: Point, turn: float, width: int, height: int) -> Point:
    """A point of the flat image after the rotation (counter-clockwise as seen)."""
    x, y = point[0] - width / 2, point[1] - height / 2
    level = math.sqrt(1 - turn * turn)
    x, y = x * level + y * turn, y * level - x * turn
    return _clip_point(width / 2 + x, height / 2 + y, width, height)
