"""Punctuation marks, matched one to one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import HitCounts
from keju.metrics.alignment import punctuation_counts

TEXT = st.text(alphabet="学而时习之，。、\n", max_size=20)


class TestOurs:
    def test_each_mark_is_matched_once(self):
        assert punctuation_counts("之，乎", "之，，，乎") == HitCounts(1, 3, 1)

    @pytest.mark.parametrize("other", ["学而,时习.", "学而， 时习。\n"])
    def test_width_and_white_space_are_no_difference(self, other):
        assert punctuation_counts("学而，时习。", other) == HitCounts(2, 2, 2)

    def test_quotation_marks_of_any_style_are_alike(self):
        assert punctuation_counts("曰“学”", "曰「学」").hits == 2

    def test_a_misread_character_costs_no_mark(self):
        assert punctuation_counts("学而，时习。", "学面，时习。").hits == 2

    def test_a_mark_among_wrong_characters_counts_for_nothing(self):
        assert punctuation_counts("学而，时习", "天地，玄黄").hits == 0

    def test_a_mark_in_another_gap_is_wrong(self):
        assert punctuation_counts("学而，时习。", "学，而时习。").hits == 1

    def test_marks_alone_earn_nothing(self):
        assert punctuation_counts("学而，时习。", "，。" * 50).hits == 0

    def test_one_true_pair_two_hundred_times_earns_one_mark(self):
        assert punctuation_counts("学而，时习。之，乎", "之，" * 200).hits <= 1

    def test_characters_are_compared_as_folded(self):
        fold = {"學": "学", "習": "习"}
        counts = punctuation_counts("學，習。", "学，习。", fold=lambda c: fold.get(c, c))
        assert counts.hits == 2

    @given(TEXT, TEXT)
    def test_no_more_hits_than_marks_on_either_side(self, reference, hypothesis):
        counts = punctuation_counts(reference, hypothesis)
        assert 0 <= counts.hits <= min(counts.predicted, counts.expected)

    @given(TEXT)
    def test_a_text_with_a_character_matches_itself_wholly(self, text):
        counts = punctuation_counts(text, text)
        if any(char in "学而时习之" for char in text):
            assert counts.hits == counts.expected == counts.predicted
