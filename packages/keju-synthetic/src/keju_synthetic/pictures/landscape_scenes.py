"""Scenes of mountains and water. Each paints a whole sheet and returns the counts of its motifs."""

from __future__ import annotations

from keju_synthetic.pictures.animals import draw_donkey
from keju_synthetic.pictures.birds import draw_goose
from keju_synthetic.pictures.buildings import draw_bridge, draw_hut, draw_pavilion
from keju_synthetic.pictures.figures import Person, draw_person, draw_rod, draw_seated_person
from keju_synthetic.pictures.mountains import (
    AZURITE,
    MALACHITE,
    OCHRE,
    Manner,
    draw_bank,
    draw_far_range,
    draw_mass,
    draw_mountain,
    draw_ripples,
    draw_rock,
)
from keju_synthetic.pictures.objects import draw_boat
from keju_synthetic.pictures.pens import INK, THREAD, Brush, Colour, smooth
from keju_synthetic.pictures.plants import (
    draw_bare_tree,
    draw_grove,
    draw_leafy_tree,
    draw_pine,
    draw_reeds,
)

Counts = dict[str, int]
"""The number of each thing in an image, by the names that questions use."""

_SNOW: Colour = (1.14, 1.15, 1.16)


def draw_rivers(b: Brush) -> Counts:
    """A long river between soft hills, with boats, a pavilion and pines (一江兩岸)."""
    w, h = b.width, b.height
    draw_far_range(b, h * 0.46, h * 0.34, 0.16, [(w * 0.1, 0.5), (w * 0.3, 0.9), (w * 0.52, 0.5),
                                                 (w * 0.68, 0.8), (w * 0.9, 0.6)])  # fmt: skip
    b.add_mist(h * 0.48, h * 0.14, strength=0.8)
    m = Manner("hemp", tone=0.62, shade=0.26)
    draw_mountain(b, w * 0.80, h * 0.12, w * 0.30, h * 0.62, m)
    draw_mountain(b, w * 0.965, h * 0.26, w * 0.16, h * 0.50, m)
    draw_mountain(b, w * 0.115, h * 0.16, w * 0.24, h * 0.56, m)
    draw_mass(b, w * 0.30, h * 0.44, w * 0.14, h * 0.24, m)
    b.add_mist(h * 0.74, h * 0.07, strength=0.7)
    draw_grove(b, w * 0.36, h * 0.67, w * 0.07, 6)
    draw_grove(b, w * 0.66, h * 0.71, w * 0.08, 8)
    draw_bank(
        b, [(w * 0.60, h * 0.80), (w * 0.72, h * 0.75), (w * 0.86, h * 0.80), (w, h * 0.78)], m
    )
    draw_bank(
        b, [(0, h * 0.82), (w * 0.08, h * 0.77), (w * 0.2, h * 0.80), (w * 0.30, h * 0.83)], m
    )
    draw_pavilion(b, w * 0.70, h * 0.80, h * 0.13)
    for place, high in ((0.755, 0.42), (0.785, 0.34), (0.815, 0.46)):
        draw_pine(b, w * place, h * 0.88, h * high, lean=0.12 - 0.1 * (place > 0.78))
    for place, dots in ((0.06, "round"), (0.10, "flat"), (0.135, "ring")):
        draw_leafy_tree(b, w * place, h * 0.88, h * 0.26, dots=dots)
    draw_hut(b, w * 0.175, h * 0.84, h * 0.20)
    boats = ((0.42, 0.70, False), (0.52, 0.84, True), (0.335, 0.91, False))
    for px, py, flip in boats:
        size = h * (0.10 + 0.16 * (py - 0.6))
        f = draw_boat(b, w * px, h * py, size, flip=flip, awning=py < 0.9)
        draw_seated_person(b, *f.place(0.33, -0.03), size * 0.36, hat="straw", flip=flip)
    draw_ripples(b, (w * 0.34, h * 0.70, w * 0.62, h * 0.96), 6, 0.28)
    return {"boats": len(boats), "pavilions": 1, "huts": 1, "pines": 3}


