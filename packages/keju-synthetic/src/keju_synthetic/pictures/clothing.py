"""Hats, and poles and fans that people hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from keju_synthetic.pictures.pens import (
    EVEN,
    LEAF,
    NAIL,
    TAPER,
    THREAD,
    Frame,
    Pen,
    make_ellipse,
    smooth,
)

Hat = Literal["cloth", "wings", "helmet", "fillet", "straw", "crown", "knot", "monk", "hood"]
Held = Literal["nothing", "blade", "halberd", "cudgel", "staff", "palmleaf", "feathers", "hoe"]


def _draw_cloth(pen: Pen, f: Frame, w: float) -> None:
    cap = smooth(
        f(
            (-0.072, -0.925),
            (-0.07, -1.01),
            (-0.03, -1.035),
            (0.035, -1.03),
            (0.066, -1.0),
            (0.068, -0.93),
        )
    )
    pen.cover(cap)
    pen.stroke([*cap, cap[0]], w * 1.3, tone=0.9, profile=EVEN)
    pen.stroke(f((-0.072, -0.945), (0.0, -0.935), (0.068, -0.95)), w * 2, tone=0.9, profile=EVEN)
    pen.stroke(f((-0.06, -1.0), (-0.11, -0.94), (-0.10, -0.84)), w * 1.8, tone=0.85)


def _draw_wings(pen: Pen, f: Frame, w: float) -> None:
    cap = smooth(
        f(
            (-0.070, -0.925),
            (-0.072, -0.985),
            (-0.04, -0.995),
            (-0.036, -1.045),
            (0.03, -1.045),
            (0.04, -0.99),
            (0.066, -0.98),
            (0.068, -0.93),
        )
    )
    pen.tint(cap, tone=0.9)
    pen.stroke([*cap, cap[0]], w, tone=0.9, profile=EVEN)
    for side in (-1, 1):
        pen.stroke(f((side * 0.065, -0.95), (side * 0.20, -0.965)), w * 2.4, tone=0.9, profile=LEAF)


def _draw_helmet(pen: Pen, f: Frame, w: float) -> None:
    cap = smooth(f((-0.078, -0.90), (-0.075, -0.98), (0.0, -1.055), (0.072, -0.98), (0.072, -0.91)))
    pen.cover(cap)
    pen.stroke([*cap, cap[0]], w * 1.5, tone=0.9, profile=EVEN)
    pen.stroke(f((-0.078, -0.935), (0.0, -0.950), (0.072, -0.94)), w * 2, tone=0.9, profile=EVEN)
    pen.stroke(f((0.0, -1.05), (0.0, -1.12)), w * 1.6, tone=0.9, profile=EVEN)
    for dx in (-0.02, 0.0, 0.02):
        pen.stroke(f((0.0, -1.11), (-0.05 + dx, -1.10), (-0.08 + dx, -1.03)), w * 1.4, tone=0.9)
    pen.stroke(
        f((-0.076, -0.92), (-0.095, -0.84), (-0.06, -0.78)), w * 1.8, tone=0.85, profile=EVEN
    )


def _draw_fillet(pen: Pen, f: Frame, w: float) -> None:
    hair = smooth(
        f((-0.066, -0.91), (-0.06, -0.985), (0.0, -1.01), (0.055, -0.98), (0.066, -0.915))
    )
    pen.cover(hair)
    pen.stroke(hair, w * 1.3, tone=0.9, profile=EVEN)
    for k in range(6):
        px = -0.05 + 0.02 * k
        pen.stroke(f((px, -0.955), (px - 0.004, -0.995)), w, tone=0.8, profile=NAIL)
    pen.stroke(
        f((-0.068, -0.935), (0.0, -0.945), (0.067, -0.938)), w * 2.2, tone=0.95, profile=EVEN
    )
    for side in (-1, 1):
        pen.stroke(
            f(
                (side * 0.02, -1.0),
                (side * 0.06, -1.10),
                (side * 0.16, -1.22),
                (side * 0.27, -1.22),
            ),
            w * 1.7,
            tone=0.9,
        )


def _draw_straw(pen: Pen, f: Frame, w: float) -> None:
    brim = smooth(f((-0.16, -0.915), (0.0, -1.06), (0.16, -0.915)))
    rim = [*brim, *smooth(f((0.16, -0.915), (0.0, -0.885), (-0.16, -0.915)))]
    pen.cover(rim)
    pen.tint(rim, tone=0.35)
    pen.stroke([*rim, rim[0]], w * 1.3, tone=0.9, profile=EVEN)
    for k in range(5):
        px = -0.10 + 0.05 * k
        pen.stroke(f((0.0, -1.05), (px, -0.905)), w * 0.8, tone=0.7, profile=EVEN)


def _draw_crown(pen: Pen, f: Frame, w: float) -> None:
    _draw_knot(pen, f, w)
    board = f((-0.11, -1.07), (0.13, -1.045), (0.13, -1.03), (-0.11, -1.055))
    pen.tint(board, tone=0.9)
    pen.stroke([*board, board[0]], w, tone=0.9, profile=EVEN)
    for px in (-0.09, 0.10, 0.12):
        pen.stroke(f((px, -1.04), (px, -0.95)), w * 0.8, tone=0.8, profile=EVEN)


def _draw_knot(pen: Pen, f: Frame, w: float) -> None:
    hair = smooth(f((-0.066, -0.92), (-0.06, -0.98), (0.0, -1.0), (0.055, -0.975), (0.066, -0.925)))
    pen.tint(hair, tone=0.9)
    bun = make_ellipse(*f.place(0.0, -1.02), f.scale(0.030), f.scale(0.028))
    pen.tint(bun, tone=0.9)
    pen.stroke(f((-0.05, -1.02), (0.05, -1.025)), w * 1.2, tone=0.9, profile=EVEN)


def _draw_monk(pen: Pen, f: Frame, w: float) -> None:
    skull = smooth(
        f((-0.062, -0.90), (-0.058, -0.98), (0.0, -1.01), (0.055, -0.975), (0.064, -0.90))
    )
    pen.cover(skull)
    pen.stroke(skull, w * 1.1, tone=0.85, profile=EVEN)


def _draw_hood(pen: Pen, f: Frame, w: float) -> None:
    hood = smooth(
        f(
            (-0.10, -0.78),
            (-0.095, -0.94),
            (-0.02, -1.03),
            (0.06, -0.99),
            (0.07, -0.93),
            (0.0, -0.95),
            (-0.05, -0.88),
            (-0.05, -0.78),
        ),
        closed=True,
    )
    pen.cover(hood)
    pen.tint(hood, tone=0.3)
    pen.stroke([*hood, hood[0]], w * 1.3, tone=0.9, profile=EVEN)


HATS: Mapping[Hat, Callable[[Pen, Frame, float], None]] = {
    "cloth": _draw_cloth,
    "wings": _draw_wings,
    "helmet": _draw_helmet,
    "fillet": _draw_fillet,
    "straw": _draw_straw,
    "crown": _draw_crown,
    "knot": _draw_knot,
    "monk": _draw_monk,
    "hood": _draw_hood,
}


def draw_held_pole(pen: Pen, f: Frame, held: Held, w: float) -> None:
    """A pole held upright, with a blade or tassel at its end."""
    pen.stroke(
        f((0.275, 0.0), (0.275, -1.02)),
        w * (4.0 if held == "cudgel" else 2.6),
        tone=0.9,
        profile=EVEN,
    )
    if held == "cudgel":
        for py in (-1.02, -0.93, -0.09, 0.0):
            pen.stroke(f((0.245, py), (0.305, py)), w * 3, tone=0.95, profile=EVEN)
    elif held == "hoe":
        pen.stroke(
            f((0.275, -1.0), (0.36, -0.98), (0.40, -0.90)), w * 5, tone=0.9, profile=(0.6, 1.0, 1.3)
        )
    elif held == "blade":
        _draw_crescent(pen, f, w)
    elif held == "halberd":
        _draw_prongs(pen, f, w)


def _draw_crescent(pen: Pen, f: Frame, w: float) -> None:
    """The blade of a 偃月刀: broad, bent back at its point, with a hook behind."""
    back = ((0.262, -0.98), (0.225, -1.10), (0.238, -1.22), (0.275, -1.30), (0.255, -1.40))
    edge = ((0.255, -1.40), (0.385, -1.37), (0.432, -1.22), (0.405, -1.08), (0.288, -0.98))
    outline = smooth(f(*back)) + smooth(f(*edge))
    pen.cover(outline)
    pen.stroke([*outline, outline[0]], w * 1.8, tone=0.9, profile=EVEN)
    inner = ((0.300, -1.03), (0.375, -1.12), (0.385, -1.24), (0.340, -1.33))
    pen.stroke(f(*inner), w, tone=0.8, profile=THREAD)
    hook = ((0.232, -1.12), (0.175, -1.15), (0.200, -1.19), (0.234, -1.18))
    pen.stroke(f(*hook), w * 1.8, tone=0.9, profile=EVEN)
    _draw_tassel(pen, f, -0.98, w)


def _draw_prongs(pen: Pen, f: Frame, w: float) -> None:
    """The head of a 方天畫戟: a point, and a moon-shaped blade at its side."""
    tip = smooth(f((0.275, -0.99), (0.248, -1.10), (0.275, -1.33), (0.302, -1.10), (0.275, -0.99)))
    pen.cover(tip)
    pen.stroke(tip, w * 1.5, tone=0.9, profile=EVEN)
    moon = smooth(f((0.355, -1.23), (0.415, -1.11), (0.355, -0.99)))
    moon += smooth(f((0.355, -0.99), (0.378, -1.11), (0.355, -1.23)))
    pen.tint(moon, tone=0.9)
    for py in (-1.08, -1.14):
        pen.stroke(f((0.297, py), (0.384, py)), w * 1.6, tone=0.9, profile=EVEN)
    _draw_tassel(pen, f, -0.99, w)


def _draw_tassel(pen: Pen, f: Frame, y: float, w: float) -> None:
    for dx in (-0.030, -0.018, 0.018, 0.030):
        way = ((0.275, y), (0.275 + dx, y + 0.05), (0.275 + dx * 0.7, y + 0.11))
        pen.stroke(f(*way), w * 1.3, tone=0.9, profile=EVEN)
    pen.stroke(f((0.250, y), (0.300, y)), w * 2.4, tone=0.9, profile=EVEN)


def draw_held_fan(pen: Pen, f: Frame, held: Held, w: float) -> None:
    """A fan: a palm leaf as large as a man's trunk, or a small one of feathers."""
    (_draw_palm_leaf if held == "palmleaf" else _draw_feather_fan)(pen, f, w)


