"""Transcription metrics on cases worked out by hand, and what each may and may not reward."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import (
    UndefinedMetricError,
    best_edits,
    character_error_rate,
    normalised_distance,
    position_prf,
    set_prf,
)

TEXT = st.text(alphabet="天地玄黄", max_size=12)
SOME = st.text(alphabet="天地玄黄", min_size=1, max_size=12)


def test_normalised_distance_divides_by_the_longer_text():
    assert normalised_distance("天", "天地玄黄") == 0.75
    with pytest.raises(UndefinedMetricError):
        normalised_distance("", "")


def test_error_rate_is_not_bounded_and_needs_a_reference():
    assert character_error_rate("天", "地玄黄") == 3
    with pytest.raises(UndefinedMetricError):
        character_error_rate("", "天")


def test_sets_do_not_count_repeats_nor_order():
    assert set_prf("天地天", "地天") == (1, 1, 1)
    assert set_prf("天地", "") == (0, 0, 0)
    with pytest.raises(UndefinedMetricError):
        set_prf("", "天")


def test_one_early_insertion_ruins_positions_and_hardly_touches_the_alignment():
    page = "天地玄黄宇宙洪荒"
    assert position_prf(page, "一" + page) == (0, 0, 0)
    assert best_edits(page, "一" + page).matches == len(page)


@given(SOME, TEXT)
def test_aligned_recall_is_at_least_one_minus_cer(reference, hypothesis):
    matches = best_edits(reference, hypothesis).matches
    least = 1 - character_error_rate(reference, hypothesis)
    assert matches / len(reference) >= least - 1e-12
    common = (Counter(reference) & Counter(hypothesis)).total()
    assert position_prf(reference, hypothesis).recall * len(reference) <= common + 1e-9
    assert matches <= common


@given(SOME, TEXT)
def test_all_rates_lie_between_0_and_1(reference, hypothesis):
    for metric in (set_prf, position_prf):
        assert all(0 <= rate <= 1 for rate in metric(reference, hypothesis))
