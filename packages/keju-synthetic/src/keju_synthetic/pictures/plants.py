"""Trees, bamboo, plum, orchid, lotus, reeds, vines: each a few strokes repeated."""

from __future__ import annotations

from keju.items import Point
from keju_synthetic.pictures.pens import (
    EVEN,
    LEAF,
    NAIL,
    THREAD,
    Pen,
    make_ellipse,
    offset_point,
    smooth,
)


def draw_pine(
    pen: Pen, x: float, foot: float, high: float, *, lean: float = 0.1, tone: float = 0.8
) -> None:
    """A pine: a bent trunk with scales, level branches, needles in fans."""
    rng = pen.rng
    top = foot - high
    trunk = [
        (x, foot),
        (x + lean * high * 0.5, foot - high * 0.3),
        (x + lean * high * 0.2, foot - high * 0.62),
        (x + lean * high, top),
    ]
    thick = 2.5 + high * 0.055
    pen.cover(
        [(px - thick * 0.4, py) for px, py in trunk]
        + [(px + thick * 0.4, py) for px, py in reversed(trunk)]
    )
    pen.stroke(trunk, thick, tone=0.32 * tone, profile=(1.0, 0.8, 0.6, 0.3), dry=0.3)
    for side in (-0.45, 0.45):
        edge = [(px + side * thick * (1 - k * 0.24), py) for k, (px, py) in enumerate(trunk)]
        pen.stroke(edge, 1.5, tone=tone, profile=(1.0, 0.6, 0.9, 0.4))
    line = smooth(trunk)
    fans: list[Point] = [line[-1]]
    for k, share in enumerate((0.42, 0.52, 0.63, 0.72, 0.81, 0.90, 0.96)):
        px, py = line[int(share * (len(line) - 1))]
        side = 1 if k % 2 else -1
        reach = high * (0.36 * (1.18 - share) + 0.08 * float(rng.random()))
        tip = (px + side * reach, py - high * 0.02 + high * 0.05 * (float(rng.random()) - 0.3))
        middle = ((px + tip[0]) / 2, py + high * 0.025)
        pen.stroke(((px, py), middle, tip), 1.4 + high * 0.012, tone=tone * 0.9)
        fans += [tip, ((middle[0] + tip[0]) / 2, middle[1] - high * 0.03)]
        if reach > high * 0.18:
            fans.append((middle[0], middle[1] - high * 0.03))
    for fx, fy in fans:
        _draw_needles(pen, fx, fy, high * 0.085 + 3, tone)


def _draw_needles(pen: Pen, x: float, y: float, size: float, tone: float) -> None:
    rng = pen.rng
    pen.tint(
        make_ellipse(x, y - size * 0.3, size * 1.2, size * 0.55), tone=0.22 * tone, soft=size * 0.15
    )
    count = 15 if pen.painting else 9
    for k in range(count):
        angle = 180 + 180 * (k + 0.5) / count + (float(rng.random()) - 0.5) * 8
        tip = offset_point(x, y, angle, size * (0.9 + 0.3 * float(rng.random())))
        pen.stroke(((x, y), tip), 1.2, tone=tone * 0.85, profile=NAIL)


def draw_leafy_tree(
    pen: Pen, x: float, foot: float, high: float, *, dots: str = "round", tone: float = 0.75
) -> None:
    """A leaf tree: a forked trunk and foliage of dots, ``round``, ``flat`` or ``ring``."""
    rng = pen.rng
    fork = foot - high * 0.42
    pen.stroke(
        ((x, foot), (x + high * 0.03, (foot + fork) / 2), (x, fork)),
        1.5 + high * 0.05,
        tone=tone,
        profile=(1.0, 0.8, 0.7),
        dry=0.25,
    )
    crowns: list[Point] = []
    for k in range(5):
        angle = 215 + 27 * k + (float(rng.random()) - 0.5) * 16
        tip = offset_point(x, fork, angle, high * (0.34 + 0.12 * float(rng.random())))
        bend = ((x + tip[0]) / 2 + (float(rng.random()) - 0.5) * high * 0.06, (fork + tip[1]) / 2)
        pen.stroke(((x, fork), bend, tip), 1.0 + high * 0.018, tone=tone * 0.9)
        crowns += [tip, bend]
    for cx, cy in crowns:
        size = high * 0.13
        pen.tint(make_ellipse(cx, cy, size * 1.25, size * 0.9), tone=0.20 * tone, soft=size * 0.3)
        for _ in range(14 if pen.painting else 8):
            dx, dy = (float(v) * 2 - 1 for v in rng.random(2))
            if dx * dx + dy * dy < 1:
                _draw_leaf_dot(
                    pen, cx + dx * size * 1.3, cy + dy * size, 1.4 + high * 0.018, dots, tone
                )


def _draw_leaf_dot(pen: Pen, x: float, y: float, size: float, dots: str, tone: float) -> None:
    dark = tone * (0.45 + 0.55 * float(pen.rng.random()))
    if dots == "ring":
        pen.stroke(
            [*make_ellipse(x, y, size, size * 0.8), (x + size, y)], 1.1, tone=dark, profile=EVEN
        )
    elif dots == "flat":
        pen.stroke(((x - size, y), (x + size, y + 0.5)), size * 0.8, tone=dark, profile=THREAD)
    else:
        turn = float(pen.rng.random()) * 180
        pen.tint(make_ellipse(x, y, size * 0.75, size * 0.5, turn=turn), tone=max(0.5, dark))


