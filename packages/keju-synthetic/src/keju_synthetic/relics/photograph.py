"""A museum photograph of a relic: backdrop, shadow, scale bar, label."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from keju_synthetic.camera import expose
from keju_synthetic.fonts import Font, load_face
from keju_synthetic.noise import Plane, make_noise, ramp, to_plane
from keju_synthetic.page_layout import Rect
from keju_synthetic.paper import Picture
from keju_synthetic.relics.materials import shade_surface
from keju_synthetic.relics.shapes import Frame, Shape, build_surface
from keju_synthetic.relics.solids import TILT, Surface
from keju_synthetic.wear import Wear

Ground = Literal["grey", "dark", "warm"]

SCALE = 2
"""Things are lit this many times larger than the image."""

_GROUNDS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "grey": ((0.80, 0.80, 0.79), (0.56, 0.57, 0.58)),
    "dark": ((0.30, 0.30, 0.31), (0.08, 0.08, 0.09)),
    "warm": ((0.84, 0.79, 0.70), (0.60, 0.53, 0.44)),
}

_STEPS = (1, 2, 5, 10, 20, 50)
"""Lengths of a scale bar, in centimetres."""


class Staging(NamedTuple):
    """The presentation of a relic.

    `height` is the image's in pixels; `centimetres` the thing's own, for the scale bar (0: none);
    `label` the words of the card before it, a line each (empty: none).
    """

    height: int
    ground: Ground
    centimetres: float = 0.0
    label: tuple[str, ...] = ()


class RelicPhoto(NamedTuple):
    """A finished image, and the box of each line of its label, in pixels."""

    image: Image.Image
    label: tuple[Rect, ...]


def photograph_relic(
    shape: Shape,
    staging: Staging,
    wear: Wear,
    font: Font | None,
    rng: np.random.Generator,
) -> RelicPhoto:
    """Draw a photograph of a relic.

    Args:
        shape: its shape.
        staging: its presentation.
        wear: wear of the photograph.
        font: for characters on the thing, the scale bar and the label; needed if there are any.
        rng: the random generator.
    """
    high = staging.height
    foot = 0.20 if staging.label else 0.13
    # A wide mouth seen from above reaches higher than the thing's height.
    lift = 1.0 if shape.from_above else 1 + TILT * shape.aspect / 2
    thing = high * (0.93 - foot) / lift
    wide = round(max(thing * shape.aspect + high * 0.20, high * 0.62))
    surface = Surface(wide * SCALE, high * SCALE)
    frame = Frame(wide * SCALE / 2, high * (1 - foot) * SCALE, thing * SCALE)
    build_surface(surface, shape, frame, font)
    lit = shade_surface(surface, shape.material, rng, scale=SCALE * high / 600)
    # Edges are whole pixels of the large image; softened, they come out smooth in the small one.
    whole = Image.fromarray((surface.cover * 255 + 0.5).astype(np.uint8))
    soft = whole.filter(ImageFilter.GaussianBlur(0.9))
    cover = to_plane(soft.reduce(SCALE))
    page = _draw_backdrop((high, wide), staging.ground, high * (1 - foot), shape.from_above, rng)
    page = _add_shadow(page, cover, shape.from_above, high)
    page = page * (1 - cover[..., None]) + _reduce_page(lit * to_plane(soft)[..., None])
    image = Image.fromarray((np.clip(page, 0, 1) * 255 + 0.5).astype(np.uint8))
    if staging.centimetres and font is not None:
        _draw_scale_bar(image, thing / staging.centimetres, font, staging.ground)
    boxes = _draw_card(image, staging.label, font) if staging.label and font is not None else ()
    seen: Picture = np.asarray(image, dtype=np.float32) / np.float32(255)
    return RelicPhoto(expose(seen, wear, "colour", rng), boxes)


def _reduce_page(page: Picture) -> Picture:
    image = Image.fromarray((np.clip(page, 0, 1) * 255 + 0.5).astype(np.uint8))
    seen: Picture = np.asarray(image.reduce(SCALE), dtype=np.float32) / np.float32(255)
    return seen


def _draw_backdrop(
    shape: tuple[int, int], ground: Ground, floor: float, from_above: bool, rng: np.random.Generator
) -> Picture:
    """A sweep of paper: light behind the thing, falling off to the corners."""
    height, width = shape
    light, dark = (np.array(colour, np.float32) for colour in _GROUNDS[ground])
    y = np.arange(height, dtype=np.float32)[:, None] / height
    x = np.arange(width, dtype=np.float32)[None, :] / height - width / height / 2
    far = x * x * 0.9 + (y - 0.42) * (y - 0.42) * 1.3
    part = ramp(far, 0.0, 0.42)
    if not from_above:
        table = ramp(y - floor / height + 0.10, 0.0, 0.16)
        part = np.clip(part - 0.22 * table + 0.06 * (1 - table), 0, 1)
    part = part + (make_noise(rng, shape, 3) - 0.5) * 0.012
    page: Picture = light * (1 - part[..., None]) + dark * part[..., None]
    return page.astype(np.float32)


def _add_shadow(page: Picture, cover: Plane, from_above: bool, high: int) -> Picture:
    mask = Image.fromarray((cover * 255 + 0.5).astype(np.uint8))
    if from_above:
        near = to_plane(mask.filter(ImageFilter.GaussianBlur(high * 0.012)))
        shade = np.roll(near, (round(high * 0.012), round(high * 0.010)), axis=(0, 1)) * 0.55
        page = page * (1 - shade)[..., None]
        return page.astype(np.float32)
    rows = np.flatnonzero(cover.max(axis=1) > 0.5)
    bottom = int(rows[-1])
    # What touches the table throws a short dark shadow and a long soft one to the right.
    squashed = mask.resize((mask.width, max(2, round(mask.height * 0.16))), Image.Resampling.BOX)
    long = Image.new("L", mask.size, 0)
    lift = round((mask.height - bottom) * 0.16)
    long.paste(
        squashed, (round(high * 0.05), bottom - squashed.height + lift + round(high * 0.012))
    )
    long = long.filter(ImageFilter.GaussianBlur(high * 0.028))
    strip = mask.crop((0, max(0, bottom - round(high * 0.03)), mask.width, bottom + 1))
    touch = Image.new("L", mask.size, 0)
    touch.paste(strip.resize((mask.width, max(2, round(high * 0.022)))), (0, bottom - 4))
    touch = touch.filter(ImageFilter.GaussianBlur(high * 0.007))
    shade = np.maximum(to_plane(long) * 0.34, to_plane(touch) * 0.62)
    page = page * (1 - shade)[..., None]
    return page.astype(np.float32)


def _draw_scale_bar(image: Image.Image, per_centimetre: float, font: Font, ground: Ground) -> None:
    """A bar of alternate black and white, about a fifth of the image long."""
    wanted = image.width * 0.20 / per_centimetre
    length = max((step for step in _STEPS if step <= wanted), default=1)
    pen = ImageDraw.Draw(image)
    unit_ = length * per_centimetre / 4
    x, y = image.height * 0.04, image.height * 0.955
    thick = max(3, round(image.height * 0.010))
    ink = (235, 235, 235) if ground == "dark" else (25, 25, 25)
    other = (60, 60, 60) if ground == "dark" else (245, 245, 245)
    for number in range(4):
        box = (x + unit_ * number, y, x + unit_ * (number + 1), y + thick)
        pen.rectangle(box, fill=ink if number % 2 == 0 else other, outline=ink)
    face = load_face(font.path, font.face, max(10, round(image.height * 0.026)))
    pen.text((x + unit_ * 2, y - thick * 0.6), f"{length} cm", fill=ink, font=face, anchor="mb")


def _draw_card(image: Image.Image, lines: tuple[str, ...], font: Font) -> tuple[Rect, ...]:
    """A card on the table before the thing, a little in perspective."""
    size = max(11, round(image.height * 0.034))
    face = load_face(font.path, font.face, size)
    wide = max(face.getlength(line) for line in lines) + size * 1.6
    high = size * (1.35 * len(lines) + 0.8)
    x, y = image.width * 0.965 - wide, image.height * 0.975 - high
    pen = ImageDraw.Draw(image)
    shadow = Image.new("L", image.size, 0)
    ImageDraw.Draw(shadow).rectangle((x + 2, y + 4, x + wide + 4, y + high + 5), fill=110)
    shadow = shadow.filter(ImageFilter.GaussianBlur(4))
    image.paste((0, 0, 0), (0, 0), shadow)
    pen.polygon([(x + 2, y), (x + wide - 2, y), (x + wide, y + high), (x, y + high)],
                fill=(240, 238, 231))  # fmt: skip
    pen.line([(x, y + high), (x + wide, y + high)], fill=(190, 186, 176), width=2)
    boxes = []
    for number, line in enumerate(lines):
        at = (x + wide / 2, y + size * (0.4 + 1.35 * (number + 0.5)))
        pen.text(at, line, fill=(38, 36, 34), font=face, anchor="mm")
        boxes.append(Rect(*(float(v) for v in pen.textbbox(at, line, font=face, anchor="mm"))))
    return tuple(boxes)
