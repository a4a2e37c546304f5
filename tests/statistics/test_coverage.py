"""Intervals hold the true value about as often as they say, with items in clusters or alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from keju.statistics import group_bootstrap


def coverage(generator, *, books, pages, between, runs=1200, method="expanded"):
    held = 0
    for _ in range(runs):
        level = np.repeat(generator.normal(0.6, between, books), pages)
        values = level + generator.normal(0, 0.2, books * pages)
        names = [f"b{n}" for n in np.repeat(np.arange(books), pages)]
        found = group_bootstrap(
            values.tolist(), [1.0] * len(names), names, resamples=500, method=method
        )
        held += found.low <= 0.6 <= found.high
    return held / runs


@pytest.mark.parametrize(
    ("books", "pages", "between"), [(120, 1, 0.0), (12, 10, 0.15), (25, 5, 0.1), (8, 15, 0.2)]
)
def test_95_percent_intervals_hold_the_truth_93_to_97_times_in_a_hundred(books, pages, between):
    found = coverage(np.random.default_rng(books), books=books, pages=pages, between=between)
    assert 0.93 <= found <= 0.97


def test_yes_or_no_items_too():
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(1200):
        right = (generator.random(150) < 0.7).astype(float)
        found = group_bootstrap(right.tolist(), [1.0] * 150, [""] * 150, resamples=500)
        held += found.low <= 0.7 <= found.high
    assert 0.93 <= held / 1200 <= 0.97


def test_plain_quantiles_are_too_narrow_where_books_are_few():
    plain, expanded = (
        coverage(np.random.default_rng(3), books=8, pages=15, between=0.2, runs=500, method=method)
        for method in ("percentile", "expanded")
    )
    assert plain < 0.92 < expanded


def test_bca_is_the_textbooks():
    values = np.random.default_rng(7).exponential(1.0, 60)
    ours = group_bootstrap(values.tolist(), [1.0] * 60, [""] * 60, resamples=20_000, method="bca")
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.high, abs=0.01)
