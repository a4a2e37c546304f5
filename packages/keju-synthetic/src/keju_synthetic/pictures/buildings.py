"""Buildings: huts, pavilions, towers, gates, bridges."""

from __future__ import annotations

from keju.items import Point
from keju_synthetic.pictures.pens import (
    EVEN,
    NAIL,
    Colour,
    Frame,
    Pen,
    make_ellipse,
    smooth,
)


def draw_outlined(pen: Pen, corners: list[Point], width: float, tone: float = 0.85) -> None:
    """A bare shape of straight sides."""
    pen.cover(corners)
    for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
        pen.stroke((a, b), width, tone=tone, profile=EVEN)


def draw_hut(pen: Pen, x: float, foot: float, wide: float, *, thatch: bool = True) -> None:
    """A thatched hut with an open front."""
    f = Frame(x, foot, wide)
    w = 1.0 + wide * 0.008
    draw_outlined(pen, f((-0.40, 0.0), (-0.40, -0.34), (0.40, -0.34), (0.40, 0.0)), w)
    for px in (-0.14, 0.14):
        pen.stroke(f((px, 0.0), (px, -0.34)), w, tone=0.8, profile=EVEN)
    for k in range(3):
        pen.stroke(
            f((0.17 + 0.08 * k, 0.0), (0.17 + 0.08 * k, -0.16)), w * 0.7, tone=0.7, profile=EVEN
        )
    pen.stroke(f((0.14, -0.16), (0.40, -0.16)), w * 0.8, tone=0.7, profile=EVEN)
    roof = smooth(
        f((-0.54, -0.26), (-0.34, -0.62), (0.0, -0.68), (0.34, -0.62), (0.54, -0.26), (0.0, -0.32)),
        closed=True,
    )
    pen.cover(roof)
    pen.tint(roof, tone=0.2, soft=1)
    pen.stroke([*roof, roof[0]], w * 1.4, tone=0.85, profile=EVEN)
    if thatch:
        for k in range(11):
            px = -0.44 + 0.088 * k
            pen.stroke(
                f((px * 0.72, -0.60 + 0.1 * abs(px)), (px * 1.02, -0.36)),
                w * 0.8,
                tone=0.65,
                profile=NAIL,
            )


def draw_eaves(
    pen: Pen,
    f: Frame,
    half: float,
    low: float,
    high: float,
    w: float,
    *,
    colour: Colour | None = None,
) -> None:
    """A tiled roof seen from the front, its corners turned up; `half` its width at the eaves."""
    ridge = half * 0.55
    roof = (
        smooth(
            f(
                (-half - 0.05, low - 0.07),
                (-half * 0.8, low - 0.01),
                (0.0, low),
                (half * 0.8, low - 0.01),
                (half + 0.05, low - 0.07),
            )
        )
        + smooth(f((half + 0.05, low - 0.07), (half * 0.72, (low + high) / 2), (ridge, high)))
        + smooth(f((-ridge, high), (-half * 0.72, (low + high) / 2), (-half - 0.05, low - 0.07)))
    )
    pen.cover(roof)
    if colour is not None:
        pen.tint(roof, tone=0.9, colour=colour)
    else:
        pen.tint(roof, tone=0.18, soft=1)
    pen.stroke([*roof, roof[0]], w * 1.3, tone=0.9, profile=EVEN)
    pen.stroke(f((-ridge, high), (ridge, high)), w * 3, tone=0.9, profile=EVEN)
    count = max(7, int(f.scale(half) / 5))
    for k in range(1, count):
        share = 2 * k / count - 1
        pen.stroke(
            f(
                (ridge * share, high),
                (half * 0.70 * share, (low + high) / 2),
                (half * 0.97 * share, low - 0.02 - 0.045 * share * share),
            ),
            w * 0.6,
            tone=0.7,
            profile=EVEN,
        )


def draw_pavilion(pen: Pen, x: float, foot: float, wide: float) -> None:
    """An open pavilion: four posts, a rail, a pointed roof."""
    f = Frame(x, foot, wide)
    w = 1.0 + wide * 0.007
    draw_outlined(pen, f((-0.46, 0.0), (-0.46, -0.07), (0.46, -0.07), (0.46, 0.0)), w)
    for px in (-0.36, -0.13, 0.13, 0.36):
        draw_outlined(
            pen,
            f((px - 0.018, -0.07), (px - 0.018, -0.52), (px + 0.018, -0.52), (px + 0.018, -0.07)),
            w * 0.8,
        )
    for a, b in ((-0.34, -0.15), (0.15, 0.34)):
        for py in (-0.18, -0.13):
            pen.stroke(f((a, py), (b, py)), w * 0.8, tone=0.8, profile=EVEN)
    roof = (
        smooth(f((-0.60, -0.58), (-0.44, -0.52), (0.0, -0.50), (0.44, -0.52), (0.60, -0.58)))
        + smooth(f((0.60, -0.58), (0.30, -0.68), (0.04, -0.94)))
        + smooth(f((-0.04, -0.94), (-0.30, -0.68), (-0.60, -0.58)))
    )
    pen.cover(roof)
    pen.tint(roof, tone=0.15, soft=1)
    pen.stroke([*roof, roof[0]], w * 1.4, tone=0.9, profile=EVEN)
    for k in range(1, 10):
        share = 2 * k / 10 - 1
        pen.stroke(
            f((share * 0.03, -0.92), (share * 0.27, -0.70), (share * 0.50, -0.52)),
            w * 0.7,
            tone=0.7,
            profile=EVEN,
        )
    top = make_ellipse(*f.place(0.0, -0.98), f.scale(0.035), f.scale(0.045))
    pen.cover(top)
    pen.stroke([*top, top[0]], w, tone=0.9, profile=EVEN)


