"""People with robe, head, hat and what they hold; large ones have faces."""

from __future__ import annotations

from typing import Literal, NamedTuple

from keju.items import Point
from keju_synthetic.pictures.clothing import HATS, Hat, Held, draw_held_fan, draw_held_pole
from keju_synthetic.pictures.pens import (
    EVEN,
    INK,
    NAIL,
    TAPER,
    THREAD,
    Colour,
    Frame,
    Pen,
    make_ellipse,
    smooth,
)


class Person(NamedTuple):
    """The look of a person.

    `beard` is its length in heads, `robe` a wash for it (None leaves it bare), `armour` puts
    scales over chest and skirt, `monkey` gives an ape's face, `sash` blows a ribbon from behind.
    """

    hat: Hat = "cloth"
    held: Held = "nothing"
    beard: float = 0.0
    robe: Colour | None = None
    armour: bool = False
    monkey: bool = False
    sash: bool = False
    arms: Literal["folded", "holding", "raised"] = "folded"


def draw_person(
    pen: Pen, x: float, foot: float, high: float, who: Person, *, flip: bool = False
) -> None:
    """A standing figure, `high` from shoes to crown, turned a little to the right."""
    f = Frame(x, foot, high, flip=flip)
    w = 0.9 + high * 0.0052
    if who.sash:
        for dy in (0.0, 0.06):
            pen.stroke(
                f(
                    (-0.10, -0.74 + dy),
                    (-0.32, -0.86 + dy),
                    (-0.40, -0.66 + dy),
                    (-0.55, -0.70 + dy),
                ),
                w * 1.5,
                tone=0.8,
                profile=THREAD,
            )
    if who.held in {"blade", "halberd", "cudgel", "staff", "hoe"}:
        draw_held_pole(pen, f, who.held, w)
    _draw_shoes(pen, f, w)
    if who.arms == "raised":
        _draw_sleeve(
            pen,
            f,
            (
                (-0.11, -0.72),
                (-0.20, -0.82),
                (-0.25, -0.98),
                (-0.16, -1.01),
                (-0.10, -0.88),
                (-0.03, -0.78),
            ),
            who,
            w,
        )
        _draw_hand(pen, f.place(-0.215, -1.03), f.scale(0.038), w)
    else:
        _draw_sleeve(
            pen,
            f,
            ((-0.10, -0.77), (-0.21, -0.62), (-0.22, -0.44), (-0.12, -0.40), (-0.02, -0.52)),
            who,
            w,
        )
    _draw_robe(pen, f, who, w)
    if who.arms == "folded":
        _draw_sleeve(
            pen,
            f,
            (
                (0.09, -0.77),
                (0.19, -0.62),
                (0.14, -0.36),
                (0.02, -0.38),
                (-0.02, -0.56),
                (0.05, -0.62),
            ),
            who,
            w,
        )
        hand = f.place(0.00, -0.55)
    else:
        _draw_sleeve(
            pen,
            f,
            (
                (0.09, -0.77),
                (0.21, -0.66),
                (0.26, -0.52),
                (0.20, -0.38),
                (0.12, -0.44),
                (0.06, -0.60),
            ),
            who,
            w,
        )
        hand = f.place(0.265, -0.555)
    _draw_hand(pen, hand, f.scale(0.030), w)
    if who.held in {"palmleaf", "feathers"}:
        draw_held_fan(pen, f, who.held, w)
    _draw_head(pen, f, who, w)


