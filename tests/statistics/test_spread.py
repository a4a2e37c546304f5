"""Mean and quantiles with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.statistics import spread
from keju.statistics.bootstrap import draws


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.sampled_from([0.25, 0.5, 0.9, 1]))
def test_a_quantile_is_the_least_value_that_the_share_does_not_exceed(values, share):
    mean, quantile = spread(values, [""] * len(values), [share], resamples=3)
    assert mean.value == pytest.approx(sum(values) / len(values))
    least = min(v for v in values if sum(x <= v for x in values) >= share * len(values) - 1e-9)
    assert quantile.value == least


def test_intervals_hold_the_true_mean_and_quantiles():
    generator = np.random.default_rng(3)
    true = (10.0, 10 * np.log(2), 10 * np.log(10))
    hits = np.zeros(3)
    for _ in range(300):
        found = spread(generator.exponential(10, 120).tolist(), [""] * 120, resamples=300)
        hits += [
            each.interval.low <= v <= each.interval.high
            for each, v in zip(found, true, strict=True)
        ]
    assert (hits >= 270).all(), hits


def test_groups_widen_the_interval():
    values = [float(n // 10) for n in range(100)]
    alone = spread(values, [""] * 100)[0].interval
    books = spread(values, [str(n // 10) for n in range(100)])[0].interval
    assert books.high - books.low > 2 * (alone.high - alone.low)
    assert spread(values, ["one"] * 100)[0].interval is None


def test_wrong_input_is_named():
    for values, groups, shares in (([], [], [0.5]), ([1], [], [0.5]), ([1], [""], [0])):
        with pytest.raises(ValueError, match=r"needed|share"):
            spread(values, groups, shares)


def test_blocks_of_any_size_hold_the_same_draws():
    whole = np.concatenate(list(draws(5, resamples=60, seed=3)))
    parts = list(draws(5, resamples=60, seed=3, wide=1 << 18))
    assert len(parts) == 4
    assert np.array_equal(np.concatenate(parts), whole)
