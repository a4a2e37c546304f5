"""Scenes of single objects, as in encyclopaedias and herbals, for the graver."""

from __future__ import annotations

from keju_synthetic.pictures.animals import draw_fox
from keju_synthetic.pictures.buildings import draw_pavilion
from keju_synthetic.pictures.flowers import draw_lotus, draw_lotus_leaf, draw_stem
from keju_synthetic.pictures.landscape_scenes import Counts
from keju_synthetic.pictures.mountains import Manner, draw_bank, draw_ripples, draw_rock
from keju_synthetic.pictures.objects import draw_qin, draw_wheel
from keju_synthetic.pictures.pens import (
    EVEN,
    LEAF,
    THREAD,
    Pen,
    get_direction,
    make_ellipse,
    smooth,
)
from keju_synthetic.pictures.plants import draw_leafy_tree

_CUT = Manner("plain", tone=0.8, shade=0.0, moss=0.6)


def draw_nine_tails(pen: Pen) -> Counts:
    """The fox with nine tails (九尾狐)."""
    w, h = pen.width, pen.height
    draw_fox(pen, w * 0.59, h * 0.66, w * 0.48, 9)
    draw_bank(pen, [(0, h * 0.93), (w * 0.3, h * 0.91), (w * 0.7, h * 0.94), (w, h * 0.92)], _CUT)
    draw_rock(pen, w * 0.16, h * 0.82, w * 0.22, h * 0.12, _CUT)
    return {"tails": 9, "foxes": 1}


def draw_plantain(pen: Pen) -> Counts:
    """Plantain (車前): broad ribbed leaves from one root, upright spikes, a bundle of rootlets."""
    w, h = pen.width, pen.height
    x, y = w * 0.5, h * 0.74
    spikes = ((-0.13, 0.50), (-0.02, 0.60), (0.09, 0.54), (0.20, 0.46))
    for lean, tall in spikes:
        tip = (x + lean * w, y - tall * h)
        pen.stroke(
            ((x, y), (x + lean * w * 0.4, y - tall * h * 0.5), tip), 2.4, tone=0.8, profile=EVEN
        )
        for k in range(26):
            share = 0.42 + 0.58 * k / 25
            px, py = x + lean * w * share, y - tall * h * share
            seed = make_ellipse(px + (4 if k % 2 else -4), py, 3.6, 2.6)
            pen.cover(seed)
            pen.stroke([*seed, seed[0]], 1.2, tone=0.8, profile=EVEN)
    leaves = (
        (-172, 0.40),
        (-8, 0.40),
        (-150, 0.46),
        (-30, 0.46),
        (-128, 0.40),
        (-54, 0.40),
        (160, 0.30),
        (20, 0.30),
    )
    for angle, reach in leaves:
        _draw_ribbed_leaf(pen, x, y, angle, reach * w)
    for k in range(9):
        dx, dy = get_direction(62 + 7 * k)
        pen.stroke(
            (
                (x, y),
                (x + dx * h * 0.08 + 4 * (k % 3 - 1), y + dy * h * 0.10),
                (x + dx * h * 0.12, y + dy * h * 0.19),
            ),
            1.8,
            tone=0.8,
        )
    return {"leaves": len(leaves), "spikes": len(spikes)}


def _draw_ribbed_leaf(pen: Pen, x: float, y: float, angle: float, reach: float) -> None:
    dx, dy = get_direction(angle)
    ax, ay = -dy, dx

    def at(along: float, across: float) -> tuple[float, float]:
        return (
            x + dx * reach * along + ax * reach * across,
            y + dy * reach * along + ay * reach * across,
        )

    plan = ((0.0, 0.015), (0.28, 0.03), (0.42, 0.15), (0.66, 0.20), (0.88, 0.12), (1.0, 0.0))
    line = [at(a, c) for a, c in plan] + [at(a, -c) for a, c in reversed(plan[:-1])]
    outline = smooth(line, closed=True)
    pen.cover(outline)
    pen.stroke([*outline, outline[0]], 2.0, tone=0.85, profile=EVEN)
    for across in (-0.10, -0.05, 0.0, 0.05, 0.10):
        rib = (at(0.30, across * 0.3), at(0.62, across * 1.25), at(0.94, across * 0.45))
        pen.stroke(rib, 1.4, tone=0.75, profile=THREAD)


