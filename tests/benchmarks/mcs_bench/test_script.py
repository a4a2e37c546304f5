"""The metrics of the authors' script: its back-trace, its marks, its entities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.benchmarks.mcs_bench import script as module
from keju.benchmarks.mcs_bench.script import (
    official_edits,
    official_entities_prf,
    official_punctuation_prf,
)
from keju.metrics import EditCounts, accurate_rate, correct_rate
from tests.support import naive

SHORT = st.text(alphabet="天地玄黄", max_size=14)
ANY = st.text(max_size=20)


@given(SHORT | ANY, SHORT | ANY)
def test_the_split_is_the_authors_back_trace(reference, hypothesis):
    assert official_edits(reference, hypothesis) == naive.official_edits(reference, hypothesis)


@given(SHORT, st.text(alphabet="天地玄黄", max_size=60), st.integers(1, 9))
def test_blocks_of_columns_change_nothing(reference, hypothesis, block):
    whole = official_edits(reference, hypothesis)
    before = module._BLOCK
    module._BLOCK = block
    try:
        assert official_edits(reference, hypothesis) == whole
    finally:
        module._BLOCK = before


@pytest.mark.parametrize(
    ("reference", "hypothesis", "official"),
    [
        ("学而", "而时", (0, 2, 0, 0)),
        ("", "", (0, 0, 0, 0)),
        ("", "天", (0, 0, 0, 1)),
        ("天", "", (0, 0, 1, 0)),
        ("天地", "天地", (2, 0, 0, 0)),
        ("𠀀𠀁", "𠀁", (1, 0, 1, 0)),
    ],
)
def test_splits_by_hand(reference, hypothesis, official):
    assert official_edits(reference, hypothesis) == EditCounts(*official)


def test_the_split_is_not_that_of_rapidfuzz_nor_of_the_longest_common_subsequence():
    """Guards against replacing the back-trace by something faster."""
    from rapidfuzz.distance import LCSseq, Levenshtein

    pairs = [
        ("甲丁乙甲乙甲", "乙丁甲乙甲乙丁"),
        ("学而", "而时"),
        ("甲乙甲乙丙甲", "乙甲甲丙丙乙甲"),
    ]
    rapid = [len(pair[0]) - _touched(Levenshtein.editops(*pair)) for pair in pairs]
    longest = [LCSseq.similarity(*pair) for pair in pairs]
    ours = [official_edits(*pair).matches for pair in pairs]
    assert ours == [naive.official_edits(*pair).matches for pair in pairs]
    assert ours != longest
    assert ours != rapid


def _touched(operations):
    return sum(operation.tag != "insert" for operation in operations)


def test_insertions_lower_ar_and_leave_cr_alone():
    counts = official_edits("天地", "天地" + "玄" * 20)
    assert accurate_rate(counts) == -9
    assert correct_rate(counts) == 1


def test_rates_of_an_empty_reference_are_zero_as_in_the_script():
    assert accurate_rate(official_edits("", "天")) == correct_rate(official_edits("", "")) == 0


class TestPunctuation:
    def test_a_mark_is_taken_with_the_character_before_it(self):
        assert official_punctuation_prf("学而，时习。", "学而，时习，") == (0.5, 0.5, 0.5)

    def test_before_the_first_character_stands_the_last(self):
        # The leading mark pairs with 习, which the reference has at its end.
        assert official_punctuation_prf("学而时习。", "。学而时习") == (1, 1, 1)

    def test_repeats_count_each_time_so_recall_passes_1(self):
        rates = official_punctuation_prf("之，乎", "之，" * 5 + "者")
        assert rates.recall == 5
        assert rates.f1 > 1

    def test_white_space_zero_and_rare_ideographs_are_marks(self):
        assert official_punctuation_prf("二〇 𠮷", "二〇 𠮷").recall == 1
        assert official_punctuation_prf("二〇 𠮷", "二").recall == 0

    def test_the_last_common_ideographs_of_the_block_are_marks_too(self):
        assert official_punctuation_prf("天\u9fa6", "天\u9fa6").f1 == 1
        assert official_punctuation_prf("天\u9fa5", "天\u9fa5").f1 == 0


def test_the_script_splits_at_one_mark_and_strips_only_the_response():
    assert official_entities_prf("孔子、颜回", " 孔子、颜回\n").f1 == 1
    assert official_entities_prf("孔子、颜回", "孔子，颜回").f1 == 0
    assert official_entities_prf("孔子、颜回", "孔子、颜回。").precision == 0.5
    assert official_entities_prf("", "") == (1, 1, 1)
    assert official_entities_prf("孔子、颜回", "孔子、、颜回").precision == pytest.approx(2 / 3)
    assert official_entities_prf("孔子", "孔子、孔子").precision == 1
