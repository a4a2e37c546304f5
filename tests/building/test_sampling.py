"""Numbers that are left over when some are gone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keju.building.sampling import sample_excluding


@given(gone=st.sets(st.integers(0, 40)))
def test_what_is_left_over_stands_in_order(gone):
    left = [number for number in range(60) if number not in gone]
    assert [sample_excluding(at, sorted(gone)) for at in range(len(left))] == left
