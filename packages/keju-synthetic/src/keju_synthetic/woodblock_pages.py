"""Woodblock-like pages: half leaves, whole leaves and openings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from keju.errors import DataError
from keju.items import Point
from keju.messages import message
from keju_synthetic.page_layout import (
    Layout,
    PlacedLine,
    Rect,
    Setting,
    compute_em,
    convert_forms,
    set_column,
)
from keju_synthetic.page_spec import PageForm, PageSpec
from keju_synthetic.recipe import HandSpec
from keju_synthetic.text_flow import Grid, TextFlow
from keju_synthetic.texts import Passage, Run, format_numeral, split_paragraphs

_MOST_PIXELS = 100_000_000

_HEAD = 0.125
_FOOT = 0.06
_SIDE = 0.055
_MAT = 0.012
_CENTRE = 0.062
_COLUMN = 0.070


class _Panel(NamedTuple):
    """The text area of one half leaf, between the frame's inner edges."""

    x0: float
    x1: float


class _Centre(NamedTuple):
    """A centre column (版心): its full extent, of which only the part on the paper is visible."""

    x0: float
    x1: float
    leaf: int


class _Plan(NamedTuple):
    """The parts of a page from left to right; panels in reading order."""

    width: float
    paper: Rect
    panels: list[_Panel]
    centres: list[_Centre]
    frames: list[tuple[float, float]]
    gutters: list[float]


def compose_page(spec: PageSpec, passage: Passage, hand_of: Callable[[str], HandSpec]) -> Layout:
    """Set a passage on a page; text that does not fit is not part of the reference.

    Args:
        spec: the page.
        passage: its text.
        hand_of: the hand of a name.

    Raises:
        DataError: the page is too large to draw.
    """
    plan = _make_plan(spec)
    if plan.width * spec.height > _MOST_PIXELS:
        raise DataError(
            message(
                "synthetic.page-too-large",
                columns=spec.columns,
                rows=spec.rows,
                height=spec.height,
                most=_MOST_PIXELS,
            ),
            item=spec.id,
        )
    top, bottom = spec.height * _HEAD, spec.height * (1 - _FOOT)
    flow = _flow_text(spec, passage, hand_of, plan, top, bottom)
    layout = Layout(
        width=round(plan.width),
        height=spec.height,
        paper=plan.paper,
        glyphs=flow.glyphs,
        lines=flow.lines,
        bars=[],
        rules=[],
        shapes=[],
        gutters=plan.gutters,
        line_ink=spec.line_ink,
    )
    _draw_frame(layout, spec, plan, top, bottom)
    for centre in plan.centres:
        _set_centre(layout, spec, passage, hand_of, centre, top, bottom)
    _set_head_notes(layout, spec, plan, hand_of, top)
    return layout


class _Sizes(NamedTuple):
    """Widths of a half leaf's parts, and the height of the image."""

    text: float
    side: float
    mat: float
    centre: float
    high: float


def _make_plan(spec: PageSpec) -> _Plan:
    high = float(spec.height)
    # Longer columns have smaller characters, which are closer together.
    text = high * _COLUMN * spec.columns * math.sqrt(18 / max(spec.rows, 18))
    sizes = _Sizes(text, high * _SIDE, high * _MAT, high * _CENTRE, high)
    return _FORMS[spec.form](sizes, spec.leaf)


def _plan_half_a(size: _Sizes, leaf: int) -> _Plan:
    half = size.centre / 2
    left, fold = size.mat + half, size.mat - half
    width = left + size.text + size.side
    return _Plan(
        width=width,
        paper=Rect(size.mat, 0, width, size.high),
        panels=[_Panel(left, left + size.text)],
        centres=[_Centre(fold, left, leaf)],
        frames=[(fold, left + size.text)],
        gutters=[width],
    )


def _plan_half_b(size: _Sizes, leaf: int) -> _Plan:
    right = size.side + size.text
    width = right + size.centre / 2 + size.mat
    return _Plan(
        width=width,
        paper=Rect(0, 0, width - size.mat, size.high),
        panels=[_Panel(size.side, right)],
        centres=[_Centre(right, right + size.centre, leaf)],
        frames=[(size.side, right + size.centre)],
        gutters=[0.0],
    )


