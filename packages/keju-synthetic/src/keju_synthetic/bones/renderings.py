"""Renderings of a piece: ink rubbing, photograph, and copies of signs by hand."""

from __future__ import annotations

from typing import Literal

import numpy as np
from PIL import Image, ImageFilter

from keju_synthetic.bones.pieces import Piece
from keju_synthetic.noise import Plane, make_noise, ramp, to_image, to_plane
from keju_synthetic.paper import Picture

Ground = Literal["rubbing", "photo", "hand"]
"""An inked rubbing, a photograph of the bone, or a copy in black on white."""

_BONE = np.array([0.83, 0.755, 0.60], np.float32)
_BROWN = np.array([0.50, 0.375, 0.235], np.float32)
_LOAM = np.array([0.36, 0.27, 0.18], np.float32)
_INSIDE = np.array([0.87, 0.80, 0.66], np.float32)
_CINNABAR = np.array([0.50, 0.16, 0.11], np.float32)
_BACKDROPS = np.array([[0.055, 0.055, 0.06], [0.62, 0.62, 0.61], [0.89, 0.89, 0.88]], np.float32)


def draw_rubbing(
    piece: Piece, rng: np.random.Generator, *, wear: float, grain: float, lift: float = 0.3
) -> Image.Image:
    """Draw an ink rubbing: the surface is black and grainy, everything deeper is white.

    Args:
        piece: what is rubbed.
        rng: the random generator.
        wear: 0 for a sharp, 1 for a worn surface, whose strokes are broken and covered by pits.
        grain: pixels of the finest grain.
        lift: 0 for deep black, 1 for thin grey ink.
    """
    surface = _Surface(piece.shape, rng, grain)
    covered = _compute_coverage(piece, surface, rng, wear, grain)
    rim = ramp(_blur(piece.mask, 0.9 * grain) + (surface.coarse - 0.5) * 0.35, 0.42, 0.6)
    ink = rim * covered * (0.95 - 0.26 * lift - 0.14 * surface.damp)
    ink = ink - rim * ((surface.fine - 0.5) * 0.26 + (surface.coarse - 0.5) * 0.10)
    paper = 0.97 - 0.05 * make_noise(rng, piece.shape, 40 * grain) - 0.03 * surface.fine
    # The dabber leaves a little ink beyond the rim.
    stray = ramp(surface.fine + surface.damp * 0.4, 0.75, 1.1)
    smudge = _blur(piece.mask, 9 * grain) * (1 - rim) * stray * 0.5
    black = np.clip((ink + smudge) * 1.04, 0, 1)
    return to_image((paper * (1 - black) + 0.06 * black).astype(np.float32))


class _Surface:
    """The unevenness of a rubbed surface: by patches (`damp`), pits (`coarse`) and grains."""

    def __init__(self, shape: tuple[int, int], rng: np.random.Generator, grain: float) -> None:
        self.damp = (
            make_noise(rng, shape, 70 * grain) * 0.6 + make_noise(rng, shape, 22 * grain) * 0.4
        )
        self.fine = (
            make_noise(rng, shape, 1.15 * grain) * 0.6 + make_noise(rng, shape, 2.6 * grain) * 0.4
        )
        self.coarse = (
            make_noise(rng, shape, 6 * grain) * 0.6 + make_noise(rng, shape, 15 * grain) * 0.4
        )


def _compute_coverage(
    piece: Piece, surface: _Surface, rng: np.random.Generator, wear: float, grain: float
) -> Plane:
    """Where ink can reach: not in cuts, cracks and pits, nor where the surface has flaked off."""
    damp, fine, coarse = surface.damp, surface.fine, surface.coarse
    rough = (fine - 0.5) * 0.35 + (coarse - 0.5) * 0.25
    cuts = ramp(_blur(piece.strokes, 0.55 * grain) + rough * (0.5 + 0.6 * wear), 0.30, 0.72)
    clogged = ramp(coarse + (damp - 0.5) * 0.5, 0.80 - 0.34 * wear, 1.00 - 0.34 * wear)
    cuts = cuts * (1 - clogged * (0.35 + 0.55 * wear))
    lines = ramp(_blur(piece.lines, 0.4 * grain) + rough * 0.8, 0.22, 0.8) * (0.5 + 0.4 * damp)
    # Pits lie thick in some places and thin in others.
    many = (damp - 0.5) * (0.30 + 0.40 * wear) + 0.17 * wear * wear
    pits = ramp(fine * 0.72 + coarse * 0.28 + many, 0.66, 0.86) * (0.35 + 0.6 * fine)
    weak = make_noise(rng, piece.shape, 30 * grain) * 0.6 + coarse * 0.6 - 0.1
    flaked = ramp(weak, 0.88 - 0.16 * wear, 0.94 - 0.16 * wear)
    # A broken edge slopes away, and the paper touches it only here and there.
    pits = np.maximum(pits, piece.breaks * ramp(coarse + fine * 0.5, 0.55, 0.95))
    open_to_ink = (1 - 0.97 * cuts) * (1 - 0.85 * lines) * (1 - pits) * (1 - 0.9 * flaked)
    covered: Plane = open_to_ink.astype(np.float32)
    return covered