def _draw_robe(pen: Pen, f: Frame, who: Person, w: float) -> None:
    body = (
        smooth(f((-0.045, -0.80), (-0.12, -0.76), (-0.125, -0.55), (-0.16, -0.30), (-0.21, -0.035)))
        + smooth(f((-0.21, -0.035), (-0.05, -0.02), (0.10, -0.045), (0.21, -0.03)))
        + smooth(f((0.21, -0.03), (0.155, -0.30), (0.115, -0.55), (0.115, -0.76), (0.045, -0.80)))
    )
    pen.cover(body)
    if who.robe is not None:
        pen.tint(body, tone=0.75, colour=who.robe, soft=0.8)
    pen.stroke([*body, body[0]], w * 1.25, tone=0.85, profile=(0.9, 1.2, 0.7, 1.2, 0.8))
    pen.stroke(f((-0.045, -0.80), (0.03, -0.66), (0.06, -0.52)), w * 1.4, tone=0.85)
    pen.stroke(f((0.045, -0.80), (0.0, -0.70), (-0.05, -0.60)), w * 1.2, tone=0.8)
    pen.stroke(f((-0.128, -0.505), (0.0, -0.485), (0.118, -0.51)), w * 2.6, tone=0.9, profile=EVEN)
    pen.stroke(f((0.0, -0.48), (0.02, -0.30), (-0.01, -0.16)), w * 1.6, tone=0.8, profile=THREAD)
    pen.stroke(f((0.025, -0.48), (0.055, -0.32), (0.045, -0.20)), w * 1.3, tone=0.8, profile=THREAD)
    for px, reach, bow in (
        (-0.10, 0.34, -0.05),
        (-0.055, 0.40, -0.035),
        (0.075, 0.36, 0.04),
        (0.105, 0.28, 0.03),
    ):
        pen.stroke(
            f((px, -0.46), (px + bow * 0.7, -0.46 + reach * 0.55), (px + bow * 1.6, -0.46 + reach)),
            w,
            tone=0.7,
            profile=NAIL,
        )
    pen.stroke(
        f((-0.195, -0.075), (-0.04, -0.06), (0.10, -0.085), (0.195, -0.07)),
        w,
        tone=0.7,
        profile=EVEN,
    )
    if who.armour:
        for row in range(4):
            for k in range(5):
                sx, sy = -0.085 + 0.042 * k + 0.02 * (row % 2), -0.74 + 0.055 * row
                pen.stroke(
                    f((sx - 0.02, sy), (sx, sy + 0.03), (sx + 0.02, sy)),
                    w * 0.8,
                    tone=0.75,
                    profile=EVEN,
                )
        for row in range(3):
            for k in range(6):
                sx, sy = -0.12 + 0.048 * k + 0.02 * (row % 2), -0.42 + 0.05 * row
                pen.stroke(
                    f((sx - 0.022, sy), (sx, sy + 0.032), (sx + 0.022, sy)),
                    w * 0.8,
                    tone=0.75,
                    profile=EVEN,
                )


def _draw_sleeve(pen: Pen, f: Frame, plan: tuple[Point, ...], who: Person, w: float) -> None:
    outline = smooth(f(*plan), closed=True)
    pen.cover(outline)
    if who.robe is not None:
        pen.tint(outline, tone=0.75, colour=who.robe, soft=0.8)
    pen.stroke([*outline, outline[0]], w * 1.2, tone=0.85, profile=(0.9, 1.2, 0.7, 1.1, 0.9))
    (ax, ay), (bx, by) = plan[1], plan[3]
    pen.stroke(
        f((ax * 0.85, ay + 0.02), ((ax + bx) / 2 * 0.95, (ay + by) / 2), (bx * 1.05, by - 0.04)),
        w,
        tone=0.7,
        profile=NAIL,
    )
    pen.stroke(
        f((ax * 0.7, ay + 0.05), ((ax + bx) / 2 * 0.8, (ay + by) / 2 + 0.02)),
        w,
        tone=0.7,
        profile=NAIL,
    )


def _draw_hand(pen: Pen, at: Point, r: float, w: float) -> None:
    palm = make_ellipse(at[0], at[1], r * 1.1, r * 0.9)
    pen.cover(palm)
    pen.stroke([*palm, palm[0]], w, tone=0.8, profile=EVEN)
    for k in (-0.4, 0.1, 0.6):
        pen.stroke(
            ((at[0] + r * 0.1, at[1] + r * k), (at[0] + r, at[1] + r * k)),
            w * 0.7,
            tone=0.7,
            profile=EVEN,
        )


def _draw_shoes(pen: Pen, f: Frame, w: float) -> None:
    for px in (-0.085, 0.10):
        shoe = smooth(
            f(
                (px - 0.05, -0.06),
                (px - 0.05, 0.0),
                (px + 0.08, 0.0),
                (px + 0.095, -0.035),
                (px + 0.03, -0.06),
            ),
            closed=True,
        )
        pen.cover(shoe)
        pen.tint(shoe, tone=0.85)
        pen.stroke([*shoe, shoe[0]], w, tone=0.85, profile=EVEN)


def _draw_head(pen: Pen, f: Frame, who: Person, w: float) -> None:
    face = smooth(
        f(
            (-0.062, -0.90),
            (-0.058, -0.845),
            (-0.02, -0.795),
            (0.025, -0.795),
            (0.060, -0.84),
            (0.064, -0.90),
            (0.04, -0.955),
            (-0.035, -0.955),
        ),
        closed=True,
    )
    if who.hat != "monk" and not who.monkey:
        pen.tint(
            f((-0.068, -0.90), (-0.055, -0.97), (0.0, -0.99), (0.055, -0.97), (0.064, -0.91)),
            tone=0.9,
        )
    pen.cover(face)
    pen.stroke([*face, face[0]], w * 1.1, tone=0.85, profile=EVEN)
    if f.scale(0.06) >= 5:
        _draw_face(pen, f, who, w)
    HATS[who.hat](pen, f, w)


