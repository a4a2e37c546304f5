"""Boats, water wheels, zithers and couches."""

from __future__ import annotations

from keju_synthetic.pictures.buildings import draw_outlined
from keju_synthetic.pictures.pens import (
    EVEN,
    THREAD,
    Frame,
    Pen,
    get_direction,
    make_ellipse,
    smooth,
)


def draw_boat(
    pen: Pen, x: float, y: float, size: float, *, flip: bool = False, awning: bool = True
) -> Frame:
    """A small boat on the water line `y`; returns its frame, to place people in."""
    f = Frame(x, y, size, flip=flip)
    w = 1.0 + size * 0.006
    hull = smooth(
        f((-0.56, -0.13), (-0.40, 0.02), (-0.10, 0.06), (0.28, 0.04), (0.60, -0.10))
    ) + smooth(f((0.60, -0.10), (0.25, -0.02), (-0.2, -0.02), (-0.56, -0.13)))
    pen.cover(hull)
    pen.tint(hull, tone=0.45, soft=0.7)
    pen.stroke([*hull, hull[0]], w * 1.5, tone=0.9, profile=EVEN)
    if awning:
        hood = smooth(
            f((-0.26, -0.03), (-0.24, -0.20), (-0.05, -0.26), (0.14, -0.20), (0.16, -0.02))
        )
        pen.cover(hood)
        pen.tint(hood, tone=0.35)
        pen.stroke([*hood, hood[0]], w * 1.3, tone=0.85, profile=EVEN)
        for px in (-0.14, -0.05, 0.05):
            pen.stroke(
                f((px, -0.02), (px - 0.01, -0.13), (px, -0.235)), w * 0.8, tone=0.7, profile=EVEN
            )
    for k in range(3):
        pen.stroke(
            f(
                (-0.5 + 0.1 * k, 0.10 + 0.045 * k),
                (0.0, 0.11 + 0.045 * k),
                (0.55 - 0.12 * k, 0.09 + 0.045 * k),
            ),
            1.0,
            tone=0.35,
            profile=THREAD,
        )
    return f


def draw_war_boat(
    pen: Pen, x: float, y: float, size: float, dummies: int, arrows: int, *, stern: float = -0.36
) -> None:
    """A boat lined from `stern` to bow with straw figures, stuck with arrows (草船)."""
    f = Frame(x, y, size)
    w = 1.0 + size * 0.005
    for k in range(dummies):
        px = stern + (0.36 - stern) * k / max(1, dummies - 1)
        straw = smooth(
            f(
                (px - 0.045, -0.04),
                (px - 0.05, -0.22),
                (px, -0.28),
                (px + 0.05, -0.22),
                (px + 0.045, -0.04),
            ),
            closed=True,
        )
        pen.cover(straw)
        pen.stroke([*straw, straw[0]], w * 1.2, tone=0.85, profile=EVEN)
        for dx in (-0.02, 0.0, 0.02):
            pen.stroke(f((px + dx, -0.06), (px + dx * 1.2, -0.24)), w * 0.8, tone=0.7, profile=EVEN)
        pen.stroke(f((px - 0.05, -0.17), (px + 0.05, -0.17)), w * 1.2, tone=0.9, profile=EVEN)
    hull = smooth(
        f((-0.60, -0.16), (-0.44, 0.05), (-0.10, 0.10), (0.30, 0.08), (0.64, -0.12))
    ) + smooth(f((0.64, -0.12), (0.30, -0.04), (-0.3, -0.04), (-0.60, -0.16)))
    pen.cover(hull)
    pen.stroke([*hull, hull[0]], w * 1.7, tone=0.9, profile=EVEN)
    pen.stroke(f((-0.46, 0.0), (0.0, 0.04), (0.46, 0.0)), w, tone=0.8, profile=EVEN)
    for k in range(arrows):
        px = stern - 0.06 + (0.48 - stern) * (k + 0.5) / arrows
        py = -0.14 + 0.09 * ((k * 5) % 3 - 1)
        pen.stroke(f((px, py), (px + 0.15, py - 0.10)), w, tone=0.9, profile=EVEN)
        for dx in (0.0, 0.02):
            pen.stroke(
                f(
                    (px + 0.12 + dx, py - 0.085 - dx * 0.6),
                    (px + 0.135 + dx, py - 0.125 - dx * 0.6),
                ),
                w,
                tone=0.9,
                profile=EVEN,
            )


