"""Edit distance and its split, against the textbook."""

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import EditCounts, best_edits, distance, official_edits
from keju.metrics import edit as module

SHORT = st.text(alphabet="天地玄黄", max_size=14)
ANY = st.text(max_size=20)


@given(SHORT | ANY, SHORT | ANY)
def test_distance_is_the_textbooks(reference, hypothesis):
    assert distance(reference, hypothesis) == naive.distance(reference, hypothesis)


@given(SHORT | ANY, SHORT | ANY)
def test_official_split_is_the_authors_back_trace(reference, hypothesis):
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


@given(SHORT | ANY, SHORT | ANY)
def test_best_split_has_fewest_edits_and_then_most_matches(reference, hypothesis):
    counts = best_edits(reference, hypothesis)
    assert (counts.distance, counts.matches) == naive.best_matches(reference, hypothesis)
    assert counts.expected == len(reference)
    assert counts.predicted == len(hypothesis)
    assert min(counts) >= 0


@pytest.mark.parametrize(
    ("reference", "hypothesis", "official", "best"),
    [
        ("学而", "而时", (0, 2, 0, 0), (1, 0, 1, 1)),
        ("", "", (0, 0, 0, 0), (0, 0, 0, 0)),
        ("", "天", (0, 0, 0, 1), (0, 0, 0, 1)),
        ("天", "", (0, 0, 1, 0), (0, 0, 1, 0)),
        ("天地", "天地", (2, 0, 0, 0), (2, 0, 0, 0)),
        ("𠀀𠀁", "𠀁", (1, 0, 1, 0), (1, 0, 1, 0)),
    ],
)
def test_splits_by_hand(reference, hypothesis, official, best):
    assert official_edits(reference, hypothesis) == EditCounts(*official)
    assert best_edits(reference, hypothesis) == EditCounts(*best)


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
