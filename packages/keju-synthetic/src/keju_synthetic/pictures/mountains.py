"""Mountains, rocks, clouds and water, as masses piled on each other."""

from __future__ import annotations

from typing import Literal, NamedTuple

from keju.items import Point
from keju_synthetic.pictures.pens import (
    EVEN,
    THREAD,
    Colour,
    Pen,
    Profile,
    get_direction,
    jitter_points,
    smooth,
)

Texture = Literal["hemp", "axe", "dots", "plain"]
"""How the surface of rock is written: long soft strokes (披麻皴), side strokes of a dry brush
(斧劈皴), rows of flat dots (米點皴), or outlines alone."""

AZURITE: Colour = (0.23, 0.48, 0.68)
MALACHITE: Colour = (0.36, 0.66, 0.48)
OCHRE: Colour = (0.80, 0.62, 0.40)


class Manner(NamedTuple):
    """How a painter writes rock.

    `tone` is the darkness of line and wash, `shade` how much wash there is, `cap` and `foot` are
    mineral colours of a mass from its top down (None for ink alone).
    """

    texture: Texture = "hemp"
    tone: float = 0.7
    shade: float = 0.35
    cap: Colour | None = None
    foot: Colour | None = None
    moss: float = 1.0


def draw_mass(pen: Pen, x: float, y: float, wide: float, high: float, manner: Manner) -> None:
    """One swelling of rock: its top at (x, y), its foot `high` lower and `wide` across."""
    rng = pen.rng
    lean = (float(rng.random()) - 0.5) * 0.24
    plan = ((-0.56, 1.0), (-0.46, 0.66), (-0.40, 0.46), (-0.30, 0.30), (-0.20, 0.10),
            (-0.10, 0.05), (0.0, 0.0), (0.12, 0.06), (0.20, 0.19), (0.29, 0.27), (0.37, 0.44),
            (0.44, 0.66), (0.57, 1.0))  # fmt: skip
    knots = [(x + (px + lean * (1 - py)) * wide, y + py * high) for px, py in plan]
    knots = jitter_points(knots, 0.034 * (wide + high) / 2, rng)
    line = smooth(knots)
    pen.cover(line, strength=0.97, fade=(y + high * 0.62, y + high * 1.0))
    pen.cover([p for p in line if p[1] < y + high * 0.66], strength=1.0)
    if manner.cap is not None:
        pen.tint(line, tone=0.85, colour=manner.cap, soft=0.8, fade=(y, y + high * 0.75))
    if manner.foot is not None:
        pen.tint(
            line, tone=0.5, colour=manner.foot, soft=0.8, fade=(y + high * 0.7, y - high * 0.1)
        )
    pen.tint(line, tone=manner.shade, soft=1.0, fade=(y - high * 0.1, y + high * 0.6))
    dark = [*line[len(line) // 2 :], (x + wide * 0.3, y + high), (x + wide * 0.13, y + high * 0.3)]
    pen.tint(dark, tone=manner.shade * 0.8, soft=wide * 0.03 + 1, fade=(y, y + high * 0.9))
    _draw_texture(pen, line, (x, y, wide, high), manner)
    weight = 1.3 + min(wide, high) * 0.010
    pen.stroke(line, weight, tone=manner.tone, profile=(0.3, 0.9, 1.2, 0.8, 1.1, 0.5, 0.2))
    if manner.moss > 0:
        _draw_moss(pen, line, manner, min(wide, high))


def _draw_texture(
    pen: Pen, line: list[Point], place: tuple[float, float, float, float], manner: Manner
) -> None:
    rng = pen.rng
    way: tuple[Point, ...]
    x, y, wide, high = place
    if manner.texture == "plain":
        return
    count = int(14 + wide * 0.36) if pen.painting else int(4 + wide * 0.07)
    for _ in range(count):
        px, py = line[int(rng.integers(len(line) // 8, len(line) * 7 // 8))]
        depth = 0.03 + 0.60 * float(rng.random())
        sx, sy = px + (x - px) * depth, py + (y + high * 0.85 - py) * depth * 0.7
        side = -1 if px < x else 1
        faint = manner.tone * (0.35 + 0.4 * float(rng.random())) * (1 - 0.5 * depth)
        if manner.texture == "hemp":
            run = high * (0.14 + 0.20 * float(rng.random()))
            bow = side * wide * (0.02 + 0.05 * float(rng.random())) * (1.2 - depth)
            way = ((sx, sy), (sx + bow * 0.3, sy + run * 0.5), (sx + bow, sy + run))  # fmt: skip
            pen.stroke(way, 1.5, tone=faint, profile=THREAD)
        elif manner.texture == "axe":
            run = high * (0.05 + 0.07 * float(rng.random()))
            way = ((sx, sy), (sx + side * run * 0.5, sy + run))
            pen.stroke(way, 3 + wide * 0.03, tone=faint, profile=(1.0, 0.7, 0.2), dry=0.75)
        else:
            size = 4 + wide * 0.02
            way = ((sx - size, sy), (sx + size, sy + (float(rng.random()) - 0.5) * 2))
            pen.stroke(way, size * 0.55, tone=faint, profile=THREAD)


def _draw_moss(pen: Pen, line: list[Point], manner: Manner, size: float) -> None:
    """Dots on the ridge: shrubs far away (點苔)."""
    rng = pen.rng
    for px, py in line[len(line) // 6 : len(line) * 5 // 6 : 2]:
        if float(rng.random()) < 0.26 * manner.moss:
            dx, dy = (float(v) * 2 - 1 for v in rng.random(2))
            dot = 1.2 + min(3.2, size * 0.010)
            at = (px + dx * 3, py + dy * 2 - dot * 0.6)
            pen.stroke(
                (at, (at[0] + dot * 1.1, at[1] + dot * 0.3)),
                dot, tone=manner.tone * (0.6 + 0.4 * float(rng.random())), profile=EVEN,
            )  # fmt: skip


def draw_mountain(pen: Pen, x: float, y: float, wide: float, high: float, manner: Manner) -> None:
    """A mountain of piled masses; its peak at (x, y), its foot `high` lower.

    Masses grow smaller and flatter downwards and outwards, along a line that winds (龍脈).
    """
    rng = pen.rng
    draw_mass(pen, x - wide * 0.16, y + high * 0.10, wide * 0.42, high * 0.6, manner)
    draw_mass(pen, x, y, wide * 0.52, high * 0.85, manner)
    rows = 6
    for row in range(1, rows + 1):
        share = row / rows
        level = y + high * (0.10 + 0.66 * share)
        spread = wide * (0.06 + 0.40 * share)
        places = [-0.9, -0.25, 0.35, 0.95] if row > 2 else [-0.8, 0.7]
        for place in sorted(places, key=lambda _: float(rng.random())):
            away = spread * (place + (float(rng.random()) - 0.5) * 0.5)
            size = wide * (0.15 + 0.20 * float(rng.random())) * (0.75 + 0.35 * share)
            top = level + high * 0.10 * (float(rng.random()) - 0.4 + 0.4 * abs(place))
            tall = min(high * (0.16 + 0.14 * float(rng.random())), y + high - top)
            if tall > high * 0.05:
                draw_mass(pen, x + away, top, size, tall, manner)


def draw_far_range(
    pen: Pen, y: float, high: float, tone: float, peaks: list[tuple[float, float]]
) -> None:
    """A far ridge washed without lines; `peaks` are (x, height in parts of `high`)."""
    knots = [(-30.0, y)]
    for (x, tall), (after, _) in zip(peaks, [*peaks[1:], (pen.width + 60.0, 0.0)], strict=True):
        knots += [(x, y - high * tall), ((x + after) / 2, y - high * tall * 0.30)]
    knots = jitter_points([*knots[:-1], (pen.width + 30.0, y)], high * 0.03, pen.rng)
    line = smooth(knots)
    whole = [*line, (pen.width + 30.0, y + high), (-30.0, y + high)]
    pen.tint(whole, tone=tone, soft=1.6, fade=(y - high, y + high * 0.12))


def draw_rock(pen: Pen, x: float, y: float, wide: float, high: float, manner: Manner) -> None:
    """A rock of a garden or bank: angular, with a dark side and a light one."""
    rng = pen.rng
    plan = ((-0.5, 1.0), (-0.46, 0.55), (-0.24, 0.20), (-0.02, 0.0), (0.20, 0.10), (0.34, 0.42),
            (0.48, 0.62), (0.52, 1.0))  # fmt: skip
    knots = jitter_points([(x + px * wide, y + py * high) for px, py in plan], wide * 0.035, rng)
    pen.cover(smooth(knots))
    pen.tint(smooth(knots), tone=manner.shade * 0.6, soft=1, fade=(y + high * 0.6, y + high * 1.1))
    crest = (x + wide * 0.06, y + high * 0.28)
    face = [knots[3], knots[4], knots[5], knots[6], knots[7], (x + wide * 0.12, y + high), crest]
    pen.tint(face, tone=manner.shade, soft=1.5, fade=(y + high * 0.5, y + high * 1.1))
    pen.stroke(knots, 2.0 + wide * 0.012, tone=manner.tone, profile=(0.6, 1.2, 0.7, 1.1, 0.4))
    pen.stroke((knots[3], crest, (x + wide * 0.10, y + high * 0.9)), 1.8, tone=manner.tone * 0.8)
    pen.stroke((knots[2], (x - wide * 0.2, y + high * 0.6)), 1.6, tone=manner.tone * 0.6)
    for _ in range(10 if pen.painting else 5):
        sx = x + wide * (0.12 + 0.3 * float(rng.random()))
        sy = y + high * (0.35 + 0.45 * float(rng.random()))
        pen.stroke(
            ((sx, sy), (sx + wide * 0.05, sy + high * 0.12)),
            2.4, tone=manner.tone * 0.55, profile=(1.0, 0.6, 0.1), dry=0.5,
        )  # fmt: skip


def draw_ripples(pen: Pen, box: tuple[float, float, float, float], rows: int, tone: float) -> None:
    """Water: short wavering lines that leave most of the sheet alone."""
    rng = pen.rng
    x0, y0, x1, y1 = box
    for row in range(rows):
        y = y0 + (y1 - y0) * (row + 0.5 * float(rng.random())) / rows
        for _ in range(3):
            x = x0 + (x1 - x0) * float(rng.random())
            run = (x1 - x0) * (0.06 + 0.10 * float(rng.random()))
            lift = 1.0 + 2.0 * (y - y0) / max(1.0, y1 - y0)
            steps = max(3, int(run / 14))
            way = [(x + run * k / steps, y + (lift if k % 2 else -lift)) for k in range(steps + 1)]
            pen.stroke(way, 1.2, tone=tone, profile=THREAD)


def draw_bank(pen: Pen, points: list[Point], manner: Manner) -> None:
    """A flat shore: its edge through `points`, shaded below and dotted."""
    line = smooth(points)
    low = max(py for _, py in line) + 14
    pen.tint([*line, (line[-1][0], low), (line[0][0], low)], tone=manner.shade * 0.8, soft=4)
    profile: Profile = (0.2, 0.9, 1.0, 0.7, 0.2)
    pen.stroke(line, 2.0, tone=manner.tone * 0.8, profile=profile)
    pen.stroke([(px + 8, py + 6) for px, py in line], 1.4, tone=manner.tone * 0.5, profile=profile)
    _draw_moss(pen, line, manner, 120)


def draw_cloud(pen: Pen, x: float, y: float, wide: float) -> None:
    """A cloud of scrolls, outlined (雲紋): a row of round heads, each with its curl, and a tail."""
    rng = pen.rng
    heads = 3 + int(rng.integers(0, 3))
    pitch = wide / heads
    sizes = [pitch * (0.50 + 0.22 * float(rng.random())) for _ in range(heads)]
    sizes[heads // 2] *= 1.3
    for head in sorted(range(heads), key=lambda k: sizes[k], reverse=True):
        cx, r = x - wide / 2 + pitch * (head + 0.5), sizes[head]
        arc = [(cx + r * c, y + r * 0.72 * s) for c, s in map(get_direction, range(165, 376, 15))]
        pen.cover([*arc, (cx + r, y), (cx - r, y)])
        pen.stroke(arc, 1.8, tone=0.6, profile=EVEN)
        turns = range(190, 560, 30)
        curl = [
            (cx + r * (0.62 - 0.042 * k) * c, y - r * 0.10 + r * (0.52 - 0.035 * k) * s)
            for k, (c, s) in enumerate(map(get_direction, turns))
        ]
        pen.stroke(curl, 1.5, tone=0.5, profile=EVEN)
    for drop, reach in ((0.0, 0.56), (0.045, 0.40)):
        tail = ((x - wide * reach, y + wide * drop), (x, y + wide * (drop + 0.02)),
                (x + wide * (reach + 0.12), y + wide * (drop - 0.01)))  # fmt: skip
        pen.stroke(tail, 1.7, tone=0.5, profile=THREAD)
