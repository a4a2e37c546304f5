"""Sheets of calligraphy: a short text in large characters, signed and sealed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import msgspec

from keju.building.asking import items_about
from keju.building.composing import (
    Layout,
    Rect,
    Setting,
    add_seal,
    column_of,
    hand_em,
    written,
)
from keju.building.plates import PlateSpec, make_plate
from keju.building.questions import load_questions
from keju.building.recipe import Amount, HandSpec, Height, Places, Ratio
from keju.building.studio import Studio
from keju.building.texts import Passage, paragraphs
from keju.items import Item

_MARGIN = 0.09


class SheetSpec(PlateSpec, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sheet of calligraphy: a short text in one hand, with signature and seals.

    `aspect` is its width in heights, `rows` the characters of a column. It has no other side.
    """

    rows: Places
    height: Height = 900
    aspect: Ratio = 0.62
    signature: str = ""
    wear: dict[str, Amount] = msgspec.field(default_factory=lambda: {"show": 0.0})


def draw_sheets(studio: Studio) -> Iterator[Item]:
    """Draw the recipe's sheets, and ask about them."""
    specs = studio.recipe.part("sheets", SheetSpec)
    return (item for spec in specs for item in _sheet(studio, spec))


def _sheet(studio: Studio, spec: SheetSpec) -> Iterator[Item]:
    passage = studio.passage(spec.passage, asked_by=spec.id)
    layout = compose_sheet(spec, passage, lambda name: studio.hand(name, asked_by=spec.id))
    plate = make_plate(studio, spec, [layout], metadata={"form": "calligraphy"})
    yield from items_about(plate, load_questions())


def compose_sheet(spec: SheetSpec, passage: Passage, hand_of: Callable[[str], HandSpec]) -> Layout:
    """Set a whole passage in columns of `spec.rows` characters, from right to left.

    Args:
        spec: the sheet.
        passage: its text; all of it is written, without notes.
        hand_of: gives the hand of a name.
    """
    hand = hand_of(spec.hand)
    text = written("".join(run.text for runs in paragraphs(passage) for run in runs), hand)
    wide, high = spec.height * spec.aspect, float(spec.height)
    margin = high * _MARGIN
    columns = math.ceil(len(text) / spec.rows)
    parts = columns + (0.8 if spec.signature else 0.0)
    column = (wide - 2 * margin * min(1.0, spec.aspect)) / parts
    right = wide - margin * min(1.0, spec.aspect)
    pitch = (high - 2 * margin) / spec.rows
    setting = Setting(pitch, hand_em(pitch, column * 0.96, hand), spec.hand)
    layout = Layout(round(wide), spec.height, Rect(0, 0, wide, high), [], [], [], [], [], [], [])
    for place in range(columns):
        part = text[place * spec.rows : (place + 1) * spec.rows]
        x = right - column * (place + 0.5)
        _write(layout, part, x, margin, setting, author=False)
    if spec.signature:
        signature = written(spec.signature, hand)
        small = pitch * 0.42
        at = Setting(small, hand_em(small, column * 0.6, hand), spec.hand)
        x = right - column * (columns + 0.35)
        _write(layout, signature, x, high * 0.52, at, author=True)
    for seal in spec.seals:
        add_seal(layout, seal)
    return layout


def _write(
    layout: Layout, text: str, x: float, top: float, setting: Setting, *, author: bool
) -> None:
    glyphs, line = column_of(text, "author" if author else "main", x, top, setting)
    layout.glyphs.extend(glyphs)
    layout.lines.append(line)
