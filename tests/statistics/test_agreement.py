"""Alpha is Krippendorff's, on his own examples and against the definition pair by pair."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics.base import UndefinedMetricError
from keju.statistics import krippendorff_alpha

_ = None

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", examples A, B and C.
BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
NAMES = [list("aabbdcccedda"), list("babbbccceddd")]
FOUR_RATERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


@pytest.mark.parametrize(
    ("ratings", "measure", "alpha"),
    [
        (BINARY, "nominal", 0.095),
        (NAMES, "nominal", 0.692),
        (FOUR_RATERS, "nominal", 0.743),
        (FOUR_RATERS, "ordinal", 0.815),
        (FOUR_RATERS, "interval", 0.849),
    ],
)
def test_published_examples(ratings, measure, alpha):
    assert krippendorff_alpha(ratings, measure=measure) == pytest.approx(alpha, abs=5e-4)


def test_units_with_one_rating_are_left_out():
    kept = [row[:11] for row in FOUR_RATERS]
    expected = krippendorff_alpha(kept, measure="nominal")
    assert krippendorff_alpha(FOUR_RATERS, measure="nominal") == pytest.approx(expected)


def squared_distance(measure, a, b, pool):
    if measure == "nominal":
        return float(a != b)
    if measure == "interval":
        return float(a - b) ** 2
    low, high = sorted((a, b))
    between = sum(low <= value <= high for value in pool)
    return (between - (pool.count(a) + pool.count(b)) / 2) ** 2 if a != b else 0.0


def naive_alpha(ratings, measure):
    units = [[v for v in unit if v is not None] for unit in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    pool = list(itertools.chain.from_iterable(units))
    observed = sum(
        squared_distance(measure, a, b, pool) / (len(unit) - 1)
        for unit in units
        for a, b in itertools.permutations(unit, 2)
    ) / len(pool)
    expected = sum(
        squared_distance(measure, a, b, pool) for a, b in itertools.permutations(pool, 2)
    ) / (len(pool) * (len(pool) - 1))
    return 1 - observed / expected


CELL = st.sampled_from([None, 0, 1, 2, 5, 5.5])
TABLES = st.integers(1, 6).flatmap(
    lambda units: st.lists(st.lists(CELL, min_size=units, max_size=units), min_size=2, max_size=4)
)


@given(TABLES, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_is_its_definition_pair_by_pair(ratings, measure):
    try:
        result = krippendorff_alpha(ratings, measure=measure)
    except UndefinedMetricError:
        units = [{v for v in unit if v is not None} for unit in zip(*ratings, strict=True)]
        counts = [sum(v is not None for v in unit) for unit in zip(*ratings, strict=True)]
        kept = [unit for unit, count in zip(units, counts, strict=True) if count > 1]
        assert len(set().union(*kept)) < 2
        return
    assert result == pytest.approx(naive_alpha(ratings, measure), abs=1e-9)


def test_full_agreement_is_one_and_opposition_is_below_zero():
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]], measure="interval") == 1
    assert krippendorff_alpha([[1, 3], [3, 1]], measure="interval") < 0


def test_many_distinct_values_need_little_memory():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=4000)
    noisy = truth + rng.normal(scale=0.1, size=4000)
    result = krippendorff_alpha([truth.tolist(), noisy.tolist()], measure="interval")
    assert result == pytest.approx(0.995, abs=0.002)


def test_without_variation_or_pairs_there_is_no_value():
    with pytest.raises(UndefinedMetricError, match="all ratings are equal"):
        krippendorff_alpha([[2, 2], [2, 2]], measure="nominal")
    with pytest.raises(UndefinedMetricError, match="two or more ratings"):
        krippendorff_alpha([[1, _], [_, 2]], measure="nominal")
    with pytest.raises(UndefinedMetricError, match="two or more ratings"):
        krippendorff_alpha([], measure="nominal")


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="every rater"):
        krippendorff_alpha([[1, 2], [1]], measure="nominal")
    with pytest.raises(ValueError, match="finite number"):
        krippendorff_alpha([["a", "b"], ["a", "b"]], measure="interval")
    with pytest.raises(ValueError, match="finite number"):
        krippendorff_alpha([[float("nan"), 1], [1, 1]], measure="ordinal")