def draw_water_wheel(pen: Pen) -> Counts:
    """A wheel of bamboo buckets that a stream turns, and the trough it fills (筒車)."""
    w, h = pen.width, pen.height
    x, y, r = w * 0.46, h * 0.50, w * 0.31
    draw_leafy_tree(pen, w * 0.90, h * 0.52, h * 0.28, dots="ring")
    draw_bank(pen, [(w * 0.70, h * 0.56), (w * 0.86, h * 0.53), (w, h * 0.55)], _CUT)
    for px in (-0.14, 0.14):
        pen.stroke(((x, y), (x + px * w, h * 0.88)), 7, tone=0.9, profile=EVEN)
    draw_wheel(pen, x, y, r, 12)
    for k, dy in enumerate((0.0, 0.016)):
        pen.stroke(
            ((x + r * 1.02, y - r * (0.86 - dy * 4)), (w * 0.98, h * (0.34 + dy) + 4 * k)),
            2.2,
            tone=0.9,
            profile=EVEN,
        )
    for px in (0.78, 0.93):
        pen.stroke(((w * px, h * 0.34), (w * px, h * 0.55)), 3, tone=0.9, profile=EVEN)
    draw_ripples(pen, (0, h * 0.78, w, h * 0.97), 8, 0.7)
    draw_rock(pen, w * 0.08, h * 0.76, w * 0.20, h * 0.14, _CUT)
    return {"buckets": 12, "wheels": 1}


def draw_zither(pen: Pen) -> Counts:
    """A zither of seven strings (琴), lying aslant."""
    draw_qin(pen, pen.width * 0.50, pen.height * 0.52, pen.height * 0.88, 7)
    return {"strings": 7}


def draw_garden_pavilion(pen: Pen) -> Counts:
    """An open pavilion with four posts among rocks and a tree (亭)."""
    w, h = pen.width, pen.height
    draw_leafy_tree(pen, w * 0.14, h * 0.84, h * 0.46, dots="ring")
    draw_pavilion(pen, w * 0.54, h * 0.84, w * 0.62)
    draw_bank(pen, [(0, h * 0.86), (w * 0.3, h * 0.85), (w * 0.7, h * 0.87), (w, h * 0.85)], _CUT)
    draw_rock(pen, w * 0.88, h * 0.72, w * 0.24, h * 0.17, _CUT)
    return {"posts": 4, "pavilions": 1}


def draw_lotus_plant(pen: Pen) -> Counts:
    """A lotus: flowers, leaves and the jointed root (蓮藕)."""
    w, h = pen.width, pen.height
    for points in ([(w * 0.46, h * 0.84), (w * 0.44, h * 0.5), (w * 0.40, h * 0.26)],
                   [(w * 0.52, h * 0.84), (w * 0.60, h * 0.6), (w * 0.72, h * 0.44)],
                   [(w * 0.42, h * 0.84), (w * 0.30, h * 0.70), (w * 0.24, h * 0.60)]):  # fmt: skip
        draw_stem(pen, points, 4)
    draw_lotus_leaf(pen, w * 0.24, h * 0.58, w * 0.20, h * 0.08)
    draw_lotus_leaf(pen, w * 0.74, h * 0.62, w * 0.20, h * 0.07)
    flowers = ((0.40, 0.26, 0.20), (0.72, 0.42, 0.17))
    for px, py, size in flowers:
        draw_lotus(pen, w * px, h * py, w * size, petals=11)
    for k in range(3):
        joint = make_ellipse(w * (0.30 + 0.17 * k), h * 0.88, w * 0.085, h * 0.034)
        pen.cover(joint)
        pen.stroke([*joint, joint[0]], 2.2, tone=0.9, profile=EVEN)
        for dx in (-3, 0, 3):
            px = w * (0.385 + 0.17 * k) + dx
            pen.stroke(((px, h * 0.90), (px + dx * 2, h * 0.93)), 1.4, tone=0.8, profile=LEAF)
    return {"flowers": len(flowers), "leaves": 2}
