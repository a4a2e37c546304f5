"""Shapes of relics as data: parts from the back to the front."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta
from PIL import Image, ImageDraw

from keju.errors import DataError, unknown_name
from keju.files import read_toml
from keju.items import Point, Record
from keju.messages import message
from keju_synthetic.fonts import Font, load_face
from keju_synthetic.page_layout import Rect
from keju_synthetic.relics.materials import Material
from keju_synthetic.relics.ornaments import PATTERNS
from keju_synthetic.relics.solids import Surface, add_face, add_slab, add_tube, revolve, smooth
from keju_synthetic.seals.seal_script import load_seal_script
from keju_synthetic.texts import DATA

_UNROLLED = (1400, 1000)
"""Width and height of the mask on which half a vessel's wall is unrolled."""


class Band(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An ornament: its `span` in parts of the height from the rim down, and how many times."""

    pattern: str
    span: tuple[float, float]
    across: tuple[float, float] = (0.0, 1.0)
    repeat: int = 4
    painted: bool = False


class Letter(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A character that is cast or painted: where (as the part's points), and how high.

    `script` is ``seal`` or ``regular``.
    """

    sign: str
    at: Point
    size: float
    script: Literal["seal", "regular"] = "seal"
    width: float = 1.0


class Ring(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A raised circle on a flat piece, or a circle of knobs."""

    radius: float
    width: float = 0.01
    knobs: int = 0
    at: Point = (0.0, 0.5)


class Part(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a shape; lengths in heights of the shape, x from its middle, y from its foot up.

    ``turned``: `points` are radius and height above `at`. ``bar``: `points` are its path, `radii`
    its thickness. ``plate``: `points` are its outline (empty: a disc of `radii[0]` around `at`),
    `holes` are cut out, `edge` is how far its edges are rounded. ``wall``: three corners of a flat
    face (upper left, upper right, lower left) which turns towards `normal`.

    `lines` are raised on a plate, and again after each of `turns` quarter turns around `at`.
    `copies` puts the part at other places and sizes (x, y, scale); `mirror` adds its mirror image.
    """

    kind: Literal["turned", "bar", "plate", "wall"]
    points: tuple[Point, ...] = ()
    at: Point = (0.0, 0.0)
    radii: tuple[float, ...] = ()
    holes: tuple[tuple[Point, ...], ...] = ()
    hole_radius: float = 0.0
    bands: tuple[Band, ...] = ()
    letters: tuple[Letter, ...] = ()
    rings: tuple[Ring, ...] = ()
    lines: tuple[tuple[Point, ...], ...] = ()
    turns: Literal[1, 4] = 1
    copies: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 1.0),)
    grain: Annotated[float, Meta(ge=0)] = 0.0
    edge: float = 0.02
    flat: float = 1.0
    round: bool = False
    open: bool = True
    mirror: bool = False
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    light: float = 1.0


