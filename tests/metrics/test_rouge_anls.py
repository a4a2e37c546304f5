"""ROUGE and ANLS in the script's and the paper's forms."""

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import (
    PRF,
    anls_paper,
    anls_script,
    anls_threshold,
    f_beta,
    rouge_l,
    rouge_n,
)

TEXT = st.text(alphabet="天地玄黄 ", max_size=12)


@given(TEXT, TEXT)
def test_rouge_l_counts_the_longest_common_subsequence(reference, hypothesis):
    left, right = reference.replace(" ", ""), hypothesis.replace(" ", "")
    rates = rouge_l(reference, hypothesis)
    assert rates.recall * len(left) == pytest.approx(naive.lcs(left, right) if left else 0)
    assert rates.precision * len(right) == pytest.approx(naive.lcs(left, right) if right else 0)


def test_repeats_are_clipped_and_spaces_are_no_characters():
    assert rouge_n("学习", "学习" * 4, 1) == (0.25, 1, 0.4)
    assert rouge_n("学 习", "学习", 2).f1 == 1
    assert rouge_n("道", "道", 2).f1 == 0


def test_beta_leans_towards_recall():
    rates = PRF(0.5, 1.0, 2 / 3)
    assert f_beta(rates, 1) == pytest.approx(rates.f1)
    assert f_beta(rates, 1.2) == pytest.approx((1 + 1.44) * 0.5 / (1 + 1.44 * 0.5))
    assert f_beta(PRF(0, 0, 0), 1.2) == 0


def test_the_three_readings_of_anls():
    truth, answer = "天地玄黄宇", "天地玄"
    assert anls_script(truth, answer) == pytest.approx(0.6)
    assert anls_threshold(truth, answer) == pytest.approx(0.6)
    assert anls_paper(truth, answer) == pytest.approx(1 - 0.4 / 5)


def test_beyond_the_threshold_nothing_is_earned():
    assert anls_threshold("天地玄黄", "天") == 0
    assert anls_script("天地玄黄", "天") == 0.25


def test_nothing_against_nothing_is_one_in_every_reading():
    assert anls_script("", "") == anls_paper("", "") == anls_threshold("", "") == 1
