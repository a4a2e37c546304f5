"""Aligned spans cover both texts and cost what the best split costs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import alignment as module
from keju.metrics import best_edits
from keju.metrics.alignment import Span, align

SHORT = st.text(alphabet="天地玄黄", max_size=14)
ANY = st.text(max_size=20)


def check(reference, hypothesis):
    spans = align(reference, hypothesis)
    totals = {"equal": 0, "substitute": 0, "delete": 0, "insert": 0}
    i = j = 0
    for span in spans:
        assert (span.reference_start, span.hypothesis_start) == (i, j)
        left, right = reference[i : span.reference_end], hypothesis[j : span.hypothesis_end]
        assert (left == right) == (span.kind == "equal")
        if span.kind == "substitute":
            assert len(left) == len(right)
            assert all(a != b for a, b in zip(left, right, strict=True))
        assert bool(left) == (span.kind != "insert")
        assert bool(right) == (span.kind != "delete")
        totals[span.kind] += max(len(left), len(right))
        i, j = span.reference_end, span.hypothesis_end
    assert (i, j) == (len(reference), len(hypothesis))
    assert tuple(totals.values()) == best_edits(reference, hypothesis)
    assert all(a.kind != b.kind for a, b in pairwise(spans))


@given(SHORT | ANY, SHORT | ANY)
def test_spans_cover_both_texts_and_are_the_best_split(reference, hypothesis):
    check(reference, hypothesis)


@given(SHORT, SHORT, st.integers(1, 12))
def test_parting_the_matrix_changes_no_count(reference, hypothesis, cells):
    before = module._CELLS
    module._CELLS = cells
    try:
        check(reference, hypothesis)
    finally:
        module._CELLS = before


@pytest.mark.parametrize(
    ("reference", "hypothesis", "spans"),
    [
        ("", "", []),
        ("天", "天", [Span("equal", 0, 1, 0, 1)]),
        ("学而", "而时", [
            Span("delete", 0, 1, 0, 0), Span("equal", 1, 2, 0, 1), Span("insert", 2, 2, 1, 2),
        ]),
        ("天地玄黄", "天日月黄", [
            Span("equal", 0, 1, 0, 1), Span("substitute", 1, 3, 1, 3), Span("equal", 3, 4, 3, 4),
        ]),
    ],
)  # fmt: skip
def test_alignments_by_hand(reference, hypothesis, spans):
    assert align(reference, hypothesis) == spans


def test_a_lone_surrogate_is_a_character_like_any_other():
    assert align("a\ud800b", "ab")[1] == Span("delete", 1, 2, 1, 1)