def draw_blue_green(b: Brush) -> Counts:
    """Ranges in azurite and malachite over a wide water, huts and sails among them (青綠山水)."""
    w, h = b.width, b.height
    water: Colour = (0.72, 0.80, 0.74)
    b.tint([(0, h * 0.55), (w, h * 0.55), (w, h), (0, h)], tone=0.6, colour=water, soft=8)
    draw_far_range(b, h * 0.44, h * 0.26, 0.14, [(w * 0.2, 0.7), (w * 0.46, 0.9), (w * 0.72, 0.6)])
    plain = Manner("hemp", tone=0.55, shade=0.10, cap=MALACHITE, foot=OCHRE, moss=0.4)
    blue = plain._replace(cap=AZURITE, foot=MALACHITE)
    peaks = ((0.93, 0.20, 0.22, plain), (0.76, 0.10, 0.30, blue), (0.60, 0.30, 0.18, plain),
             (0.33, 0.16, 0.30, blue), (0.14, 0.26, 0.24, plain))  # fmt: skip
    for px, top, wide, manner in peaks:
        draw_mountain(b, w * px, h * top, w * wide, h * (0.80 - top), manner)
    for px, py, wide in ((0.47, 0.74, 0.10), (0.50, 0.80, 0.07)):
        draw_mass(b, w * px, h * py, w * wide, h * 0.11, blue)
    draw_grove(b, w * 0.40, h * 0.83, w * 0.06, 6, tone=0.7)
    draw_grove(b, w * 0.85, h * 0.84, w * 0.08, 7, tone=0.7)
    for px, py in ((0.22, 0.86), (0.255, 0.89), (0.68, 0.88)):
        draw_hut(b, w * px, h * py, h * 0.15)
    for px, high in ((0.295, 0.30), (0.315, 0.24), (0.72, 0.30)):
        draw_pine(b, w * px, h * 0.92, h * high)
    boats = ((0.43, 0.93, True), (0.52, 0.66, False), (0.56, 0.93, False), (0.60, 0.74, True))
    for px, py, flip in boats:
        draw_boat(b, w * px, h * py, h * 0.13, flip=flip)
    draw_ripples(b, (w * 0.36, h * 0.60, w * 0.64, h * 0.97), 8, 0.30)
    return {"boats": len(boats), "huts": 3}


def draw_lone_angler(b: Brush) -> Counts:
    """One boat on empty water, an old man bent over his rod (寒江獨釣)."""
    w, h = b.width, b.height
    f = draw_boat(b, w * 0.50, h * 0.60, w * 0.34, flip=True, awning=False)
    b.stroke(f((-0.40, -0.06), (-0.18, -0.12), (0.02, -0.07)), 4, tone=0.6, profile=THREAD)
    draw_seated_person(b, *f.place(0.22, -0.01), w * 0.105, hat="straw", flip=True)
    draw_rod(b, *f.place(0.34, -0.14), w * 0.15, h * 0.11, flip=True)
    for y, x0, x1 in (
        (0.66, 0.30, 0.72),
        (0.70, 0.42, 0.66),
        (0.53, 0.16, 0.30),
        (0.76, 0.22, 0.40),
        (0.80, 0.60, 0.84),
        (0.56, 0.74, 0.90),
    ):
        draw_ripples(b, (w * x0, h * y, w * x1, h * (y + 0.03)), 2, 0.26)
    return {"boats": 1, "people": 1}


