"""Scenes of stories and poems, for the graver. Each returns the counts of its motifs."""

from __future__ import annotations

from keju_synthetic.pictures.animals import draw_tiger
from keju_synthetic.pictures.birds import draw_far_bird
from keju_synthetic.pictures.buildings import draw_bridge, draw_pagoda, draw_tower
from keju_synthetic.pictures.figures import Person, draw_person, draw_rod, draw_seated_person
from keju_synthetic.pictures.landscape_scenes import Counts
from keju_synthetic.pictures.mountains import (
    Manner,
    draw_bank,
    draw_cloud,
    draw_mass,
    draw_mountain,
    draw_ripples,
    draw_rock,
)
from keju_synthetic.pictures.objects import draw_boat, draw_couch, draw_war_boat
from keju_synthetic.pictures.pens import EVEN, THREAD, Pen, make_ellipse, smooth
from keju_synthetic.pictures.plants import draw_bamboo, draw_bare_tree, draw_leafy_tree, draw_pine

_CUT = Manner("hemp", tone=0.8, shade=0.2, moss=0.8)
_BARE = Manner("plain", tone=0.8, shade=0.0, moss=0.0)


def _draw_ground(pen: Pen, y: float) -> None:
    """A wavering line of ground with tufts of grass."""
    w, rng = pen.width, pen.rng
    way = [(w * k / 8, y + pen.height * 0.014 * (float(rng.random()) - 0.5)) for k in range(9)]
    pen.stroke(way, 2.0, tone=0.8, profile=EVEN)
    for _ in range(12):
        x = w * float(rng.random())
        foot = y + pen.height * (0.015 + 0.05 * float(rng.random()))
        for lean in (-5, 0, 5):
            pen.stroke(((x, foot), (x + lean, foot - 10)), 1.6, tone=0.8)


def _draw_moon(pen: Pen, x: float, y: float, r: float) -> None:
    disc = make_ellipse(x, y, r, r)
    pen.cover(disc)
    pen.stroke([*disc, disc[0]], 2.0, tone=0.8, profile=EVEN)


def draw_red_faced_general(pen: Pen) -> Counts:
    """Guan Yu: the long beard, the crescent blade."""
    w, h = pen.width, pen.height
    _draw_ground(pen, h * 0.90)
    draw_rock(pen, w * 0.14, h * 0.76, w * 0.24, h * 0.15, _CUT)
    who = Person(hat="cloth", held="blade", beard=2.3, arms="holding", sash=True)
    draw_person(pen, w * 0.47, h * 0.93, h * 0.62, who)
    return {"people": 1}


def draw_monkey_king(pen: Pen) -> Counts:
    """Sun Wukong on a cloud: fillet with plumes, the gold-banded cudgel."""
    w, h = pen.width, pen.height
    for x, y, wide in ((0.22, 0.16, 0.30), (0.80, 0.28, 0.26)):
        draw_cloud(pen, w * x, h * y, w * wide)
    for x, y, wide in ((0.24, 0.97, 0.44), (0.78, 0.97, 0.46), (0.50, 0.99, 0.60)):
        draw_cloud(pen, w * x, h * y, w * wide)
    who = Person(hat="fillet", held="cudgel", monkey=True, arms="holding", sash=True)
    draw_person(pen, w * 0.50, h * 0.90, h * 0.62, who)
    return {"people": 1}


def draw_halberd_general(pen: Pen) -> Counts:
    """Lü Bu: helmet, scales, the sky-piercing halberd."""
    w, h = pen.width, pen.height
    _draw_ground(pen, h * 0.90)
    draw_bare_tree(pen, w * 0.14, h * 0.90, h * 0.46, lean=0.2)
    who = Person(hat="helmet", held="halberd", armour=True, arms="holding", sash=True)
    draw_person(pen, w * 0.50, h * 0.94, h * 0.62, who)
    return {"people": 1}


