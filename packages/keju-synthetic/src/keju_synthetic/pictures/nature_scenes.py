"""Scenes of flowers, birds, fish and single figures. Each returns the counts of its motifs."""

from __future__ import annotations

from keju_synthetic.pictures.animals import draw_fish
from keju_synthetic.pictures.birds import draw_crane, draw_standing_crane
from keju_synthetic.pictures.buildings import draw_gate_roof
from keju_synthetic.pictures.figures import Person, draw_person
from keju_synthetic.pictures.flowers import (
    draw_blossom,
    draw_branch,
    draw_bud,
    draw_grapes,
    draw_lotus,
    draw_lotus_leaf,
    draw_orchid,
    draw_orchid_flower,
    draw_stem,
    draw_vine_leaf,
)
from keju_synthetic.pictures.landscape_scenes import Counts
from keju_synthetic.pictures.mountains import Manner, draw_rock
from keju_synthetic.pictures.pens import Brush, Colour, smooth
from keju_synthetic.pictures.plants import draw_bamboo

_PINK: Colour = (0.93, 0.45, 0.52)
_GREEN: Colour = (0.42, 0.58, 0.36)


def draw_bamboo_rock(b: Brush) -> Counts:
    """Stalks of bamboo behind a rock (竹石)."""
    w, h = b.width, b.height
    stalks = (
        (0.30, 0.72, 11, 0.05, 0.42),
        (0.66, 0.82, 13, -0.03, 0.62),
        (0.50, 0.90, 16, 0.02, 0.85),
    )
    for px, high, thick, lean, tone in stalks:
        draw_bamboo(b, w * px, h * 0.94, h * high, thick=thick, lean=lean, tone=tone)
    m = Manner("plain", tone=0.8, shade=0.30)
    draw_rock(b, w * 0.36, h * 0.66, w * 0.46, h * 0.29, m)
    draw_rock(b, w * 0.66, h * 0.82, w * 0.34, h * 0.13, m)
    for k in range(9):
        x = w * (0.12 + 0.09 * k)
        b.stroke(((x, h * 0.955), (x + 5, h * 0.935), (x + 12, h * 0.925)), 3, tone=0.6)
    return {"stalks": len(stalks), "rocks": 2}


def draw_ink_plum(b: Brush) -> Counts:
    """A long branch of plum with open blossoms and buds (墨梅)."""
    w, h = b.width, b.height
    draw_branch(
        b,
        [
            (w * 1.03, h * 0.80),
            (w * 0.84, h * 0.66),
            (w * 0.66, h * 0.62),
            (w * 0.44, h * 0.46),
            (w * 0.26, h * 0.42),
        ],
        h * 0.055,
    )
    draw_branch(b, [(w * 0.30, h * 0.425), (w * 0.18, h * 0.36), (w * 0.05, h * 0.30)], h * 0.022)
    draw_branch(b, [(w * 0.66, h * 0.62), (w * 0.58, h * 0.76), (w * 0.40, h * 0.84)], h * 0.026)
    draw_branch(b, [(w * 0.84, h * 0.66), (w * 0.76, h * 0.46), (w * 0.68, h * 0.28)], h * 0.026)
    draw_branch(b, [(w * 0.52, h * 0.50), (w * 0.46, h * 0.33), (w * 0.38, h * 0.22)], h * 0.020)
    flowers = (
        (0.11, 0.345),
        (0.235, 0.395),
        (0.345, 0.455),
        (0.44, 0.405),
        (0.49, 0.54),
        (0.585, 0.66),
        (0.475, 0.80),
        (0.70, 0.375),
        (0.76, 0.545),
        (0.655, 0.565),
        (0.87, 0.62),
        (0.395, 0.265),
    )
    for px, py in flowers:
        draw_blossom(b, w * px, h * py, h * 0.062)
    buds = (
        (0.044, 0.295), (0.390, 0.848), (0.681, 0.262), (0.377, 0.202), (0.178, 0.350),
        (0.577, 0.752),
    )  # fmt: skip
    for px, py in buds:
        draw_bud(b, w * px, h * py, h * 0.028)
    return {"blossoms": len(flowers), "buds": len(buds)}


def draw_ink_orchid(b: Brush) -> Counts:
    """An orchid without ground: a few blades and a flower (墨蘭)."""
    w, h = b.width, b.height
    blades = (
        (-1.25, 0.50, 0.30),
        (-0.80, 0.80, 0.26),
        (-0.30, 0.72, 0.04),
        (0.34, 0.86, 0.10),
        (0.92, 0.80, 0.30),
        (1.30, 0.52, 0.30),
    )
    draw_orchid(b, w * 0.50, h * 0.86, h * 0.74, blades)
    draw_stem(b, [(w * 0.50, h * 0.84), (w * 0.515, h * 0.62), (w * 0.50, h * 0.42)], 3, tone=0.35)
    draw_orchid_flower(b, w * 0.50, h * 0.36, h * 0.12)
    return {"flowers": 1, "blades": len(blades)}


