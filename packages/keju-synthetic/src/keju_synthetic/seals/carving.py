"""Carving of seals: outline, border and legend as a clean mask, in the usual layouts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from msgspec import Meta
from PIL import Image, ImageDraw

from keju.errors import DataError
from keju.items import Point, Record
from keju.messages import message
from keju_synthetic.noise import make_noise, ramp, to_image, to_plane
from keju_synthetic.page_layout import Rect
from keju_synthetic.seals.seal_script import Figure, SealScript, Stroke, load_seal_script

Style = Literal["zhuwen", "baiwen", "mixed"]
"""Red characters, white characters on red, or white in the first column and red in the others."""

Shape = Literal["square", "tall", "round", "oval", "gourd", "twin", "irregular"]
"""Outline of a seal; ``twin`` is two small squares, one under the other (連珠)."""

Order = Literal["columns", "turning"]
"""Columns from right to left, or 回文: upper right, upper left, lower left, lower right."""

ASPECT: dict[Shape, float] = {
    "square": 1.0, "tall": 0.52, "round": 1.0, "oval": 0.74, "gourd": 0.66, "twin": 0.46,
    "irregular": 0.8,
}  # fmt: skip
"""Width of each outline in heights."""

_OVERSIZE = 3
_MOST = 12


class SealDesign(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The design of a seal.

    `legend` is in reading order; `columns` is the number of characters in each column from the
    right (empty: as even as possible). `soft` in 0..1 rounds the corners of strokes, `weight`
    is the stroke's width in stroke distances, `worn` in 0..1 how far border and strokes are broken.
    """

    legend: str
    style: Style = "zhuwen"
    shape: Shape = "square"
    order: Order = "columns"
    columns: tuple[int, ...] = ()
    soft: Annotated[float, Meta(ge=0, le=1)] = 0.35
    weight: Annotated[float, Meta(gt=0, le=1)] = 0.42
    worn: Annotated[float, Meta(ge=0, le=1)] = 0.3


class CharacterCell(NamedTuple):
    """A character and its place, in parts of the field (0..1 both ways)."""

    sign: str
    column: int
    place: Rect


def count_columns(cut: SealDesign) -> tuple[int, ...]:
    """Characters in each column, from the right.

    Raises:
        DataError: the counts don't add up to the legend, or the order does not fit them.
    """
    count = len(cut.legend)
    if not 1 <= count <= _MOST:
        problem = message("synthetic.legend-length", count=count, most=_MOST)
        raise DataError(problem, item=cut.legend)
    given = cut.columns or _divide_evenly(count, cut.shape)
    if sum(given) != count or min(given) < 1:
        problem = message("synthetic.columns-of-legend", columns=list(given), count=count)
        raise DataError(problem, item=cut.legend)
    if cut.order == "turning" and given != (2, 2):
        raise DataError(message("synthetic.turning-legend"), item=cut.legend)
    return tuple(given)


def _divide_evenly(count: int, shape: Shape) -> tuple[int, ...]:
    slender = shape in {"tall", "gourd", "twin"}
    if (slender and count <= 4) or count <= 2:
        return (count,)
    columns = 2 if slender else math.ceil(math.sqrt(count) - 0.3)
    rows = math.ceil(count / columns)
    return tuple(min(rows, count - rows * place) for place in range(columns))


def place_characters(cut: SealDesign, script: SealScript) -> list[CharacterCell]:
    """The cells of all characters, in reading order.

    Columns go from right to left; a character that needs more strokes gets more of its column.
    """
    counts = count_columns(cut)
    signs = cut.legend
    if cut.order == "turning":
        signs = signs[0] + signs[3] + signs[1] + signs[2]
    columns, start = [], 0
    for count in counts:
        columns.append(signs[start : start + count])
        start += count
    figures = {sign: script.build_figure(sign) for sign in signs}
    wide = _compute_shares(
        [max(figures[sign].width for sign in column) for column in columns], 0.35
    )
    found, right = [], 1.0
    for number, (column, share) in enumerate(zip(columns, wide, strict=True)):
        left, top = right - share, 0.0
        even = 0.0 if cut.shape in {"gourd", "twin"} else 0.75
        for sign, high in zip(column, _compute_shares([figures[s].height for s in column], even),
                              strict=True):  # fmt: skip
            found.append(CharacterCell(sign, number, Rect(left, top, right, top + high)))
            top += high
        right = left
    if cut.order == "turning":
        return [found[0], found[2], found[3], found[1]]
    return found