def _draw_palm_leaf(pen: Pen, f: Frame, w: float) -> None:
    outline = smooth(
        f(
            (0.275, -0.62),
            (0.13, -0.84),
            (0.16, -1.16),
            (0.30, -1.34),
            (0.45, -1.14),
            (0.44, -0.82),
        ),
        closed=True,
    )
    pen.cover(outline)
    pen.stroke([*outline, outline[0]], w * 1.8, tone=0.9, profile=EVEN)
    pen.stroke(f((0.27, -0.48), (0.285, -0.8), (0.30, -1.30)), w * 1.8, tone=0.9, profile=NAIL)
    for k in range(6):
        py = -0.74 - 0.085 * k
        for side in (-1, 1):
            pen.stroke(
                f((0.285, py), (0.29 + side * 0.07, py - 0.05), (0.29 + side * 0.125, py - 0.06)),
                w,
                tone=0.8,
                profile=TAPER,
            )


def _draw_feather_fan(pen: Pen, f: Frame, w: float) -> None:
    for k in range(7):
        angle = -0.10 + 0.045 * k
        tip = (0.265 + angle * 1.1, -0.76 + abs(k - 3) * 0.012)
        feather = smooth(
            f(
                (0.265, -0.57),
                (0.265 + angle * 0.4 - 0.02, -0.68),
                tip,
                (0.265 + angle * 0.6 + 0.03, -0.67),
            ),
            closed=True,
        )
        pen.cover(feather)
        pen.stroke([*feather, feather[0]], w, tone=0.8, profile=EVEN)
