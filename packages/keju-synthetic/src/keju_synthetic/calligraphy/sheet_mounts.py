"""Sheets and mountings of calligraphy: scrolls, album leaves, couplets, fans, rubbings."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from keju_synthetic.calligraphy.character_placement import Fan
from keju_synthetic.noise import Plane, make_noise, ramp, to_image, to_plane
from keju_synthetic.page_layout import Rect
from keju_synthetic.paper import Picture, add_foxing, add_stains, make_paper, make_silk
from keju_synthetic.wear import Wear

Form = Literal["scroll", "handscroll", "leaf", "couplet", "fan", "rubbing"]
Material = Literal["paper", "silk", "red"]
"""Paper, silk, or red paper flecked with gold."""

_WALL = np.array([0.80, 0.79, 0.76], np.float32)
_RED = np.array([0.74, 0.20, 0.13], np.float32)
_GOLD = np.array([0.80, 0.66, 0.36], np.float32)
_STONE = np.array([0.115, 0.115, 0.120], np.float32)
_PALE = np.array([0.80, 0.77, 0.69], np.float32)
_ROD = np.array([0.22, 0.13, 0.09], np.float32)
_CLOTHS = (
    np.array([0.70, 0.66, 0.56], np.float32),
    np.array([0.48, 0.53, 0.54], np.float32),
    np.array([0.62, 0.58, 0.45], np.float32),
    np.array([0.56, 0.46, 0.38], np.float32),
)


class Mount(NamedTuple):
    """A form at its size: the sheets (hearts) that are written on, in reading order.

    `inner` are the parts of them that text may fill; `bodies` are the pieces of mounting cloth,
    `rod` is the wooden end of a scroll, `cut` the outline of a fan.
    """

    form: Form
    width: int
    height: int
    hearts: tuple[Rect, ...]
    inner: tuple[Rect, ...]
    bodies: tuple[Rect, ...] = ()
    rod: Rect | None = None
    cut: Fan | None = None


def make_mount(form: Form, height: int, aspect: float) -> Mount:
    """The geometry of a form.

    Args:
        form: the form.
        height: of the image in pixels.
        aspect: width of the image in heights.
    """
    wide, high = round(height * aspect), height
    if form == "scroll":
        body = Rect(wide * 0.05, 0, wide * 0.95, high * 0.965)
        heart = Rect(wide * 0.15, high * 0.115, wide * 0.85, high * 0.86)
        rod = Rect(wide * 0.015, high * 0.950, wide * 0.985, high * 0.982)
        return Mount(form, wide, high, (heart,), (_inset(heart, 0.08, 0.06),), (body,), rod)
    if form == "handscroll":
        heart = Rect(wide * 0.07, high * 0.07, wide * 0.93, high * 0.93)
        body = Rect(0, 0, wide, high)
        return Mount(form, wide, high, (heart,), (_inset(heart, 0.05, 0.09),), (body,))
    if form == "couplet":
        strips = (
            Rect(wide * 0.55, high * 0.025, wide * 0.95, high * 0.975),
            Rect(wide * 0.05, high * 0.025, wide * 0.45, high * 0.975),
        )
        hearts = tuple(_inset(strip, 0.06, 0.05) for strip in strips)
        inner = tuple(_inset(heart, 0.225, 0.03) for heart in hearts)
        return Mount(form, wide, high, hearts, inner, strips)
    if form == "fan":
        outer = wide * 0.556
        fan = Fan(wide / 2, high * 0.04 + outer, outer, outer * 0.46, 1.05)
        whole = Rect(0, 0, wide, high)
        return Mount(form, wide, high, (whole,), (whole,), cut=fan)
    whole = Rect(0, 0, wide, high)
    margin = 0.075 if form == "leaf" else 0.065
    return Mount(form, wide, high, (whole,), (_inset(whole, margin / math.sqrt(aspect), margin),))


def _inset(rect: Rect, across: float, down: float) -> Rect:
    x, y = (rect.x1 - rect.x0) * across, (rect.y1 - rect.y0) * down
    return Rect(rect.x0 + x, rect.y0 + y, rect.x1 - x, rect.y1 - y)


def draw_ground(made: Mount, material: Material, wear: Wear, rng: np.random.Generator) -> Picture:
    """The image before anything is written."""
    shape = (made.height, made.width)
    sheet = _draw_sheet(material, shape, wear, rng)
    if made.form == "fan" and made.cut is not None:
        return _draw_fan(sheet, made.cut, shape, rng)
    if made.form == "leaf":
        return _fold_leaf(sheet, wear)
    if made.form == "rubbing":
        return sheet
    cloth = _draw_cloth(shape, _CLOTHS[int(rng.integers(0, len(_CLOTHS)))], rng)
    page = np.broadcast_to(_WALL, (*shape, 3)) * (
        0.97 + 0.05 * make_noise(rng, shape, made.height * 0.5)[..., None]
    )
    page = _overlay(page, cloth, made.bodies)
    edge = max(2.0, made.height * 0.006)
    page = _overlay(page, cloth * 0.35 + _PALE * 0.65, [_enlarge(h, edge) for h in made.hearts])
    page = _overlay(page, _crease_sheet(sheet, wear, rng), made.hearts)
    if made.rod:
        _draw_rod(page, made.rod)
    return page.astype(np.float32)


def _draw_sheet(
    material: Material, shape: tuple[int, int], wear: Wear, rng: np.random.Generator
) -> Picture:
    if material == "silk":
        return make_silk(shape, wear, rng)
    page = make_paper(shape, wear, rng)
    if material == "red":
        tone = 0.86 + 0.14 * make_noise(rng, shape, 40)
        flecks = ramp(
            make_noise(rng, shape, 3.4) * 0.6 + make_noise(rng, shape, 1.6) * 0.4, 0.80, 0.84
        )
        flecks = flecks * ramp(make_noise(rng, shape, 60), 0.25, 0.6)
        red = _RED * (tone * (1 - 0.25 * wear.fade))[..., None] + 0.12 * wear.fade
        page = red * (1 - flecks[..., None]) + _GOLD * flecks[..., None]
    add_foxing(page, wear, rng)
    add_stains(page, wear, rng)
    return page.astype(np.float32)


def _draw_cloth(shape: tuple[int, int], colour: np.ndarray, rng: np.random.Generator) -> Picture:
    """Mounting silk: a small lozenge figure in the weave."""
    step = max(10, shape[0] // 46)
    tile = Image.new("L", (step * 2, step * 2), 110)
    pen = ImageDraw.Draw(tile)
    s = step
    pen.polygon([(s, 2), (2 * s - 3, s), (s, 2 * s - 3), (2, s)], outline=170)
    pen.ellipse((s - s // 3, s - s // 3, s + s // 3, s + s // 3), fill=160)
    pen.line([(0, 0), (s // 3, s // 3)], fill=160)
    tile = tile.filter(ImageFilter.GaussianBlur(0.9))
    figure = Image.new("L", (shape[1], shape[0]))
    for y in range(0, shape[0], 2 * step):
        for x in range(0, shape[1], 2 * step):
            figure.paste(tile, (x, y))
    weave = make_noise(rng, shape, 1.7) - 0.5
    cloud = make_noise(rng, shape, shape[0] * 0.3) - 0.5
    light = 1 + 0.16 * (to_plane(figure) - 0.45) + 0.05 * weave + 0.07 * cloud
    cloth: Picture = colour * light[..., None]
    return cloth.astype(np.float32)


def _overlay(page: Picture, upper: Picture, rects: tuple[Rect, ...] | list[Rect]) -> Picture:
    """`upper` within the rectangles, with lit edges and a small shadow."""
    shape = page.shape[:2]
    mask = Image.new("L", (shape[1], shape[0]), 0)
    pen = ImageDraw.Draw(mask)
    for rect in rects:
        pen.rectangle([round(value) for value in rect], fill=255)
    shade = to_plane(mask.filter(ImageFilter.GaussianBlur(max(2, shape[0] * 0.004))))
    page = page * (1 - 0.30 * shade)[..., None]
    cover = to_plane(mask.filter(ImageFilter.GaussianBlur(0.6)))[..., None]
    result: Picture = page * (1 - cover) + upper * cover
    return result


def _enlarge(rect: Rect, by: float) -> Rect:
    return Rect(rect.x0 - by, rect.y0 - by, rect.x1 + by, rect.y1 + by)


def _crease_sheet(sheet: Picture, wear: Wear, rng: np.random.Generator) -> Picture:
    """The sheet with creases of rolling, where its surface has cracked."""
    height, width = sheet.shape[:2]
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    rolled_up = height > width
    length, side = (height, width) if rolled_up else (width, height)
    for _ in range(round(3 + 16 * wear.age)):
        place = float(rng.random()) * length
        start, reach = float(rng.random()) * 0.8, 0.15 + 0.6 * float(rng.random())
        points = []
        for step in range(13):
            place += (float(rng.random()) - 0.5) * length * 0.002
            along = (start + reach * step / 12) * side
            points.append((along, place) if rolled_up else (place, along))
        pen.line(points, fill=int(rng.integers(60, 190)), width=1)
    soft = to_plane(mask.filter(ImageFilter.GaussianBlur(0.8)))
    light = np.roll(soft, 1, axis=0 if rolled_up else 1)
    result: Picture = sheet * (1 - 0.30 * soft + 0.12 * light)[..., None]
    return result


def _draw_rod(page: Picture, rod: Rect) -> None:
    top, bottom, left, right = (round(v) for v in (rod.y0, rod.y1, rod.x0, rod.x1))
    down = np.arange(bottom - top, dtype=np.float32) / max(1, bottom - top - 1) * 2 - 1
    light = np.sqrt(np.maximum(0.0, 1 - (down + 0.25) * (down + 0.25) * 0.9)).astype(np.float32)
    page[top:bottom, left:right] = (_ROD * (0.45 + 1.0 * light)[:, None])[:, None, :]


def _fold_leaf(sheet: Picture, wear: Wear) -> Picture:
    """An album leaf: the fold in its middle, and its worn edges."""
    height, width = sheet.shape[:2]
    across = np.arange(width, dtype=np.float32)
    if width > height * 1.15:
        near = ramp(1 - np.abs(across - width / 2) / (height * 0.03), 0, 1)
        sheet = sheet * (1 - (0.10 + 0.12 * wear.age) * near * near)[None, :, None]
    return sheet


def _draw_fan(
    sheet: Picture, fan: Fan, shape: tuple[int, int], rng: np.random.Generator
) -> Picture:
    """A fan's leaf on a wall, its pleats lit from one side."""
    pleats = 26
    mask = Image.new("L", (shape[1], shape[0]), 0)
    light = Image.new("L", mask.size, 128)
    cut, lit = ImageDraw.Draw(mask), ImageDraw.Draw(light)
    step = 2 * fan.half / pleats
    for number in range(pleats):
        left = -fan.half + step * number
        corners = [
            fan.find_point(fan.outer, left), fan.find_point(fan.outer, left + step),
            fan.find_point(fan.inner, left + step), fan.find_point(fan.inner, left),
        ]  # fmt: skip
        cut.polygon(corners, fill=255)
        lit.polygon(corners, fill=160 if number % 2 else 100)
    shade = to_plane(light.filter(ImageFilter.GaussianBlur(shape[0] * 0.008))) - 0.5
    leaf = sheet * (1 + 0.26 * shade)[..., None]
    wall = np.broadcast_to(_WALL, (*shape, 3)) * (
        0.98 + 0.03 * make_noise(rng, shape, shape[0] * 0.5)[..., None]
    )
    fall = to_plane(mask.filter(ImageFilter.GaussianBlur(shape[0] * 0.012)))
    page = wall * (1 - 0.28 * np.roll(fall, (4, 3), axis=(0, 1)))[..., None]
    cover = to_plane(mask.filter(ImageFilter.GaussianBlur(0.7)))[..., None]
    seen: Picture = page * (1 - cover) + leaf * cover
    return seen.astype(np.float32)


