"""Trees, bamboo, plum, orchid, lotus, reeds, vines: each a few strokes repeated."""

from __future__ import annotations

from collections.abc import Iterable

from keju.building.pictures.brush import (
    EVEN,
    INK,
    LEAF,
    NAIL,
    TAPER,
    THREAD,
    Colour,
    Pen,
    heading,
    ring,
    shaky,
    smooth,
)
from keju.items import Point

_BARK: Colour = (0.50, 0.40, 0.32)


def _at(x: float, y: float, degrees: float, reach: float) -> Point:
    dx, dy = heading(degrees)
    return x + dx * reach, y + dy * reach


def pine(
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
        _needles(pen, fx, fy, high * 0.085 + 3, tone)


def _needles(pen: Pen, x: float, y: float, size: float, tone: float) -> None:
    rng = pen.rng
    pen.area(ring(x, y - size * 0.3, size * 1.2, size * 0.55), tone=0.22 * tone, soft=size * 0.15)
    count = 15 if pen.painting else 9
    for k in range(count):
        angle = 180 + 180 * (k + 0.5) / count + (float(rng.random()) - 0.5) * 8
        tip = _at(x, y, angle, size * (0.9 + 0.3 * float(rng.random())))
        pen.stroke(((x, y), tip), 1.2, tone=tone * 0.85, profile=NAIL)


def leafy(
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
        tip = _at(x, fork, angle, high * (0.34 + 0.12 * float(rng.random())))
        bend = ((x + tip[0]) / 2 + (float(rng.random()) - 0.5) * high * 0.06, (fork + tip[1]) / 2)
        pen.stroke(((x, fork), bend, tip), 1.0 + high * 0.018, tone=tone * 0.9)
        crowns += [tip, bend]
    for cx, cy in crowns:
        size = high * 0.13
        pen.area(ring(cx, cy, size * 1.25, size * 0.9), tone=0.20 * tone, soft=size * 0.3)
        for _ in range(14 if pen.painting else 8):
            dx, dy = (float(v) * 2 - 1 for v in rng.random(2))
            if dx * dx + dy * dy < 1:
                _leaf_dot(pen, cx + dx * size * 1.3, cy + dy * size, 1.4 + high * 0.018, dots, tone)


def _leaf_dot(pen: Pen, x: float, y: float, size: float, dots: str, tone: float) -> None:
    dark = tone * (0.45 + 0.55 * float(pen.rng.random()))
    if dots == "ring":
        pen.stroke([*ring(x, y, size, size * 0.8), (x + size, y)], 1.1, tone=dark, profile=EVEN)
    elif dots == "flat":
        pen.stroke(((x - size, y), (x + size, y + 0.5)), size * 0.8, tone=dark, profile=THREAD)
    else:
        turn = float(pen.rng.random()) * 180
        pen.area(ring(x, y, size * 0.75, size * 0.5, turn=turn), tone=max(0.5, dark))


def bare_tree(
    pen: Pen, x: float, foot: float, high: float, *, tone: float = 0.8, lean: float = 0.0
) -> None:
    """A tree in winter, its twigs bent like crabs' claws (蟹爪枝)."""

    def grow(px: float, py: float, angle: float, reach: float, thick: float, depth: int) -> None:
        rng = pen.rng
        bend = angle + (float(rng.random()) - 0.5) * 30
        mx, my = _at(px, py, angle, reach * 0.5)
        ex, ey = _at(mx, my, bend, reach * 0.5)
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


def grove(pen: Pen, x: float, foot: float, wide: float, count: int, *, tone: float = 0.55) -> None:
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


def bamboo(
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
            _bamboo_leaves(pen, at, side, high * 0.12, tone)


def _bamboo_leaves(pen: Pen, at: Point, side: int, size: float, tone: float) -> None:
    rng = pen.rng
    for angle in (25, 58, 92, 128):
        if float(rng.random()) < 0.85:
            way = float(angle if side > 0 else 180 - angle)
            way += (float(rng.random()) - 0.5) * 22
            run = size * (0.7 + 0.5 * float(rng.random()))
            tip = _at(*at, way, run)
            bend = _at(*at, way - 6 * side, run * 0.5)
            pen.stroke(
                (at, bend, tip),
                size * 0.16,
                tone=tone * (0.7 + 0.3 * float(rng.random())),
                profile=LEAF,
            )


def branch(pen: Pen, points: list[Point], thick: float, *, tone: float = 0.75) -> None:
    """An old branch, rough and dry, darker below."""
    pen.stroke(points, thick, tone=tone * 0.75, profile=(1.0, 0.75, 0.6, 0.4, 0.25), dry=0.55)
    pen.stroke(
        [(px + 1, py + thick * 0.30) for px, py in points],
        thick * 0.35,
        tone=tone,
        profile=(1.0, 0.6, 0.8, 0.4, 0.1),
        dry=0.3,
    )


def blossom(pen: Pen, x: float, y: float, size: float, *, fill: Colour | None = None) -> None:
    """A plum blossom from the front: five round petals, stamens with dots."""
    rng = pen.rng
    turn = float(rng.random()) * 72
    for k in range(5):
        px, py = _at(x, y, turn + 72 * k, size * 0.55)
        petal = shaky(ring(px, py, size * 0.46, size * 0.42, turn=turn + 72 * k), size * 0.03, rng)
        pen.cover(petal)
        if fill is not None:
            pen.area(petal, tone=0.5, colour=fill, soft=0.8)
        pen.stroke([*petal, petal[0]], 1.5, tone=0.7, profile=(0.7, 1.1, 0.6, 1.1, 0.7))
    pen.stroke([*ring(x, y, size * 0.10, size * 0.10)], 1.4, tone=0.9, profile=EVEN)
    for k in range(9):
        tip = _at(
            x, y, 40 * k + float(rng.random()) * 16, size * (0.42 + 0.14 * float(rng.random()))
        )
        pen.stroke(((x, y), tip), 0.9, tone=0.75, profile=EVEN)
        pen.stroke((tip, (tip[0] + 1.2, tip[1] + 0.6)), 2.0, tone=0.9, profile=EVEN)


def bud(pen: Pen, x: float, y: float, size: float) -> None:
    """A closed plum bud with its calyx."""
    outline = ring(x, y, size * 0.42, size * 0.48)
    pen.cover(outline)
    pen.stroke([*outline, outline[0]], 1.4, tone=0.7, profile=EVEN)
    for dx in (-0.3, 0.0, 0.3):
        pen.stroke(
            ((x + dx * size, y + size * 0.62), (x + dx * size * 0.7, y + size * 0.3)),
            2.6,
            tone=0.9,
            profile=EVEN,
        )


def orchid(
    pen: Pen, x: float, foot: float, size: float, blades: Iterable[tuple[float, float, float]]
) -> None:
    """A tuft of orchid blades, each (reach sideways, height, droop) in parts of `size`."""
    for reach, tall, droop in blades:
        tip = (x + reach * size, foot - tall * size + droop * size)
        way = (
            (x, foot),
            (x + reach * size * 0.22, foot - tall * size * 0.62),
            (x + reach * size * 0.62, foot - tall * size),
            tip,
        )
        pen.stroke(way, size * 0.030, tone=0.8, profile=(0.4, 1.0, 0.45, 1.0, 0.5, 0.03), dry=0.12)


def orchid_flower(pen: Pen, x: float, y: float, size: float) -> None:
    """An orchid flower: five pale petals and a dotted heart."""
    for angle, reach in ((200, 1.0), (250, 0.8), (290, 0.8), (335, 1.05), (95, 0.6)):
        tip = _at(x, y, angle, size * reach)
        bend = _at(x, y, angle - 14, size * reach * 0.55)
        pen.stroke(((x, y), bend, tip), size * 0.26, tone=0.38, profile=LEAF)
    for dx, dy in ((-2, 0), (1, -2), (3, 1)):
        pen.stroke(((x + dx, y + dy), (x + dx + 2, y + dy + 2)), 2.4, tone=0.95, profile=EVEN)


def lotus(
    pen: Pen, x: float, y: float, size: float, *, pink: Colour | None = None, petals: int = 11
) -> None:
    """An open lotus flower from the side, in two ranks of petals around its seed pod."""
    ranks = ((petals - petals // 2, 1.0, -90.0, 150.0), (petals // 2, 0.72, -90.0, 105.0))
    for place, (count, reach, middle, spread) in enumerate(ranks):
        if place == 1:
            pod = ring(x, y - size * 0.05, size * 0.20, size * 0.13)
            pen.cover(pod, colour=(0.86, 0.86, 0.42) if pink else (1.0, 1.0, 1.0))
            pen.stroke([*pod, pod[0]], 1.2, tone=0.6, profile=EVEN)
        order = sorted(range(count), key=lambda k: -abs(k - (count - 1) / 2))
        for k in order:
            angle = middle + spread * (k / (count - 1) - 0.5) if count > 1 else middle
            _petal(pen, (x, y + size * 0.30 * place), angle, size * reach, pink)


def _petal(pen: Pen, foot: Point, angle: float, reach: float, pink: Colour | None) -> None:
    tip = _at(*foot, angle, reach)
    left, right = (
        _at(*_at(*foot, angle, reach * 0.55), angle + turn, reach * 0.27) for turn in (-90, 90)
    )
    near = _at(*foot, angle, reach * 0.12)
    outline = smooth([near, left, _at(*foot, angle - 8, reach * 0.9), tip]) + smooth(
        [tip, _at(*foot, angle + 8, reach * 0.9), right, near]
    )
    pen.cover(outline, colour=(1.12, 1.06, 1.04) if pink else (1.0, 1.0, 1.0))
    if pink is not None:
        pen.area(outline, tone=0.25, colour=pink, soft=1)
        cap = smooth(
            [_at(*foot, angle - 16, reach * 0.72), tip, _at(*foot, angle + 16, reach * 0.72)]
        )
        pen.area(cap, tone=0.8, colour=pink, soft=reach * 0.07)
        for turn in (-14, -7, 0, 7, 14):
            vein = (
                near,
                _at(*foot, angle + turn * 0.9, reach * 0.55),
                _at(*foot, angle + turn * 0.35, reach * 0.9),
            )
            pen.stroke(vein, 0.9, tone=0.35, colour=pink, profile=THREAD)
    pen.stroke(
        [*outline, outline[0]],
        1.3,
        tone=0.65,
        profile=EVEN,
        colour=(0.55, 0.22, 0.25) if pink else INK,
    )


def lotus_leaf(
    pen: Pen,
    x: float,
    y: float,
    wide: float,
    high: float,
    *,
    green: Colour | None = None,
    tone: float = 0.5,
) -> None:
    """A lotus leaf seen aslant, its rim waving, veins from its middle."""
    outline = smooth(shaky(ring(x, y, wide, high), wide * 0.045, pen.rng)[::2], closed=True)
    if green is not None:
        pen.cover(outline, colour=green)
        pen.area(outline, tone=0.25, soft=3)
    else:
        pen.area(outline, tone=tone, soft=2.5)
        pen.area(
            ring(x + wide * 0.2, y + high * 0.1, wide * 0.6, high * 0.6),
            tone=tone * 0.6,
            soft=wide * 0.1,
        )
    for k in range(12):
        dx, dy = heading(30 * k + 8)
        rim = (x + dx * wide * 0.93, y + dy * high * 0.93)
        middle = (x + dx * wide * 0.5 + 2, y + dy * high * 0.5 - high * 0.03)
        pen.stroke(
            ((x, y), middle, rim),
            1.6,
            tone=0.55,
            profile=TAPER,
            colour=(0.20, 0.38, 0.25) if green else INK,
        )
    if green is not None or not pen.painting:
        pen.stroke([*outline, outline[0]], 1.5, tone=0.6, profile=EVEN)


def stem(
    pen: Pen, points: list[Point], thick: float, *, tone: float = 0.6, colour: Colour = INK
) -> None:
    """A stalk with a few thorns' dots along it."""
    pen.stroke(points, thick, tone=tone, colour=colour, profile=EVEN, dry=0.2)
    for px, py in smooth(points)[4:-4:6]:
        pen.stroke(((px - thick * 0.6, py), (px - thick * 0.2, py)), 1.8, tone=tone, profile=EVEN)


def reeds(
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


def grapes(pen: Pen, x: float, y: float, rows: int, size: float) -> int:
    """A hanging bunch of grapes in rows that narrow downwards; returns how many there are."""
    rng = pen.rng
    count = 0
    for row in range(rows):
        across = rows - row
        for k in range(across):
            gx = x + (k - (across - 1) / 2) * size * 1.9 + (float(rng.random()) - 0.5) * size * 0.9
            gy = y + row * size * 1.6 + (float(rng.random()) - 0.5) * size * 0.9
            grape = ring(gx, gy, size, size)
            pen.cover(grape)
            pen.area(grape, tone=0.35 + 0.3 * float(rng.random()), soft=0.8)
            pen.area(
                ring(gx + size * 0.25, gy + size * 0.25, size * 0.6, size * 0.6),
                tone=0.35,
                soft=1.5,
            )
            pen.stroke(
                ((gx, gy + size * 0.6), (gx + 1.5, gy + size * 0.8)), 2.4, tone=0.95, profile=EVEN
            )
            count += 1
    return count


def vine_leaf(pen: Pen, x: float, y: float, size: float, tone: float) -> None:
    """A broad wet leaf of five pointed lobes, its veins in darker ink."""
    turn = float(pen.rng.random()) * 70 - 35
    lobes = ((-165, 0.72), (-122, 0.95), (-80, 1.15), (-36, 0.98), (8, 0.70))
    outline: list[Point] = [_at(x, y, 100 + turn, size * 0.30)]
    for angle, reach in lobes:
        outline += [
            _at(x, y, angle - 20 + turn, size * 0.56),
            _at(x, y, angle - 6 + turn, size * reach * 0.92),
            _at(x, y, angle + turn, size * reach),
            _at(x, y, angle + 8 + turn, size * reach * 0.86),
        ]
    leaf = smooth(shaky(outline, size * 0.05, pen.rng), closed=True)
    pen.area(leaf, tone=tone, soft=1.2)
    pen.area(ring(x, y - size * 0.3, size * 0.5, size * 0.4), tone=tone * 0.6, soft=size * 0.16)
    for angle, reach in lobes:
        way = ((x, y), _at(x, y, angle + turn + 5, size * reach * 0.5))
        pen.stroke((*way, _at(x, y, angle + turn, size * reach * 0.9)), 2.2, tone=0.75)
