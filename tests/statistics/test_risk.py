"""Risk against coverage, against the definition written out naively."""

from __future__ import annotations

from itertools import pairwise, permutations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.statistics import group_shares, ratio_of, risk_coverage, risk_intervals
from keju.statistics.resampling import draws, interval_of_values

NUMBERS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 30), st.integers(0, 3)), min_size=1, max_size=6
)


def naive(rows):
    """The mean over all orders that the signal allows, sums taken before dividing."""
    orders = [
        order
        for order in permutations(range(len(rows)))
        if all(rows[a][2] >= rows[b][2] for a, b in pairwise(order))
    ]
    risks = []
    for count in range(1, len(rows) + 1):
        top = fmean(sum(rows[at][0] for at in order[:count]) for order in orders)
        bottom = fmean(sum(rows[at][1] for at in order[:count]) for order in orders)
        risks.append(top / bottom)
    return risks


@given(NUMBERS)
@settings(max_examples=60)
def test_ties_stand_in_every_order(rows):
    curve = risk_coverage(*zip(*rows, strict=True))
    assert curve.risk == pytest.approx(naive(rows))
    assert curve.area == pytest.approx(fmean(naive(rows)))
    assert curve.whole == pytest.approx(sum(r[0] for r in rows) / sum(r[1] for r in rows))
    assert curve.coverage[-1] == 1


def test_a_perfect_signal_gains_everything_and_a_silent_one_nothing():
    errors, weights = [0, 1, 2, 8], [10, 10, 10, 10]
    assert risk_coverage(errors, weights, [4, 3, 2, 1]).gain == pytest.approx(1)
    assert risk_coverage(errors, weights, [1, 1, 1, 1]).gain == pytest.approx(0)
    assert risk_coverage(errors, weights, [1, 2, 3, 4]).gain < 0
    assert risk_coverage([1, 1], [5, 5], [1, 2]).gain is None


def test_the_error_at_a_coverage_is_that_of_the_next_whole_item():
    curve = risk_coverage([0, 1, 2, 8], [10, 10, 10, 10], [4, 3, 2, 1])
    assert [curve.at(share) for share in (0.25, 0.5, 0.51, 1)] == pytest.approx(
        [0, 0.05, 0.1, 0.275]
    )


def test_each_draw_has_the_curve_of_the_drawn_items_written_out(monkeypatch):
    generator = np.random.default_rng(4)
    count, books = 24, 8
    errors, weights = generator.integers(0, 9, count), generator.integers(5, 20, count)
    signal = generator.integers(0, 6, count)  # with ties
    places = np.arange(count) % books
    names = [f"book {place}" for place in places]
    (drawn, *_) = draws(books)
    naive = []
    for times in drawn[:300]:
        rows = np.repeat(np.arange(count), times[places].astype(int))
        curve = risk_coverage(errors[rows], weights[rows], signal[rows])
        naive.append((curve.area, curve.gain, curve.at(0.5), curve.at(0.8)))
    area, gain, *at = np.array(naive, dtype=float).T
    monkeypatch.setattr(
        "keju.statistics.risk.draws", lambda *_, **__: [drawn[:200], drawn[200:300]]
    )
    result = risk_intervals(errors, weights, signal, names, coverages=[0.5, 0.8])
    curve = risk_coverage(errors, weights, signal)
    shares = group_shares([ratio_of([1.0] * count, [1.0] * count, names)])
    for interval, values, value in (
        (result.area, area, curve.area), (result.gain, gain, curve.gain),
        (result.at[0.5], at[0], curve.at(0.5)), (result.at[0.8], at[1], curve.at(0.8)),
    ):  # fmt: skip
        assert interval == pytest.approx(interval_of_values(values, value, shares))


def test_one_group_has_no_interval_and_wrong_input_is_named():
    assert risk_intervals([1, 2], [3, 3], [1, 2], ["a", "a"]).area is None
    for wrong in (([], [], []), ([1], [0], [1]), ([1], [1, 2], [1]), ([np.nan], [1], [1])):
        with pytest.raises(ValueError, match=r"one length|finite|above 0"):
            risk_coverage(*wrong)
    with pytest.raises(ValueError, match="as many groups"):
        risk_intervals([1], [1], [1], [])
