"""BLEU is nltk 3.9.4's, bit for bit."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction
from nltk.translate.bleu_score import sentence_bleu as nltk_bleu

from keju.metrics import sentence_bleu

TEXT = st.text(alphabet="天地玄黄宇", max_size=16)
WORDS = st.lists(st.sampled_from(["天地", "玄", "黄", "，"]), max_size=12)
METHODS = {
    "none": None,
    "method1": SmoothingFunction().method1,
    "method4": SmoothingFunction().method4,
}


def nltks(reference, hypothesis, smoothing):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smoother = METHODS[smoothing]
        value = nltk_bleu([list(reference)], list(hypothesis), smoothing_function=smoother)
    # Without smoothing, nltk puts the smallest positive number in place of an order without a
    # match; the definition of Papineni et al. is 0.
    return 0.0 if smoothing == "none" and value < 1e-70 else value


@pytest.mark.parametrize("smoothing", METHODS)
@given(reference=TEXT, hypothesis=TEXT)
def test_characters_score_as_in_nltk(smoothing, reference, hypothesis):
    ours = sentence_bleu(reference, hypothesis, smoothing=smoothing)
    assert ours == nltks(reference, hypothesis, smoothing)


@pytest.mark.parametrize("smoothing", METHODS)
@given(reference=WORDS, hypothesis=WORDS)
def test_words_score_as_in_nltk(smoothing, reference, hypothesis):
    ours = sentence_bleu(reference, hypothesis, smoothing=smoothing)
    assert ours == nltks(reference, hypothesis, smoothing)


@pytest.mark.parametrize(("length", "score"), [(1, 0.1778), (2, 0.3162), (3, 0.5623), (4, 1.0)])
def test_a_short_text_can_never_score_high_with_method_1(length, score):
    text = "天地玄黄"[:length]
    assert sentence_bleu(text, text) == pytest.approx(score, abs=5e-5)


def test_the_smoothings_differ():
    scores = {sentence_bleu("天地玄黄", "天地宇", smoothing=each) for each in METHODS}
    assert len(scores) == 3