def draw_stone_rubbing(
    sheet: Picture, carved: Plane, wear: Wear, rng: np.random.Generator, grid: list[Rect]
) -> Picture:
    """An ink rubbing: black where stone met paper, pale where it was cut or has broken away.

    Args:
        sheet: the paper.
        carved: the characters, 0..1, of the image's size.
        wear: how weathered the stone is.
        rng: the random generator.
        grid: cells whose borders were ruled on the stone (may be empty).
    """
    shape = carved.shape
    pad = (
        make_noise(rng, shape, 26) * 0.45
        + make_noise(rng, shape, 9) * 0.35
        + make_noise(rng, shape, 2.5) * 0.2
    )
    ink = 0.90 + 0.10 * ramp(pad, 0.25, 0.75) - 0.30 * ramp(pad, 0.70, 0.95) * (0.3 + wear.fade)
    rough = make_noise(rng, shape, 2.2) * 0.5 + make_noise(rng, shape, 6) * 0.5 - 0.5
    lines = Image.new("L", (shape[1], shape[0]), 0)
    pen = ImageDraw.Draw(lines)
    for cell in grid:
        pen.rectangle([round(value) for value in cell], outline=150)
    ruled = to_plane(lines.filter(ImageFilter.GaussianBlur(0.6))) * ramp(rough + 0.5, 0.35, 0.6)
    open_ = ramp(carved + rough * (0.30 + 0.55 * wear.rough) - 0.44, -0.16, 0.16)
    weather = (
        make_noise(rng, shape, 70) * 0.5
        + make_noise(rng, shape, 20) * 0.3
        + make_noise(rng, shape, 5) * 0.2
    )
    lost = ramp(weather, 0.80 - 0.28 * wear.starve, 0.84 - 0.25 * wear.starve)
    points = make_noise(rng, shape, 3.2) * 0.7 + make_noise(rng, shape, 1.6) * 0.3
    pits = ramp(points, 0.86 - 0.08 * wear.rough, 0.92)
    bare = np.maximum(np.maximum(open_, lost * 0.92), np.maximum(pits * 0.8, ruled * 0.55))
    bare = np.maximum(bare, _draw_cracks(shape, round(wear.cracks), rng))
    cover = (ink * (1 - bare))[..., None]
    paper = sheet * 0.35 + _PALE * 0.65
    result: Picture = (paper * (1 - cover) + _STONE * cover).astype(np.float32)
    return result