def _compute_shares(sizes: Sequence[float], bend: float) -> list[float]:
    """Parts of 1: even where `bend` is 0, as the sizes (and some room) are where it is 1."""
    whole = sum(size + 3 for size in sizes)
    return [bend * (size + 3) / whole + (1 - bend) / len(sizes) for size in sizes]


def carve_seal(cut: SealDesign, height: int, rng: np.random.Generator) -> Image.Image:
    """Carve a seal.

    Args:
        cut: the design.
        height: of the mask in pixels; its width follows from the outline.
        rng: the random generator.

    Returns:
        A mask, white where there is paste.

    Raises:
        DataError: a character has no model, or the layout does not fit the legend.
    """
    script = load_seal_script()
    missing = script.find_missing(cut.legend)
    if missing:
        raise DataError(
            message("synthetic.seal-script-missing", characters=missing), item=cut.legend
        )
    high = height * _OVERSIZE
    canvas = _Canvas(round(high * ASPECT[cut.shape]), high, cut, rng)
    placed = place_characters(cut, script)
    if cut.shape in {"gourd", "twin"} and len(count_columns(cut)) == 1:
        canvas.carve_each(placed, script)
    else:
        canvas.carve_whole(placed, script)
    size = (round(height * ASPECT[cut.shape]), height)
    return _chip_mask(canvas.image.resize(size, Image.Resampling.BOX), cut.worn, rng)


Warp = Callable[[float, float], Point]


