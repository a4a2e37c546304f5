"""ROUGE over characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keju.metrics import (
    f_beta,
    rouge_l,
    rouge_n,
)
from tests.support import naive

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
    assert f_beta(0.5, 1.0) == pytest.approx(2 / 3)
    assert f_beta(0.5, 1.0, 1.2) == pytest.approx((1 + 1.44) * 0.5 / (1 + 1.44 * 0.5))
    assert f_beta(0, 0, 1.2) == 0
