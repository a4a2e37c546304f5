"""Fish and beasts, each drawn whole in one call so that they can be counted."""

from __future__ import annotations

from keju.items import Point
from keju_synthetic.pictures.pens import (
    EVEN,
    LEAF,
    NAIL,
    TAPER,
    THREAD,
    Frame,
    Pen,
    get_direction,
    make_ellipse,
    smooth,
)


def draw_fish(
    pen: Pen,
    x: float,
    y: float,
    size: float,
    *,
    turn: float = 0.0,
    flip: bool = False,
    bold: bool = False,
) -> None:
    """A fish from the side; `bold` gives the staring eye and humped back of a mandarin fish."""
    f = Frame(x, y, size, turn=turn, flip=flip)
    back = 0.27 if bold else 0.19
    outline = smooth(
        f(
            (0.52, 0.0),
            (0.36, -back * 0.62),
            (0.10, -back),
            (-0.22, -back * 0.62),
            (-0.44, -0.05),
            (-0.44, 0.06),
            (-0.20, 0.14),
            (0.14, 0.19),
            (0.40, 0.12),
        ),
        closed=True,
    )
    pen.cover(outline)
    upper = smooth(
        f((0.46, -0.05), (0.10, -back), (-0.25, -back * 0.6), (-0.44, -0.03), (0.0, -0.04)),
        closed=True,
    )
    pen.tint(upper, tone=0.55, soft=f.scale(0.03) + 0.5)
    pen.tint(outline, tone=0.12, soft=1)
    pen.stroke(
        [*outline, outline[0]], 1.4 + f.scale(0.006), tone=0.75, profile=(0.8, 1.2, 0.5, 1.1, 0.7)
    )
    for dy in (-0.17, -0.06, 0.06, 0.18):
        pen.stroke(
            f((-0.43, 0.0), (-0.56, dy * 0.6), (-0.68, dy)),
            f.scale(0.055),
            tone=0.65,
            profile=LEAF,
            dry=0.3,
        )
    for k in range(6 if bold else 4):
        root = (0.16 - 0.085 * k, -back * (0.90 - 0.075 * k))
        pen.stroke(f(root, (root[0] - 0.07, root[1] - 0.11)), 1.8, tone=0.8, profile=NAIL)
    pen.stroke(f((0.18, 0.08), (0.06, 0.22), (-0.04, 0.25)), f.scale(0.06), tone=0.6, profile=LEAF)
    pen.stroke(f((0.28, -0.13), (0.22, 0.0), (0.27, 0.11)), 1.6, tone=0.7, profile=EVEN)
    for k in range(9):
        sx, sy = -0.30 + 0.055 * k, -0.02 + 0.05 * ((k * 7) % 3 - 1)
        pen.stroke(
            f((sx, sy - 0.025), (sx - 0.02, sy), (sx, sy + 0.025)), 1.1, tone=0.45, profile=THREAD
        )
    ex, ey = f.place(0.39, -0.05)
    r = f.scale(0.045)
    pen.cover(make_ellipse(ex, ey, r, r))
    pen.stroke([*make_ellipse(ex, ey, r, r), (ex + r, ey)], 1.2, tone=0.9, profile=EVEN)
    pen.stroke(
        ((ex - r * 0.3, ey - r * 0.5), (ex + r * 0.3, ey - r * 0.3)),
        r * 0.9,
        tone=1.0,
        profile=EVEN,
    )