def draw_tower(
    pen: Pen, x: float, foot: float, wide: float, storeys: int, *, colour: Colour | None = None
) -> None:
    """A tower of `storeys` storeys, each with posts, a rail and a roof."""
    f = Frame(x, foot, wide)
    w = 1.0 + wide * 0.006
    y, half = 0.0, 0.44
    for storey in range(storeys):
        tall = 0.36 - 0.03 * storey
        draw_outlined(pen, f((-half, y), (-half, y - tall), (half, y - tall), (half, y)), w)
        for k in range(4):
            px = -half + 2 * half * (k + 0.5) / 4
            pen.stroke(f((px, y), (px, y - tall)), w, tone=0.8, profile=EVEN)
        for py in (y - tall * 0.24, y - tall * 0.12):
            pen.stroke(f((-half, py), (half, py)), w * 0.8, tone=0.75, profile=EVEN)
        draw_eaves(pen, f, half * 1.16, y - tall + 0.02, y - tall - 0.20, w, colour=colour)
        y -= tall + 0.16
        half *= 0.80
    pen.stroke(f((0.0, y), (0.0, y - 0.12)), w * 3, tone=0.9, profile=NAIL)


def draw_pagoda(
    pen: Pen, x: float, foot: float, wide: float, storeys: int, *, tone: float = 0.7
) -> None:
    """A pagoda far away: narrowing storeys, each with an eave."""
    y, half = foot, wide / 2
    for _ in range(storeys):
        tall = half * 0.85
        draw_outlined(
            pen,
            [
                (x - half * 0.72, y),
                (x - half * 0.70, y - tall),
                (x + half * 0.70, y - tall),
                (x + half * 0.72, y),
            ],
            1.2,
            tone,
        )
        pen.stroke(
            ((x - half * 1.06, y - tall - 1), (x, y - tall + 2), (x + half * 1.06, y - tall - 1)),
            2.6,
            tone=tone,
            profile=EVEN,
        )
        y -= tall
        half *= 0.88
    pen.stroke(((x, y), (x, y - half * 1.8)), 2.2, tone=tone, profile=NAIL)


def draw_gate_roof(
    pen: Pen, x: float, eave: float, wide: float, tiles: Colour
) -> tuple[Point, Point]:
    """The roof of a palace gate rising from below; returns the places for birds on its ends."""
    f = Frame(x, eave, wide)
    draw_eaves(pen, f, 0.50, 0.0, -0.13, 1.6, colour=tiles)
    for side in (-1, 1):
        plan = ((0.262, -0.12), (0.296, -0.150), (0.286, -0.192), (0.250, -0.186), (0.256, -0.150))
        tail = smooth(f(*((side * px, py) for px, py in plan)), closed=True)
        pen.cover(tail, colour=tiles)
        pen.stroke([*tail, tail[0]], 1.5, tone=0.9, profile=EVEN)
    return f.place(-0.27, -0.19), f.place(0.27, -0.19)


def draw_bridge(pen: Pen, x0: float, y: float, x1: float, *, arch: bool = False) -> None:
    """A plank bridge on trestles, or a stone arch."""
    wide = x1 - x0
    if arch:
        top = smooth(
            [
                (x0, y),
                (x0 + wide * 0.25, y - wide * 0.20),
                (x0 + wide / 2, y - wide * 0.27),
                (x1 - wide * 0.25, y - wide * 0.20),
                (x1, y),
            ]
        )
        hole = smooth(
            [
                (x0 + wide * 0.30, y),
                (x0 + wide * 0.34, y - wide * 0.11),
                (x0 + wide / 2, y - wide * 0.17),
                (x1 - wide * 0.34, y - wide * 0.11),
                (x1 - wide * 0.30, y),
            ]
        )
        pen.cover([*top, *reversed(hole)])
        pen.tint([*top, *reversed(hole)], tone=0.15)
        pen.stroke(top, 2.4, tone=0.85, profile=EVEN)
        pen.stroke([(px, py - wide * 0.05) for px, py in top], 1.8, tone=0.8, profile=EVEN)
        for place in range(0, len(top), max(1, len(top) // 9)):
            px, py = top[place]
            pen.stroke(((px, py), (px, py - wide * 0.06)), 1.8, tone=0.85, profile=EVEN)
        pen.stroke(hole, 2.0, tone=0.85, profile=EVEN)
        for k in range(3):
            py = y - wide * (0.03 + 0.045 * k)
            pen.stroke(
                ((x0 + wide * (0.05 + 0.04 * k), py), (x0 + wide * 0.30, py)),
                1.0,
                tone=0.6,
                profile=EVEN,
            )
            pen.stroke(
                ((x1 - wide * 0.30, py), (x1 - wide * (0.05 + 0.04 * k), py)),
                1.0,
                tone=0.6,
                profile=EVEN,
            )
        return
    for px in (x0 + wide * 0.25, x0 + wide * 0.75):
        for dx in (-3, 3):
            pen.stroke(
                ((px + dx * 0.3, y), (px + dx, y + wide * 0.16)), 1.6, tone=0.8, profile=EVEN
            )
    planks = [
        (x0, y + 2),
        (x0 + wide / 2, y - 3),
        (x1, y + 1),
        (x1, y + 6),
        (x0 + wide / 2, y + 3),
        (x0, y + 7),
    ]
    pen.cover(planks)
    pen.stroke([*planks, planks[0]], 1.4, tone=0.85, profile=EVEN)
    for k in range(int(wide / 8)):
        px = x0 + 4 + 8 * k
        pen.stroke(((px, y), (px, y + 5)), 0.9, tone=0.6, profile=EVEN)
