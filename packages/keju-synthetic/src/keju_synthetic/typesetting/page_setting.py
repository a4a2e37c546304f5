"""Typesetting of a page: each line of a transcription is set into its own outline."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

from msgspec.structs import replace

from keju.items import Line, LineKind
from keju_synthetic.fonts import Font, HandSpec
from keju_synthetic.glyph_masks import Fonts
from keju_synthetic.page_layout import Glyph, Layout, PlacedLine, Rect
from keju_synthetic.typesetting.frames import make_frame
from keju_synthetic.typesetting.line_boxes import LineBox, measure_box, separate_boxes
from keju_synthetic.typesetting.typefaces import Typeface

MARK = "□"
"""The mark for a character that no font can draw; OCR scoring ignores it."""

_BLANK = "\u3000"
_CIRCLES = "○◯●◎□■△"
_EVEN = 1.12
"""By how much a line's characters may be larger than those of most lines of its kind."""
_LOOSE = 1.7
"""Maximum distance of characters, in heights of a character."""
_SQUARER = 0.1
"""How much squarer cells must come out side by side before a line is taken for a level one."""

Why = Literal["no place", "no room", "no text", "no printed sign", "no font has it"]
"""The line has no outline; a neighbour occupies its place; it has no text; an editor's sign; a
character that no font of the typeface can draw."""


class TypesetOptions(NamedTuple):
    """The settings of typesetting.

    `framed` adds frame and rules. `marked` sets `MARK` for a character that no font can draw;
    otherwise its whole line is dropped.
    """

    typeface: Typeface
    framed: bool = True
    marked: bool = True


_SMALL = (20.0, 40.0)
"""Sizes of type on a page 1200 pixels high between which small type is cut bolder."""
_BOLDER = 0.12
_HEAVIEST = 0.4


class UnsetText(NamedTuple):
    """The characters of a source line that were not set, with the reason."""

    line: str
    text: str
    why: Why


class TypesetLayout(NamedTuple):
    """A typeset page, and the parts of its source that it lacks."""

    layout: Layout
    unset: list[UnsetText]


class _Fit(NamedTuple):
    """The fit of a text in its box: from right to left if `level`, and its largest em."""

    text: str
    kind: LineKind
    bed: LineBox
    level: bool
    em: float


def typeset_lines(
    lines: Sequence[Line], source: tuple[float, float], height: int, look: TypesetOptions
) -> TypesetLayout:
    """Set lines into their outlines.

    The lines of the result are in the given order and contain exactly the characters on the page.
    Outlines that overlap are separated, because type cannot overlap.

    Args:
        lines: a page's lines in reading order, outlines in pixels of the source.
        source: width and height of the source's page.
        height: of the image, in pixels.
        look: typeface, frame, and what becomes of characters that no font draws.
    """
    scale = height / source[1]
    printed = [filter_settable(line.text) for line in lines]
    hands = look.typeface.assign_hands("".join(printed) + MARK)
    texts, unset = [], []
    for line, text in zip(lines, printed, strict=True):
        written, left = _select_text(line, text, hands, marked=look.marked)
        texts.append(written)
        unset += left
    beds = _find_boxes(lines, texts, scale)
    unset += _list_unset(lines, texts, beds)
    first = next(iter(look.typeface.fonts.values()))[0]
    fits = [
        _fit_line(text, line.kind, bed, first)
        for line, text, bed in zip(lines, texts, beds, strict=True)
        if bed is not None
    ]
    glyphs: list[Glyph] = []
    placed: list[PlacedLine] = []
    for fit in _even_sizes(fits):
        characters, drawn = (_set_horizontal if fit.level else _set_vertical)(
            fit, hands, first.width
        )
        glyphs += characters
        placed.append(drawn)
    width = math.ceil(source[0] * scale)
    framed = make_frame(placed, width, height) if look.framed else None
    layout = Layout(
        width=width,
        height=height,
        glyphs=glyphs,
        lines=placed,
        bars=framed.bars if framed else [],
        rules=framed.rules if framed else [],
        gutters=framed.gutters if framed else [],
    )
    return TypesetLayout(layout, unset)


