"""Ornaments as flat masks, white where raised or painted: bands that run around a vessel.

Every pattern fills a rectangle of a mask and is repeated across it, `times` times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PIL import Image, ImageDraw

from keju.items import Point
from keju_synthetic.page_layout import Rect
from keju_synthetic.relics.solids import smooth

Pattern = Callable[[Image.Image, Rect, int], None]
"""Draws itself into a rectangle of a mask; the number is how often it is repeated across."""


def _draw_curve(
    mask: Image.Image, points: Sequence[Point], width: float, ink: int = 255, rounds: int = 3
) -> None:
    pen = ImageDraw.Draw(mask)
    chain = smooth(points, rounds)
    pen.line(chain, fill=ink, width=max(1, round(width)), joint="curve")
    half = width / 2
    for x, y in (chain[0], chain[-1]):
        pen.ellipse((x - half, y - half, x + half, y + half), fill=ink)


def _divide_into_cells(rect: Rect, count: int) -> list[Rect]:
    wide = (rect.x1 - rect.x0) / count
    return [
        Rect(rect.x0 + wide * n, rect.y0, rect.x0 + wide * (n + 1), rect.y1) for n in range(count)
    ]


def _place_points(cell: Rect, points: Sequence[Point], *, mirror: bool = False) -> list[Point]:
    """Points of the unit square in a cell."""
    wide, high = cell.x1 - cell.x0, cell.y1 - cell.y0
    return [(cell.x0 + wide * ((1 - x) if mirror else x), cell.y0 + high * y) for x, y in points]


def _draw_spirals(mask: Image.Image, rect: Rect, count: int) -> None:
    """Squared spirals (雷紋) as a ground; `count` in the height."""
    side = (rect.y1 - rect.y0) / max(1, count)
    pen = ImageDraw.Draw(mask)
    y = rect.y0
    while y < rect.y1 - side * 0.3:
        x = rect.x0
        while x < rect.x1:
            points = [(0.06, 0.9), (0.06, 0.06), (0.94, 0.06), (0.94, 0.9), (0.30, 0.9),
                      (0.30, 0.32), (0.70, 0.32), (0.70, 0.64), (0.50, 0.64)]  # fmt: skip
            cell = Rect(x, y, x + side, y + side)
            pen.line(_place_points(cell, points), fill=185, width=max(1, round(side * 0.11)))
            x += side
        y += side


_MASK_LINES: tuple[tuple[tuple[Point, ...], float], ...] = (
    (((0.50, 0.34), (0.66, 0.10), (0.86, 0.06), (0.96, 0.22), (0.90, 0.38), (0.80, 0.34)), 0.085),
    (((0.54, 0.62), (0.70, 0.72), (0.90, 0.66), (0.97, 0.52)), 0.075),
    (((0.52, 0.92), (0.62, 0.84), (0.60, 0.70)), 0.07),
    (((0.66, 0.94), (0.80, 0.96), (0.86, 0.84), (0.76, 0.80)), 0.07),
    (((0.92, 0.94), (0.98, 0.80), (0.92, 0.70)), 0.05),
    (((0.52, 0.44), (0.56, 0.56)), 0.06),
)
"""Right half of an animal mask: horn, jaw, fang, claw, tail, nose."""


def _draw_taotie(mask: Image.Image, rect: Rect, count: int) -> None:
    """Animal masks (饕餮紋) over a ground of spirals."""
    _draw_spirals(mask, rect, 5)
    pen = ImageDraw.Draw(mask)
    for cell in _divide_into_cells(rect, count):
        wide, high = cell.x1 - cell.x0, cell.y1 - cell.y0
        for mirror in (False, True):
            for line, thick in _MASK_LINES:
                points = _place_points(cell, line, mirror=mirror)
                _draw_curve(mask, points, thick * high * 1.7, 0)
                _draw_curve(mask, points, thick * high * 1.15)
            x = cell.x0 + wide * (0.27 if mirror else 0.73)
            y = cell.y0 + high * 0.50
            for size, ink in ((0.13, 0), (0.105, 255), (0.045, 90)):
                a, b = size * high * 1.35, size * high
                pen.ellipse((x - a, y - b, x + a, y + b), fill=ink)
        middle = (cell.x0 + cell.x1) / 2
        pen.rectangle((middle - wide * 0.022, cell.y0, middle + wide * 0.022, cell.y1), fill=255)
        pen.rectangle((cell.x0, cell.y0, cell.x0 + wide * 0.02, cell.y1), fill=235)
        pen.rectangle((cell.x1 - wide * 0.02, cell.y0, cell.x1, cell.y1), fill=235)


def _draw_strings(mask: Image.Image, rect: Rect, count: int) -> None:
    """Raised strings (弦紋) around the vessel."""
    pen = ImageDraw.Draw(mask)
    step = (rect.y1 - rect.y0) / count
    for number in range(count):
        y = rect.y0 + step * (number + 0.5)
        pen.rectangle((rect.x0, y - step * 0.18, rect.x1, y + step * 0.18), fill=255)


def _draw_waves(mask: Image.Image, rect: Rect, count: int) -> None:
    """A broad wave (波曲紋) with motifs in its hollows."""
    high = rect.y1 - rect.y0
    cells = _divide_into_cells(rect, count)
    points: list[Point] = []
    for cell in cells:
        points += _place_points(cell, [(0.0, 0.82), (0.25, 0.80), (0.30, 0.16), (0.50, 0.14),
                                       (0.70, 0.16), (0.75, 0.80), (1.0, 0.82)])  # fmt: skip
    for shift, thick in ((-0.10, 0.05), (0.0, 0.09), (0.10, 0.05)):
        _draw_curve(mask, [(x, y + shift * high) for x, y in points], thick * high)
    for cell in cells:
        for x, y in ((0.5, 0.55), (0.0, 0.32), (1.0, 0.32)):
            at = _place_points(cell, [(x - 0.10, y - 0.08), (x, y + 0.10), (x + 0.10, y - 0.08)])
            _draw_curve(mask, at, high * 0.06)


def _draw_hooks(mask: Image.Image, rect: Rect, count: int) -> None:
    """A row of bent hooks (竊曲紋)."""
    high = rect.y1 - rect.y0
    for number, cell in enumerate(_divide_into_cells(rect, count)):
        hook = [(0.12, 0.80), (0.12, 0.25), (0.55, 0.18), (0.88, 0.30), (0.86, 0.78), (0.55, 0.84),
                (0.45, 0.56)]  # fmt: skip
        _draw_curve(mask, _place_points(cell, hook, mirror=bool(number % 2)), high * 0.15)


def _draw_bosses(mask: Image.Image, rect: Rect, count: int) -> None:
    """Rows of knobs."""
    pen = ImageDraw.Draw(mask)
    side = (rect.x1 - rect.x0) / count
    rows = max(1, round((rect.y1 - rect.y0) / side))
    for row in range(rows):
        for column in range(count):
            x = rect.x0 + side * (column + 0.5)
            y = rect.y0 + (rect.y1 - rect.y0) * (row + 0.5) / rows
            for part, ink in ((0.36, 150), (0.27, 205), (0.15, 255)):
                r = side * part
                pen.ellipse((x - r, y - r, x + r, y + r), fill=ink)


def _draw_plain(mask: Image.Image, rect: Rect, _: int) -> None:
    """A band of one colour."""
    ImageDraw.Draw(mask).rectangle((rect.x0, rect.y0, rect.x1, rect.y1), fill=255)


def _draw_peonies(mask: Image.Image, rect: Rect, count: int) -> None:
    """A running stem with flowers above and below by turns (纏枝花)."""
    high = rect.y1 - rect.y0
    cells = _divide_into_cells(rect, count)
    stem: list[Point] = []
    for number, cell in enumerate(cells):
        low = 0.94 if number % 2 else 0.06
        stem += _place_points(cell, [(0.0, 0.5), (0.10, (0.5 + low) / 2), (0.30, low), (0.70, low),
                                     (0.90, (0.5 + low) / 2), (1.0, 0.5)])  # fmt: skip
    _draw_curve(mask, stem, high * 0.022)
    for number, cell in enumerate(cells):
        wide = cell.x1 - cell.x0
        level = 0.42 if number % 2 else 0.58
        for x, y in ((0.02, 0.30), (0.02, 0.70), (0.20, level), (0.80, level), (0.98, 0.5),
                     (0.30, 0.86 if number % 2 else 0.14), (0.70, 0.86 if number % 2 else 0.14),
                     (0.16, 0.90), (0.84, 0.10), (0.84, 0.90), (0.16, 0.10)):  # fmt: skip
            at = (cell.x0 + wide * x, rect.y0 + high * y)
            _draw_leaf(mask, *at, high * 0.12, x < 0.5)
        _draw_flower(mask, (cell.x0 + cell.x1) / 2, rect.y0 + high * level, min(wide, high) * 0.33)


def _draw_flower(mask: Image.Image, x: float, y: float, size: float) -> None:
    """Petals in two rings around a heart; a rim of white is left between them."""
    pen = ImageDraw.Draw(mask)
    ring = ((1.0, 0.0), (0.707, 0.707), (0.0, 1.0), (-0.707, 0.707), (-1.0, 0.0),
            (-0.707, -0.707), (0.0, -1.0), (0.707, -0.707))  # fmt: skip
    for far, big in ((0.78, 0.40), (0.40, 0.30)):
        for dx, dy in ring:
            px, py, r = x + dx * far * size, y + dy * far * size, big * size
            pen.ellipse((px - r * 1.16, py - r * 1.16, px + r * 1.16, py + r * 1.16), fill=0)
            pen.ellipse((px - r, py - r, px + r, py + r), fill=150)
            pen.arc(
                (px - r, py - r, px + r, py + r), 0, 360, fill=255, width=max(1, round(r * 0.2))
            )
    r = size * 0.2
    pen.ellipse((x - r, y - r, x + r, y + r), fill=255)


def _draw_leaf(mask: Image.Image, x: float, y: float, size: float, left: bool) -> None:
    way = -1 if left else 1
    shape = [(x - way * size, y + size * 0.3), (x - way * size * 0.2, y - size * 0.45),
             (x + way * size, y - size * 0.2), (x + way * size * 0.1, y + size * 0.5)]  # fmt: skip
    ImageDraw.Draw(mask).polygon(smooth([*shape, shape[0]], 3), fill=215)


def _draw_lappets(mask: Image.Image, rect: Rect, count: int) -> None:
    """Upright petals (蓮瓣), each with an inner one."""
    for cell in _divide_into_cells(rect, count):
        for part, ink in ((1.0, 255), (0.80, 0), (0.52, 170)):
            low, top = 0.5 - 0.46 * part, 1 - 0.96 * part
            petal = [(low, 1.0), (low, 0.34 + top * 0.7), (0.5 - 0.1 * part, top + 0.08),
                     (0.5, top), (0.5 + 0.1 * part, top + 0.08), (1 - low, 0.34 + top * 0.7),
                     (1 - low, 1.0)]  # fmt: skip
            ImageDraw.Draw(mask).polygon(smooth(_place_points(cell, petal), 2), fill=ink)


def _draw_plantain(mask: Image.Image, rect: Rect, count: int) -> None:
    """Tall pointed leaves (蕉葉) with a rib."""
    for cell in _divide_into_cells(rect, count):
        leaf = [(0.04, 1.0), (0.12, 0.45), (0.5, 0.02), (0.88, 0.45), (0.96, 1.0)]
        inner = [(0.20, 1.0), (0.26, 0.52), (0.5, 0.18), (0.74, 0.52), (0.80, 1.0)]
        pen = ImageDraw.Draw(mask)
        pen.polygon(smooth(_place_points(cell, leaf), 2), fill=235)
        pen.polygon(smooth(_place_points(cell, inner), 2), fill=70)
        wide = cell.x1 - cell.x0
        pen.line(
            _place_points(cell, [(0.5, 0.2), (0.5, 1.0)]),
            fill=255,
            width=max(1, round(wide * 0.06)),
        )
        for y in (0.45, 0.6, 0.75, 0.9):
            for x in (0.27, 0.73):
                pen.line(_place_points(cell, [(0.5, y), (x, y - 0.10)]), fill=200,
                         width=max(1, round(wide * 0.035)))  # fmt: skip


def _draw_whirls(mask: Image.Image, rect: Rect, count: int) -> None:
    """Whirls joined by broad bands (漩渦紋), as Majiayao potters painted them."""
    high = rect.y1 - rect.y0
    cells = _divide_into_cells(rect, count)
    pen = ImageDraw.Draw(mask)
    for cell in cells:
        for shift in (-0.20, -0.07, 0.06, 0.19):
            arm = [(-0.5, 0.30 + shift), (-0.15, 0.10 + shift), (0.30, 0.30 + shift),
                   (0.50, 0.50 + shift * 0.4), (0.70, 0.70 + shift), (1.15, 0.90 + shift),
                   (1.5, 0.70 + shift)]  # fmt: skip
            _draw_curve(mask, _place_points(cell, arm), high * 0.050)
    for cell in cells:
        x, y = (cell.x0 + cell.x1) / 2, (cell.y0 + cell.y1) / 2
        for part, ink in ((0.30, 0), (0.265, 255), (0.215, 0), (0.175, 255), (0.125, 0),
                          (0.060, 255)):  # fmt: skip
            r = high * part
            pen.ellipse((x - r, y - r, x + r, y + r), fill=ink)


def _draw_net(mask: Image.Image, rect: Rect, count: int) -> None:
    """Crossed lines between two bands."""
    high = rect.y1 - rect.y0
    pen = ImageDraw.Draw(mask)
    step = (rect.x1 - rect.x0) / (count * 4)
    x = rect.x0 - high
    while x < rect.x1:
        wide = max(1, round(step * 0.22))
        pen.line([(x, rect.y0), (x + high, rect.y1)], fill=255, width=wide)
        pen.line([(x + high, rect.y0), (x, rect.y1)], fill=255, width=wide)
        x += step
    for y in (rect.y0, rect.y1):
        pen.rectangle((rect.x0, y - high * 0.05, rect.x1, y + high * 0.05), fill=255)


def _draw_flanges(mask: Image.Image, rect: Rect, count: int) -> None:
    """Notched ridges on the wall (扉棱)."""
    pen = ImageDraw.Draw(mask)
    wide = (rect.x1 - rect.x0) * 0.012
    for cell in _divide_into_cells(rect, count):
        x = (cell.x0 + cell.x1) / 2
        y = rect.y0
        step = (rect.y1 - rect.y0) / 9
        while y < rect.y1:
            pen.rectangle((x - wide, y, x + wide, y + step * 0.8), fill=255)
            y += step


def _draw_cong_faces(mask: Image.Image, rect: Rect, count: int) -> None:
    """Small faces of Liangzhu jades: bundles of lines, two ringed eyes and a bar of a nose."""
    pen = ImageDraw.Draw(mask)
    for cell in _divide_into_cells(rect, count):
        wide, high = cell.x1 - cell.x0, cell.y1 - cell.y0
        pen.rectangle((cell.x0, cell.y0, cell.x1, cell.y1), fill=150)
        for top in (0.05, 0.22):
            for line in range(4):
                y = cell.y0 + high * (top + 0.035 * line)
                pen.line([(cell.x0, y), (cell.x1, y)], fill=60, width=max(1, round(high * 0.012)))
        for x in (0.27, 0.73):
            px, py = cell.x0 + wide * x, cell.y0 + high * 0.55
            for part, ink in ((0.12, 250), (0.085, 70), (0.06, 220), (0.025, 60)):
                pen.ellipse((px - high * part, py - high * part, px + high * part,
                             py + high * part), fill=ink)  # fmt: skip
        pen.rounded_rectangle(
            (cell.x0 + wide * 0.36, cell.y0 + high * 0.76, cell.x0 + wide * 0.64,
             cell.y0 + high * 0.90), high * 0.05, fill=255,
        )  # fmt: skip


def _draw_groove(mask: Image.Image, rect: Rect, _: int) -> None:
    """A sunken band."""
    ImageDraw.Draw(mask).rectangle((rect.x0, rect.y0, rect.x1, rect.y1), fill=40)


PATTERNS: Mapping[str, Pattern] = {
    "taotie": _draw_taotie,
    "spirals": _draw_spirals,
    "strings": _draw_strings,
    "waves": _draw_waves,
    "hooks": _draw_hooks,
    "bosses": _draw_bosses,
    "plain": _draw_plain,
    "peonies": _draw_peonies,
    "lappets": _draw_lappets,
    "plantain": _draw_plantain,
    "whirls": _draw_whirls,
    "net": _draw_net,
    "flanges": _draw_flanges,
    "cong": _draw_cong_faces,
    "groove": _draw_groove,
}
"""The ornaments by the name that shapes call them."""