def draw_straw_boats(pen: Pen) -> Counts:
    """Boats hung with straw men take up the enemy's arrows in the mist (草船借箭)."""
    w, h = pen.width, pen.height
    draw_mountain(pen, w * 0.92, h * 0.06, w * 0.24, h * 0.36, _CUT)
    for x, y, wide in ((0.20, 0.20, 0.20), (0.52, 0.14, 0.22), (0.74, 0.32, 0.16)):
        draw_cloud(pen, w * x, h * y, w * wide)
    draw_ripples(pen, (0, h * 0.50, w, h * 0.97), 9, 0.6)
    boats = ((0.40, 0.40, 0.27), (0.74, 0.62, 0.31), (0.27, 0.88, 0.42))
    for k, (x, y, size) in enumerate(boats):
        if k == 2:
            who = Person(hat="cloth", held="feathers", beard=0.8, arms="holding")
            draw_person(pen, w * 0.155, h * (y + 0.06), h * 0.40, who)
            draw_person(pen, w * 0.255, h * (y + 0.06), h * 0.38, Person(hat="wings", beard=0.5))
        crewed = k == 2
        draw_war_boat(pen, w * x, h * y, w * size, 4 if crewed else 6, 9 if crewed else 13,
                      stern=0.04 if crewed else -0.36)  # fmt: skip
    for k in range(9):
        x, y = w * (0.56 + 0.045 * k), h * (0.20 + 0.06 * ((k * 5) % 4))
        pen.stroke(((x, y), (x - 26, y + 11)), 1.8, tone=0.9, profile=EVEN)
        for dx in (0, 4):
            pen.stroke(((x - dx, y + dx * 0.4), (x + 6 - dx, y - 6 + dx * 0.4)), 1.4, tone=0.9)
    return {"boats": len(boats), "people": 2}


def draw_burning_mountain(pen: Pen) -> Counts:
    """The monkey with the palm-leaf fan before a mountain in flames (火焰山)."""
    w, h = pen.width, pen.height
    draw_mountain(pen, w * 0.72, h * 0.24, w * 0.52, h * 0.66, _CUT)
    for k in range(15):
        x = w * (0.49 + 0.034 * k)
        y = h * (0.32 + 0.040 * abs(k - 7))
        size = h * (0.13 + 0.06 * ((k * 7) % 3))
        tongue = smooth([(x - size * 0.28, y + size * 0.2), (x - size * 0.22, y - size * 0.3),
                         (x + size * 0.05, y - size * 0.55), (x - size * 0.02, y - size),
                         (x + size * 0.24, y - size * 0.5), (x + size * 0.28, y + size * 0.2)],
                        closed=True)  # fmt: skip
        pen.cover(tongue)
        pen.stroke([*tongue, tongue[0]], 2.0, tone=0.9, profile=EVEN)
        inner = (
            (x, y + size * 0.1),
            (x - size * 0.06, y - size * 0.3),
            (x + size * 0.06, y - size * 0.6),
        )
        pen.stroke(inner, 1.8, tone=0.9)
    _draw_ground(pen, h * 0.92)
    who = Person(hat="fillet", held="palmleaf", monkey=True, arms="holding")
    draw_person(pen, w * 0.20, h * 0.94, h * 0.60, who)
    return {"people": 1}


def draw_tiger_fight(pen: Pen) -> Counts:
    """A man with bare fists against a tiger under pines (武松打虎)."""
    w, h = pen.width, pen.height
    draw_mountain(pen, w * 0.50, h * 0.10, w * 0.36, h * 0.34, _CUT)
    _draw_ground(pen, h * 0.90)
    draw_pine(pen, w * 0.10, h * 0.92, h * 0.74, lean=0.12)
    draw_pine(pen, w * 0.93, h * 0.92, h * 0.60, lean=-0.12)
    draw_tiger(pen, w * 0.38, h * 0.72, h * 0.46)
    draw_person(pen, w * 0.72, h * 0.94, h * 0.66, Person(hat="cloth", arms="raised"), flip=True)
    pen.stroke(((w * 0.52, h * 0.95), (w * 0.62, h * 0.93)), 4, tone=0.9, profile=EVEN)
    return {"tigers": 1, "people": 1, "pines": 2}


