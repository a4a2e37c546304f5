"""Mean and quantiles with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keju.statistics import mean_interval, ratio_interval, spread
from keju.statistics.resampling import draws, group_shares, interval_of_values, ratio_of


def own_groups(count: int) -> list[str]:
    return [f"{place:05}" for place in range(count)]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.sampled_from([0.25, 0.5, 0.9, 1]))
@settings(max_examples=30, deadline=None)
def test_a_quantile_is_the_least_value_that_the_share_does_not_exceed(values, share):
    mean, quantile = spread(values, ["one"] * len(values), [share])
    assert mean.value == pytest.approx(sum(values) / len(values))
    least = min(v for v in values if sum(x <= v for x in values) >= share * len(values) - 1e-9)
    assert quantile.value == least


def test_each_draw_has_the_quantile_of_the_drawn_values_written_out(monkeypatch):
    values = np.random.default_rng(1).integers(0, 9, 40)
    places = np.arange(40) % 11
    names = [f"book {place:02}" for place in places]
    (drawn, *_) = draws(11)
    naive = []
    for times in drawn[:300]:
        chosen = np.sort(np.repeat(values, times[places].astype(int)))
        naive.append(chosen[int(np.ceil(0.9 * len(chosen) - 1e-9)) - 1])
    monkeypatch.setitem(spread.__globals__, "draws", lambda *_, **__: [drawn[:300]])
    shares = group_shares([ratio_of([1.0] * 40, [1.0] * 40, names)])
    mean, result = spread(values.tolist(), names, [0.9])
    assert result.interval == interval_of_values(np.array(naive, dtype=float), result.value, shares)
    assert mean.interval == mean_interval(values.tolist(), names)


def test_the_90_percent_quantile_of_fewer_than_ten_groups_has_no_interval():
    values = np.random.default_rng(2).exponential(10, 60).tolist()
    for groups, expected in ((5, (0, 0, 0)), (6, (1, 1, 0)), (9, (1, 1, 0)), (10, (1, 1, 1))):
        result = spread(values, [f"book {place % groups}" for place in range(60)])
        assert tuple(each.interval is not None for each in result) == expected


def test_groups_widen_the_interval():
    values = [float(n // 10) for n in range(100)]
    alone = spread(values, own_groups(100))[0].interval
    books = spread(values, [str(n // 10) for n in range(100)])[0].interval
    assert books.high - books.low > 2 * (alone.high - alone.low)
    assert spread(values, ["one"] * 100)[0].interval is None


def test_wrong_input_is_named():
    for values, groups, shares in (([], [], [0.5]), ([1], [], [0.5]), ([1], ["a"], [0])):
        with pytest.raises(ValueError, match=r"needed|share"):
            spread(values, groups, shares)


def test_an_amount_is_not_taken_for_a_share():
    """Six requests that cost nothing, or at most 1, say nothing of a limit of 1."""
    assert mean_interval([0.0] * 6, own_groups(6)) is None
    values = [0.0, 0.0, 0.1, 0.2, 0.9, 1.0]
    amount = mean_interval(values, own_groups(6))
    share = ratio_interval(values, [1.0] * 6, own_groups(6))
    assert share.low > amount.low
    assert mean_interval([1.0] * 5, own_groups(5)) is None


def test_neighbours_of_more_than_a_thousand_groups_are_drawn_together():
    values = np.random.default_rng(4).exponential(10, 1500).tolist()
    mean, median, _ = spread(values, own_groups(1500))
    assert (mean.interval.groups, median.interval.groups) == (1500, 1500)
    assert mean.interval.high - mean.interval.low == pytest.approx(4 * 10 / 1500**0.5, rel=0.15)
