"""The test whether a value differs between variants."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from keju.statistics import Ratio, paired_p, variants_p


def part(rows: list[list[float]], bottom: list[list[float]] | None = None) -> Ratio:
    top = np.array(rows, dtype=float)
    below = np.ones_like(top) if bottom is None else np.array(bottom, dtype=float)
    return Ratio(np.arange(len(top)), top, below)


def test_two_variants_have_the_p_of_the_paired_test():
    rows = np.random.default_rng(1).integers(0, 5, (9, 2)).tolist()
    two = [part(rows, [[5, 7]] * 9)]
    assert variants_p(two) == paired_p(two)[0, 1]


def test_p_is_the_share_of_all_permutations_with_such_a_range():
    generator = np.random.default_rng(2)
    top = generator.integers(0, 4, (6, 3)).astype(float)
    bottom = generator.integers(4, 9, (6, 3)).astype(float)

    def spread(orders: tuple[tuple[int, ...], ...]) -> float:
        values = [
            sum(top[g, order[v]] for g, order in enumerate(orders))
            / sum(bottom[g, order[v]] for g, order in enumerate(orders))
            for v in range(3)
        ]
        return max(values) - min(values)

    observed = spread(((0, 1, 2),) * 6)
    orders = list(permutations(range(3)))
    # A range is the same after a permutation of all columns: the first group can stay as it is.
    exact = np.mean(
        [spread((orders[0], *rest)) >= observed - 1e-12 for rest in product(orders, repeat=5)]
    )
    assert variants_p([part(top.tolist(), bottom.tolist())]) == pytest.approx(exact, abs=0.02)


def test_a_variant_that_always_loses_is_found_and_equal_ones_have_p_1():
    assert variants_p([part([[1, 1, 0]] * 12)]) < 0.001
    assert variants_p([part([[1, 1, 1], [0, 0, 0]] * 5)]) == 1
    assert variants_p([part([[1, 1], [0, 0]] * 5)]) == 1


def test_the_mean_over_two_equal_tasks_has_the_p_of_one():
    rows = np.random.default_rng(3).integers(0, 5, (12, 3)).tolist()
    one = part(rows, [[5] * 3] * 12)
    half = one._replace(weight=0.5)
    assert variants_p([half, half]) == variants_p([one])


def test_too_few_groups_or_variants_have_no_test():
    assert variants_p([part([[1, 0, 0]] * 5)]) is None
    assert variants_p([part([[1]] * 8)]) is None
    assert variants_p([]) is None


def test_noise_is_significant_as_often_as_the_level_says():
    generator = np.random.default_rng(5)
    ps = [variants_p([part(generator.integers(0, 2, (20, 3)).tolist())]) for _ in range(60)]
    assert np.mean(np.array(ps) <= 0.05) <= 0.12
