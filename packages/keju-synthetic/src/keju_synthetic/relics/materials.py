"""Materials of relics: bronze with its patina, glazes, earthenware, jade, stone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import ImageFilter

from keju_synthetic.noise import Plane, make_noise, ramp, to_image, to_plane
from keju_synthetic.paper import Picture
from keju_synthetic.relics.solids import Surface, compute_slopes

Material = Literal[
    "bronze", "dark bronze", "celadon", "ru", "blue-and-white", "sancai", "painted pottery", "jade",
    "white jade", "clay", "iron brown", "wood",
]  # fmt: skip

Colour = NDArray[np.float32]

Colouring = Callable[[Surface, np.random.Generator, float], Picture]


def _rgb(red: float, green: float, blue: float) -> Colour:
    return np.array([red, green, blue], np.float32)


class Finish(NamedTuple):
    """Reflection of a surface: ambient, diffuse, soft and sharp highlights, and relief strength."""

    around: float
    lamp: float
    sheen: float
    gleam: float
    bump: float


_FINISHES: Mapping[Material, Finish] = {
    "bronze": Finish(0.46, 0.84, 0.16, 0.05, 2.6),
    "dark bronze": Finish(0.42, 0.78, 0.24, 0.12, 2.6),
    "ru": Finish(0.60, 0.56, 0.10, 0.38, 1.0),
    "celadon": Finish(0.62, 0.58, 0.10, 0.55, 1.0),
    "blue-and-white": Finish(0.54, 0.50, 0.08, 0.42, 0.4),
    "sancai": Finish(0.46, 0.58, 0.12, 0.42, 0.8),
    "painted pottery": Finish(0.46, 0.62, 0.10, 0.0, 0.6),
    "jade": Finish(0.62, 0.42, 0.22, 0.22, 2.0),
    "white jade": Finish(0.66, 0.36, 0.20, 0.20, 2.0),
    "clay": Finish(0.42, 0.68, 0.02, 0.0, 2.8),
    "iron brown": Finish(0.40, 0.66, 0.14, 0.04, 2.4),
    "wood": Finish(0.40, 0.66, 0.10, 0.02, 1.2),
}

_LAMP = (-0.45, 0.58, 0.68)
_HALF = (-0.25, 0.32, 0.915)
"""Halfway between the lamp and the camera: the direction of highlights."""


def shade_surface(
    surface: Surface, material: Material, rng: np.random.Generator, *, scale: float
) -> Picture:
    """The lit solid on black.

    Args:
        surface: its shape.
        material: its material.
        rng: the random generator of stains and patina.
        scale: pixels of the surface for one of an image 600 pixels high.
    """
    finish = _FINISHES[material]
    normal = _bend_normals(surface, finish.bump * scale, scale)
    colour = _COLOURS[material](surface, rng, scale)
    right, up, forward = normal[..., 0], normal[..., 1], normal[..., 2]
    lamp = np.maximum(0.0, right * _LAMP[0] + up * _LAMP[1] + forward * _LAMP[2])
    back = np.maximum(0.0, right * 0.85 + up * 0.1 + forward * 0.1)
    sky = 0.72 + 0.28 * up
    half = np.maximum(0.0, right * _HALF[0] + up * _HALF[1] + forward * _HALF[2])
    soft = half * half
    soft = soft * soft * soft * soft
    soft = soft * soft
    bounced = np.maximum(0.0, -up) * 0.30
    light = finish.around * sky + finish.lamp * lamp + 0.10 * back * back + bounced
    light = light * surface.light
    page = colour * light[..., None]
    page = page + finish.sheen * (soft * surface.light)[..., None]
    page = page + (finish.gleam * _draw_window_reflection(normal) * (1 - surface.inside))[..., None]
    rim = ramp(1 - forward, 0.72, 1.0)
    page = page * (1 - 0.35 * rim)[..., None]
    lit: Picture = np.clip(page, 0, 1).astype(np.float32)
    return lit


def _bend_normals(surface: Surface, strength: float, scale: float) -> NDArray[np.float32]:
    """The normals, bent by the relief of the surface."""
    soft = to_plane(to_image(surface.relief).filter(ImageFilter.GaussianBlur(0.9 * scale)))
    right, up = compute_slopes(soft)
    normal = surface.normal.copy()
    normal[..., 0] += right * strength * 2
    normal[..., 1] += up * strength * 2
    long = np.sqrt((normal * normal).sum(axis=-1) + 1e-9)
    bent: NDArray[np.float32] = normal / long[..., None]
    return bent


def _draw_window_reflection(normal: NDArray[np.float32]) -> Plane:
    """The reflection of a window in a glaze: two panes."""
    right, up = normal[..., 0], normal[..., 1]
    high = ramp(0.14 - np.abs(up - 0.42), 0.0, 0.05)
    left = ramp(0.055 - np.abs(right + 0.44), 0.0, 0.03)
    second = ramp(0.055 - np.abs(right + 0.30), 0.0, 0.03)
    return np.maximum(left, second) * high


def _mix(low: Colour | Picture, high: Colour | Picture, part: Plane) -> Picture:
    mixed: Picture = low * (1 - part[..., None]) + high * part[..., None]
    return mixed


def _colour_bronze(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 90 * scale) * 0.5 + make_noise(rng, shape, 26 * scale) * 0.3
    cloud = cloud + make_noise(rng, shape, 7 * scale) * 0.2
    # Some pieces came out of the ground green, others nearly as brown as they were cast.
    lean = (float(rng.random()) - 0.5) * 0.30
    colour = _mix(_rgb(0.44, 0.38, 0.26), _rgb(0.40, 0.51, 0.42), ramp(cloud + lean, 0.30, 0.66))
    bloom = make_noise(rng, shape, 38 * scale) * 0.55 + make_noise(rng, shape, 9 * scale) * 0.45
    colour = _mix(colour, _rgb(0.36, 0.64, 0.55), ramp(bloom + lean * 0.4, 0.66, 0.80) * 0.85)
    rust = make_noise(rng, shape, 22 * scale) * 0.6 + make_noise(rng, shape, 5 * scale) * 0.4
    colour = _mix(colour, _rgb(0.50, 0.30, 0.20), ramp(rust, 0.78, 0.90) * 0.7)
    deep = ramp(0.5 - surface.relief, 0.02, 0.45)
    colour = _mix(colour, _rgb(0.24, 0.31, 0.26), deep * 0.75)
    grain = make_noise(rng, shape, 2.2 * scale) - 0.5
    return colour * (1 + 0.16 * grain)[..., None]


def _colour_dark_bronze(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 70 * scale) * 0.6 + make_noise(rng, shape, 14 * scale) * 0.4
    colour = _mix(_rgb(0.34, 0.33, 0.28), _rgb(0.46, 0.48, 0.40), ramp(cloud, 0.35, 0.75))
    bloom = make_noise(rng, shape, 30 * scale) * 0.5 + make_noise(rng, shape, 7 * scale) * 0.5
    colour = _mix(colour, _rgb(0.36, 0.54, 0.47), ramp(bloom, 0.70, 0.82) * 0.8)
    deep = ramp(0.5 - surface.relief, 0.02, 0.45)
    return _mix(colour, _rgb(0.20, 0.24, 0.21), deep * 0.6)


def _colour_celadon(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 120 * scale) * 0.7 + make_noise(rng, shape, 40 * scale) * 0.3
    colour = _mix(_rgb(0.52, 0.70, 0.60), _rgb(0.64, 0.79, 0.69), cloud)
    # Glaze is thin on raised parts and pools in the hollows.
    colour = _mix(colour, _rgb(0.80, 0.84, 0.74), ramp(surface.relief - 0.5, 0.1, 0.5) * 0.6)
    return _mix(colour, _rgb(0.42, 0.60, 0.50), ramp(0.5 - surface.relief, 0.05, 0.5) * 0.6)


def _colour_ru(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 120 * scale) * 0.7 + make_noise(rng, shape, 40 * scale) * 0.3
    colour = _mix(_rgb(0.64, 0.75, 0.75), _rgb(0.72, 0.82, 0.81), cloud)
    colour = _mix(colour, _rgb(0.82, 0.80, 0.74), ramp(surface.relief - 0.5, 0.1, 0.5) * 0.5)
    return colour * (1 - 0.20 * _draw_crackle(shape, rng, scale))[..., None]


def _draw_crackle(shape: tuple[int, int], rng: np.random.Generator, scale: float) -> Plane:
    """Fine cracks of a glaze: where a smooth field crosses a level."""
    one = make_noise(rng, shape, 11 * scale) - 0.5
    two = make_noise(rng, shape, 15 * scale) - 0.5
    lines = np.minimum(np.abs(one), np.abs(two))
    return ramp(0.020 - lines, 0.0, 0.018)


def _colour_blue_and_white(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 150 * scale)
    colour = _mix(_rgb(0.86, 0.90, 0.92), _rgb(0.93, 0.94, 0.93), cloud)
    run = to_plane(to_image(surface.pigment).filter(ImageFilter.GaussianBlur(1.1 * scale)))
    spread = make_noise(rng, shape, 5 * scale) * 0.6 + make_noise(rng, shape, 16 * scale) * 0.4
    blue = ramp(run + (spread - 0.5) * 0.35, 0.18, 0.62)
    heaped = ramp(
        make_noise(rng, shape, 9 * scale) * 0.5 + make_noise(rng, shape, 3 * scale) * 0.5, 0.5, 0.9
    )
    cobalt = _mix(_rgb(0.20, 0.32, 0.66), _rgb(0.08, 0.13, 0.36), heaped)
    return _mix(colour, cobalt, blue * 0.92)


def _colour_sancai(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    """Amber, green and cream that ran downwards in the kiln."""
    shape = surface.shape
    down = np.arange(shape[0], dtype=np.float32)[:, None] / shape[0]
    run = make_noise(rng, shape, 22 * scale, stretch=5) * 0.55 + make_noise(
        rng, shape, 9 * scale, stretch=6
    )
    run = run * 0.69
    colour = _mix(_rgb(0.90, 0.83, 0.62), _rgb(0.76, 0.44, 0.13), ramp(run, 0.42, 0.52))
    other = make_noise(rng, shape, 26 * scale, stretch=5) * 0.6
    other = other + make_noise(rng, shape, 10 * scale, stretch=6) * 0.4
    colour = _mix(colour, _rgb(0.22, 0.46, 0.24), ramp(other, 0.56, 0.63))
    # Glaze stops in tongues above the foot and leaves the body bare.
    tongues = make_noise(rng, (1, shape[1]), 20 * scale) * 0.10
    bare = ramp(down - tongues, 0.74, 0.755)
    return _mix(colour, _rgb(0.84, 0.74, 0.62), bare)


def _colour_painted_pottery(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 80 * scale) * 0.6 + make_noise(rng, shape, 20 * scale) * 0.4
    colour = _mix(_rgb(0.80, 0.52, 0.33), _rgb(0.88, 0.63, 0.42), cloud)
    worn = make_noise(rng, shape, 6 * scale) * 0.5 + make_noise(rng, shape, 30 * scale) * 0.5
    paint = to_plane(to_image(surface.pigment).filter(ImageFilter.GaussianBlur(0.7 * scale)))
    black = ramp(paint, 0.35, 0.6) * (1 - 0.75 * ramp(worn, 0.68, 0.85))
    colour = _mix(colour, _rgb(0.20, 0.13, 0.11), black * 0.94)
    return colour * (1 + 0.10 * (make_noise(rng, shape, 2.5 * scale) - 0.5))[..., None]


def _build_jade_colouring(pale: Colour, deep: Colour, stain: Colour) -> Colouring:
    def colour(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
        shape = surface.shape
        cloud = (
            make_noise(rng, shape, 70 * scale) * 0.55 + make_noise(rng, shape, 22 * scale) * 0.30
        )
        cloud = cloud + make_noise(rng, shape, 8 * scale) * 0.15
        body = _mix(deep, pale, ramp(cloud, 0.25, 0.75))
        # Light comes through where the stone is thin: at its edges.
        thin = ramp(1 - surface.normal[..., 2], 0.15, 0.85) * surface.cover
        body = _mix(body, np.minimum(pale * 1.12, 1), thin * 0.5)
        age = make_noise(rng, shape, 110 * scale) * 0.6 + make_noise(rng, shape, 15 * scale) * 0.4
        body = _mix(body, stain, ramp(age, 0.62, 0.84) * 0.75)
        deep_lines = ramp(0.5 - surface.relief, 0.02, 0.45)
        return body * (1 - 0.30 * deep_lines)[..., None]

    return colour


def _colour_clay(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 60 * scale) * 0.5 + make_noise(rng, shape, 12 * scale) * 0.5
    colour = _mix(_rgb(0.46, 0.46, 0.44), _rgb(0.60, 0.58, 0.53), cloud)
    pits = ramp(make_noise(rng, shape, 3 * scale), 0.80, 0.95)
    return colour * (1 - 0.30 * pits)[..., None]


def _colour_iron_brown(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    shape = surface.shape
    cloud = make_noise(rng, shape, 50 * scale) * 0.5 + make_noise(rng, shape, 9 * scale) * 0.5
    colour = _mix(_rgb(0.40, 0.34, 0.25), _rgb(0.52, 0.50, 0.38), ramp(cloud, 0.3, 0.7))
    bloom = make_noise(rng, shape, 24 * scale) * 0.5 + make_noise(rng, shape, 6 * scale) * 0.5
    colour = _mix(colour, _rgb(0.34, 0.56, 0.46), ramp(bloom, 0.60, 0.76) * 0.8)
    deep = ramp(0.5 - surface.relief, 0.02, 0.45)
    return _mix(colour, _rgb(0.25, 0.27, 0.22), deep * 0.5)


def _colour_wood(surface: Surface, rng: np.random.Generator, scale: float) -> Picture:
    grain = make_noise(rng, (surface.shape[1], surface.shape[0]), 2.5 * scale, stretch=30).T
    return _mix(_rgb(0.20, 0.11, 0.08), _rgb(0.34, 0.20, 0.13), grain)


_COLOURS: Mapping[Material, Colouring] = {
    "bronze": _colour_bronze,
    "dark bronze": _colour_dark_bronze,
    "celadon": _colour_celadon,
    "ru": _colour_ru,
    "blue-and-white": _colour_blue_and_white,
    "sancai": _colour_sancai,
    "painted pottery": _colour_painted_pottery,
    "jade": _build_jade_colouring(
        _rgb(0.62, 0.70, 0.52), _rgb(0.36, 0.46, 0.34), _rgb(0.46, 0.32, 0.20)
    ),
    "white jade": _build_jade_colouring(
        _rgb(0.86, 0.84, 0.74), _rgb(0.70, 0.68, 0.54), _rgb(0.58, 0.40, 0.24)
    ),
    "clay": _colour_clay,
    "iron brown": _colour_iron_brown,
    "wood": _colour_wood,
}
