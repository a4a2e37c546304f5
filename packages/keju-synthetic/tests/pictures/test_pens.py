"""A brush darkens what is there, a cover hides it, a graver prints or leaves paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju_synthetic.noise import make_generator
from keju_synthetic.pictures.pens import (
    EVEN,
    Brush,
    Frame,
    Graver,
    get_direction,
    make_ellipse,
    offset_point,
    smooth,
)

SQUARE = [(20.0, 20.0), (60.0, 20.0), (60.0, 60.0), (20.0, 60.0)]


def brush(name: str = "brush") -> Brush:
    return Brush(80, 80, make_generator(1, name))


def test_ink_on_ink_is_darker_than_ink():
    pen = brush()
    pen.stroke([(10, 40), (70, 40)], 8, tone=0.5, profile=EVEN)
    once = float(pen.light[40, 40].mean())
    pen.stroke([(10, 40), (70, 40)], 8, tone=0.5, profile=EVEN)
    assert float(pen.light[40, 40].mean()) < once < 0.75
    assert (pen.light[10] == 1).all()


def test_a_cover_brings_the_sheet_back_and_body_colour_is_lighter_than_it():
    pen = brush()
    pen.tint(SQUARE, tone=0.9)
    assert float(pen.light[40, 40].mean()) < 0.5
    pen.cover(SQUARE)
    assert pen.light[40, 40] == pytest.approx(1.0, abs=1e-5)
    pen.cover(SQUARE, colour=(1.15, 1.15, 1.1))
    assert pen.light[40, 40] == pytest.approx([1.15, 1.15, 1.1], abs=1e-5)


def test_a_wash_fades_from_full_to_nothing():
    pen = brush()
    pen.tint(SQUARE, tone=0.9, fade=(20, 60))
    rows = pen.light[22:60, 30:50].mean(axis=(1, 2))
    assert rows[0] < 0.5 < rows[18] + 0.1 < rows[36]
    assert rows[-1] > 0.95


def test_a_dry_stroke_lets_the_sheet_through():
    wet, dry = brush(), brush()
    for pen, how in ((wet, 0.0), (dry, 0.8)):
        pen.stroke([(5, 40), (75, 40)], 30, tone=0.9, profile=EVEN, dry=how)
    inside = (slice(32, 48), slice(15, 65))
    assert wet.light[inside].max() < 0.5
    assert dry.light[inside].max() > 0.7


def test_ink_gathers_at_the_rim_of_a_wet_shape():
    pen = Brush(160, 160, make_generator(1, "rim"))
    pen.tint(make_ellipse(80, 80, 70, 70), tone=0.6)
    down, across = np.mgrid[:160, :160]
    far = np.sqrt((down - 80.0) ** 2 + (across - 80.0) ** 2)
    rim, inside = (
        pen.light[(far > low) & (far < high)].mean() for low, high in ((66, 69), (0, 60))
    )
    assert rim < inside - 0.05


def test_points_beyond_the_sheet_are_ignored():
    pen = brush()
    pen.stroke([(-90, -90), (-40, -50)], 6)
    pen.tint(make_ellipse(300, 300, 20, 20), tone=1.0)
    pen.cover(make_ellipse(-40, 300, 20, 20))
    assert (pen.light == 1).all()


def test_the_same_hand_draws_the_same_line():
    one, two, other = brush("a"), brush("a"), brush("b")
    for pen in (one, two, other):
        pen.stroke([(5, 10), (40, 60), (75, 20)], 9, dry=0.4)
    assert (one.light == two.light).all()
    assert not (one.light == other.light).all()


def test_a_graver_cuts_lines_and_clears_them_away():
    graver = Graver(80, 80, make_generator(1, "graver"))
    graver.stroke([(10, 40), (70, 40)], 6, profile=EVEN)
    graver.tint(SQUARE, tone=0.2)
    mask = np.asarray(graver.mask)
    assert mask.shape == (160, 160)
    assert mask[80, 80] == 255
    assert mask[60, 80] == 0
    graver.tint(SQUARE, tone=0.9)
    assert np.asarray(graver.mask)[60, 80] == 255
    graver.cover(SQUARE)
    assert np.asarray(graver.mask)[60, 80] == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-50, 150), st.floats(-50, 150)), min_size=2, max_size=7))
def test_a_curve_goes_through_its_points(points: list[tuple[float, float]]):
    line = smooth(points)
    for point in points:
        assert min(abs(x - point[0]) + abs(y - point[1]) for x, y in line) < 1e-6


def test_headings_turn_clockwise_from_the_right():
    assert get_direction(0) == (1.0, 0.0)
    assert get_direction(90) == (0.0, 1.0)
    assert offset_point(5, 5, 180, 3) == (2.0, 5.0)


def test_a_frame_turns_and_mirrors_what_it_places():
    assert Frame(10, 10, 4).place(1, 0) == (14.0, 10.0)
    assert Frame(10, 10, 4, flip=True).place(1, 0) == (6.0, 10.0)
    assert Frame(10, 10, 4, turn=90).place(1, 0) == (10.0, 14.0)
