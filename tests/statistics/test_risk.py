"""Risk against coverage, against the definition written out naively."""

from __future__ import annotations

from itertools import pairwise, permutations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.statistics import risk_coverage, risk_intervals

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


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    generator = np.random.default_rng(7)

    def pages(count):
        hardness = generator.beta(1, 8, count)
        errors = generator.binomial(200, hardness)
        return errors, np.full(count, 200), -hardness + generator.normal(0, 0.05, count)

    true = risk_coverage(*pages(60_000))
    hits = {"area": 0, "at": 0, "gain": 0}
    for _ in range(200):
        found = risk_intervals(*pages(80), [""] * 80, coverages=[0.8], resamples=200)
        for name, interval, value in (
            ("area", found.area, true.area),
            ("at", found.at[0.8], true.at(0.8)),
            ("gain", found.gain, true.gain),
        ):
            hits[name] += interval.low <= value <= interval.high
    assert all(count >= 178 for count in hits.values()), hits


def test_one_group_has_no_interval_and_wrong_input_is_named():
    assert risk_intervals([1, 2], [3, 3], [1, 2], ["a", "a"]).area is None
    for wrong in (([], [], []), ([1], [0], [1]), ([1], [1, 2], [1]), ([np.nan], [1], [1])):
        with pytest.raises(ValueError, match=r"one length|finite|above 0"):
            risk_coverage(*wrong)
    with pytest.raises(ValueError, match="as many groups"):
        risk_intervals([1], [1], [1], [])