def draw_fox(pen: Pen, x: float, y: float, size: float, tails: int) -> None:
    """A fox with `tails` tails spread behind it; it looks to the right."""
    f = Frame(x, y, size)
    for k in range(tails):
        angle = 160 + 128 * k / max(1, tails - 1)
        dx, dy = get_direction(angle)
        bx, by = get_direction(angle + 24)
        tip = (-0.42 + dx * 0.72, -0.02 + dy * 0.72)
        middle = (-0.42 + bx * 0.40, -0.02 + by * 0.40)
        outer = (-0.42 + dx * 0.50 + by * 0.085, -0.02 + dy * 0.50 - bx * 0.085)
        inner = (-0.42 + dx * 0.52 - by * 0.06, -0.02 + dy * 0.52 + bx * 0.075)
        tail = smooth(f((-0.42, -0.02), middle, outer, tip)) + smooth(f(tip, inner, (-0.38, 0.02)))
        pen.cover(tail)
        pen.stroke(tail, 1.8, tone=0.8, profile=EVEN)
        for shift in (0.0, 0.03):
            pen.stroke(
                f((-0.42 + dx * (0.52 - shift), -0.02 + dy * (0.52 - shift)), tip), 1.2, tone=0.6
            )
    for lx, far in ((-0.30, True), (0.26, True), (-0.38, False), (0.34, False)):
        hip = 0.10 if far else 0.14
        leg = smooth(
            f(
                (lx - 0.05, hip - 0.1),
                (lx - 0.06, 0.32),
                (lx - 0.03, 0.52),
                (lx + 0.07, 0.54),
                (lx + 0.04, 0.47),
                (lx + 0.04, 0.30),
                (lx + 0.06, hip - 0.1),
            )
        )
        pen.cover(leg)
        pen.stroke(leg, 1.7, tone=0.8, profile=EVEN)
    body = smooth(
        f(
            (-0.48, 0.0),
            (-0.30, -0.17),
            (0.0, -0.16),
            (0.30, -0.20),
            (0.40, -0.02),
            (0.30, 0.17),
            (0.0, 0.12),
            (-0.34, 0.18),
        ),
        closed=True,
    )
    pen.cover(body)
    pen.stroke([*body, body[0]], 2.0, tone=0.85, profile=EVEN)
    head = smooth(
        f(
            (0.22, -0.18),
            (0.24, -0.38),
            (0.40, -0.45),
            (0.54, -0.36),
            (0.74, -0.22),
            (0.66, -0.17),
            (0.46, -0.14),
            (0.34, -0.02),
        )
    )
    pen.cover(head)
    pen.stroke(head, 1.9, tone=0.85, profile=EVEN)
    for ear in (
        ((0.27, -0.38), (0.26, -0.60), (0.38, -0.44)),
        ((0.40, -0.45), (0.46, -0.64), (0.52, -0.38)),
    ):
        pen.cover(f(*ear))
        pen.stroke([*f(ear[0]), *f(ear[1])], 1.8, tone=0.85, profile=EVEN)
        pen.stroke([*f(ear[1]), *f(ear[2])], 1.8, tone=0.85, profile=EVEN)
    pen.stroke(f((0.46, -0.32), (0.53, -0.29)), f.scale(0.03), tone=1.0, profile=LEAF)
    pen.stroke(f((0.72, -0.22), (0.75, -0.20)), f.scale(0.035), tone=1.0, profile=EVEN)
    pen.stroke(f((0.68, -0.18), (0.56, -0.20)), 1.2, tone=0.8)
    for k in range(9):
        hx = -0.34 + 0.075 * k
        pen.stroke(
            f((hx, -0.06 + 0.02 * (k % 3)), (hx - 0.06, 0.0 + 0.02 * (k % 3))),
            1.2,
            tone=0.6,
            profile=NAIL,
        )