def draw_winter_shoots(pen: Pen) -> Counts:
    """A son weeps among bamboo in winter, and shoots come up (哭竹生筍)."""
    w, h = pen.width, pen.height
    _draw_ground(pen, h * 0.88)
    for x, high, lean in ((0.12, 0.74, 0.05), (0.24, 0.80, 0.02), (0.86, 0.78, -0.06)):
        draw_bamboo(pen, w * x, h * 0.88, h * high, thick=9, lean=lean, tone=0.8)
    shoots = ((0.35, 0.94), (0.635, 0.97), (0.72, 0.92), (0.81, 0.96))
    for x, y in shoots:
        _draw_shoot(pen, w * x, h * y, h * 0.125)
    draw_person(pen, w * 0.50, h * 0.90, h * 0.48, Person(hat="cloth", held="hoe", arms="holding"))
    return {"shoots": len(shoots), "stalks": 3, "people": 1}


def _draw_shoot(pen: Pen, x: float, foot: float, high: float) -> None:
    half = high * 0.30
    outline = smooth([(x - half, foot), (x - half * 0.8, foot - high * 0.5), (x, foot - high),
                      (x + half * 0.8, foot - high * 0.5), (x + half, foot)])  # fmt: skip
    pen.cover(outline)
    pen.stroke([*outline, outline[0]], 1.8, tone=0.9, profile=EVEN)
    for side, rise in ((-1, 0.3), (1, 0.5), (-1, 0.7)):
        pen.stroke(
            (
                (x + side * half * (1 - rise), foot - high * rise * 0.5),
                (x - side * half * 0.2, foot - high * (rise + 0.12)),
            ),
            1.5,
            tone=0.8,
        )


def draw_snow_river(pen: Pen) -> Counts:
    """Snowy peaks without birds or men, one boat, an old man with a rod (江雪)."""
    w, h = pen.width, pen.height
    draw_mountain(pen, w * 0.30, h * 0.10, w * 0.62, h * 0.40, _BARE)
    draw_mountain(pen, w * 0.84, h * 0.18, w * 0.40, h * 0.32, _BARE)
    draw_bare_tree(pen, w * 0.10, h * 0.62, h * 0.20, lean=0.4)
    draw_bank(pen, [(0, h * 0.60), (w * 0.14, h * 0.59), (w * 0.28, h * 0.63)], _BARE)
    f = draw_boat(pen, w * 0.56, h * 0.78, w * 0.46, flip=True, awning=False)
    draw_seated_person(pen, *f.place(0.20, -0.02), w * 0.17, hat="straw", flip=True)
    draw_rod(pen, *f.place(0.33, -0.16), w * 0.17, h * 0.10, flip=True)
    draw_ripples(pen, (w * 0.05, h * 0.70, w * 0.98, h * 0.97), 5, 0.5)
    for _ in range(90):
        x, y = w * float(pen.rng.random()), h * 0.55 * float(pen.rng.random())
        flake = make_ellipse(x, y, 1.7, 1.7)
        pen.stroke([*flake, flake[0]], 0.9, tone=0.5, profile=EVEN)
    return {"boats": 1, "people": 1}


