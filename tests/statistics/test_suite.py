"""Resampling a whole benchmark at once gives what resampling each task would."""

from __future__ import annotations

import numpy as np
import pytest

from keju.statistics import TaskSums, group_bootstrap, resample_suite


def test_one_task_alone_has_the_interval_of_the_group_bootstrap():
    generator = np.random.default_rng(2)
    top, bottom = generator.random((80, 1)), generator.integers(1, 9, (80, 1)).astype(float)
    values = resample_suite([TaskSums(np.arange(80), top, bottom)], groups=80, resamples=4000)[
        :, 0, 0
    ]
    alone = group_bootstrap(
        top.ravel().tolist(), bottom.ravel().tolist(), [""] * 80, resamples=4000,
        method="percentile",
    )  # fmt: skip
    low, high = np.quantile(values, [0.025, 0.975])
    assert (low, high) == pytest.approx((alone.low, alone.high), abs=0.004)


def test_tasks_that_share_their_books_rise_and_fall_together():
    top = np.random.default_rng(3).random((30, 2))
    ones = np.ones((30, 2))
    shared = TaskSums(np.arange(30), top, ones)
    other = TaskSums(np.arange(30, 60), top, ones)
    values = resample_suite([shared, shared, other], groups=60, resamples=2000)
    assert values.shape == (2000, 3, 2)
    assert np.array_equal(values[:, 0], values[:, 1])
    assert abs(np.corrcoef(values[:, 0, 0], values[:, 2, 0])[0, 1]) < 0.1


def test_a_task_that_no_draw_reached_has_no_value():
    rare = TaskSums(np.array([0]), np.ones((1, 1)), np.ones((1, 1)))
    values = resample_suite([rare], groups=50, resamples=500)
    assert np.isnan(values).any()
    assert set(values[~np.isnan(values)]) == {1.0}


def test_the_same_seed_gives_the_same_values():
    task = TaskSums(np.arange(5), np.random.default_rng(1).random((5, 3)), np.ones((5, 3)))
    one, two = (resample_suite([task], groups=5, resamples=50, seed=9) for _ in range(2))
    assert np.array_equal(one, two)