def draw_abrasion(shape: tuple[int, int], wear: Wear, rng: np.random.Generator) -> Plane:
    """The mask of the abraded surface of a sheet, 0..1."""
    patch = (
        make_noise(rng, shape, 48) * 0.5
        + make_noise(rng, shape, 13) * 0.3
        + make_noise(rng, shape, 3) * 0.2
    )
    bare = ramp(patch, 0.80 - 0.34 * wear.starve, 0.90 - 0.30 * wear.starve)
    return bare * min(0.92, 0.3 + 0.75 * wear.starve)


def _draw_cracks(shape: tuple[int, int], count: int, rng: np.random.Generator) -> Plane:
    """The mask of cracks across the stone, 0..1."""
    height, width = shape
    mask = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(mask)
    for _ in range(count):
        x, y = float(rng.random()) * width, 0.0
        slope = (float(rng.random()) - 0.5) * 1.2
        points = [(x, y)]
        while 0 <= x <= width and y < height:
            y += height / 40
            x += height / 40 * (slope + (float(rng.random()) - 0.5) * 1.4)
            points.append((x, y))
        pen.line(points, fill=255, width=max(2, height // 280))
    jag = make_noise(rng, shape, 3) * 0.5 + make_noise(rng, shape, 9) * 0.5
    soft = to_plane(mask.filter(ImageFilter.GaussianBlur(1.6)))
    return ramp(soft + jag * 0.5, 0.62, 0.80) * ramp(soft, 0.02, 0.2)


def reduce_plane(plane: Plane, scale: int) -> Plane:
    """An oversized plane at the size of the image."""
    return to_plane(to_image(plane).reduce(scale))
