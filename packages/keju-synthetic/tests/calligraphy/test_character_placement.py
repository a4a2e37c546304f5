"""Characters are in columns from right to left, and the reference follows them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju_synthetic.calligraphy.character_placement import MANNERS, Fan, write_columns, write_fan
from keju_synthetic.noise import make_generator
from keju_synthetic.page_layout import Rect

REGION = Rect(40, 30, 340, 530)
TEXT = "永和九年歲在癸丑暮春之初會于會稽山陰之蘭亭脩禊事也"


def measure(sign: str) -> Rect:
    """Ink of a made-up font: 一 is flat, the rest nearly fills the em."""
    return Rect(-0.4, -0.05, 0.4, 0.05) if sign == "一" else Rect(-0.42, -0.44, 0.42, 0.44)


@pytest.mark.parametrize("script", sorted(MANNERS))
@given(count=st.integers(1, 26), columns=st.integers(1, 6), seed=st.integers(0, 50))
@settings(max_examples=25, deadline=None)
def test_all_of_a_text_is_written_in_order(script: str, count: int, columns: int, seed: int):
    rng = make_generator(seed, "text")
    made = write_columns(TEXT[:count], REGION, columns, MANNERS[script], measure, rng)
    assert "".join(sign.char for sign in made.signs) == TEXT[:count]
    assert "".join(column.text for column in made.columns) == TEXT[:count]
    assert 1 <= len(made.columns) <= columns
    middles = [np.mean([x for x, _ in column.outline]) for column in made.columns]
    assert all(one > following for one, following in itertools.pairwise(middles))
    for one, following in itertools.pairwise(made.signs):
        assert following.fresh or following.y > one.y


@pytest.mark.parametrize("script", sorted(MANNERS))
def test_text_fills_its_region_and_keeps_within(script: str):
    made = write_columns(TEXT, REGION, 4, MANNERS[script], measure, make_generator(1, script))
    points = [point for column in made.columns for point in column.outline]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    slack = 25
    assert REGION.x0 - slack < min(xs)
    assert max(xs) < REGION.x1 + slack
    assert REGION.y0 - slack < min(ys) < REGION.y0 + 60
    assert REGION.y1 - 90 < max(ys) < REGION.y1 + slack


def test_regular_script_stands_in_a_grid_and_cursive_does_not():
    spreads = {}
    for script in ("楷书", "草书"):
        made = write_columns(TEXT, REGION, 4, MANNERS[script], measure, make_generator(2, "grid"))
        spreads[script] = np.std([sign.em for sign in made.signs]) / made.signs[0].em
    assert spreads["楷书"] < 0.05
    assert spreads["草书"] > 0.1


def test_flat_ink_takes_less_of_a_column_in_a_free_hand():
    manner = MANNERS["草书"]._replace(vary=0.0, sway=0.0)
    made = write_columns("永一和", REGION, 1, manner, measure, make_generator(3, "flat"))
    first, flat, last = (sign.y for sign in made.signs)
    assert last - first < 1.9 * made.signs[0].em
    assert flat - first < made.signs[0].em


def test_the_brush_dries_and_is_dipped_again():
    made = write_columns(TEXT, REGION, 3, MANNERS["草书"], measure, make_generator(4, "dry"))
    dry = [sign.dry for sign in made.signs]
    assert dry[0] == 0
    assert max(dry) > 0.4
    assert 0 in dry[1:]
    assert all(0 <= value <= 1 for value in dry)


def test_a_fan_is_written_towards_its_pivot():
    fan = Fan(500, 550, 520, 240, 1.05)
    made = write_fan(TEXT, fan, 9, MANNERS["行书"], make_generator(5, "fan"))
    assert "".join(sign.char for sign in made.signs) == TEXT
    assert made.signs[0].x > 700
    assert made.signs[-1].x < 300
    for sign in made.signs:
        far = ((sign.x - fan.x) ** 2 + (sign.y - fan.y) ** 2) ** 0.5
        assert fan.inner < far < fan.outer
        if abs(sign.x - fan.x) > 20:
            assert (sign.x > fan.x) == (sign.turn < 0), "characters lean outwards"