def _draw_face(pen: Pen, f: Frame, who: Person, w: float) -> None:
    if who.monkey:
        mask = smooth(
            f(
                (-0.03, -0.925),
                (0.015, -0.905),
                (0.055, -0.925),
                (0.058, -0.88),
                (0.035, -0.83),
                (0.0, -0.83),
                (-0.02, -0.875),
            ),
            closed=True,
        )
        pen.stroke([*mask, mask[0]], w, tone=0.8, profile=EVEN)
        for k in range(7):
            pen.stroke(
                f((-0.055 + 0.004 * k, -0.86 + 0.010 * k), (-0.085, -0.85 + 0.012 * k)),
                w,
                tone=0.7,
                profile=NAIL,
            )
    for px in (-0.012, 0.038):
        pen.stroke(
            f((px - 0.016, -0.892), (px, -0.900), (px + 0.014, -0.893)),
            w * 1.2,
            tone=0.9,
            profile=EVEN,
        )
        pen.stroke(f((px - 0.003, -0.894), (px + 0.004, -0.892)), w * 1.7, tone=1.0, profile=EVEN)
        pen.stroke(f((px - 0.020, -0.912), (px, -0.924), (px + 0.018, -0.914)), w * 1.5, tone=0.9)
    pen.stroke(
        f((0.020, -0.895), (0.027, -0.866), (0.012, -0.860)), w * 0.9, tone=0.8, profile=EVEN
    )
    pen.stroke(
        f((0.0, -0.835), (0.016, -0.832), (0.032, -0.836)), w * 1.2, tone=0.9, profile=THREAD
    )
    ear = f.place(-0.064, -0.88)
    pen.stroke(
        [*make_ellipse(*ear, f.scale(0.010), f.scale(0.020))], w * 0.9, tone=0.8, profile=EVEN
    )
    if who.beard > 0:
        reach = 0.16 * who.beard
        for k in range(7):
            px = -0.030 + 0.010 * k
            pen.stroke(
                f(
                    (px, -0.805),
                    (px * 1.1 + 0.004, -0.805 + reach * 0.5),
                    (px * 0.7, -0.805 + reach * (1 - 0.09 * abs(k - 3))),
                ),
                w * 1.1,
                tone=0.85,
                profile=TAPER,
            )
        for side in (-1, 1):
            pen.stroke(
                f(
                    (0.016 + side * 0.006, -0.846),
                    (0.016 + side * 0.036, -0.838),
                    (0.016 + side * 0.044, -0.805 + reach * 0.3),
                ),
                w,
                tone=0.85,
            )


def draw_seated_person(
    pen: Pen,
    x: float,
    y: float,
    size: float,
    *,
    hat: Hat = "cloth",
    flip: bool = False,
    robe: Colour | None = None,
) -> None:
    """A person seated on the ground or in a boat, `size` high, seen small."""
    f = Frame(x, y, size, flip=flip)
    w = 0.9 + size * 0.008
    body = smooth(
        f(
            (-0.10, -0.66),
            (-0.26, -0.46),
            (-0.34, -0.06),
            (-0.10, 0.0),
            (0.28, 0.0),
            (0.42, -0.10),
            (0.22, -0.36),
            (0.12, -0.64),
        ),
        closed=True,
    )
    pen.cover(body)
    pen.tint(body, tone=0.22 if robe is None else 0.7, colour=robe or INK, soft=0.8)
    pen.stroke([*body, body[0]], w * 1.3, tone=0.85, profile=EVEN)
    sleeve = smooth(f((-0.06, -0.60), (-0.20, -0.38), (-0.06, -0.20), (0.20, -0.22), (0.24, -0.32)))
    pen.stroke(sleeve, w * 1.2, tone=0.8, profile=EVEN)
    for fold in (
        ((-0.02, -0.64), (0.08, -0.50), (0.10, -0.42)),
        ((-0.28, -0.10), (0.0, -0.12), (0.30, -0.08)),
        ((-0.10, -0.52), (-0.10, -0.40), (0.0, -0.30)),
        ((0.12, -0.18), (0.30, -0.16), (0.38, -0.10)),
    ):
        pen.stroke(f(*fold), w, tone=0.8)
    _draw_hand(pen, f.place(0.25, -0.27), f.scale(0.045), w * 0.8)
    g = Frame(*f.place(0.0, 0.95), size * 1.75, flip=flip)
    _draw_head(pen, g, Person(hat=hat), w)


def draw_rod(
    pen: Pen, x: float, y: float, reach: float, drop: float, *, flip: bool = False
) -> None:
    """A fishing rod from the hand at (x, y), and its line."""
    way = -1 if flip else 1
    tip = (x + way * reach, y - reach * 0.28)
    pen.stroke(
        ((x, y), (x + way * reach * 0.5, y - reach * 0.20), tip), 1.6, tone=0.85, profile=NAIL
    )
    pen.stroke((tip, (tip[0] + way * 2, tip[1] + drop)), 0.9, tone=0.6, profile=EVEN)