class _Canvas:
    """The mask during carving, in pixels of the oversized image."""

    def __init__(self, width: int, height: int, cut: SealDesign, rng: np.random.Generator) -> None:
        self.image = Image.new("L", (width, height), 0)
        self._pen = ImageDraw.Draw(self.image)
        self._cut = cut
        self._rng = rng

    def carve_whole(self, placed: list[CharacterCell], script: SealScript) -> None:
        """One outline around the whole legend."""
        width, height = self.image.size
        bend = {"round": 1.0, "oval": 1.0, "irregular": 0.5}.get(self._cut.shape, 0.0)
        outline = Rect(0, 0, width - 1, height - 1)
        self._carve_part(outline, bend, placed, script)

    def carve_each(self, placed: list[CharacterCell], script: SealScript) -> None:
        """One outline a character: two squares, or the two bellies of a gourd."""
        width, height = self.image.size
        gourd = self._cut.shape == "gourd"
        step = height / len(placed)
        for number, cell in enumerate(placed):
            inset = width * 0.13 if gourd and number == 0 else 0.0
            top = step * number - (step * 0.06 if gourd and number else 0)
            gap = 0 if gourd else step * 0.04
            outline = Rect(inset, top + gap, width - 1 - inset, step * (number + 1) - gap - 1)
            alone = cell._replace(place=Rect(0, 0, 1, 1))
            self._carve_part(outline, 1.0 if gourd else 0.0, [alone], script)

    def _carve_part(
        self, outline: Rect, bend: float, placed: list[CharacterCell], script: SealScript
    ) -> None:
        side = min(outline.x1 - outline.x0, outline.y1 - outline.y0)
        white, mixed = self._cut.style == "baiwen", self._cut.style == "mixed"
        edge = side * (0.030 if not white else 0.055)
        ground = _make_warp(outline, bend, self._compute_wobble(side))
        # A legend bends less than a round border, and keeps away from it.
        field_of = _make_warp(
            _shrink(outline, 1 - 0.14 * bend), bend * 0.75, self._compute_wobble(side)
        )
        self._pen.polygon([ground(x, y) for x, y in _make_rim()], fill=255)
        if not white:
            within = Rect(outline.x0 + edge, outline.y0 + edge, outline.x1 - edge,
                          outline.y1 - edge)  # fmt: skip
            hollow = _make_warp(within, bend, self._compute_wobble(side))
            self._pen.polygon([hollow(x, y) for x, y in _make_rim()], fill=0)
        if mixed:
            first = max(cell.place.x1 - cell.place.x0 for cell in placed if cell.column == 0)
            split = [(1 - first, 0.0), (1.0, 0.0), (1.0, 1.0), (1 - first, 1.0)]
            self._pen.polygon([ground(x, y) for x, y in split], fill=255)
        pad = edge / side + (0.045 if not white else 0.03)
        figures = [(cell, script.build_figure(cell.sign)) for cell in placed]
        pitches = [_compute_pitch(cell, figure, outline) for cell, figure in figures]
        usual = sorted(pitches)[len(pitches) // 2] * self._cut.weight
        for (cell, figure), pitch in zip(figures, pitches, strict=True):
            red = not white and not (mixed and cell.column == 0)
            heavy = 1.0 if red else 1.25
            thick = max(side * 0.014, min(usual * heavy, pitch * 0.62))
            room = _shrink_cell(cell.place, pad, thick / side)
            for stroke in figure.fit(room):
                self._carve_stroke(stroke, field_of, thick, pitch, 255 if red else 0)

    def _compute_wobble(self, side: float) -> float:
        return side * (0.02 if self._cut.shape == "irregular" else 0.0)

    def _carve_stroke(
        self, stroke: Stroke, ground: Warp, thick: float, pitch: float, ink: int
    ) -> None:
        sway = pitch * 0.05
        shaky = [
            (x + (float(self._rng.random()) - 0.5) * sway, y + (float(self._rng.random()) - 0.5)
             * sway)
            for x, y in (ground(x, y) for x, y in _subdivide(stroke))
        ]  # fmt: skip
        if stroke[0] == stroke[-1]:
            shaky[-1] = shaky[0]
        points = _round_corners(shaky, self._cut.soft * pitch * 0.5, closed=stroke[0] == stroke[-1])
        width = max(1, round(thick * (0.92 + 0.16 * float(self._rng.random()))))
        self._pen.line(points, fill=ink, width=width, joint="curve")
        half = width / 2 - 0.5
        for x, y in (points[0], points[-1]):
            end = (x - half, y - half, x + half, y + half)
            (self._pen.ellipse if self._cut.soft > 0.2 else self._pen.rectangle)(end, fill=ink)


def _compute_pitch(cell: CharacterCell, figure: Figure, outline: Rect) -> float:
    """Pixels from stroke to stroke of a character in its cell."""
    wide = (cell.place.x1 - cell.place.x0) * (outline.x1 - outline.x0)
    high = (cell.place.y1 - cell.place.y0) * (outline.y1 - outline.y0)
    return min(wide / (figure.width + 2), high / (figure.height + 2))


def _shrink_cell(place: Rect, pad: float, thick: float) -> Rect:
    """The part of its cell that a character fills; there is more room at the border."""
    gap = thick * 0.5 + 0.028

    def low(value: float) -> float:
        return pad + thick * 0.5 if value < 0.001 else value + gap

    def high(value: float) -> float:
        return 1 - pad - thick * 0.5 if value > 0.999 else value - gap

    return Rect(low(place.x0), low(place.y0), high(place.x1), high(place.y1))


def _make_rim() -> list[Point]:
    """Points around the unit square."""
    steps = 24
    along = [step / steps for step in range(steps)]
    return (
        [(value, 0.0) for value in along]
        + [(1.0, value) for value in along]
        + [(1 - value, 1.0) for value in along]
        + [(0.0, 1 - value) for value in along]
    )


def _shrink(outline: Rect, part: float) -> Rect:
    x, y = (outline.x1 - outline.x0) * (1 - part) / 2, (outline.y1 - outline.y0) * (1 - part) / 2
    return Rect(outline.x0 + x, outline.y0 + y, outline.x1 - x, outline.y1 - y)


def _make_warp(outline: Rect, bend: float, wobble: float) -> Warp:
    """From the unit square to an outline: a rectangle at `bend` 0, an ellipse at 1."""
    half_x, half_y = (outline.x1 - outline.x0) / 2, (outline.y1 - outline.y0) / 2
    middle_x, middle_y = outline.x0 + half_x, outline.y0 + half_y

    def ground(x: float, y: float) -> Point:
        u, v = 2 * x - 1, 2 * y - 1
        across = u * math.sqrt(max(0.0, 1 - bend * v * v / 2))
        down = v * math.sqrt(max(0.0, 1 - bend * u * u / 2))
        lean = wobble * (v * v * v - 0.6 * v + 0.8 * u * v)
        sink = wobble * (0.7 * u * u - 0.5 * u - 0.4)
        return middle_x + across * half_x + lean, middle_y + down * (half_y - wobble) + sink

    return ground


def _subdivide(stroke: Stroke) -> list[Point]:
    """A stroke cut into short pieces, so that it can bend with its ground."""
    points = [stroke[0]]
    for (x0, y0), (x1, y1) in itertools.pairwise(stroke):
        pieces = max(1, math.ceil(max(abs(x1 - x0), abs(y1 - y0)) / 0.12))
        points += [
            (x0 + (x1 - x0) * step / pieces, y0 + (y1 - y0) * step / pieces)
            for step in range(1, pieces + 1)
        ]
    return points


def _round_corners(points: list[Point], radius: float, *, closed: bool) -> list[Point]:
    """A chain with its corners rounded by a curve of about that radius."""
    if closed:
        points = [*points[:-1], points[0], points[1]]
    result = [points[0]]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start, end = _move_toward(corner, before, radius), _move_toward(corner, after, radius)
        for step in range(5):
            t = step / 4
            a, b, c = (1 - t) * (1 - t), 2 * t * (1 - t), t * t
            result.append((a * start[0] + b * corner[0] + c * end[0],
                           a * start[1] + b * corner[1] + c * end[1]))  # fmt: skip
    return [*result[1:], result[1]] if closed else [*result, points[-1]]


def _move_toward(corner: Point, other: Point, radius: float) -> Point:
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = math.sqrt(dx * dx + dy * dy)
    part = min(0.5, radius / length) if length else 0.0
    return corner[0] + dx * part, corner[1] + dy * part


def _chip_mask(mask: Image.Image, worn: float, rng: np.random.Generator) -> Image.Image:
    """The mask with a chipped rim and some broken thin lines."""
    width, height = mask.size
    chips = Image.new("L", mask.size, 0)
    pen = ImageDraw.Draw(chips)
    for _ in range(round(18 * worn)):
        chance = float(rng.random())
        size = height * (0.010 + 0.035 * worn * chance * chance)
        along = float(rng.random())
        side = int(rng.integers(0, 4))
        x = (along, 1.0, along, 0.0)[side] * width
        y = (0.0, along, 1.0, along)[side] * height
        blob = [
            (x + (float(rng.random()) * 2 - 1) * size * 1.5,
             y + (float(rng.random()) * 2 - 1) * size * 1.5)
            for _ in range(6)
        ]  # fmt: skip
        pen.polygon(blob, fill=255)
    coarse = make_noise(rng, (height, width), height * 0.05) * 0.6
    fine = make_noise(rng, (height, width), height * 0.016) * 0.4
    gone = ramp(coarse + fine, 0.90 - 0.16 * worn, 0.94 - 0.16 * worn)
    return to_image(to_plane(mask) * (1 - to_plane(chips)) * (1 - gone))