class Shape(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The shape of a relic: material, width in heights, and parts from the back to the front.

    `from_above` is true for a thing that is seen from above and casts its shadow all around.
    """

    id: str
    material: Material
    aspect: Annotated[float, Meta(gt=0, le=6)]
    parts: tuple[Part, ...]
    from_above: bool = False


class _Shapes(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    shapes: tuple[Shape, ...]


@lru_cache(maxsize=1)
def load_shapes(path: Path = DATA / "relic_shapes.toml") -> dict[str, Shape]:
    """The known shapes by id.

    Raises:
        DataError: two entries have the same id, or an ornament is unknown.
    """
    shapes: dict[str, Shape] = {}
    for shape in read_toml(path, _Shapes).shapes:
        if shape.id in shapes:
            raise DataError(message("synthetic.id-twice"), file=path, item=shape.id)
        for band in (band for part in shape.parts for band in part.bands):
            if band.pattern not in PATTERNS:
                problem = unknown_name(band.pattern, PATTERNS, "ornament")
                raise DataError(problem, file=path, item=shape.id)
        shapes[shape.id] = shape
    return shapes


class Frame(NamedTuple):
    """The place of a shape: pixel of the middle of its foot, and its height in pixels."""

    x: float
    y: float
    height: float

    def to_pixel(self, point: Point) -> Point:
        """A point of the shape in pixels."""
        return self.x + point[0] * self.height, self.y - point[1] * self.height

    def to_pixels(self, points: tuple[Point, ...], *, mirror: bool = False) -> list[Point]:
        """Points of the shape in pixels, on the other side where `mirror` says so."""
        way = -1 if mirror else 1
        return [self.to_pixel((way * x, y)) for x, y in points]


def list_letters(shape: Shape) -> str:
    """The characters that a font must draw on a shape."""
    return "".join(
        letter.sign for part in shape.parts for letter in part.letters if letter.script == "regular"
    )


def build_surface(surface: Surface, shape: Shape, frame: Frame, font: Font | None) -> None:
    """Add all parts of a shape to a surface.

    Args:
        surface: the surface.
        shape: the shape.
        frame: its place and size.
        font: draws its regular characters, if it has any.
    """
    for part in shape.parts:
        for x, y, scale in part.copies:
            copy = Frame(*frame.to_pixel((x, y)), frame.height * scale)
            for mirror in (False, True) if part.mirror else (False,):
                _MAKERS[part.kind](surface, part, copy, font, mirror)


def _build_turned(
    surface: Surface, part: Part, frame: Frame, font: Font | None, mirror: bool
) -> None:
    relief, pigment = (_unroll_bands(part, painted) for painted in (False, True))
    foot = frame.to_pixel((-part.at[0] if mirror else part.at[0], part.at[1]))
    profile = [(r * frame.height, h * frame.height) for r, h in part.points]
    if part.letters and font is not None:
        pigment = pigment or Image.new("L", _UNROLLED, 0)
        for letter in part.letters:
            x, y = letter.at[0] * _UNROLLED[0], letter.at[1] * _UNROLLED[1]
            _draw_regular_letter(pigment, letter, (x, y), letter.size * _UNROLLED[1], font)
    revolve(surface, foot, profile, relief=relief, pigment=pigment, open_=part.open)


def _unroll_bands(part: Part, painted: bool) -> Image.Image | None:
    bands = [band for band in part.bands if band.painted == painted]
    if not bands:
        return None
    wide, high = _UNROLLED
    # Unpainted is 0; the level of a surface without relief is in the middle.
    mask = Image.new("L", _UNROLLED, 0 if painted else 128)
    for band in bands:
        rect = Rect(
            band.across[0] * wide, band.span[0] * high, band.across[1] * wide, band.span[1] * high
        )
        if not painted:
            ground = 0 if band.pattern not in {"strings", "flanges"} else 128
            ImageDraw.Draw(mask).rectangle(tuple(rect), fill=ground)
        PATTERNS[band.pattern](mask, rect, band.repeat)
    return mask


def _build_bar(surface: Surface, part: Part, frame: Frame, _: Font | None, mirror: bool) -> None:
    path = frame.to_pixels(part.points, mirror=mirror)
    add_tube(surface, path, [r * frame.height for r in part.radii], flat=part.flat)


def _build_plate(
    surface: Surface, part: Part, frame: Frame, font: Font | None, mirror: bool
) -> None:
    outline = frame.to_pixels(part.points, mirror=mirror) or _make_circle(
        frame, part.at, part.radii[0]
    )
    if part.round:
        outline = smooth([*outline, outline[0]], 3)
    holes = [frame.to_pixels(hole, mirror=mirror) for hole in part.holes]
    if part.hole_radius:
        holes.append(_make_circle(frame, part.at, part.hole_radius))
    height, width = surface.shape
    relief = Image.new("L", (width, height), 110)
    _engrave(relief, part, frame, font, mirror)
    add_slab(surface, [outline], round_=part.edge * frame.height, holes=holes, relief=relief)


def _engrave(
    relief: Image.Image, part: Part, frame: Frame, font: Font | None, mirror: bool
) -> None:
    pen = ImageDraw.Draw(relief)
    if part.grain:
        _draw_grains(relief, part, frame)
    for ring in part.rings:
        x, y = frame.to_pixel(ring.at)
        r, wide = ring.radius * frame.height, max(1, round(ring.width * frame.height))
        if not ring.knobs:
            pen.ellipse((x - r, y - r, x + r, y + r), outline=255, width=wide)
        for px, py in _make_circle(frame, ring.at, ring.radius, ring.knobs) if ring.knobs else []:
            for grow, ink in ((1.0, 190), (0.7, 230), (0.4, 255)):
                half = wide * grow
                pen.ellipse((px - half, py - half, px + half, py + half), fill=ink)
    for line in part.lines:
        for turned in _repeat_quarter_turns(line, part):
            _draw_rib(pen, frame.to_pixels(turned, mirror=mirror), frame)
    for letter in part.letters:
        at, size = frame.to_pixel(letter.at), letter.size * frame.height
        if letter.script == "seal":
            _draw_seal_letter(relief, letter, at, size)
        elif font is not None:
            _draw_regular_letter(relief, letter, at, size, font)


def _draw_rib(pen: ImageDraw.ImageDraw, points: list[Point], frame: Frame) -> None:
    pen.line(points, fill=255, width=max(2, round(0.012 * frame.height)), joint="curve")


def _repeat_quarter_turns(line: tuple[Point, ...], part: Part) -> list[tuple[Point, ...]]:
    """A line after each quarter turn around the middle of its part."""
    found, (x0, y0) = [line], part.at
    for _ in range(part.turns - 1):
        line = tuple((x0 + (y - y0), y0 - (x - x0)) for x, y in line)
        found.append(line)
    return found


def _draw_grains(relief: Image.Image, part: Part, frame: Frame) -> None:
    """Rows of grains (穀紋), set like the cells of a comb."""
    pen = ImageDraw.Draw(relief)
    step = part.grain * frame.height
    x0, y0 = frame.to_pixel(part.at)
    reach = round(part.radii[0] * frame.height / step) + 1
    low = part.hole_radius * frame.height + step * 1.1
    far = part.radii[0] * frame.height - step * 1.1
    for row in range(-reach, reach + 1):
        for column in range(-reach, reach + 1):
            x = x0 + (column + 0.5 * (row % 2)) * step
            y = y0 + row * step * 0.87
            distance = (x - x0) * (x - x0) + (y - y0) * (y - y0)
            if low * low < distance < far * far:
                for part_, ink in ((0.36, 170), (0.26, 215), (0.15, 255)):
                    r = step * part_
                    pen.ellipse((x - r, y - r, x + r, y + r), fill=ink)
                tail = (x - step * 0.1, y - step * 0.42, x + step * 0.42, y + step * 0.1)
                pen.arc(tail, 270, 40, fill=190, width=max(1, round(step * 0.10)))


def _make_circle(frame: Frame, middle: Point, radius: float, count: int = 120) -> list[Point]:
    """Even points around a circle, in pixels."""
    x, y = frame.to_pixel(middle)
    reach = radius * frame.height
    # Rounded, so that the last digit of a machine's sine decides nothing.
    steps = [math.tau * number / count for number in range(count)]
    return [(x + reach * round(math.sin(t), 7), y - reach * round(math.cos(t), 7)) for t in steps]


def _draw_seal_letter(relief: Image.Image, letter: Letter, at: Point, size: float) -> None:
    """Draw a raised character in the squared seal script."""
    figure = load_seal_script().build_figure(letter.sign)
    wide = size * letter.width
    cell = Rect(at[0] - wide / 2, at[1] - size / 2, at[0] + wide / 2, at[1] + size / 2)
    pen = ImageDraw.Draw(relief)
    thick = max(2, round(min(size / (figure.height + 2), wide / (figure.width + 2)) * 0.55))
    for stroke in figure.fit(cell):
        pen.line(list(stroke), fill=255, width=thick, joint="curve")
        for x, y in (stroke[0], stroke[-1]):
            half = thick / 2 - 0.5
            pen.ellipse((x - half, y - half, x + half, y + half), fill=255)


def _draw_regular_letter(
    mask: Image.Image, letter: Letter, at: Point, size: float, font: Font
) -> None:
    face_ = load_face(font.path, font.face, max(8, round(size)))
    ImageDraw.Draw(mask).text(
        (round(at[0]), round(at[1])),
        letter.sign,
        fill=255,
        font=face_,
        anchor="mm",
        stroke_width=round(size * 0.013),
    )


def _build_wall(surface: Surface, part: Part, frame: Frame, _: Font | None, mirror: bool) -> None:
    corners = frame.to_pixels(part.points, mirror=mirror)
    relief = _unroll_bands(part, painted=False)
    right, up, forward = part.normal
    add_face(
        surface, (corners[0], corners[1], corners[2]), (-right if mirror else right, up, forward),
        relief=relief, light=part.light,
    )  # fmt: skip


_MAKERS = {"turned": _build_turned, "bar": _build_bar, "plate": _build_plate, "wall": _build_wall}