def _plan_sheet(size: _Sizes, leaf: int) -> _Plan:
    left = size.side + size.text
    right = left + size.centre
    width = right + size.text + size.side
    return _Plan(
        width=width,
        paper=Rect(0, 0, width, size.high),
        panels=[_Panel(right, right + size.text), _Panel(size.side, left)],
        centres=[_Centre(left, right, leaf)],
        frames=[(size.side, right + size.text)],
        gutters=[],
    )


def _plan_opening(size: _Sizes, leaf: int) -> _Plan:
    """An opened book: the back of a leaf to the right of the gutter, the next front to the left."""
    front = _plan_half_a(size, leaf + 1)
    back = _plan_half_b(size, leaf)
    gutter = front.width
    right = gutter + size.side
    return _Plan(
        width=gutter + back.width,
        paper=Rect(size.mat, 0, gutter + back.width - size.mat, size.high),
        panels=[_Panel(right, right + size.text), *front.panels],
        centres=[
            _Centre(right + size.text, right + size.text + size.centre, leaf),
            *front.centres,
        ],
        frames=[(right, right + size.text + size.centre), *front.frames],
        gutters=[gutter],
    )


_FORMS: dict[PageForm, Callable[[_Sizes, int], _Plan]] = {
    "half-a": _plan_half_a,
    "half-b": _plan_half_b,
    "sheet": _plan_sheet,
    "opening": _plan_opening,
}


def _flow_text(
    spec: PageSpec,
    passage: Passage,
    hand_of: Callable[[str], HandSpec],
    plan: _Plan,
    top: float,
    bottom: float,
) -> TextFlow:
    hand = hand_of(spec.hand)
    note_name = spec.note_hand or spec.hand
    pad = (bottom - top) * 0.012
    pitch = (bottom - top - 2 * pad) / spec.rows
    column = (plan.panels[0].x1 - plan.panels[0].x0) / spec.columns
    hidden = spec.skip * spec.columns
    middles = [0.0] * hidden + [
        panel.x1 - column * (place + 0.5) for panel in plan.panels for place in range(spec.columns)
    ]
    free = spec.made == "manuscript"
    main = Setting(pitch, compute_em(pitch, column * 0.86, hand), spec.hand, free)
    small = pitch * spec.note_pitch
    note = Setting(small, compute_em(small, column * 0.47, hand_of(note_name)), note_name, free)
    grid = Grid(middles, column, top + pad, spec.rows, pitch, hidden)
    flow = TextFlow(grid, main, note, indent=spec.indent)
    for place, heading in enumerate(passage.heading if spec.heading else ()):
        flow.add_heading(convert_forms(heading, hand), "title", lowered=place)
    if passage.byline and spec.heading:
        flow.add_heading(convert_forms(passage.byline, hand), "author", lowered=1, at_foot=True)
    for runs in split_paragraphs(passage):
        flow.add_paragraph(_convert_runs(runs, hand, hand_of(note_name)))
    return flow


def _convert_runs(runs: list[Run], main: HandSpec, note: HandSpec) -> list[Run]:
    return [
        Run(run.kind, convert_forms(run.text, main if run.kind == "main" else note)) for run in runs
    ]


def _draw_frame(layout: Layout, spec: PageSpec, plan: _Plan, top: float, bottom: float) -> None:
    thick, thin = spec.height * 0.0052, spec.height * 0.0014
    gap = spec.height * 0.0045
    if spec.frame != "none":
        for left, right in plan.frames:
            _add_border(layout, spec, Rect(left, top, right, bottom), thick, thin, gap)
    if spec.ruled:
        column = (plan.panels[0].x1 - plan.panels[0].x0) / spec.columns
        xs = [
            panel.x0 + column * place for panel in plan.panels for place in range(1, spec.columns)
        ]
        layout.rules.extend(Rect(x - thin / 2, top, x + thin / 2, bottom) for x in xs)
    if spec.frame != "none":
        for centre in plan.centres:
            for x in (centre.x0, centre.x1):
                layout.rules.append(Rect(x - thin / 2, top, x + thin / 2, bottom))


