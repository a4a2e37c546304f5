"""Differences are told where they are, and not where there are none."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.statistics import (
    GroupSums,
    compare,
    detectable_difference,
    group_sums,
    groups_needed,
    holm,
    pairwise_p,
    randomisation_p,
    rank_sets,
    spread_of_differences,
)


def sums(values, weights=None):
    values = np.asarray(values, dtype=float)
    return GroupSums(
        values, np.ones_like(values) if weights is None else np.asarray(weights, float)
    )


def simulated(generator, *, books, pages, gap=0.0):
    """Two models on the same pages, whose books differ in difficulty."""
    difficulty = np.repeat(generator.normal(0, 0.15, books), pages)
    names = [f"book {number}" for number in np.repeat(np.arange(books), pages)]
    found = []
    for level in (0.6 + gap, 0.6):
        right = generator.random(books * pages) < np.clip(level + difficulty, 0, 1)
        found.append(group_sums(right.astype(float).tolist(), [1.0] * len(names), names))
    return found


def test_few_groups_are_swapped_in_every_way():
    first, second = sums([3.0, 1.0, 4.0], [5, 5, 5]), sums([2.0, 2.0, 1.0], [5, 4, 5])
    seen = abs(8 / 15 - 5 / 14)
    reached = 0
    for swap in product((False, True), repeat=3):
        one = [(second if out else first) for out in swap]
        two = [(first if out else second) for out in swap]
        value = sum(s.top[i] for i, s in enumerate(one)) / sum(
            s.bottom[i] for i, s in enumerate(one)
        )
        other = sum(s.top[i] for i, s in enumerate(two)) / sum(
            s.bottom[i] for i, s in enumerate(two)
        )
        reached += abs(value - other) >= seen - 1e-12
    assert randomisation_p(first, second) == reached / 8


def test_drawn_swaps_agree_with_all_of_them():
    generator = np.random.default_rng(4)
    values = generator.random((2, 13))
    drawn = randomisation_p(sums(values[0]), sums(values[1]), resamples=40_000)
    exact = _exact(values[0] - values[1])
    assert drawn == pytest.approx(exact, abs=0.01)


def _exact(differences):
    signs = np.array(list(product((-1, 1), repeat=len(differences))))
    return float(np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12))


def test_no_difference_is_told_at_most_as_often_as_the_level_says():
    generator = np.random.default_rng(11)
    told = 0
    for _ in range(600):
        first, second = simulated(generator, books=20, pages=5)
        told += randomisation_p(first, second, resamples=400) <= 0.05
    assert told / 600 <= 0.06


def test_a_difference_is_told_and_its_interval_holds_it():
    generator = np.random.default_rng(12)
    held = told = 0
    for _ in range(200):
        first, second = simulated(generator, books=40, pages=5, gap=0.1)
        found = compare(first, second, resamples=400)
        held += found.interval.low <= 0.1 <= found.interval.high
        told += found.p <= 0.05
    assert 0.91 <= held / 200 <= 0.99
    assert told / 200 > 0.5


def test_equal_models_do_not_differ():
    same = sums([1.0, 0.0, 1.0, 0.5])
    assert compare(same, same).value == 0
    assert compare(same, same).p == 1


def test_models_over_other_groups_cannot_be_compared():
    with pytest.raises(ValueError, match="same groups"):
        compare(sums([1.0]), sums([1.0, 2.0]))


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_lowers_nothing(values):
    adjusted = holm(values)
    assert all(now >= was for now, was in zip(adjusted, values, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert all(adjusted[a] <= adjusted[b] for a, b in pairwise(order))


@pytest.mark.parametrize(("groups", "tests"), [(8, 1), (10, 3), (25, 1), (40, 20), (120, 1)])
def test_a_detectable_difference_is_found_four_times_in_five(groups, tests):
    generator = np.random.default_rng(13)
    gap = detectable_difference(0.5, groups, tests=tests)
    found = 0
    for _ in range(500):
        first = sums(generator.normal(gap, 0.5, groups))
        p = randomisation_p(first, sums(np.zeros(groups)), resamples=2000)
        found += p <= 0.05 / tests
    assert found / 500 == pytest.approx(0.8, abs=0.07)


def test_too_few_groups_can_find_no_difference_whatever_its_size():
    assert [groups_needed(tests) for tests in (1, 2, 3, 45, 190)] == [6, 7, 7, 11, 13]
    for tests in (1, 3, 45):
        needed = groups_needed(tests)
        assert detectable_difference(0.1, needed - 1, tests=tests) is None
        assert detectable_difference(0.1, needed, tests=tests) > 0
        largest = [
            randomisation_p(sums(np.ones(n)), sums(np.zeros(n))) for n in (needed - 1, needed)
        ]
        assert largest[0] > 0.05 / tests >= largest[1]


def test_groups_that_differ_alike_show_no_detectable_difference():
    always, never = sums(np.ones(8)), sums(np.zeros(8))
    assert spread_of_differences(always, never) == 0
    assert detectable_difference(0.0, 8) is None


def test_the_spread_of_a_mean_over_items_is_that_of_the_differences():
    first, second = sums([1.0, 0.0, 1.0, 1.0]), sums([0.0, 0.0, 1.0, 0.0])
    assert spread_of_differences(first, second) == pytest.approx(np.std([1, 0, 0, 1], ddof=1))


def test_ranks_that_overlap_and_ranks_that_do_not():
    p_values = {(0, 1): 0.01, (0, 2): 0.03, (1, 2): 0.4}
    assert rank_sets([0.9, 0.5, 0.4], p_values) == [(1, 1), (2, 3), (2, 3)]
    assert rank_sets([0.9, 0.5, 0.4], dict.fromkeys(p_values, 0.051)) == [(1, 3)] * 3
    assert rank_sets([0.5, 0.5], {(0, 1): 0.0}) == [(1, 2), (1, 2)]


@pytest.mark.parametrize("groups", [2, 5, 12, 13, 60])
def test_all_pairs_are_tested_as_two_models_are(groups):
    values = np.random.default_rng(groups).random((3, groups))
    found = pairwise_p(values / groups, resamples=20_000)
    for (one, other), p in found.items():
        alone = randomisation_p(sums(values[one]), sums(values[other]), resamples=20_000)
        assert p == (alone if groups <= 12 else pytest.approx(alone, abs=0.02))


@pytest.mark.parametrize("books", [2, 4, 6, 10, 20, 40])
def test_ranks_of_equal_models_are_separated_in_at_most_5_of_100_samples(books):
    generator = np.random.default_rng(books)
    wrong = 0
    for _ in range(400):
        values = generator.beta(0.6, 2.4, books) + generator.normal(0, 0.1, (4, books))
        p_values = pairwise_p(values / books, resamples=400)
        adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
        wrong += rank_sets(values.mean(axis=1).tolist(), adjusted) != [(1, 4)] * 4
    assert wrong / 400 <= 0.07
    if books < groups_needed(6):
        assert wrong == 0
