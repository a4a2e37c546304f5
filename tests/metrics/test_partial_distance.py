"""How near a text comes to holding a pattern anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import distance
from keju.metrics.alignment import partial_distance

TEXT = st.text(alphabet="天地玄黃", max_size=9)


@pytest.mark.parametrize(
    ("pattern", "text", "edits"),
    [
        ("學而時", "子曰學而時習之", 0),
        ("學而時", "子曰學而不時習之", 1),
        ("學而時", "子曰學面時習之", 1),
        ("學而時", "", 3),
        ("", "子曰", 0),
        ("𠀋一", "二𠀋一", 0),
    ],
)
def test_the_fewest_edits_to_any_stretch(pattern, text, edits):
    assert partial_distance(pattern, text) == edits


@given(TEXT, TEXT)
def test_it_is_the_least_distance_to_any_stretch(pattern, text):
    stretches = [text[a:b] for a in range(len(text) + 1) for b in range(a, len(text) + 1)]
    assert partial_distance(pattern, text) == min(
        distance(pattern, stretch) for stretch in stretches
    )
