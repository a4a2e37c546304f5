"""The assignment is the cheapest, against trying all and against scipy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from keju.metrics import assign
from tests.support import naive

WHOLE = st.integers(-9, 9).map(float)
SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 5))


@given(SHAPES.flatmap(lambda shape: arrays(float, shape, elements=WHOLE)))
def test_no_assignment_is_cheaper(costs):
    pairs = assign(costs)
    assert len(pairs) == len({row for row, _ in pairs}) == len({column for _, column in pairs})
    assert len(pairs) == min(costs.shape)
    assert sum(costs[pair] for pair in pairs) == naive.cheapest_assignment(costs.tolist())


def test_larger_ones_cost_what_scipys_do():
    random = np.random.default_rng(7)
    for shape in [(40, 60), (60, 40), (1, 90), (50, 50)]:
        costs = random.normal(size=shape)
        rows, columns = linear_sum_assignment(costs)
        ours = sum(costs[pair] for pair in assign(costs))
        assert np.isclose(ours, costs[rows, columns].sum(), atol=1e-9)


def test_nothing_to_assign_is_no_pair():
    assert assign(np.zeros((0, 3))) == []
    assert assign(np.zeros((3, 0))) == []
