"""What people build: huts, pavilions, towers, gates, bridges, boats, carts' and mills' wheels."""

from __future__ import annotations

from keju.building.pictures.brush import (
    EVEN,
    NAIL,
    THREAD,
    Colour,
    Frame,
    Pen,
    heading,
    ring,
    smooth,
)
from keju.items import Point


def _box(pen: Pen, corners: list[Point], width: float, tone: float = 0.85) -> None:
    pen.cover(corners)
    for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
        pen.stroke((a, b), width, tone=tone, profile=EVEN)


def hut(pen: Pen, x: float, foot: float, wide: float, *, thatch: bool = True) -> None:
    """A thatched hut with an open front."""
    f = Frame(x, foot, wide)
    w = 1.0 + wide * 0.008
    _box(pen, f((-0.40, 0.0), (-0.40, -0.34), (0.40, -0.34), (0.40, 0.0)), w)
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
    pen.area(roof, tone=0.2, soft=1)
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


def eaves(
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
        pen.area(roof, tone=0.9, colour=colour)
    else:
        pen.area(roof, tone=0.18, soft=1)
    pen.stroke([*roof, roof[0]], w * 1.3, tone=0.9, profile=EVEN)
    pen.stroke(f((-ridge, high), (ridge, high)), w * 3, tone=0.9, profile=EVEN)
    count = max(7, int(f.long(half) / 5))
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


def pavilion(pen: Pen, x: float, foot: float, wide: float) -> None:
    """An open pavilion: four posts, a rail, a pointed roof."""
    f = Frame(x, foot, wide)
    w = 1.0 + wide * 0.007
    _box(pen, f((-0.46, 0.0), (-0.46, -0.07), (0.46, -0.07), (0.46, 0.0)), w)
    for px in (-0.36, -0.13, 0.13, 0.36):
        _box(
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
    pen.area(roof, tone=0.15, soft=1)
    pen.stroke([*roof, roof[0]], w * 1.4, tone=0.9, profile=EVEN)
    for k in range(1, 10):
        share = 2 * k / 10 - 1
        pen.stroke(
            f((share * 0.03, -0.92), (share * 0.27, -0.70), (share * 0.50, -0.52)),
            w * 0.7,
            tone=0.7,
            profile=EVEN,
        )
    top = ring(*f.at(0.0, -0.98), f.long(0.035), f.long(0.045))
    pen.cover(top)
    pen.stroke([*top, top[0]], w, tone=0.9, profile=EVEN)


def tower(
    pen: Pen, x: float, foot: float, wide: float, storeys: int, *, colour: Colour | None = None
) -> None:
    """A tower of `storeys` storeys, each with posts, a rail and a roof."""
    f = Frame(x, foot, wide)
    w = 1.0 + wide * 0.006
    y, half = 0.0, 0.44
    for storey in range(storeys):
        tall = 0.36 - 0.03 * storey
        _box(pen, f((-half, y), (-half, y - tall), (half, y - tall), (half, y)), w)
        for k in range(4):
            px = -half + 2 * half * (k + 0.5) / 4
            pen.stroke(f((px, y), (px, y - tall)), w, tone=0.8, profile=EVEN)
        for py in (y - tall * 0.24, y - tall * 0.12):
            pen.stroke(f((-half, py), (half, py)), w * 0.8, tone=0.75, profile=EVEN)
        eaves(pen, f, half * 1.16, y - tall + 0.02, y - tall - 0.20, w, colour=colour)
        y -= tall + 0.16
        half *= 0.80
    pen.stroke(f((0.0, y), (0.0, y - 0.12)), w * 3, tone=0.9, profile=NAIL)


def pagoda(
    pen: Pen, x: float, foot: float, wide: float, storeys: int, *, tone: float = 0.7
) -> None:
    """A pagoda far away: narrowing storeys, each with an eave."""
    y, half = foot, wide / 2
    for _ in range(storeys):
        tall = half * 0.85
        _box(
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


def gate_roof(pen: Pen, x: float, eave: float, wide: float, tiles: Colour) -> tuple[Point, Point]:
    """The roof of a palace gate rising from below; returns where birds may stand on its ends."""
    f = Frame(x, eave, wide)
    eaves(pen, f, 0.50, 0.0, -0.13, 1.6, colour=tiles)
    for side in (-1, 1):
        plan = ((0.262, -0.12), (0.296, -0.150), (0.286, -0.192), (0.250, -0.186), (0.256, -0.150))
        tail = smooth(f(*((side * px, py) for px, py in plan)), closed=True)
        pen.cover(tail, colour=tiles)
        pen.stroke([*tail, tail[0]], 1.5, tone=0.9, profile=EVEN)
    return f.at(-0.27, -0.19), f.at(0.27, -0.19)


def bridge(pen: Pen, x0: float, y: float, x1: float, *, arch: bool = False) -> None:
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
        pen.area([*top, *reversed(hole)], tone=0.15)
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


def boat(
    pen: Pen, x: float, y: float, size: float, *, flip: bool = False, awning: bool = True
) -> Frame:
    """A small boat on the water line `y`; returns its frame, to place people in."""
    f = Frame(x, y, size, flip=flip)
    w = 1.0 + size * 0.006
    hull = smooth(
        f((-0.56, -0.13), (-0.40, 0.02), (-0.10, 0.06), (0.28, 0.04), (0.60, -0.10))
    ) + smooth(f((0.60, -0.10), (0.25, -0.02), (-0.2, -0.02), (-0.56, -0.13)))
    pen.cover(hull)
    pen.area(hull, tone=0.45, soft=0.7)
    pen.stroke([*hull, hull[0]], w * 1.5, tone=0.9, profile=EVEN)
    if awning:
        hood = smooth(
            f((-0.26, -0.03), (-0.24, -0.20), (-0.05, -0.26), (0.14, -0.20), (0.16, -0.02))
        )
        pen.cover(hood)
        pen.area(hood, tone=0.35)
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


def war_boat(
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


def wheel(pen: Pen, x: float, y: float, r: float, spokes: int) -> None:
    """A water wheel (筒車) with a bucket of bamboo at the end of each spoke."""
    for share, width in ((1.0, 2.2), (0.90, 1.6), (0.16, 2.0)):
        rim = ring(x, y, r * share, r * share)
        pen.stroke([*rim, rim[0]], width, tone=0.9, profile=EVEN)
    for k in range(spokes):
        dx, dy = heading(360 * k / spokes + 8)
        pen.stroke(
            ((x + dx * r * 0.16, y + dy * r * 0.16), (x + dx * r * 1.02, y + dy * r * 1.02)),
            2.2,
            tone=0.9,
            profile=EVEN,
        )
        ax, ay = heading(360 * k / spokes + 8 + 62)
        cx, cy = x + dx * r * 1.04, y + dy * r * 1.04
        half, thick = r * 0.12, r * 0.042
        bucket = [
            (cx + ax * half - dx * thick, cy + ay * half - dy * thick),
            (cx + ax * half + dx * thick, cy + ay * half + dy * thick),
            (cx - ax * half + dx * thick, cy - ay * half + dy * thick),
            (cx - ax * half - dx * thick, cy - ay * half - dy * thick),
        ]
        _box(pen, bucket, 1.8)
    hub = ring(x, y, r * 0.07, r * 0.07)
    pen.cover(hub)
    pen.area(hub, tone=0.9)


def lute(pen: Pen, x: float, y: float, size: float, strings: int) -> None:
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
        px, py = f.at(-0.38 + 0.72 * k / 12, -0.080)
        pen.stroke(((px - 1.4, py), (px + 1.4, py)), 3.2, tone=0.95, profile=EVEN)


def bed(pen: Pen, x: float, foot: float, wide: float) -> None:
    """A low couch with a screen behind."""
    f = Frame(x, foot, wide)
    _box(pen, f((-0.52, -0.26), (-0.52, -0.62), (0.40, -0.62), (0.40, -0.26)), 2.2)
    for px in (-0.22, 0.10):
        pen.stroke(f((px, -0.26), (px, -0.62)), 1.6, tone=0.8, profile=EVEN)
    _box(pen, f((-0.58, -0.12), (-0.48, -0.28), (0.46, -0.28), (0.58, -0.12)), 2.2)
    _box(pen, f((-0.58, -0.06), (-0.58, -0.12), (0.58, -0.12), (0.58, -0.06)), 2.0)
    for px in (-0.54, 0.50):
        _box(pen, f((px, 0.0), (px, -0.06), (px + 0.05, -0.06), (px + 0.05, 0.0)), 1.8)
