"""The assignment is the cheapest there is, as scipy's is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from keju.metrics.assignment import assign

COSTS = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-3, 3), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def total(costs, pairs):
    return sum(costs[pair] for pair in pairs)


@given(COSTS)
def test_no_pairing_is_cheaper(rows):
    costs = np.array(rows, dtype=np.float64)
    pairs = assign(costs)
    wide = costs if costs.shape[0] <= costs.shape[1] else costs.T
    chosen = itertools.permutations(range(wide.shape[1]), wide.shape[0])
    assert total(costs, pairs) == min(total(wide, list(enumerate(each))) for each in chosen)
    for side in zip(*pairs, strict=True):
        assert len(set(side)) == min(costs.shape)


@pytest.mark.parametrize("shape", [(1, 1), (30, 30), (12, 400), (400, 12), (150, 151)])
def test_real_costs_total_what_scipys_do(shape):
    costs = np.random.default_rng(7).normal(size=shape)
    best = costs[linear_sum_assignment(costs)].sum()
    assert total(costs, assign(costs)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0)])
def test_nothing_is_paired_with_nothing(shape):
    assert assign(np.empty(shape)) == []