def draw_tiger(pen: Pen, x: float, y: float, size: float) -> None:
    """A tiger crouching to leap, to the right; striped, tail raised."""
    f = Frame(x, y, size)
    tail = smooth(f((-0.58, -0.02), (-0.76, -0.16), (-0.72, -0.40), (-0.86, -0.52)))
    pen.stroke(tail, f.scale(0.085), tone=0.9, profile=EVEN)
    pen.cover(_make_band(tail, f.scale(0.032)))
    for place in range(4, len(tail) - 2, max(3, len(tail) // 6)):
        px, py = tail[place]
        pen.stroke(
            ((px - f.scale(0.03), py), (px + f.scale(0.03), py)),
            f.scale(0.025),
            tone=1.0,
            profile=EVEN,
        )
    for lx, dx in ((-0.30, 0.06), (0.40, 0.22), (-0.44, 0.02), (0.28, 0.12)):
        leg = smooth(
            f(
                (lx - 0.10, 0.02),
                (lx - 0.09 + dx * 0.4, 0.26),
                (lx - 0.03 + dx, 0.42),
                (lx + 0.12 + dx, 0.44),
                (lx + 0.13 + dx, 0.36),
                (lx + 0.05 + dx, 0.30),
                (lx + 0.11, 0.02),
            )
        )
        pen.cover(leg)
        pen.stroke(leg, 2.0, tone=0.9, profile=EVEN)
        for k in range(3):
            cx = lx + 0.04 + dx + 0.035 * k
            pen.stroke(f((cx, 0.38), (cx + 0.01, 0.43)), 1.4, tone=0.9, profile=EVEN)
    body = smooth(
        f(
            (-0.60, -0.02),
            (-0.46, -0.20),
            (-0.16, -0.14),
            (0.20, -0.18),
            (0.44, -0.26),
            (0.54, -0.02),
            (0.38, 0.18),
            (0.0, 0.12),
            (-0.34, 0.20),
            (-0.54, 0.14),
        ),
        closed=True,
    )
    pen.cover(body)
    pen.stroke([*body, body[0]], 2.2, tone=0.9, profile=EVEN)
    for k in range(9):
        bx = -0.50 + 0.105 * k
        top = -0.155 - (0.04 if k in {1, 8} else 0.0)
        pen.stroke(
            f((bx, top), (bx + 0.03, top + 0.10), (bx - 0.01, top + 0.20)),
            f.scale(0.032),
            tone=1.0,
            profile=TAPER,
        )
        if k % 2 == 0:
            pen.stroke(
                f((bx + 0.06, 0.13), (bx + 0.08, 0.05)), f.scale(0.026), tone=1.0, profile=TAPER
            )
    hx, hy = f.place(0.60, -0.20)
    r = f.scale(0.21)
    for side in (-0.75, 0.75):
        ear = make_ellipse(hx + r * side, hy - r * 0.78, r * 0.30, r * 0.30)
        pen.cover(ear)
        pen.stroke([*ear, ear[0]], 1.8, tone=0.9, profile=EVEN)
    head = smooth(
        [
            (hx + r * a, hy + r * b)
            for a, b in (
                (-1.0, -0.1),
                (-0.7, -0.8),
                (0, -0.95),
                (0.7, -0.8),
                (1.0, -0.1),
                (0.85, 0.5),
                (0.4, 0.95),
                (-0.4, 0.95),
                (-0.85, 0.5),
            )
        ],
        closed=True,
    )
    pen.cover(head)
    pen.stroke([*head, head[0]], 2.2, tone=0.9, profile=EVEN)
    for side in (-1, 1):
        eye = make_ellipse(hx + side * r * 0.42, hy - r * 0.12, r * 0.20, r * 0.14)
        pen.stroke([*eye, eye[0]], 1.5, tone=0.9, profile=EVEN)
        pen.stroke(
            ((hx + side * r * 0.42 - 1, hy - r * 0.12), (hx + side * r * 0.42 + 1, hy - r * 0.10)),
            r * 0.16,
            tone=1.0,
            profile=EVEN,
        )
        pen.stroke(
            ((hx + side * r * 0.12, hy - r * 0.36), (hx + side * r * 0.72, hy - r * 0.42)),
            r * 0.12,
            tone=1.0,
        )
        for k in range(3):
            wy = hy + r * (0.34 + 0.12 * k)
            pen.stroke(
                ((hx + side * r * 0.45, wy), (hx + side * r * 1.30, wy - r * 0.06)), 1.1, tone=0.8
            )
        pen.stroke(
            ((hx + side * r * 0.92, hy + r * 0.05), (hx + side * r * 0.66, hy + r * 0.12)),
            r * 0.09,
            tone=1.0,
        )
    for k in range(3):
        wy = hy - r * (0.78 - 0.15 * k)
        pen.stroke(((hx - r * 0.22, wy), (hx + r * 0.22, wy)), r * 0.08, tone=1.0, profile=THREAD)
    pen.stroke(((hx, hy - r * 0.78), (hx, hy - r * 0.46)), r * 0.08, tone=1.0, profile=EVEN)
    pen.tint(
        ((hx - r * 0.18, hy + r * 0.16), (hx + r * 0.18, hy + r * 0.16), (hx, hy + r * 0.34)),
        tone=0.9,
    )
    mouth = smooth(
        [
            (hx - r * 0.46, hy + r * 0.46),
            (hx, hy + r * 0.40),
            (hx + r * 0.46, hy + r * 0.46),
            (hx, hy + r * 0.84),
        ],
        closed=True,
    )
    pen.tint(mouth, tone=0.9)
    for side in (-0.26, 0.26):
        pen.cover(
            [
                (hx + r * (side - 0.07), hy + r * 0.44),
                (hx + r * (side + 0.07), hy + r * 0.44),
                (hx + r * side, hy + r * 0.64),
            ]
        )


def _make_band(path: list[Point], half: float) -> list[Point]:
    """The outline of a band around a path of roughly upright run."""
    return [(px - half, py) for px, py in path] + [(px + half, py) for px, py in reversed(path)]


def draw_donkey(
    pen: Pen, x: float, y: float, size: float, *, flip: bool = False, tone: float = 0.7
) -> None:
    """A donkey walking, ears up; (x, y) is the middle of its back."""
    f = Frame(x, y, size, flip=flip)
    for lx, way in ((-0.34, -0.06), (-0.26, 0.08), (0.26, -0.05), (0.34, 0.09)):
        pen.stroke(
            f((lx, 0.25), (lx + way * 0.5, 0.50), (lx + way, 0.74)),
            f.scale(0.085),
            tone=tone,
            profile=(1.0, 0.6, 0.7),
        )
    body = smooth(
        f(
            (-0.48, 0.10),
            (-0.30, -0.04),
            (0.20, -0.02),
            (0.42, 0.08),
            (0.34, 0.30),
            (0.0, 0.34),
            (-0.40, 0.30),
        ),
        closed=True,
    )
    pen.cover(body)
    pen.tint(body, tone=tone * 0.6, soft=1.2)
    pen.stroke([*body, body[0]], 1.4, tone=tone, profile=EVEN)
    pen.stroke(
        f((0.34, 0.10), (0.54, -0.16), (0.62, -0.28)),
        f.scale(0.17),
        tone=tone * 0.8,
        profile=(1.0, 0.8, 0.8),
    )
    pen.stroke(
        f((0.58, -0.28), (0.84, -0.12)), f.scale(0.14), tone=tone * 0.9, profile=(1.0, 0.9, 0.7)
    )
    for dx in (0.50, 0.60):
        pen.stroke(
            f((dx + 0.04, -0.32), (dx - 0.06, -0.60)), f.scale(0.07), tone=tone, profile=LEAF
        )
    pen.stroke(f((-0.46, 0.10), (-0.60, 0.38)), f.scale(0.05), tone=tone, profile=EVEN)