def draw_snow_bridge(b: Brush) -> Counts:
    """A rider on a donkey crosses a bridge in snow, under cliffs and bare trees (灞橋風雪)."""
    w, h = b.width, b.height
    b.tint([(0, 0), (w, 0), (w, h), (0, h)], tone=0.22, soft=1)
    m = Manner("axe", tone=0.85, shade=0.16, moss=0.5)
    for px, top, wide, tall in ((0.30, 0.05, 0.66, 0.62), (0.86, 0.22, 0.40, 0.44)):
        draw_mountain(b, w * px, h * top, w * wide, h * tall, m)
    b.add_mist(h * 0.64, h * 0.07, strength=0.9)
    for px, py, wide in ((0.12, 0.74, 0.36), (0.92, 0.80, 0.42)):
        draw_rock(b, w * px, h * py, w * wide, h * 0.17, m)
        cap = smooth(
            [
                (w * (px - wide * 0.40), h * (py + 0.06)),
                (w * (px - wide * 0.2), h * (py + 0.015)),
                (w * px, h * (py - 0.008)),
                (w * (px + wide * 0.3), h * (py + 0.05)),
                (w * px, h * (py + 0.035)),
            ],
            closed=True,
        )
        b.cover(cap, colour=_SNOW, strength=0.9, soft=2)
    draw_bare_tree(b, w * 0.10, h * 0.80, h * 0.30, lean=0.4)
    draw_bare_tree(b, w * 0.86, h * 0.85, h * 0.25, lean=-0.5)
    draw_bridge(b, w * 0.24, h * 0.865, w * 0.76)
    draw_donkey(b, w * 0.53, h * 0.815, w * 0.14, flip=True)
    draw_seated_person(b, w * 0.535, h * 0.822, w * 0.115, hat="hood", flip=True)
    draw_person(b, w * 0.68, h * 0.862, h * 0.068, Person(hat="knot"), flip=True)
    draw_ripples(b, (w * 0.2, h * 0.93, w * 0.8, h * 0.98), 3, 0.35)
    for _ in range(150):
        x, y = float(b.rng.random()) * w, float(b.rng.random()) * h
        b.cover(((x - 1.3, y), (x, y - 1.3), (x + 1.3, y), (x, y + 1.3)), colour=_SNOW, soft=0.5)
    return {"people": 2, "donkeys": 1, "bridges": 1, "trees": 2}


def draw_cloud_peaks(b: Brush) -> Counts:
    """Peaks that rise out of a sea of clouds, with pines; two men on a ledge (黃山)."""
    w, h = b.width, b.height
    m = Manner("hemp", tone=0.72, shade=0.24, moss=0.8)
    tinted = m._replace(cap=(0.66, 0.80, 0.86), shade=0.18)
    peaks = ((0.20, 0.13, 0.36, 0.52), (0.50, 0.05, 0.40, 0.62), (0.80, 0.25, 0.34, 0.40))
    for px, top, wide, tall in peaks:
        draw_spire(b, w * px, h * top, w * wide, h * tall, tinted)
        b.add_mist(h * (top + tall * 0.95), h * 0.10, strength=0.9)
    for y, amp in ((0.66, 0.02), (0.72, 0.026), (0.79, 0.02)):
        for k in range(4):
            x0 = w * (0.06 + 0.24 * k + 0.05 * float(b.rng.random()))
            way = [
                (
                    x0 + w * 0.05 * j,
                    h * (y + 0.5 * amp * (1 if j % 2 else -1) * float(b.rng.random())),
                )
                for j in range(5)
            ]
            b.stroke(way, 1.6, tone=0.30, profile=THREAD)
    draw_rock(b, w * 0.22, h * 0.76, w * 0.46, h * 0.30, m)
    draw_pine(b, w * 0.08, h * 0.86, h * 0.36, lean=0.3)
    draw_pine(b, w * 0.36, h * 0.86, h * 0.27, lean=0.35)
    for k, px in enumerate((0.185, 0.25)):
        draw_person(
            b,
            w * px,
            h * 0.79,
            h * 0.095,
            Person(hat="cloth", robe=(0.86, 0.72, 0.62) if k else None),
        )
    return {"peaks": len(peaks), "people": 2, "pines": 2}


