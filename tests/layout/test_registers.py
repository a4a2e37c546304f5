"""A page divided across, and pages that only look so."""

from __future__ import annotations

import random

import pytest

from keju.items import Line
from keju.layout import order_lines
from tests.support.page_maker import ids


def row(name: str, count: int, right: float, top: float, bottom: float, pitch: float) -> list[Line]:
    """Columns side by side, some of them ending early, right to left."""
    draw = random.Random(name)
    found = []
    for n in range(count):
        x0, x1 = right - (n + 0.95) * pitch, right - (n + 0.05) * pitch
        end = top + (bottom - top) * draw.choice([1, 1, 1, 0.8])
        found.append(Line(id=f"{name}{n}", polygon=((x0, top), (x1, top), (x1, end), (x0, end))))
    return found


@pytest.mark.parametrize("pitch", [60.0, 70.0, 80.0])
def test_columns_that_do_not_stand_below_each_other_make_registers(pitch: float):
    upper = row("upper", int(1000 / pitch), 1000, 0, 480, pitch)
    lower = row("lower", 10, 1000, 500, 1000, 100)
    order = order_lines([*lower, *upper], width=1000, height=1000)
    assert ids(order.reading) == ids(upper + lower)


def test_each_leaf_of_a_spread_has_registers_of_its_own():
    parts = [
        part
        for leaf, right in (("right", 2300.0), ("left", 1000.0))
        for part in (
            row(f"{leaf}-upper", 14, right, 0, 480, 70),
            row(f"{leaf}-lower", 10, right, 500, 1000, 100),
        )
    ]
    lines = [line for part in parts for line in part]
    order = order_lines(lines[::-1], width=2300, height=1000)
    assert ids(order.reading) == ids(lines)


def test_verse_and_contents_in_tiers_are_read_column_by_column():
    upper = row("upper", 10, 1000, 0, 480, 100)
    lower = row("lower", 10, 1000, 520, 1000, 100)
    order = order_lines([*upper, *lower], width=1000, height=1000)
    expected = [line for pair in zip(upper, lower, strict=True) for line in pair]
    assert ids(order.reading) == ids(expected)


def test_notes_under_every_column_are_no_register():
    main = row("main", 10, 1000, 0, 480, 100)
    notes = row("note", 20, 1000, 500, 1000, 50)
    order = order_lines([*notes, *main], width=1000, height=1000)
    expected = [line for n in range(10) for line in (main[n], notes[2 * n], notes[2 * n + 1])]
    assert ids(order.reading) == ids(expected)
