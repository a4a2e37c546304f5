from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keju.metrics.base import PRF
from keju.metrics.semantic import above_floor, cosine, rescale

number = st.floats(-4, 4, width=32)


def test_cosine_of_a_vector_with_itself_is_one_and_with_nothing_zero():
    assert cosine([3.0, 4.0], [3.0, 4.0]) == pytest.approx(1.0, abs=1e-15)
    assert cosine([3.0, 4.0], [-4.0, 3.0]) == 0.0
    assert cosine([1.0, 0.0], [-2.0, 0.0]) == -1.0
    assert cosine([0.0, 0.0], [1.0, 1.0]) == 0.0


@given(arrays(np.float32, 5, elements=number))
def test_cosine_never_leaves_its_range(vector):
    assert -1.0 <= cosine(vector, vector) <= 1.0


def test_rescaling_puts_the_baseline_at_zero_and_identity_at_one():
    baseline = PRF(0.5, 0.6, 0.8)
    assert rescale(baseline, baseline) == PRF(0.0, 0.0, 0.0)
    assert rescale(PRF(1.0, 1.0, 1.0), baseline) == PRF(1.0, 1.0, 1.0)
    assert rescale(PRF(0.25, 0.6, 0.9), baseline) == pytest.approx((-0.5, 0.0, 0.5))


def test_below_the_floor_is_zero_and_where_the_floor_is_one_nothing_is_told():
    assert above_floor(0.3, 0.4) == 0.0
    assert above_floor(0.7, 0.4) == pytest.approx(0.5)
    assert above_floor(1.0000001, 0.4) == 1.0
    assert above_floor(1.0, 1.0) == 0.0