def draw_spire(b: Brush, x: float, y: float, wide: float, high: float, m: Manner) -> None:
    """A steep peak of narrow upright masses."""
    for dx, dy, part, tall in (
        (-0.30, 0.24, 0.34, 0.7),
        (0.30, 0.30, 0.34, 0.66),
        (0.0, 0.0, 0.52, 1.0),
        (-0.16, 0.34, 0.36, 0.62),
        (0.17, 0.42, 0.34, 0.56),
    ):
        draw_mass(b, x + dx * wide, y + dy * high, part * wide, tall * high, m)


def draw_peach_spring(b: Brush) -> Counts:
    """A blue-green valley with a cave, blossoming trees and a moored boat (桃源)."""
    w, h = b.width, b.height
    blue = Manner("hemp", tone=0.55, shade=0.10, cap=AZURITE, foot=MALACHITE, moss=0.5)
    green = blue._replace(cap=MALACHITE, foot=OCHRE)
    draw_mountain(b, w * 0.42, h * 0.04, w * 0.72, h * 0.50, blue)
    draw_mountain(b, w * 0.82, h * 0.22, w * 0.46, h * 0.42, green)
    b.add_mist(h * 0.56, h * 0.05, strength=0.95)
    draw_mountain(b, w * 0.16, h * 0.46, w * 0.46, h * 0.32, blue)
    draw_mass(b, w * 0.78, h * 0.58, w * 0.46, h * 0.24, green)
    cave = smooth(
        [
            (w * 0.70, h * 0.80),
            (w * 0.715, h * 0.73),
            (w * 0.75, h * 0.71),
            (w * 0.785, h * 0.735),
            (w * 0.80, h * 0.80),
        ],
        closed=True,
    )
    b.tint(cave, tone=0.9, colour=INK, soft=1.5)
    pink: Colour = (0.95, 0.52, 0.55)
    trees = ((0.30, 0.84), (0.42, 0.81), (0.52, 0.84), (0.62, 0.82))
    for px, py in trees:
        draw_leafy_tree(b, w * px, h * py, h * 0.12, dots="ring", tone=0.6)
        for _ in range(60):
            dx, dy = (float(v) * 2 - 1 for v in b.rng.random(2))
            if dx * dx + dy * dy < 1:
                x, y = w * px + dx * h * 0.062, h * (py - 0.082) + dy * h * 0.045
                b.cover(((x - 2, y), (x, y - 2), (x + 2, y), (x, y + 2)), colour=pink, soft=0.6)
    draw_boat(b, w * 0.42, h * 0.92, w * 0.22, awning=False)
    draw_person(b, w * 0.62, h * 0.895, h * 0.075, Person(hat="straw", robe=(0.75, 0.72, 0.6)))
    draw_ripples(b, (w * 0.1, h * 0.90, w * 0.9, h * 0.99), 5, 0.35)
    return {"boats": 1, "people": 1, "trees": len(trees)}


def draw_reed_geese(b: Brush) -> Counts:
    """Geese come down over a bank of reeds (蘆雁)."""
    w, h = b.width, b.height
    m = Manner("dots", tone=0.6, shade=0.22)
    draw_bank(
        b, [(0, h * 0.86), (w * 0.25, h * 0.82), (w * 0.5, h * 0.88), (w * 0.72, h * 0.93)], m
    )
    draw_reeds(b, w * 0.16, h * 0.88, w * 0.24, h * 0.42, 16)
    draw_reeds(b, w * 0.92, h * 0.98, w * 0.12, h * 0.34, 9)
    flock = (
        (0.70, 0.20, 0.10),
        (0.84, 0.30, 0.105),
        (0.58, 0.33, 0.11),
        (0.72, 0.46, 0.12),
        (0.50, 0.54, 0.13),
    )
    for px, py, size in flock:
        draw_goose(b, w * px, h * py, w * size, flip=True, turn=-14)
    draw_ripples(b, (w * 0.3, h * 0.90, w * 0.9, h * 0.98), 4, 0.3)
    return {"geese": len(flock)}
