"""The spread of a value over variants: its size, its interval, and what noise gives."""

from __future__ import annotations

import numpy as np
import pytest

from keju.statistics import TaskSums, macro_variant_spread, variant_spread


def sums(rows: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    top = np.array(rows, dtype=float)
    return top, np.ones_like(top)


def test_spread_and_deviation_are_of_the_values_of_all_groups():
    found = variant_spread(*sums([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]]))
    assert found.values == [0.75, 0.5, 0.25]
    assert found.spread == 0.5
    assert found.deviation == pytest.approx(0.25)
    assert found.groups == 4
    assert found.spread_interval is None


def test_weights_are_those_of_the_groups():
    top, bottom = np.array([[8.0, 2.0], [1.0, 1.0]]), np.array([[10.0, 10.0], [1.0, 1.0]])
    found = variant_spread(top, bottom)
    assert found.values == pytest.approx([9 / 11, 3 / 11])


def test_a_wording_that_always_loses_is_found():
    found = variant_spread(*sums([[1, 1, 0]] * 12))
    assert found.spread == 1
    assert found.p < 0.01
    low, high, groups = found.spread_interval
    assert (low, high, groups) == (1, 1, 12)


def test_equal_variants_have_no_spread_and_p_of_one():
    found = variant_spread(*sums([[1, 1], [0, 0]] * 5))
    assert (found.spread, found.deviation, found.p) == (0, 0, 1)


def test_one_group_has_neither_interval_nor_test():
    found = variant_spread(*sums([[1, 0]]))
    assert (found.spread, found.p, found.spread_interval) == (1, None, None)


def test_noise_is_significant_as_often_as_the_level_says():
    generator = np.random.default_rng(5)
    ps = [variant_spread(*sums(generator.integers(0, 2, (20, 3)).tolist()), resamples=10).p
          for _ in range(120)]  # fmt: skip
    assert np.mean(np.array(ps) <= 0.05) <= 0.1


def test_the_interval_has_the_true_spread_where_it_is_large():
    generator = np.random.default_rng(6)
    rates = np.array([0.9, 0.6, 0.2])
    inside = 0
    for _ in range(60):
        rows = (generator.random((40, 3)) < rates).astype(float)
        low, high, _ = variant_spread(rows, np.ones_like(rows), resamples=300).spread_interval
        inside += low <= 0.7 <= high
    assert inside >= 50


def test_the_mean_over_one_task_is_that_task_and_over_two_equal_ones_too():
    rng = np.random.default_rng(3)
    top = rng.integers(0, 5, size=(12, 3)).astype(float)
    bottom = np.full((12, 3), 5.0)
    task = TaskSums(np.arange(12), top, bottom)
    alone = variant_spread(top, bottom)
    one = macro_variant_spread([task], groups=12)
    two = macro_variant_spread([task, task], groups=12)
    assert one == two
    assert one.values == pytest.approx(alone.values)
    assert (one.spread, one.deviation) == pytest.approx((alone.spread, alone.deviation))
    assert one.p == alone.p
    assert one.spread_interval is not None
    assert alone.spread_interval is not None
    assert one.spread_interval[:2] == pytest.approx(alone.spread_interval[:2], abs=0.03)


def test_the_mean_over_tasks_of_few_groups_has_no_interval():
    task = TaskSums(np.arange(5), np.eye(5)[:, :2], np.ones((5, 2)))
    found = macro_variant_spread([task, task], groups=5)
    assert (found.spread_interval, found.deviation_interval) == (None, None)
    assert found.p == 1.0
