"""chrF and chrF++ are sacrebleu's, and a corpus's value comes from its items' counts."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import HitCounts, chrf, chrf_counts, chrf_of_counts

# Reference, hypothesis, chrF, chrF++: scores of sacrebleu 2.6.0, 0 to 100.
CASES = [
    ("学而时习之，不亦说乎。", "学而时习之不亦悦乎", 33.99201270957857, 29.136010893924492),
    (
        "The king ordered, on day jiazi.",
        "the King ordered on day (jiazi) .",
        54.01686636800503,
        48.55017809478242,
    ),
    ("天 地\u3000玄\n黄", "天地玄黄", 100.0, 80.0),
    ("人", "人", 100.0, 100.0),
    ("", "天", 0.0, 0.0),
    ("天", "", 0.0, 0.0),
    ("a b c", "a b c d", 89.84375, 90.9090909090909),
    ("宇宙洪荒 日月盈昃", "洪荒宇宙 盈昃日月", 26.190476190476193, 19.642857142857142),
    ("𠀀𠀁人", "𠀀人𠀁", 33.33333333333333, 25.0),
    ("(hi) !? x", "hi! ?x (", 26.800903774587994, 33.887104743083),
]
CORPUS = (45.24131918706033, 43.118531195932015)


def summed(pairs, word_orders):
    """The corpus's counts: those of all items, order by order."""
    items = [chrf_counts(*pair, word_orders=word_orders) for pair in pairs]
    return [HitCounts(*map(sum, zip(*order, strict=True))) for order in zip(*items, strict=True)]


@pytest.mark.parametrize(("reference", "hypothesis", "plain", "with_words"), CASES)
def test_scores_are_those_of_sacrebleu(reference, hypothesis, plain, with_words):
    assert 100 * chrf(reference, hypothesis) == pytest.approx(plain, abs=1e-9)
    assert 100 * chrf(reference, hypothesis, word_orders=2) == pytest.approx(with_words, abs=1e-9)


@pytest.mark.parametrize(("word_orders", "expected"), [(0, CORPUS[0]), (2, CORPUS[1])])
def test_the_corpus_score_is_that_of_the_summed_counts(word_orders, expected):
    counts = summed([case[:2] for case in CASES], word_orders)
    assert 100 * chrf_of_counts(counts) == pytest.approx(expected, abs=1e-9)


def test_white_space_is_no_character():
    assert chrf("天地玄黄", " 天\n地\u3000玄 黄 ") == 1


def naive(reference, hypothesis):
    ratios = []
    for order in range(1, 7):
        grams = [
            Counter(text[i : i + order] for i in range(len(text) - order + 1))
            for text in (reference, hypothesis)
        ]
        if all(grams):
            hits = sum((grams[0] & grams[1]).values())
            ratios.append((hits / grams[1].total(), hits / grams[0].total()))
    if not ratios:
        return 0.0
    precision, recall = (math.fsum(side) / len(ratios) for side in zip(*ratios, strict=True))
    return 5 * precision * recall / (4 * precision + recall) if precision or recall else 0.0


@given(st.text("天地玄黄", max_size=12), st.text("天地玄黄", max_size=12))
def test_the_score_is_the_textbook_formula(reference, hypothesis):
    assert chrf(reference, hypothesis) == pytest.approx(naive(reference, hypothesis))


def test_golden_chrf_plus_plus_is_equal(shared):
    golden = json.loads((shared / "golden/ancientdoc_public.json").read_text())
    pairs = [(case["reference"], case["prediction"]) for case in golden["text"]]
    scores = [100 * chrf(*pair, word_orders=2) for pair in pairs]
    assert scores == pytest.approx([case["chrfpp"] for case in golden["text"]], abs=1e-9)
    aggregate = golden["text_aggregate"]
    assert math.fsum(scores) / len(scores) == pytest.approx(aggregate["chrfpp_mean"], abs=1e-9)
    assert 100 * chrf_of_counts(summed(pairs, 2)) == pytest.approx(
        aggregate["chrfpp_corpus"], abs=1e-9
    )
