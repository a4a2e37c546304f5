"""Plum, orchid, lotus and vine, stroke by stroke."""

from __future__ import annotations

from collections.abc import Iterable

from keju.items import Point
from keju_synthetic.pictures.pens import (
    EVEN,
    INK,
    LEAF,
    TAPER,
    THREAD,
    Colour,
    Pen,
    get_direction,
    jitter_points,
    make_ellipse,
    offset_point,
    smooth,
)


def draw_branch(pen: Pen, points: list[Point], thick: float, *, tone: float = 0.75) -> None:
    """An old branch, rough and dry, darker below."""
    pen.stroke(points, thick, tone=tone * 0.75, profile=(1.0, 0.75, 0.6, 0.4, 0.25), dry=0.55)
    pen.stroke(
        [(px + 1, py + thick * 0.30) for px, py in points],
        thick * 0.35,
        tone=tone,
        profile=(1.0, 0.6, 0.8, 0.4, 0.1),
        dry=0.3,
    )


def draw_blossom(pen: Pen, x: float, y: float, size: float, *, fill: Colour | None = None) -> None:
    """A plum blossom from the front: five round petals, stamens with dots."""
    rng = pen.rng
    turn = float(rng.random()) * 72
    for k in range(5):
        px, py = offset_point(x, y, turn + 72 * k, size * 0.55)
        petal = jitter_points(
            make_ellipse(px, py, size * 0.46, size * 0.42, turn=turn + 72 * k), size * 0.03, rng
        )
        pen.cover(petal)
        if fill is not None:
            pen.tint(petal, tone=0.5, colour=fill, soft=0.8)
        pen.stroke([*petal, petal[0]], 1.5, tone=0.7, profile=(0.7, 1.1, 0.6, 1.1, 0.7))
    pen.stroke([*make_ellipse(x, y, size * 0.10, size * 0.10)], 1.4, tone=0.9, profile=EVEN)
    for k in range(9):
        tip = offset_point(
            x, y, 40 * k + float(rng.random()) * 16, size * (0.42 + 0.14 * float(rng.random()))
        )
        pen.stroke(((x, y), tip), 0.9, tone=0.75, profile=EVEN)
        pen.stroke((tip, (tip[0] + 1.2, tip[1] + 0.6)), 2.0, tone=0.9, profile=EVEN)


def draw_bud(pen: Pen, x: float, y: float, size: float) -> None:
    """A closed plum bud with its calyx."""
    outline = make_ellipse(x, y, size * 0.42, size * 0.48)
    pen.cover(outline)
    pen.stroke([*outline, outline[0]], 1.4, tone=0.7, profile=EVEN)
    for dx in (-0.3, 0.0, 0.3):
        pen.stroke(
            ((x + dx * size, y + size * 0.62), (x + dx * size * 0.7, y + size * 0.3)),
            2.6,
            tone=0.9,
            profile=EVEN,
        )


