"""Intervals: exact at both ends, absent with few groups, and the same in any order."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from keju.statistics import (
    Ratio,
    difference_interval,
    group_shares,
    intervals,
    number_names,
    ratio_interval,
    ratio_of,
    value_of,
)
from keju.statistics.resampling import MOST_GROUPS, interval, resample


def part(top, bottom=None, *, groups=None, weight=1.0):
    """One part of one model: numerators by group, with denominators of 1 unless given."""
    top = np.asarray(top, dtype=float)
    bottom = np.ones(len(top)) if bottom is None else np.asarray(bottom, dtype=float)
    places = np.arange(len(top)) if groups is None else np.asarray(groups)
    return Ratio(places, top[:, None], bottom[:, None], weight)


def bounds(parts):
    result = interval(parts)
    assert result is not None
    return result.low, result.high


def width(parts):
    low, high = bounds(parts)
    return high - low


@pytest.mark.parametrize(
    ("groups", "right", "low", "high"),
    [(6, 1, 0.5407, 1), (6, 0, 0, 0.4593), (30, 1, 0.8843, 1), (30, 0, 0, 0.1157)],
)
def test_groups_that_are_all_right_or_all_wrong_have_the_exact_binomial_interval(
    groups, right, low, high
):
    pages = [3, 1, 20, 7, 2, 9] * (groups // 6)
    value = part([right * count for count in pages], pages)
    assert bounds([value]) == pytest.approx((low, high), abs=5e-5)
    exact = stats.binomtest(right * groups, groups).proportion_ci(0.95, method="exact")
    assert bounds([value]) == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_value_that_is_the_same_in_all_groups_has_no_interval(tasks):
    assert interval([part([0.4] * 12, weight=1 / tasks)] * tasks) is None
    assert interval([part([2.0] * 12)]) is None


def test_a_difference_of_nothing_has_no_interval():
    same = np.tile(np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]]), 2)
    assert difference_interval([Ratio(np.arange(6), same, np.ones((6, 2)))], 0, 1) is None


def test_every_part_needs_six_groups():
    long, short = part([0, 1] * 30), part([0, 1, 0, 1, 1])
    assert interval([short]) is None
    assert interval([long]) is not None
    assert interval([long, short]) is None
    assert interval([long, part([0, 1, 0, 1, 1, 1])]) is not None
    assert interval([]) is None
    assert intervals([Ratio(np.arange(5), np.ones((5, 3)), np.ones((5, 3)))]) == [None] * 3


def test_a_denominator_of_zero_gives_no_interval():
    assert ratio_interval([0] * 6, [0] * 6, [*"abcdef"]) is None
    assert interval([part([0, 1] * 6), part([0] * 12, [0] * 12)]) is None


def test_the_order_of_items_does_not_matter():
    generator = random.Random(3)
    items = [(generator.randint(0, 9), generator.randint(9, 12), f"group-{number % 14}")
             for number in range(80)]  # fmt: skip
    expected = ratio_interval(*zip(*items, strict=True))
    assert expected is not None
    assert expected.groups == 14
    for seed in range(5):
        random.Random(seed).shuffle(items)
        assert ratio_interval(*zip(*items, strict=True)) == expected


def test_the_order_of_parts_does_not_matter():
    generator = np.random.default_rng(1)
    parts = [part(generator.integers(0, 5, 20), np.full(20, 4), groups=np.arange(20) + shift)
             for shift in (0, 3, 30)]  # fmt: skip
    assert bounds(parts[::-1]) == pytest.approx(bounds(parts), abs=1e-12)


def test_names_number_the_groups():
    names = ["group-10", "group-2", "a"]
    assert number_names(names) == number_names(names[::-1]) == {"a": 0, "group-10": 1, "group-2": 2}


def test_the_interval_of_a_model_does_not_depend_on_others():
    generator = np.random.default_rng(4)
    own = part(generator.integers(0, 9, 8), generator.integers(9, 30, 8))
    other = generator.integers(100, 2000, (8, 1)).astype(float)
    other[0] = 90_000
    both = Ratio(own.groups, np.hstack([own.top, other]), np.hstack([own.bottom, other + 1]))
    assert intervals([both])[0] == interval([own])


def test_a_mean_of_one_task_has_the_interval_of_the_task():
    one = ratio_of([1, 0, 1, 1, 0, 1, 1], [1] * 7, [*"abcdefg"])
    assert interval([one]) == ratio_interval([1, 0, 1, 1, 0, 1, 1], [1] * 7, [*"abcdefg"])


def test_tasks_that_share_their_groups_vary_together():
    top = np.random.default_rng(3).random(30)
    shared = [part(top, weight=0.5)] * 2
    separate = [part(top, weight=0.5), part(top, groups=np.arange(30, 60), weight=0.5)]
    assert bounds(shared) == pytest.approx(bounds([part(top)]), abs=1e-12)
    assert width(separate) == pytest.approx(width(shared) / 2**0.5, rel=0.05)


def test_a_draw_without_any_group_of_a_part_keeps_the_value_of_the_part():
    rare = part([1.0, 0.0], groups=[0, 1])
    values = resample([rare, part(np.zeros(48), groups=np.arange(2, 50))])[:, 0]
    assert set(np.unique(values)) >= {0.0, 0.5, 1.0}
    assert np.isfinite(values).all()
    # Both groups are drawn equally often, or neither is drawn: e^-2 I0(2) of two Poisson numbers.
    assert np.mean(values == 0.5) == pytest.approx(0.308, abs=0.01)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), min_size=6, max_size=20),
        min_size=1,
        max_size=3,
    )
)
def test_the_interval_of_a_share_contains_it_and_is_within_0_and_1(tasks):
    parts = [
        part([min(pair) for pair in pairs], [most for _, most in pairs], weight=1 / len(tasks))
        for pairs in tasks
    ]
    result, value = interval(parts), float(value_of(parts)[0])
    if result is None:
        assert 0 < value < 1
        return
    assert 0 <= result.low <= value + 1e-12
    assert value - 1e-12 <= result.high <= 1
    assert result.high - result.low > 0.01


def test_one_large_group_makes_an_interval_wide():
    right = [1, 0, 1, 0, 1, 1, 0, 1]
    equal, unequal = np.full(8, 20), np.array([20] * 7 + [200])
    assert group_shares([part(right * equal, equal)]) == pytest.approx((8, 1 / 8, 8))
    shares = group_shares([part(right * unequal, unequal)])
    assert shares == pytest.approx((8, 200 / 340, 340**2 / (7 * 400 + 40_000)))
    result = interval([part(right * unequal, unequal)])
    assert result is not None
    assert (result.groups, result.largest) == (8, pytest.approx(200 / 340))
    assert width([part(right * unequal, unequal)]) > width([part(right * equal, equal)])


def test_items_of_one_book_count_as_one_draw():
    values = [float(number // 50 % 2) for number in range(400)]
    by_book = ratio_interval(values, [1.0] * 400, [f"book {number // 50}" for number in range(400)])
    by_item = ratio_interval(values, [1.0] * 400, [f"item {number:03}" for number in range(400)])
    assert by_book is not None
    assert by_item is not None
    assert (by_book.groups, by_item.groups) == (8, 400)
    assert by_book.high - by_book.low > 4 * (by_item.high - by_item.low)


def test_many_independent_items_have_the_normal_interval():
    values = np.random.default_rng(1).normal(0.5, 0.2, 400)
    half = 1.96 * values.std() / 400**0.5
    assert bounds([part(values)]) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=0.003
    )


def test_many_independent_right_or_wrong_items_have_the_exact_binomial_interval():
    exact = stats.binomtest(280, 400).proportion_ci(0.95, method="exact")
    result = bounds([part([1, 0, 1, 1, 0, 1, 1, 0, 1, 1] * 40)])
    assert result == pytest.approx((exact.low, exact.high), abs=0.002)


def test_neighbours_are_drawn_together_beyond_a_thousand_groups(monkeypatch):
    generator = np.random.default_rng(6)
    rates = generator.beta(2, 2, 5000)
    many = part(generator.binomial(4, rates), np.full(5000, 4))
    merged = interval([many])
    assert merged is not None
    assert merged.groups == 5000
    monkeypatch.setattr("keju.statistics.resampling.MOST_GROUPS", 5000)
    complete = interval([many])
    assert complete is not None
    assert MOST_GROUPS == 1000
    assert merged.high - merged.low == pytest.approx(complete.high - complete.low, rel=0.05)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one length"):
        ratio_interval([1.0], [1.0, 2.0], ["a"])