def draw_bare_tree(
    pen: Pen, x: float, foot: float, high: float, *, tone: float = 0.8, lean: float = 0.0
) -> None:
    """A tree in winter, its twigs bent like crabs' claws (蟹爪枝)."""

    def grow(px: float, py: float, angle: float, reach: float, thick: float, depth: int) -> None:
        rng = pen.rng
        bend = angle + (float(rng.random()) - 0.5) * 30
        mx, my = offset_point(px, py, angle, reach * 0.5)
        ex, ey = offset_point(mx, my, bend, reach * 0.5)
        pen.stroke(
            ((px, py), (mx, my), (ex, ey)),
            thick,
            tone=tone,
            profile=(1.0, 0.8, 0.6),
            dry=0.2 if depth > 2 else 0,
        )
        if depth == 0:
            return
        for turn in (-34, 24) if depth > 1 else (-40, 6, 42):
            wild = turn + (float(rng.random()) - 0.5) * 26
            grow(
                ex,
                ey,
                bend + wild,
                reach * (0.62 + 0.16 * float(rng.random())),
                thick * 0.6,
                depth - 1,
            )

    grow(x, foot, 270 + lean * 60, high * 0.36, 2 + high * 0.045, 4)


def draw_grove(
    pen: Pen, x: float, foot: float, wide: float, count: int, *, tone: float = 0.55
) -> None:
    """Trees far away: a stem and a few dots each."""
    rng = pen.rng
    for k in range(count):
        px = x + wide * ((k + 0.5) / count - 0.5) + (float(rng.random()) - 0.5) * wide / count
        high = 16 + 12 * float(rng.random())
        pen.stroke(((px, foot), (px + 1, foot - high)), 1.5, tone=tone, profile=EVEN)
        for row in range(5):
            y = foot - high * (0.4 + 0.15 * row)
            half = (2.5 + 5.0 * (1 - abs(row - 1.5) / 4)) * (0.8 + 0.4 * float(rng.random()))
            pen.stroke(((px - half, y), (px + half, y + 0.6)), 3.2, tone=tone, profile=THREAD)


def draw_bamboo(
    pen: Pen, x: float, foot: float, high: float, *, thick: float, lean: float, tone: float
) -> None:
    """One stalk of bamboo from joint to joint, its twigs and leaves (个 and 介)."""
    rng = pen.rng
    joints = 7
    places: list[Point] = []
    y = foot
    for k in range(joints):
        run = high * (0.10 + 0.018 * min(k, joints - 1 - k) + 0.012) * 1.06
        x0 = x + lean * high * (foot - y) ** 2 / high**2
        x1 = x + lean * high * (foot - y + run) ** 2 / high**2
        part = thick * (1 - 0.07 * k)
        pen.stroke(
            ((x0, y), (x1, y - run + 4)),
            part,
            tone=tone * 0.8,
            profile=(1.08, 0.92, 0.90, 0.92, 1.08),
            dry=0.35,
        )
        pen.stroke(
            ((x1 - part * 0.55, y - run + 2), (x1, y - run + 3.2), (x1 + part * 0.55, y - run + 1)),
            1.8,
            tone=tone,
            profile=(1.2, 0.5, 1.2),
        )
        y -= run
        places.append((x1, y))
    for k, (px, py) in enumerate(places[2:], start=2):
        side = 1 if k % 2 else -1
        tip = (px + side * high * 0.11, py - high * (0.07 + 0.03 * float(rng.random())))
        pen.stroke(((px, py), ((px + tip[0]) / 2, py - high * 0.03), tip), 1.6, tone=tone)
        for at in (tip, ((px + tip[0]) / 2, (py + tip[1]) / 2)):
            _draw_bamboo_leaves(pen, at, side, high * 0.12, tone)


def _draw_bamboo_leaves(pen: Pen, at: Point, side: int, size: float, tone: float) -> None:
    rng = pen.rng
    for angle in (25, 58, 92, 128):
        if float(rng.random()) < 0.85:
            way = float(angle if side > 0 else 180 - angle)
            way += (float(rng.random()) - 0.5) * 22
            run = size * (0.7 + 0.5 * float(rng.random()))
            tip = offset_point(*at, way, run)
            bend = offset_point(*at, way - 6 * side, run * 0.5)
            pen.stroke(
                (at, bend, tip),
                size * 0.16,
                tone=tone * (0.7 + 0.3 * float(rng.random())),
                profile=LEAF,
            )


def draw_reeds(
    pen: Pen, x: float, foot: float, wide: float, high: float, count: int, *, tone: float = 0.6
) -> None:
    """Reeds: thin stems bent one way by the wind, long leaves, plumes at the tips."""
    rng = pen.rng
    for _ in range(count):
        px = x + wide * (float(rng.random()) - 0.5)
        tall = high * (0.6 + 0.4 * float(rng.random()))
        tip = (px + tall * 0.26, foot - tall)
        pen.stroke(((px, foot), (px + tall * 0.06, foot - tall * 0.55), tip), 1.5, tone=tone)
        for k in range(3):
            ly = foot - tall * (0.2 + 0.2 * k)
            side = 1 if float(rng.random()) < 0.75 else -1
            run = tall * (0.28 + 0.14 * float(rng.random()))
            pen.stroke(
                (
                    (px + tall * 0.03, ly),
                    (px + side * run * 0.5, ly - run * 0.4),
                    (px + side * run, ly - run * 0.15),
                ),
                2.8,
                tone=tone,
                profile=LEAF,
            )
        for k in range(7):
            fx, fy = tip[0] - k * 1.2, tip[1] + k * 3.0
            pen.stroke(((fx, fy), (fx + 6, fy + 2.5)), 1.8, tone=tone * 0.7, profile=NAIL)