def draw_orchid(
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


def draw_orchid_flower(pen: Pen, x: float, y: float, size: float) -> None:
    """An orchid flower: five pale petals and a dotted heart."""
    for angle, reach in ((200, 1.0), (250, 0.8), (290, 0.8), (335, 1.05), (95, 0.6)):
        tip = offset_point(x, y, angle, size * reach)
        bend = offset_point(x, y, angle - 14, size * reach * 0.55)
        pen.stroke(((x, y), bend, tip), size * 0.26, tone=0.38, profile=LEAF)
    for dx, dy in ((-2, 0), (1, -2), (3, 1)):
        pen.stroke(((x + dx, y + dy), (x + dx + 2, y + dy + 2)), 2.4, tone=0.95, profile=EVEN)


def draw_lotus(
    pen: Pen, x: float, y: float, size: float, *, pink: Colour | None = None, petals: int = 11
) -> None:
    """An open lotus flower from the side, in two ranks of petals around its seed pod."""
    ranks = ((petals - petals // 2, 1.0, -90.0, 150.0), (petals // 2, 0.72, -90.0, 105.0))
    for place, (count, reach, middle, spread) in enumerate(ranks):
        if place == 1:
            pod = make_ellipse(x, y - size * 0.05, size * 0.20, size * 0.13)
            pen.cover(pod, colour=(0.86, 0.86, 0.42) if pink else (1.0, 1.0, 1.0))
            pen.stroke([*pod, pod[0]], 1.2, tone=0.6, profile=EVEN)
        order = sorted(range(count), key=lambda k: -abs(k - (count - 1) / 2))
        for k in order:
            angle = middle + spread * (k / (count - 1) - 0.5) if count > 1 else middle
            _draw_petal(pen, (x, y + size * 0.30 * place), angle, size * reach, pink)


def _draw_petal(pen: Pen, foot: Point, angle: float, reach: float, pink: Colour | None) -> None:
    tip = offset_point(*foot, angle, reach)
    left, right = (
        offset_point(*offset_point(*foot, angle, reach * 0.55), angle + turn, reach * 0.27)
        for turn in (-90, 90)
    )
    near = offset_point(*foot, angle, reach * 0.12)
    outline = smooth([near, left, offset_point(*foot, angle - 8, reach * 0.9), tip]) + smooth(
        [tip, offset_point(*foot, angle + 8, reach * 0.9), right, near]
    )
    pen.cover(outline, colour=(1.12, 1.06, 1.04) if pink else (1.0, 1.0, 1.0))
    if pink is not None:
        pen.tint(outline, tone=0.25, colour=pink, soft=1)
        cap = smooth(
            [
                offset_point(*foot, angle - 16, reach * 0.72),
                tip,
                offset_point(*foot, angle + 16, reach * 0.72),
            ]
        )
        pen.tint(cap, tone=0.8, colour=pink, soft=reach * 0.07)
        for turn in (-14, -7, 0, 7, 14):
            vein = (
                near,
                offset_point(*foot, angle + turn * 0.9, reach * 0.55),
                offset_point(*foot, angle + turn * 0.35, reach * 0.9),
            )
            pen.stroke(vein, 0.9, tone=0.35, colour=pink, profile=THREAD)
    pen.stroke(
        [*outline, outline[0]],
        1.3,
        tone=0.65,
        profile=EVEN,
        colour=(0.55, 0.22, 0.25) if pink else INK,
    )


def draw_lotus_leaf(
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
    outline = smooth(
        jitter_points(make_ellipse(x, y, wide, high), wide * 0.045, pen.rng)[::2], closed=True
    )
    if green is not None:
        pen.cover(outline, colour=green)
        pen.tint(outline, tone=0.25, soft=3)
    else:
        pen.tint(outline, tone=tone, soft=2.5)
        pen.tint(
            make_ellipse(x + wide * 0.2, y + high * 0.1, wide * 0.6, high * 0.6),
            tone=tone * 0.6,
            soft=wide * 0.1,
        )
    for k in range(12):
        dx, dy = get_direction(30 * k + 8)
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


def draw_stem(
    pen: Pen, points: list[Point], thick: float, *, tone: float = 0.6, colour: Colour = INK
) -> None:
    """A stalk with a few thorns' dots along it."""
    pen.stroke(points, thick, tone=tone, colour=colour, profile=EVEN, dry=0.2)
    for px, py in smooth(points)[4:-4:6]:
        pen.stroke(((px - thick * 0.6, py), (px - thick * 0.2, py)), 1.8, tone=tone, profile=EVEN)


def draw_grapes(pen: Pen, x: float, y: float, rows: int, size: float) -> int:
    """A hanging bunch of grapes in rows that narrow downwards; returns how many there are."""
    rng = pen.rng
    count = 0
    for row in range(rows):
        across = rows - row
        for k in range(across):
            gx = x + (k - (across - 1) / 2) * size * 1.9 + (float(rng.random()) - 0.5) * size * 0.9
            gy = y + row * size * 1.6 + (float(rng.random()) - 0.5) * size * 0.9
            grape = make_ellipse(gx, gy, size, size)
            pen.cover(grape)
            pen.tint(grape, tone=0.35 + 0.3 * float(rng.random()), soft=0.8)
            pen.tint(
                make_ellipse(gx + size * 0.25, gy + size * 0.25, size * 0.6, size * 0.6),
                tone=0.35,
                soft=1.5,
            )
            pen.stroke(
                ((gx, gy + size * 0.6), (gx + 1.5, gy + size * 0.8)), 2.4, tone=0.95, profile=EVEN
            )
            count += 1
    return count


def draw_vine_leaf(pen: Pen, x: float, y: float, size: float, tone: float) -> None:
    """A broad wet leaf of five pointed lobes, its veins in darker ink."""
    turn = float(pen.rng.random()) * 70 - 35
    lobes = ((-165, 0.72), (-122, 0.95), (-80, 1.15), (-36, 0.98), (8, 0.70))
    outline: list[Point] = [offset_point(x, y, 100 + turn, size * 0.30)]
    for angle, reach in lobes:
        outline += [
            offset_point(x, y, angle - 20 + turn, size * 0.56),
            offset_point(x, y, angle - 6 + turn, size * reach * 0.92),
            offset_point(x, y, angle + turn, size * reach),
            offset_point(x, y, angle + 8 + turn, size * reach * 0.86),
        ]
    leaf = smooth(jitter_points(outline, size * 0.05, pen.rng), closed=True)
    pen.tint(leaf, tone=tone, soft=1.2)
    pen.tint(
        make_ellipse(x, y - size * 0.3, size * 0.5, size * 0.4), tone=tone * 0.6, soft=size * 0.16
    )
    for angle, reach in lobes:
        way = ((x, y), offset_point(x, y, angle + turn + 5, size * reach * 0.5))
        pen.stroke((*way, offset_point(x, y, angle + turn, size * reach * 0.9)), 2.2, tone=0.75)