def draw_wheel(pen: Pen, x: float, y: float, r: float, spokes: int) -> None:
    """A water wheel (筒車) with a bucket of bamboo at the end of each spoke."""
    for share, width in ((1.0, 2.2), (0.90, 1.6), (0.16, 2.0)):
        rim = make_ellipse(x, y, r * share, r * share)
        pen.stroke([*rim, rim[0]], width, tone=0.9, profile=EVEN)
    for k in range(spokes):
        dx, dy = get_direction(360 * k / spokes + 8)
        pen.stroke(
            ((x + dx * r * 0.16, y + dy * r * 0.16), (x + dx * r * 1.02, y + dy * r * 1.02)),
            2.2,
            tone=0.9,
            profile=EVEN,
        )
        ax, ay = get_direction(360 * k / spokes + 8 + 62)
        cx, cy = x + dx * r * 1.04, y + dy * r * 1.04
        half, thick = r * 0.12, r * 0.042
        bucket = [
            (cx + ax * half - dx * thick, cy + ay * half - dy * thick),
            (cx + ax * half + dx * thick, cy + ay * half + dy * thick),
            (cx - ax * half + dx * thick, cy - ay * half + dy * thick),
            (cx - ax * half - dx * thick, cy - ay * half - dy * thick),
        ]
        draw_outlined(pen, bucket, 1.8)
    hub = make_ellipse(x, y, r * 0.07, r * 0.07)
    pen.cover(hub)
    pen.tint(hub, tone=0.9)


def draw_qin(pen: Pen, x: float, y: float, size: float, strings: int) -> None:
    """A zither (琴) lying aslant: its board, bridge, studs and `strings` strings."""
    f = Frame(x, y, size, turn=-62)
    board = smooth(
        f(
            (-0.50, -0.075),
            (-0.30, -0.082),
            (-0.16, -0.070),
            (-0.12, -0.090),
            (0.20, -0.105),
            (0.27, -0.085),
            (0.31, -0.105),
            (0.48, -0.095),
        )
    ) + smooth(
        f(
            (0.48, 0.095),
            (0.31, 0.105),
            (0.27, 0.085),
            (0.20, 0.105),
            (-0.12, 0.090),
            (-0.16, 0.070),
            (-0.30, 0.082),
            (-0.50, 0.075),
        )
    )
    pen.cover(board)
    pen.stroke([*board, board[0]], 2.6, tone=0.9, profile=EVEN)
    for px in (-0.46, 0.40):
        pen.stroke(f((px, -0.085), (px, 0.085)), 3.6, tone=0.9, profile=EVEN)
    for k in range(strings):
        py = -0.060 + 0.120 * k / (strings - 1)
        pen.stroke(f((-0.46, py * 0.80), (0.40, py)), 1.5, tone=0.85, profile=EVEN)
    for k in range(13):
        px, py = f.place(-0.38 + 0.72 * k / 12, -0.080)
        pen.stroke(((px - 1.4, py), (px + 1.4, py)), 3.2, tone=0.95, profile=EVEN)


def draw_couch(pen: Pen, x: float, foot: float, wide: float) -> None:
    """A low couch with a screen behind."""
    f = Frame(x, foot, wide)
    draw_outlined(pen, f((-0.52, -0.26), (-0.52, -0.62), (0.40, -0.62), (0.40, -0.26)), 2.2)
    for px in (-0.22, 0.10):
        pen.stroke(f((px, -0.26), (px, -0.62)), 1.6, tone=0.8, profile=EVEN)
    draw_outlined(pen, f((-0.58, -0.12), (-0.48, -0.28), (0.46, -0.28), (0.58, -0.12)), 2.2)
    draw_outlined(pen, f((-0.58, -0.06), (-0.58, -0.12), (0.58, -0.12), (0.58, -0.06)), 2.0)
    for px in (-0.54, 0.50):
        draw_outlined(pen, f((px, 0.0), (px, -0.06), (px + 0.05, -0.06), (px + 0.05, 0.0)), 1.8)
