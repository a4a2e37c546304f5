"""Grounds and mountings of paintings: paper or silk, and scroll, leaf or fan."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from keju_synthetic.noise import Plane, make_noise, to_plane
from keju_synthetic.page_layout import Rect
from keju_synthetic.paper import Picture, make_paper, make_silk
from keju_synthetic.wear import Wear

Ground = Literal["paper", "silk"]
Form = Literal["handscroll", "scroll", "leaf", "fan"]

_WALL = np.array([0.86, 0.85, 0.82], np.float32)
_WOOD = np.array([0.27, 0.17, 0.12], np.float32)
_CLOTH = {
    "handscroll": ([0.80, 0.78, 0.70], [0.55, 0.60, 0.58]),
    "scroll": ([0.78, 0.76, 0.68], [0.58, 0.60, 0.56]),
    "leaf": ([0.90, 0.87, 0.78], [0.80, 0.78, 0.70]),
    "fan": ([0.36, 0.40, 0.46], [0.30, 0.34, 0.40]),
}


class PaintingMount(NamedTuple):
    """A mounting: the whole picture's size, the painted field in it, and where a label goes.

    `slip` is the label's paper (題籤), to the right of the field.
    """

    width: int
    height: int
    field: Rect
    slip: Rect


def make_mount(form: Form, wide: int, high: int) -> PaintingMount:
    """The mounting around a painted field of this size."""
    if form == "handscroll":
        return PaintingMount(
            wide + 118,
            high + 44,
            Rect(18, 22, 18 + wide, 22 + high),
            Rect(wide + 52, 30, wide + 88, high * 0.86 + 20),
        )
    if form == "scroll":
        top, side = 118, 58
        return PaintingMount(
            wide + 2 * side,
            high + top + 96,
            Rect(side, top, side + wide, top + high),
            Rect(wide + side + 13, top, wide + side + 43, top + 292),
        )
    side, top = 30, 26
    return PaintingMount(
        wide + side + 84,
        high + 2 * top,
        Rect(side, top, side + wide, top + high),
        Rect(wide + side + 24, top + 8, wide + side + 60, top + 8 + high * 0.72),
    )


def make_ground(
    ground: Ground, shape: tuple[int, int], wear: Wear, rng: np.random.Generator
) -> Picture:
    """The sheet that is painted on; silk shows its weave and is browner than paper."""
    return (make_silk if ground == "silk" else make_paper)(shape, wear, rng)


def draw_mounting(
    painted: Picture, form: Form, place: PaintingMount, rng: np.random.Generator
) -> Picture:
    """Mount a painted field: damask around it, the slip of the label, rods where there are any."""
    shape = (place.height, place.width)
    inner, outer = (np.array(c, np.float32) for c in _CLOTH[form])
    page = _draw_damask(shape, outer, rng)
    if form == "scroll":
        _draw_scroll_parts(page, place, inner, rng)
    elif form == "handscroll":
        page[:, round(place.field.x1) + 10 :] = _draw_damask(shape, inner, rng)[
            :, round(place.field.x1) + 10 :
        ]
        page[:8] = page[-8:] = _WOOD * 1.6
    x0, y0, x1, y1 = (round(v) for v in place.field)
    rim = 3
    page[y0 - rim : y1 + rim, x0 - rim : x1 + rim] = np.array([0.88, 0.83, 0.72], np.float32)
    if form == "fan":
        page[y0 - rim : y1 + rim, x0 - rim : x1 + rim] = _draw_damask(shape, outer, rng)[
            y0 - rim : y1 + rim, x0 - rim : x1 + rim
        ]
        mask = _draw_disc((y1 - y0, x1 - x0))[..., None]
        page[y0:y1, x0:x1] = page[y0:y1, x0:x1] * (1 - mask) + painted * mask
    else:
        page[y0:y1, x0:x1] = painted
    sx0, sy0, sx1, sy1 = (round(v) for v in place.slip)
    strip = _draw_slip((sy1 - sy0, sx1 - sx0), rng)
    page[sy0:sy1, sx0:sx1] = strip
    return page


def _draw_slip(shape: tuple[int, int], rng: np.random.Generator) -> Picture:
    """The paper of a label, with a thin dark edge."""
    sheet: Picture = (
        np.array([0.90, 0.84, 0.68], np.float32)
        * (0.96 + 0.06 * make_noise(rng, shape, 9))[..., None]
    )
    sheet[[0, -1]] *= 0.6
    sheet[:, [0, -1]] *= 0.6
    return sheet.astype(np.float32)


def _draw_scroll_parts(
    page: Picture, place: PaintingMount, inner: NDArray[np.float32], rng: np.random.Generator
) -> None:
    """A hanging scroll's heaven and earth, its side borders, its rods, and the wall behind."""
    height, width = page.shape[:2]
    y0, y1 = round(place.field.y0), round(place.field.y1)
    page[y0 - 26 : y1 + 26] = _draw_damask((height, width), inner, rng)[y0 - 26 : y1 + 26]
    for y in (y0 - 27, y1 + 26):
        page[y : y + 2] *= 0.75
    page[: y0 - 27, [width // 3, width // 3 + 1, 2 * width // 3, 2 * width // 3 + 1]] = inner
    edge = 10
    page[:, :edge] = page[:, -edge:] = _WALL
    page[:8] = page[-14:] = _WALL
    page[8:14, edge:-edge] = _WOOD
    page[-28:-14, 2 : width - 2] = _WOOD * (0.7 + 0.6 * _compute_rod_light(14))[:, None, None]


def _compute_rod_light(high: int) -> Plane:
    """Light on a round rod, from its upper to its lower edge."""
    share = np.arange(high, dtype=np.float32) / np.float32(max(1, high - 1))
    light: Plane = np.clip(1 - (2 * share - 0.7) ** 2, 0, 1).astype(np.float32)
    return light


def _draw_damask(
    shape: tuple[int, int], colour: NDArray[np.float32], rng: np.random.Generator
) -> Picture:
    """Silk with a small woven pattern of lozenges."""
    down = np.arange(shape[0])[:, None] % 18 - 9
    across = np.arange(shape[1])[None, :] % 18 - 9
    far = np.abs(np.abs(down) + np.abs(across) - 7)
    pattern = (far <= 0).astype(np.float32) + (np.abs(down) + np.abs(across) <= 1)
    shade = 0.97 + 0.05 * make_noise(rng, shape, 40) - 0.045 * pattern
    cloth: Picture = (colour * shade[..., None]).astype(np.float32)
    return cloth


def _draw_disc(shape: tuple[int, int]) -> Plane:
    mask = Image.new("L", (shape[1] * 2, shape[0] * 2), 0)
    ImageDraw.Draw(mask).ellipse((0, 0, shape[1] * 2 - 1, shape[0] * 2 - 1), fill=255)
    return to_plane(mask.reduce(2))
