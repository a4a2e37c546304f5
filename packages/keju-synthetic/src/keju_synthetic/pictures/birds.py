"""Birds, each drawn whole in one call so that they can be counted."""

from __future__ import annotations

from keju.items import Point
from keju_synthetic.pictures.pens import (
    EVEN,
    INK,
    LEAF,
    NAIL,
    Colour,
    Frame,
    Pen,
    make_ellipse,
    smooth,
)

_WHITE: Colour = (1.16, 1.16, 1.14)
_CROWN: Colour = (0.75, 0.16, 0.12)


def draw_goose(
    pen: Pen, x: float, y: float, size: float, *, turn: float = 0.0, flip: bool = False
) -> None:
    """A wild goose in flight: neck stretched, wings raised."""
    f = Frame(x, y, size, turn=turn, flip=flip)
    far = smooth(
        f((0.14, -0.02), (0.34, -0.30), (0.30, -0.56), (0.02, -0.74), (0.08, -0.40), (-0.04, -0.06))
    )
    pen.cover(far)
    pen.tint(far, tone=0.55, soft=0.8)
    pen.stroke(far, 1.3, tone=0.75, profile=EVEN)
    body = smooth(
        f((-0.5, 0.02), (-0.2, -0.12), (0.18, -0.09), (0.36, 0.0), (0.1, 0.13), (-0.2, 0.12)),
        closed=True,
    )
    pen.cover(body)
    pen.tint(body, tone=0.35, soft=1.0)
    pen.stroke([*body, body[0]], 1.3, tone=0.7, profile=EVEN)
    pen.stroke(
        f((0.28, -0.02), (0.52, -0.10), (0.72, -0.08)), f.scale(0.10), tone=0.75, profile=EVEN
    )
    pen.stroke(f((0.72, -0.08), (0.86, -0.05)), f.scale(0.06), tone=0.9, profile=NAIL)
    pen.stroke(f((-0.45, 0.02), (-0.72, -0.02)), f.scale(0.14), tone=0.75, profile=NAIL)
    near = smooth(
        f(
            (0.12, 0.02),
            (0.06, -0.26),
            (-0.16, -0.50),
            (-0.52, -0.60),
            (-0.40, -0.36),
            (-0.22, -0.12),
            (-0.14, 0.06),
        )
    )
    pen.cover(near)
    pen.tint(near, tone=0.30, soft=0.8)
    pen.stroke(near, 1.4, tone=0.8, profile=EVEN)
    for k in range(5):
        root = (0.0 - 0.07 * k, -0.16 - 0.06 * k)
        tip = (-0.22 - 0.07 * k, -0.12 - 0.10 * k)
        pen.stroke(f(root, tip), f.scale(0.075), tone=0.75, profile=LEAF)


def draw_far_bird(pen: Pen, x: float, y: float, size: float) -> None:
    """A bird far away: two strokes."""
    pen.stroke(
        ((x - size, y - size * 0.35), (x - size * 0.4, y - size * 0.5), (x, y)),
        size * 0.22,
        tone=0.75,
        profile=NAIL[::-1],
    )
    pen.stroke(
        ((x, y), (x + size * 0.45, y - size * 0.55), (x + size, y - size * 0.3)),
        size * 0.22,
        tone=0.75,
        profile=NAIL,
    )


def draw_crane(
    pen: Pen, x: float, y: float, size: float, *, turn: float = 0.0, flip: bool = False
) -> None:
    """A red-crowned crane in flight, seen from the side: white, black neck and wing ends."""
    f = Frame(x, y, size, turn=turn, flip=flip)
    for dx in (-0.05, 0.03):
        pen.stroke(f((-0.35, 0.05 + dx), (-0.95, 0.12 + dx)), 1.3, tone=0.8, profile=EVEN)
    for way in (-1, 1):
        lift = 0.62 if way < 0 else 0.40
        wing = smooth(
            f(
                (0.16, 0.0),
                (0.10, way * lift * 0.6),
                (-0.12, way * lift * 1.05),
                (-0.40, way * lift * 1.12),
                (-0.44, way * lift * 0.75),
                (-0.30, way * 0.08),
            ),
            closed=True,
        )
        pen.cover(wing, colour=_WHITE)
        pen.stroke([*wing, wing[0]], 1.2, tone=0.6, profile=EVEN)
        for k in range(5):
            px = -0.40 + 0.055 * k
            tip = f((px, way * lift * 1.02), (px - 0.16, way * lift * 0.86))
            pen.stroke(tip, f.scale(0.075), tone=0.9, profile=LEAF)
    body = smooth(
        f((-0.42, 0.02), (-0.1, -0.13), (0.22, -0.06), (0.30, 0.0), (0.1, 0.10), (-0.15, 0.11)),
        closed=True,
    )
    pen.cover(body, colour=_WHITE)
    pen.stroke([*body, body[0]], 1.2, tone=0.6, profile=EVEN)
    pen.stroke(f((-0.30, 0.0), (-0.58, 0.03)), f.scale(0.13), tone=0.85, profile=LEAF)
    _draw_crane_head(pen, f, ((0.26, -0.01), (0.50, -0.10), (0.74, -0.10)), (0.95, -0.06))


def draw_standing_crane(
    pen: Pen, x: float, foot: float, size: float, *, flip: bool = False
) -> None:
    """A standing crane that looks back."""
    f = Frame(x, foot, size, flip=flip)
    for dx in (-0.06, 0.05):
        pen.stroke(f((dx, -0.42), (dx * 1.3, 0.0)), 1.4, tone=0.85, profile=EVEN)
    body = smooth(
        f((-0.36, -0.40), (-0.1, -0.66), (0.20, -0.64), (0.24, -0.50), (0.0, -0.38)), closed=True
    )
    pen.cover(body, colour=_WHITE)
    pen.stroke([*body, body[0]], 1.3, tone=0.6, profile=EVEN)
    for k in range(3):
        pen.stroke(
            f((-0.16, -0.46 + 0.03 * k), (-0.48, -0.32 + 0.03 * k)),
            f.scale(0.09),
            tone=0.9,
            profile=LEAF,
        )
    _draw_crane_head(pen, f, ((0.20, -0.60), (0.34, -0.80), (0.24, -1.00)), (0.46, -1.02))


def _draw_crane_head(pen: Pen, f: Frame, neck: tuple[Point, ...], bill: Point) -> None:
    head = neck[-1]
    pen.stroke(f(*neck), f.scale(0.10), tone=0.2, profile=EVEN, colour=INK)
    pen.stroke(f(*neck), f.scale(0.075), tone=0.85, profile=(0.6, 1.0, 1.0))
    pen.stroke(f(head, bill), f.scale(0.045), tone=0.8, profile=NAIL)
    hx, hy = f.place(head[0], head[1] - 0.02)
    pen.cover(make_ellipse(hx, hy, f.scale(0.055), f.scale(0.045)), colour=_CROWN)