def draw_maple_bridge(pen: Pen) -> Counts:
    """A moored boat by a bridge at night, a temple on the hill, a crow, the moon (楓橋夜泊)."""
    w, h = pen.width, pen.height
    draw_mountain(pen, w * 0.74, h * 0.16, w * 0.62, h * 0.34, _CUT)
    draw_pagoda(pen, w * 0.70, h * 0.30, w * 0.085, 5)
    _draw_moon(pen, w * 0.20, h * 0.12, w * 0.055)
    birds = ((0.36, 0.14), (0.44, 0.19), (0.33, 0.22))
    for x, y in birds:
        draw_far_bird(pen, w * x, h * y, 13)
    draw_bridge(pen, w * 0.46, h * 0.62, w * 1.0, arch=True)
    draw_leafy_tree(pen, w * 0.12, h * 0.66, h * 0.26, dots="flat")
    draw_leafy_tree(pen, w * 0.27, h * 0.64, h * 0.20, dots="flat")
    draw_bank(pen, [(0, h * 0.66), (w * 0.2, h * 0.65), (w * 0.44, h * 0.69)], _BARE)
    f = draw_boat(pen, w * 0.46, h * 0.84, w * 0.50)
    draw_seated_person(pen, *f.place(0.30, -0.02), w * 0.15, hat="cloth")
    pole = f.place(0.50, -0.06)
    pen.stroke((pole, (pole[0], pole[1] - h * 0.06)), 1.8, tone=0.9, profile=EVEN)
    lamp = make_ellipse(pole[0], pole[1] - h * 0.05, 5, 7)
    pen.cover(lamp)
    pen.stroke([*lamp, lamp[0]], 1.6, tone=0.9, profile=EVEN)
    draw_ripples(pen, (0, h * 0.74, w, h * 0.97), 5, 0.5)
    return {"boats": 1, "birds": len(birds), "people": 1}


def draw_stork_tower(pen: Pen) -> Counts:
    """A tower above a river that bends towards the sea, the sun on the hills (登鸛雀樓)."""
    w, h = pen.width, pen.height
    _draw_moon(pen, w * 0.22, h * 0.20, w * 0.065)
    draw_mass(pen, w * 0.14, h * 0.24, w * 0.40, h * 0.20, _CUT)
    draw_mass(pen, w * 0.42, h * 0.30, w * 0.34, h * 0.14, _CUT)
    for k in range(7):
        y = h * (0.46 + 0.062 * k)
        sway = w * 0.10 * (1 if k % 2 else -1)
        way = [
            (0, y),
            (w * 0.20, y + sway * 0.10),
            (w * 0.42, y - 4),
            (w * (0.52 - 0.02 * k), y + 8),
        ]
        pen.stroke(way, 1.7, tone=0.7, profile=THREAD)
    draw_rock(pen, w * 0.72, h * 0.76, w * 0.66, h * 0.28, _CUT)
    draw_tower(pen, w * 0.72, h * 0.80, w * 0.44, 3)
    draw_person(pen, w * 0.70, h * 0.452, h * 0.072, Person(hat="wings"), flip=True)
    draw_pine(pen, w * 0.95, h * 0.92, h * 0.34, lean=-0.1)
    return {"storeys": 3, "people": 1}


def draw_moon_bed(pen: Pen) -> Counts:
    """A traveller sits up on his couch and looks at the bright moon (靜夜思)."""
    w, h = pen.width, pen.height
    _draw_moon(pen, w * 0.76, h * 0.15, w * 0.08)
    draw_cloud(pen, w * 0.52, h * 0.24, w * 0.30)
    for x in (0.06, 0.94):
        pen.stroke(((w * x, 0), (w * x, h * 0.86)), 5, tone=0.9, profile=EVEN)
    for y in (0.30, 0.33):
        pen.stroke(((w * 0.06, h * y), (w * 0.94, h * y)), 2, tone=0.8, profile=EVEN)
    draw_couch(pen, w * 0.46, h * 0.84, w * 0.66)
    draw_seated_person(pen, w * 0.46, h * 0.71, h * 0.24, hat="knot")
    for k in range(5):
        y = h * (0.88 + 0.022 * k)
        pen.stroke(((w * 0.08, y), (w * 0.92, y)), 1.4, tone=0.6, profile=EVEN)
    return {"people": 1}
