"""Correlations are scipy's; the papers' formulas agree with them where nothing is tied."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from keju.metrics.base import UndefinedMetricError
from keju.statistics import associate, kendall, pearson, spearman

RATING = st.integers(0, 5)
PAIRS = st.lists(st.tuples(RATING, RATING), min_size=2, max_size=30)
UNTIED = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30, unique=True)


def measures(left, right):
    return associate(left, right, ["book"] * len(left)).values


def varied(pairs):
    return all(len(set(side)) > 1 for side in zip(*pairs, strict=True))


@given(PAIRS.filter(varied))
def test_with_ties_all_three_are_scipys(pairs):
    left, right = zip(*pairs, strict=True)
    assert pearson(left, right) == pytest.approx(stats.pearsonr(left, right)[0], abs=1e-12)
    assert spearman(left, right) == pytest.approx(stats.spearmanr(left, right)[0], abs=1e-12)
    assert kendall(left, right) == pytest.approx(stats.kendalltau(left, right)[0], abs=1e-12)


@given(UNTIED, st.randoms(use_true_random=False))
def test_without_ties_the_papers_formulas_are_the_corrected_ones(left, random):
    right = random.sample(left, len(left))
    values = measures(left, right)
    assert values["spearman_paper"] == pytest.approx(values["spearman"], abs=1e-12)
    assert values["kendall_paper"] == pytest.approx(values["kendall"], abs=1e-12)


@given(PAIRS)
def test_pairs_are_counted_as_by_comparing_each_with_each(pairs):
    signs = [np.sign(a[0] - b[0]) * np.sign(a[1] - b[1]) for a, b in combinations(pairs, 2)]
    value = measures(*zip(*pairs, strict=True))["kendall_paper"]
    assert value == pytest.approx(np.mean(signs), abs=1e-12)


def test_ties_lower_tau_a_and_raise_the_papers_spearman():
    left, right = [1, 1, 1, 2], [1, 2, 3, 4]
    values = measures(left, right)
    assert values["kendall_paper"] == pytest.approx(3 / 6)
    assert kendall(left, right) == pytest.approx(3 / (3 * 6) ** 0.5)
    assert values["spearman_paper"] > values["spearman"]


def test_large_and_tiny_values_neither_overflow_nor_vanish():
    assert pearson([1e308, -1e308, 0], [1, -1, 0]) == pytest.approx(1)
    assert pearson([1e-308, -1e-308, 0], [1, -1, 0]) == pytest.approx(1)


def test_bias_is_human_less_model():
    values = measures([8, 6, 7], [5, 6, 6])
    assert values["bias"] == pytest.approx(4 / 3)
    assert values["mae"] == pytest.approx(4 / 3)
    assert values["mse"] == pytest.approx(10 / 3)


@pytest.mark.parametrize("metric", [pearson, spearman, kendall])
def test_a_constant_side_has_no_correlation(metric):
    with pytest.raises(UndefinedMetricError, match="one side are equal"):
        metric([0.1] * 7, [1, 2, 3, 4, 5, 6, 7])


@pytest.mark.parametrize("metric", [pearson, spearman, kendall])
def test_wrong_input_is_refused(metric):
    with pytest.raises(UndefinedMetricError, match="pairs"):
        metric([], [])
    with pytest.raises(ValueError, match="one length"):
        metric([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="finite"):
        metric([1.0, float("nan")], [1.0, 2.0])
