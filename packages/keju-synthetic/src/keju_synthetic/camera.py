"""Imaging of a page: composition of layers, light, scanner, JPEG."""

from __future__ import annotations

import io
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageFilter

from keju_synthetic.noise import Plane, make_noise, ramp, to_image, to_plane
from keju_synthetic.paper import Picture
from keju_synthetic.wear import Wear

Scan = Literal["colour", "grey", "bitonal"]

_INK = np.array([0.115, 0.105, 0.100], np.float32)
_LINING = np.array([0.87, 0.83, 0.74], np.float32)
_MAT = np.array([0.21, 0.20, 0.19], np.float32)


class Layers(NamedTuple):
    """The layers on a sheet, each 0..1 and of the image's size.

    `ink` is that of the page, `behind` the ink of the other side, `holes` the missing paper,
    `sheet` where there is paper at all.
    """

    ink: Plane
    behind: Plane
    holes: Plane
    sheet: Plane


def compose_layers(paper: Picture, layers: Layers, wear: Wear) -> Picture:
    """Paper with all layers, on the dark mat that is visible beside it."""
    page = paper * (1 - (layers.behind * wear.show * 0.55)[..., None] * (1 - _INK))
    page = _blend(page, layers.ink * (1 - wear.fade), _INK)
    page = _blend(page, layers.holes, _draw_through_holes(paper, layers.holes))
    return _blend(np.broadcast_to(_MAT, page.shape), layers.sheet, page)


def _draw_through_holes(paper: Picture, holes: Plane) -> Picture:
    """The next leaf, less browned, behind a hole, with the shadow of the hole's upper left rim."""
    shadow = np.clip(holes - np.roll(holes, (2, 2), axis=(0, 1)), 0, 1)
    behind = paper * 0.5 + _LINING * 0.5
    return (behind * (1 - 0.5 * shadow)[..., None]).astype(np.float32)


def _blend(below: Picture, cover: Plane, colour: np.ndarray) -> Picture:
    alpha = cover[..., None]
    return (below * (1 - alpha) + colour * alpha).astype(np.float32)


def shade(page: Picture, sheet: Plane, gutters: list[float], rng: np.random.Generator) -> Picture:
    """Apply uneven light, the shadow in a gutter, and the shadow at the edge of the sheet."""
    height, width = sheet.shape
    light = 0.955 + 0.06 * make_noise(rng, (height, width), height * 0.7)
    across = np.arange(width, dtype=np.float32)[None, :]
    for gutter in gutters:
        near = ramp(1 - np.abs(across - gutter) / (height * 0.075), 0, 1)
        light = light * (1 - 0.42 * near * near)
    soft = to_plane(to_image(sheet).filter(ImageFilter.GaussianBlur(height * 0.006)))
    light = light * (0.80 + 0.20 * ramp(soft, 0.5, 1.0))
    return (page * light[..., None]).astype(np.float32)


def expose(page: Picture, wear: Wear, scan: Scan, rng: np.random.Generator) -> Image.Image:
    """Simulate the scanner: resolution, blur and noise.

    Args:
        page: the lit page.
        wear: resolution, blur and noise of the scan.
        scan: colour, grey, or bitonal (black and white, as from microfilm).
        rng: the random generator of the noise.
    """
    image = Image.fromarray((np.clip(page, 0, 1) * 255 + 0.5).astype(np.uint8))
    if scan != "colour":
        image = image.convert("L")
    size = image.size
    if wear.detail < 1:
        small = (round(size[0] * wear.detail), round(size[1] * wear.detail))
        image = image.resize(small, Image.Resampling.BOX)
        image = image.resize(size, Image.Resampling.BICUBIC)
    image = image.filter(ImageFilter.GaussianBlur(wear.blur * size[1] / 1200))
    if scan == "bitonal":
        return _binarize(image, wear, rng)
    noise = (make_noise(rng, (size[1], size[0]), 1.9) - 0.5) * (2 * wear.grain / 255)
    values = np.asarray(image, dtype=np.float32) / 255
    values = values + (noise if values.ndim == 2 else noise[..., None])
    return Image.fromarray((np.clip(values, 0, 1) * 255 + 0.5).astype(np.uint8))


def _binarize(image: Image.Image, wear: Wear, rng: np.random.Generator) -> Image.Image:
    """The image in black and white, made at twice the size, so that edges keep some grey."""
    double = image.resize((image.width * 2, image.height * 2), Image.Resampling.BICUBIC)
    shape = (double.height, double.width)
    speckle = make_noise(rng, shape, 1.6) * 0.7 + make_noise(rng, shape, 4) * 0.3 - 0.5
    level = 0.50 - 0.10 * wear.fade
    white = ramp(to_plane(double) + speckle * (0.30 + 0.25 * wear.rough) - level, -0.02, 0.02)
    small = to_image(white).resize(image.size, Image.Resampling.BOX)
    return small.filter(ImageFilter.GaussianBlur(0.45))


def encode_jpeg(image: Image.Image, quality: int) -> bytes:
    """The image as JPEG."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, optimize=True, subsampling="4:2:0")
    return buffer.getvalue()