def _add_border(
    layout: Layout, spec: PageSpec, inside: Rect, thick: float, thin: float, gap: float
) -> None:
    out = gap + thick
    across = spec.frame == "double"
    aside = spec.frame in {"double", "sides"}
    left = inside.x0 - (out if aside else thick)
    right = inside.x1 + (out if aside else thick)
    upper = inside.y0 - (out if across else thick)
    lower = inside.y1 + (out if across else thick)
    layout.bars.extend(
        [
            Rect(left, upper, right, upper + thick),
            Rect(left, lower - thick, right, lower),
            Rect(left, upper, left + thick, lower),
            Rect(right - thick, upper, right, lower),
        ]
    )
    if across:
        layout.rules.append(Rect(inside.x0, inside.y0 - thin, inside.x1, inside.y0))
        layout.rules.append(Rect(inside.x0, inside.y1, inside.x1, inside.y1 + thin))
    if aside:
        layout.rules.append(Rect(inside.x0 - thin, inside.y0, inside.x0, inside.y1))
        layout.rules.append(Rect(inside.x1, inside.y0, inside.x1 + thin, inside.y1))


def _set_centre(
    layout: Layout,
    spec: PageSpec,
    passage: Passage,
    hand_of: Callable[[str], HandSpec],
    centre: _Centre,
    top: float,
    bottom: float,
) -> None:
    if spec.frame == "none" or not passage.running:
        return
    high, wide = bottom - top, centre.x1 - centre.x0
    middle = (centre.x0 + centre.x1) / 2
    tail = top + high * 0.235
    layout.shapes.append(_make_fishtail(centre, tail, wide * 0.36))
    layout.bars.append(Rect(centre.x0, tail - wide * 0.12, centre.x1, tail - wide * 0.07))
    lower = top + high * 0.80
    layout.bars.append(Rect(centre.x0, lower, centre.x1, lower + spec.height * 0.0016))
    if spec.mouth == "black":
        band = wide * 0.16
        layout.bars.append(Rect(middle - band, top, middle + band, tail - wide * 0.2))
        layout.bars.append(Rect(middle - band, lower + wide * 0.5, middle + band, bottom))
    hand = hand_of(spec.hand)
    title = convert_forms(passage.running, hand)
    pitch = min(wide * 0.66, high * 0.33 / len(title))
    setting = Setting(pitch, compute_em(pitch, wide * 0.62, hand), spec.hand)
    pieces = [("centre", title, tail + wide * 0.75), ("number", format_numeral(centre.leaf), 0.0)]
    for kind, text, at in pieces:
        start = at or lower - wide * 0.25 - pitch * len(text)
        glyphs, line = set_column(
            text, "number" if kind == "number" else "centre", middle, start, setting
        )
        layout.glyphs.extend(glyphs)
        layout.lines.append(_clip_to_paper(line, layout.paper))


def _make_fishtail(centre: _Centre, top: float, depth: float) -> list[Point]:
    middle = (centre.x0 + centre.x1) / 2
    return [
        (centre.x0, top),
        (centre.x1, top),
        (centre.x1, top + 2 * depth),
        (middle, top + depth),
        (centre.x0, top + 2 * depth),
    ]


def _clip_to_paper(line: PlacedLine, paper: Rect) -> PlacedLine:
    """A line clipped to the paper: a folded leaf shows half of its centre column."""
    box = line.box
    cut = Rect(
        max(box.x0, paper.x0), max(box.y0, paper.y0), min(box.x1, paper.x1), min(box.y1, paper.y1)
    )
    return line._replace(box=cut)


def _set_head_notes(
    layout: Layout,
    spec: PageSpec,
    plan: _Plan,
    hand_of: Callable[[str], HandSpec],
    top: float,
) -> None:
    name = spec.margin_hand or spec.hand
    panel = plan.panels[0]
    column = (panel.x1 - panel.x0) / spec.columns
    rows, pitch = 4, top * 0.195
    setting = Setting(pitch, pitch, name)
    for note in spec.head_notes:
        text = convert_forms(note.text, hand_of(name))
        for place, start in enumerate(range(0, len(text), rows)):
            x = panel.x1 - column * (note.column - 0.5) - pitch * 1.12 * place
            glyphs, line = set_column(
                text[start : start + rows], "head", x, top * 0.11, setting, note.colour
            )
            layout.glyphs.extend(glyphs)
            layout.lines.append(line)
