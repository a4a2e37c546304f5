from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keju.metrics.base import PRF
from keju.metrics.semantic import (
    above_floor,
    cosine,
    match_tokens,
    other_pairs,
    rescale,
    unit_rows,
)

number = st.floats(-4, 4, width=32)
matrix = st.integers(1, 6).flatmap(lambda rows: arrays(np.float32, (rows, 3), elements=number))


def naive_match(candidate, reference, mine, theirs):
    """Loops over Zhang et al. 2020, equations of section 3."""

    def like(a, b):
        lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
        return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0

    precision = sum(
        w * max(like(t, other) for other in reference) for t, w in zip(candidate, mine, strict=True)
    ) / sum(mine)
    recall = sum(
        w * max(like(t, other) for other in candidate)
        for t, w in zip(reference, theirs, strict=True)
    ) / sum(theirs)
    if min(precision, recall) <= 0:
        return precision, recall, 0.0
    return precision, recall, 2 * precision * recall / (precision + recall)


def test_cosine_of_a_vector_with_itself_is_one_and_with_nothing_zero():
    assert cosine([3.0, 4.0], [3.0, 4.0]) == pytest.approx(1.0, abs=1e-15)
    assert cosine([3.0, 4.0], [-4.0, 3.0]) == 0.0
    assert cosine([1.0, 0.0], [-2.0, 0.0]) == -1.0
    assert cosine([0.0, 0.0], [1.0, 1.0]) == 0.0


@given(arrays(np.float32, 5, elements=number))
def test_cosine_never_leaves_its_range(vector):
    assert -1.0 <= cosine(vector, vector) <= 1.0


def test_rows_of_zeros_stay():
    found = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert found.tolist() == [[0.6, 0.8], [0.0, 0.0]]


@given(matrix, matrix, st.data())
def test_matching_is_the_naive_one(candidate, reference, data):
    weight = st.floats(0.25, 3)
    mine = data.draw(st.lists(weight, min_size=len(candidate), max_size=len(candidate)))
    theirs = data.draw(st.lists(weight, min_size=len(reference), max_size=len(reference)))
    found = match_tokens(candidate, reference, candidate_weights=mine, reference_weights=theirs)
    expected = naive_match(candidate.tolist(), reference.tolist(), mine, theirs)
    # F1 of two numbers near 0 is ill-conditioned; precision and recall always hold.
    assert found[:2] == pytest.approx(expected[:2], abs=1e-5)
    if min(expected[:2]) > 1e-2:
        assert found.f1 == pytest.approx(expected[2], abs=1e-4)


def test_a_token_without_weight_earns_nothing_but_may_be_matched():
    special, word, other = np.eye(3, dtype=np.float32)
    found = match_tokens(
        np.array([word, special]),
        np.array([special, other]),
        candidate_weights=[1, 0],
        reference_weights=[0, 1],
    )
    assert found == PRF(0.0, 0.0, 0.0)
    found = match_tokens(
        np.array([special, word]),
        np.array([word, other]),
        candidate_weights=[1, 0],
        reference_weights=[0, 1],
    )
    assert found.precision == 0.0
    assert match_tokens(
        np.array([word]), np.array([word, other]), candidate_weights=[1], reference_weights=[0, 1]
    ) == PRF(1.0, 0.0, 0.0)


@pytest.mark.parametrize(("mine", "theirs"), [([0, 0], [1, 1]), ([1, 1], [0, 0]), ([0, 0], [0, 0])])
def test_an_empty_text_is_never_paid_not_even_against_another(mine, theirs):
    tokens = np.eye(2, dtype=np.float32)
    found = match_tokens(tokens, tokens, candidate_weights=mine, reference_weights=theirs)
    assert found == PRF(0.0, 0.0, 0.0)


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


@given(st.integers(0, 60), st.integers(1, 90))
def test_no_item_is_its_own_other_and_all_are_used_alike(count, at_least):
    pairs = other_pairs(count, at_least=at_least)
    assert all(a != b for a, b in pairs)
    assert len(set(pairs)) == len(pairs)
    for side in (0, 1):
        uses = [sum(pair[side] == index for pair in pairs) for index in range(count)]
        assert len(set(uses)) <= 1
    if count > 1:
        assert len(pairs) >= min(at_least, count * (count - 1) // 2)
