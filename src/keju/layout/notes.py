"""Which lines are halves of double-row notes (雙行夾注), by geometry alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keju.layout.boxes import Boxes
from keju.layout.columns import Column
from keju.layout.pitch import Pitch

_HALF = 0.75
"""Half of a note is at most this share of a pitch wide."""


def find_notes(boxes: Boxes, columns: Sequence[Column], pitch: Pitch) -> set[int]:
    """The places of lines that are half-width and stand beside another such line in a column.

    A half-width line alone is a note too where it keeps to one side of a column in which other
    text stands: its second row is short or missing.
    """
    return {place for column in columns for place in _in_column(boxes, column, pitch)}


def _in_column(boxes: Boxes, column: Column, pitch: Pitch) -> set[int]:
    places = np.array(column.members, dtype=np.intp)
    own = boxes.take(places)
    half = own.width <= _HALF * pitch.pitch
    apart = np.abs(own.cx[:, None] - own.cx)
    beside = apart > 0.5 * np.minimum(own.width[:, None], own.width)
    shared = np.minimum(own.y1[:, None], own.y1) - np.maximum(own.y0[:, None], own.y0)
    level = shared > 0.5 * np.minimum(own.height[:, None], own.height)
    paired = half & (half & beside & level).any(axis=1)
    whole = own.take(np.flatnonzero(~half))
    if len(whole) or paired.any():
        middle = np.median(whole.cx) if len(whole) else (own.x0[paired].min() + own.x1[paired].max()) / 2
        small = own.width < 0.68 * pitch.full
        paired |= small & (np.abs(own.cx - middle) > 0.12 * pitch.pitch)
    return set(places[paired].tolist())
