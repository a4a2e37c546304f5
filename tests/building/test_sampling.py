"""Numbers that are left over when some are gone, and weights in a row against plain sums."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from keju.building.sampling import Weights, sample_excluding

ROWS = st.lists(st.integers(0, 9), min_size=1, max_size=40)


@given(gone=st.sets(st.integers(0, 40)))
def test_what_is_left_over_stands_in_order(gone):
    left = [number for number in range(60) if number not in gone]
    assert [sample_excluding(at, sorted(gone)) for at in range(len(left))] == left


@given(ROWS, st.lists(st.tuples(st.integers(0, 39), st.integers(0, 9)), max_size=20))
def test_sums_and_places_are_those_of_the_row(row, changes):
    weights = Weights(row)
    for at, weight in changes:
        weights[at % len(row)] = row[at % len(row)] = weight
    sums = [0, *accumulate(row)]
    assert [weights.sum_before(at) for at in range(len(sums))] == sums
    found = [weights.find(number) for number in range(sums[-1])]
    assert found == [bisect_right(sums, number) - 1 for number in range(sums[-1])]
