"""Two models are tested by swapping them within groups, and no third model has an influence."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from keju.statistics import (
    Ratio,
    difference_interval,
    groups_needed,
    holm,
    paired_p,
    rank_sets,
)


def part(*models, groups=None, weight=1.0):
    """One part, from (numerator, denominator) by group of each model."""
    top, bottom = np.array(models, dtype=float).transpose(2, 1, 0)
    places = np.arange(len(top)) if groups is None else np.asarray(groups)
    return Ratio(places, top, bottom, weight)


def means(*models):
    """One part with denominators of 1."""
    return part(*([(value, 1) for value in values] for values in models))


def naive_p(parts, first, second):
    """The same test, with one Python loop over all swaps of the groups of all parts."""
    union = sorted({int(group) for each in parts for group in each.groups})
    differences = []
    for swaps in product((False, True), repeat=len(union)):
        swapped = dict(zip(union, swaps, strict=True))
        difference = 0.0
        for each in parts:
            values = []
            for own, other in ((first, second), (second, first)):
                columns = [other if swapped[int(group)] else own for group in each.groups]
                rows = range(len(columns))
                above = sum(
                    each.top[row, column] for row, column in zip(rows, columns, strict=True)
                )
                below = sum(
                    each.bottom[row, column] for row, column in zip(rows, columns, strict=True)
                )
                values.append(above / below)
            difference += each.weight * (values[0] - values[1])
        differences.append(abs(difference))
    return sum(value >= differences[0] - 1e-12 for value in differences) / len(differences)


@st.composite
def values_of_models(draw):
    """One to three parts of three models over six to eight groups, some with equal denominators."""
    count = draw(st.integers(6, 8))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        groups = draw(st.sets(st.integers(0, count - 1), min_size=1))
        places = sorted(groups | {0, count - 1}) if parts else range(count)
        lengths = st.lists(st.integers(1, 9), min_size=len(places), max_size=len(places))
        shared = draw(lengths)
        same = draw(st.booleans())
        models = []
        for _ in range(3):
            bottom = shared if same else draw(lengths)
            models.append([(draw(st.integers(0, number)), number) for number in bottom])
        parts.append(
            part(*models, groups=list(places), weight=draw(st.sampled_from([0.25, 0.5, 1])))
        )
    return parts


@settings(max_examples=40, deadline=None)
@given(values_of_models())
def test_p_is_that_of_a_loop_over_all_swaps(parts):
    result = paired_p(parts)
    assert result == {
        pair: pytest.approx(naive_p(parts, *pair)) for pair in ((0, 1), (0, 2), (1, 2))
    }


A = [(6, 8), (8, 13), (10, 13), (8, 13), (10, 12), (10, 11)]
B = [(2, 2), (2, 2), (4, 4), (2, 2), (2, 2), (2, 17)]
VERBOSE = [(0, 123), (2, 125), (2, 163), (2, 194), (4, 107), (2, 111)]


def test_a_verbose_third_model_does_not_change_the_p_of_two():
    assert paired_p([part(A, B)]) == {(0, 1): 0.53125}
    assert paired_p([part(A, B, VERBOSE)])[0, 1] == 0.53125
    assert paired_p([part(VERBOSE, A, B)])[1, 2] == 0.53125


def test_many_other_models_do_not_change_the_p_of_two():
    generator = np.random.default_rng(0)
    numbers = generator.integers(0, 9, (30, 33))
    models = [[(number, 10) for number in model] for model in numbers.tolist()]
    assert paired_p([part(*models)])[0, 1] == paired_p([part(*models[:2])])[0, 1]


@pytest.mark.parametrize("groups", [6, 10, 14])
def test_p_is_scipys_and_exact_up_to_14_groups(groups):
    first, second = np.random.default_rng(groups).random((2, groups))
    exact = stats.permutation_test(
        (first, second), lambda one, two: one.mean() - two.mean(),
        permutation_type="samples", n_resamples=np.inf,
    ).pvalue  # fmt: skip
    assert paired_p([means(first, second)])[0, 1] == pytest.approx(exact, abs=1e-12)
    assert paired_p([means(np.ones(groups), np.zeros(groups))]) == {(0, 1): 2 / 2**groups}


@pytest.mark.parametrize("groups", [15, 40, 1500])
def test_more_groups_are_swapped_at_random_and_p_is_never_0(groups):
    first, second = np.random.default_rng(groups).random((2, groups))
    first += 0.15 / groups**0.5
    scipys = stats.permutation_test(
        (first, second), lambda one, two, axis: (one - two).mean(axis),
        permutation_type="samples", n_resamples=20_000, batch=1000, vectorized=True,
        rng=np.random.default_rng(1),
    ).pvalue  # fmt: skip
    assert paired_p([means(first, second)])[0, 1] == pytest.approx(scipys, abs=0.015)
    assert paired_p([means(np.ones(400), np.zeros(400))]) == {(0, 1): 1 / 20_001}


def test_fewer_than_six_groups_have_no_test():
    assert paired_p([means([1] * 5, [0] * 5)]) == {}
    assert paired_p([means([1] * 6, [0] * 6)]) == {(0, 1): 2 / 2**6}
    assert paired_p([means([1] * 6)]) == {}
    assert paired_p([]) == {}


def test_equal_models_have_p_1():
    assert paired_p([part(A, A)]) == {(0, 1): 1}


def test_a_model_without_any_denominator_does_not_differ_and_p_is_never_0():
    assert paired_p([part([(1, 2)] * 6, [(0, 0)] * 6)]) == {(0, 1): 1.0}
    shared = means([1] * 6, [0] * 6)
    assert paired_p([shared, part([(1, 2)] * 6, [(0, 0)] * 6)]) == {(0, 1): 2 / 64}


def test_tasks_are_swapped_together_where_they_share_their_groups():
    first, second = [1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 1]
    tasks = [means(first, second)._replace(weight=0.5) for _ in range(2)]
    assert paired_p(tasks) == paired_p([means(first, second)])
    apart = [tasks[0], tasks[1]._replace(groups=np.arange(7, 14))]
    assert paired_p(apart)[0, 1] < paired_p(tasks)[0, 1]


def test_the_order_of_models_and_parts_does_not_matter():
    tasks = [part(A, B, VERBOSE), part(B, A, A, groups=range(3, 9))]
    p = paired_p(tasks)
    assert paired_p(tasks[::-1]) == p
    turned = paired_p([each._replace(top=each.top[:, ::-1], bottom=each.bottom[:, ::-1])
                       for each in tasks])  # fmt: skip
    assert turned == {(0, 1): p[1, 2], (0, 2): p[0, 2], (1, 2): p[0, 1]}


def two_models(generator, *, books, gap):
    """Two models on five pages a book, whose books differ in difficulty."""
    difficulty = generator.normal(0, 0.15, books)
    rates = np.clip(np.array([[0.6 + gap], [0.6]]) + difficulty, 0, 1)
    right = generator.binomial(5, rates)
    return part(*([(number, 5) for number in model] for model in right))


def test_equal_models_differ_in_at_most_5_of_100_samples():
    generator = np.random.default_rng(11)
    claims = [paired_p([two_models(generator, books=12, gap=0)])[0, 1] <= 0.05 for _ in range(600)]
    assert np.mean(claims) <= 0.06


def test_a_difference_is_found_and_its_interval_contains_it():
    generator = np.random.default_rng(12)
    contained, claims = [], []
    for _ in range(200):
        models = two_models(generator, books=40, gap=0.1)
        result = difference_interval([models], 0, 1)
        contained.append(result.low <= 0.1 <= result.high)
        claims.append(paired_p([models])[0, 1] <= 0.05)
    assert 0.91 <= np.mean(contained) <= 0.99
    assert np.mean(claims) > 0.5


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_lowers_nothing(values):
    adjusted = holm(values)
    assert all(now >= was for now, was in zip(adjusted, values, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert all(adjusted[a] <= adjusted[b] for a, b in pairwise(order))


def test_groups_needed_are_the_fewest_with_which_a_test_can_reach_the_level():
    assert [groups_needed(tests) for tests in (1, 2, 3, 45, 190)] == [6, 7, 7, 11, 13]
    for tests in (3, 45):
        needed = groups_needed(tests)
        least = [
            paired_p([means(np.ones(number), np.zeros(number))])[0, 1]
            for number in (needed - 1, needed)
        ]
        assert least[0] > 0.05 / tests >= least[1]


def test_ranks_that_overlap_and_ranks_that_do_not():
    p_values = {(0, 1): 0.01, (0, 2): 0.03, (1, 2): 0.4}
    assert rank_sets([0.9, 0.5, 0.4], p_values) == [(1, 1), (2, 3), (2, 3)]
    assert rank_sets([0.9, 0.5, 0.4], dict.fromkeys(p_values, 0.051)) == [(1, 3)] * 3
    assert rank_sets([0.5, 0.5], {(0, 1): 0.0}) == [(1, 2), (1, 2)]


@pytest.mark.parametrize("books", [6, 10, 12])
def test_ranks_of_equal_models_are_separated_in_at_most_5_of_100_samples(books):
    generator = np.random.default_rng(books)
    separated = 0
    for _ in range(400):
        values = generator.beta(0.6, 2.4, books) + generator.normal(0, 0.1, (4, books))
        p_values = paired_p([means(*values)])
        adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
        separated += rank_sets(values.mean(axis=1).tolist(), adjusted) != [(1, 4)] * 4
    assert separated / 400 <= 0.06
    if books < groups_needed(6):
        assert separated == 0