def embolden_small_type(layout: Layout, fonts: Fonts) -> dict[str, tuple[HandSpec, Font]]:
    """The fonts of a page, bolder where its type is small: thin strokes would take no ink.

    Type founders did the same. The smaller type of the page decides, which is mostly notes.
    """
    sizes = sorted(glyph.em for glyph in layout.glyphs)
    small = sizes[len(sizes) // 5] * 1200 / layout.height if sizes else _SMALL[1]
    share = min(1.0, max(0.0, (_SMALL[1] - small) / (_SMALL[1] - _SMALL[0])))
    return {
        name: (replace(hand, weight=min(_HEAVIEST, hand.weight + _BOLDER * share)), font)
        for name, (hand, font) in fonts.items()
    }


def filter_settable(text: str) -> str:
    """The characters of a transcription that a page of the time can contain.

    These are ideographs, kana, the wide space, and circles and squares that represent characters;
    not an editor's punctuation, Latin letters or digits.
    """
    return "".join(sign for sign in text if _is_printed(sign)).strip(_BLANK)


def _is_printed(sign: str) -> bool:
    if sign.isascii():
        return False
    wide = unicodedata.category(sign)[0] in {"L", "N"} or unicodedata.category(sign) == "Co"
    # Python's Unicode may be older than the newest ideographs.
    newest = 0x20000 <= ord(sign) < 0x40000 or 0x2E80 <= ord(sign) < 0x2FE0
    return wide or newest or sign in _CIRCLES or sign == _BLANK


def _select_text(
    line: Line, text: str, hands: Mapping[str, str], *, marked: bool
) -> tuple[str, list[UnsetText]]:
    """The text of a line that can be set, and the rest with reasons."""
    left = []
    dropped = "".join(sign for sign in line.text if not _is_printed(sign))
    if dropped:
        left.append(UnsetText(line.id, dropped, "no printed sign"))
    unknown = "".join(sign for sign in text if sign not in hands and sign != _BLANK)
    if unknown:
        left.append(UnsetText(line.id, unknown, "no font has it"))
        text = "".join(MARK if sign in unknown else sign for sign in text) if marked else ""
    return text, left


def _find_boxes(lines: Sequence[Line], texts: Sequence[str], scale: float) -> list[LineBox | None]:
    """The box of each line that has a text and an outline, if there is room for it."""
    beds = [
        measure_box([(x * scale, y * scale) for x, y in line.polygon]) if text else None
        for line, text in zip(lines, texts, strict=True)
    ]
    there = [(place, bed) for place, bed in enumerate(beds) if bed is not None]
    roomy = separate_boxes([bed for _, bed in there])
    for (place, _), bed in zip(there, roomy, strict=True):
        beds[place] = bed
    return beds


def _list_unset(
    lines: Sequence[Line], texts: Sequence[str], beds: Sequence[LineBox | None]
) -> Iterator[UnsetText]:
    for line, text, bed in zip(lines, texts, beds, strict=True):
        if bed is None and not line.text.strip():
            yield UnsetText(line.id, "", "no text")
        elif bed is None and text:
            yield UnsetText(line.id, text, "no room" if measure_box(line.polygon) else "no place")


def _fit_line(text: str, kind: LineKind, bed: LineBox, hand: HandSpec) -> _Fit:
    count = len(text)
    upright, across = bed.height / count / bed.width, bed.width / count / bed.height
    level = count > 1 and abs(math.log(across)) + _SQUARER < abs(math.log(upright))
    pitch, room = (bed.height, bed.width / count) if level else (bed.height / count, bed.width)
    return _Fit(text, kind, bed, level, min(pitch * 1.04, room / hand.width) * hand.fill)


def _even_sizes(fits: Sequence[_Fit]) -> list[_Fit]:
    """Limit the em of each line to a little more than the median of its kind."""
    usual = {
        kind: median(fit.em for fit in fits if fit.kind == kind)
        for kind in {fit.kind for fit in fits}
    }
    return [fit._replace(em=min(fit.em, _EVEN * usual[fit.kind])) for fit in fits]


def _set_vertical(
    fit: _Fit, hands: Mapping[str, str], width: float
) -> tuple[list[Glyph], PlacedLine]:
    box, count = fit.bed.box, len(fit.text)
    step = min(fit.bed.height / count, _LOOSE * fit.em)
    middle, centre = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    glyphs = []
    for place, sign in enumerate(fit.text):
        y = box.y0 + step * (place + 0.5)
        if sign != _BLANK:
            glyphs.append(Glyph(sign, middle + fit.bed.lean * (y - centre), y, fit.em, hands[sign]))
    half, slack = fit.em * width / 2, (step - fit.em) / 2
    top, bottom = box.y0 + slack, box.y0 + step * count - slack
    x = middle + fit.bed.lean * ((top + bottom) / 2 - centre)
    return glyphs, PlacedLine(
        fit.kind, fit.text, Rect(x - half, top, x + half, bottom), fit.bed.lean
    )


def _set_horizontal(
    fit: _Fit, hands: Mapping[str, str], width: float
) -> tuple[list[Glyph], PlacedLine]:
    """A line that runs from right to left, as titles above a page do."""
    box, count = fit.bed.box, len(fit.text)
    step = min(fit.bed.width / count, _LOOSE * fit.em)
    y, half = (box.y0 + box.y1) / 2, fit.em / 2
    glyphs = [
        Glyph(sign, box.x1 - step * (place + 0.5), y, fit.em, hands[sign])
        for place, sign in enumerate(fit.text)
        if sign != _BLANK
    ]
    slack = (step - fit.em * width) / 2
    drawn = Rect(box.x1 - step * count + slack, y - half, box.x1 - slack, y + half)
    return glyphs, PlacedLine(fit.kind, fit.text, drawn)
