"""Sheets of calligraphy: a short text in large characters, signed and sealed."""

from __future__ import annotations

import math
from collections.abc import Callable

from keju.building.composing import (
    Layout,
    Rect,
    Setting,
    add_seal,
    column_of,
    hand_em,
    written,
)
from keju.building.recipe import HandSpec, SheetSpec
from keju.building.texts import Passage, paragraphs

_MARGIN = 0.09


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