def draw_staring_fish(b: Brush) -> Counts:
    """One mandarin fish in an empty sheet, its eye turned up (鱖魚)."""
    w, h = b.width, b.height
    draw_fish(b, w * 0.44, h * 0.56, w * 0.46, bold=True, turn=-6)
    return {"fish": 1}


def draw_lotus_fan(b: Brush) -> Counts:
    """A lotus in full bloom over three leaves (出水芙蓉)."""
    w, h = b.width, b.height
    draw_stem(
        b,
        [(w * 0.47, h * 1.0), (w * 0.49, h * 0.8), (w * 0.50, h * 0.62)],
        6,
        tone=0.7,
        colour=_GREEN,
    )
    leaves = ((0.24, 0.70, 0.22, 0.13), (0.78, 0.66, 0.21, 0.15), (0.50, 0.86, 0.28, 0.13))
    for px, py, wide, high in leaves:
        draw_lotus_leaf(b, w * px, h * py, w * wide, h * high, green=_GREEN)
    draw_lotus(b, w * 0.50, h * 0.60, w * 0.29, pink=_PINK, petals=13)
    return {"flowers": 1, "leaves": len(leaves), "petals": 13}


def draw_gate_cranes(b: Brush) -> Counts:
    """Cranes over a palace gate: eighteen in the sky, two on the ends of the ridge (瑞鶴).

    The left fifth of the sheet stays bare for writing.
    """
    bare, h = b.width * 0.20, b.height
    w = b.width - bare
    sky: Colour = (0.42, 0.62, 0.70)
    b.tint([(bare, 0), (b.width, 0), (b.width, h), (bare, h)], tone=0.85, colour=sky, soft=1)
    left, right = draw_gate_roof(b, bare + w * 0.5, h * 1.07, w * 0.90, (0.50, 0.52, 0.44))
    clouds = ((0.84, 0.02, 0.30), (0.88, 0.64, 0.98), (0.95, 0.12, 0.9), (0.98, 0.02, 0.45))
    for y, x0, x1 in clouds:
        across = [bare + w * (x0 + (x1 - x0) * share) for share in (0.0, 0.3, 0.7, 1.0, 0.5)]
        lift = (0.0, -0.022, -0.012, 0.0, 0.024)
        band = [(x, h * (y + dy)) for x, dy in zip(across, lift, strict=True)]
        b.cover(smooth(band, closed=True), colour=(0.98, 0.97, 0.93), strength=0.8, soft=7)
    rows = (
        (0.11, (0.08, 0.25, 0.42, 0.60, 0.78, 0.92)),
        (0.26, (0.15, 0.33, 0.52, 0.69, 0.87)),
        (0.41, (0.07, 0.40, 0.60, 0.93)),
        (0.57, (0.12, 0.50, 0.88)),
    )
    flock = [(x, y) for y, places in rows for x in places]
    for k, (px, py) in enumerate(flock):
        x = bare + w * (px + 0.03 * (float(b.rng.random()) - 0.5))
        y = h * (py + 0.03 * (float(b.rng.random()) - 0.5))
        turn = (-24, 12, -40, 30, 0, -15)[k % 6]
        draw_crane(b, x, y, w * 0.075, turn=turn, flip=k % 3 == 1)
    draw_standing_crane(b, *left, w * 0.08)
    draw_standing_crane(b, *right, w * 0.08, flip=True)
    return {"cranes": len(flock) + 2, "flying": len(flock), "standing": 2}


def draw_line_poet(b: Brush) -> Counts:
    """A poet in plain line, without wash (白描), walking by himself."""
    draw_person(b, b.width * 0.46, b.height * 0.95, b.height * 0.82, Person(hat="cloth", beard=0.9))
    return {"people": 1}


def draw_ink_grapes(b: Brush) -> Counts:
    """A vine hanging from above, wet leaves and bunches (墨葡萄)."""
    w, h = b.width, b.height
    draw_branch(
        b,
        [(w * 1.02, h * 0.10), (w * 0.72, h * 0.16), (w * 0.45, h * 0.26), (w * 0.22, h * 0.44)],
        w * 0.04,
    )
    draw_branch(b, [(w * 0.62, h * 0.19), (w * 0.66, h * 0.36), (w * 0.60, h * 0.50)], w * 0.022)
    bunches = ((0.30, 0.46, 5), (0.60, 0.55, 6), (0.80, 0.32, 4))
    for px, py, size, tone in (
        (0.20, 0.36, 0.12, 0.5),
        (0.42, 0.32, 0.14, 0.62),
        (0.66, 0.24, 0.15, 0.5),
        (0.86, 0.20, 0.13, 0.66),
        (0.74, 0.44, 0.13, 0.45),
        (0.46, 0.52, 0.10, 0.55),
        (0.90, 0.40, 0.09, 0.4),
    ):
        draw_vine_leaf(b, w * px, h * py, w * size, tone)
    for px, py, rows in bunches:
        draw_grapes(b, w * px, h * py, rows, w * 0.021)
    return {"bunches": len(bunches), "leaves": 7}