def draw_photo(
    piece: Piece, rng: np.random.Generator, *, wear: float, grain: float, filling: float = 0.0
) -> Image.Image:
    """A photograph: yellow to brown bone with fibres and stains, cuts in slanting light.

    Args:
        piece: what is photographed.
        rng: the random generator.
        wear: 0 for a fresh, 1 for a weathered and stained surface.
        grain: pixels of the finest grain.
        filling: how much cinnabar is left in the cuts.
    """
    # First the properties that all fragments of one bone share, whatever their size.
    tone = float(rng.random())
    backdrop = _BACKDROPS[int(rng.integers(0, len(_BACKDROPS)))]
    shape = piece.shape
    cloud = make_noise(rng, shape, 120 * grain) * 0.55 + make_noise(rng, shape, 34 * grain) * 0.45
    fibre = (
        make_noise(rng, shape, 1.4 * grain, stretch=9) * 0.6
        + make_noise(rng, shape, 4 * grain, stretch=5) * 0.4
    )
    fine = make_noise(rng, shape, 1.5 * grain)
    brown = ramp(cloud + (fibre - 0.5) * 0.30 + 0.35 * tone + 0.25 * wear - 0.30, 0.15, 0.95)
    body: Picture = _BONE * (1 - brown[..., None]) + _BROWN * brown[..., None]
    stains = ramp(
        make_noise(rng, shape, 26 * grain) * 0.6 + make_noise(rng, shape, 8 * grain) * 0.4,
        0.80 - 0.18 * wear,
        0.95,
    )
    body = body * (1 - 0.75 * stains[..., None]) + _LOAM * 0.75 * stains[..., None]
    body = body * (0.93 + 0.10 * fine + 0.06 * (fibre - 0.5))[..., None]
    # Where it broke, the paler and porous inside is seen.
    pores = ramp(fine * 0.6 + fibre * 0.4, 0.35, 0.62)[..., None]
    broken = (piece.breaks * 0.75)[..., None]
    body = body * (1 - broken) + (_INSIDE * (0.62 + 0.38 * pores)) * broken
    body = _draw_incisions(body, piece, fine, wear, grain, filling)
    swell = _blur(piece.mask, 16 * grain)
    height = swell * 2.4 + make_noise(rng, shape, 70 * grain) * 0.3 + fibre * 0.05
    light = 0.97 + _compute_slope(height, 3) * 2.6
    body = body * np.clip(light, 0.45, 1.22)[..., None]
    body = body * (0.62 + 0.38 * ramp(_blur(piece.mask, 2.2 * grain), 0.5, 0.95))[..., None]
    down, right = round(5 * grain), round(4 * grain)
    fall = np.pad(_blur(piece.mask, 7 * grain), ((down, 0), (right, 0)), mode="edge")
    fall = fall[: shape[0], : shape[1]]
    behind = backdrop * (1 - 0.5 * fall * (0.96 + 0.04 * fine))[..., None]
    cover = ramp(_blur(piece.mask, 0.5), 0.2, 0.8)[..., None]
    whole = np.clip(behind * (1 - cover) + body * cover, 0, 1)
    noise = (make_noise(rng, shape, 1.6) - 0.5)[..., None] * 0.035
    return Image.fromarray((np.clip(whole + noise, 0, 1) * 255 + 0.5).astype(np.uint8))


def _draw_incisions(
    body: Picture, piece: Piece, fine: Plane, wear: float, grain: float, filling: float
) -> Picture:
    """Grooves: dark at the bottom, lit on the wall that faces the light, some with colour."""
    groove = _blur(piece.strokes, 0.6 * grain)
    deep = ramp(groove + (fine - 0.5) * 0.3 * wear, 0.18, 0.85)
    lit = _compute_slope(-groove, 1)
    dark = (1 - (0.66 - 0.20 * wear) * deep * (0.75 + 0.25 * groove))[..., None]
    red = (filling * deep * (0.4 + 0.6 * fine))[..., None]
    body = (body * (1 - red) + _CINNABAR * red) * dark
    body = body * (1 + 0.55 * lit)[..., None]
    lines = ramp(_blur(piece.lines, 0.4 * grain), 0.10, 0.8)
    return (body * (1 - 0.62 * lines)[..., None]).astype(np.float32)


def draw_hand_copy(strokes: Plane, rng: np.random.Generator, *, grain: float) -> Image.Image:
    """A sign in black on white paper, as a scholar or a font-maker copies it."""
    level = 0.04 + 0.10 * float(rng.random())
    rough = (make_noise(rng, (strokes.shape[0], strokes.shape[1]), 2 * grain) - 0.5) * 0.16
    ink = ramp(_blur(strokes, 0.4 * grain) + rough, 0.30, 0.62)
    return to_image(0.995 - (0.995 - level) * ink)


def _blur(plane: Plane, radius: float) -> Plane:
    return to_plane(to_image(plane).filter(ImageFilter.GaussianBlur(radius)))


def _compute_slope(height: Plane, step: int) -> Plane:
    """How much the surface rises away from the light, which comes from the upper left."""
    wide = np.pad(height, step, mode="edge")
    return (wide[2 * step :, 2 * step :] - wide[: -2 * step, : -2 * step]) * np.float32(0.5)
