"""The paper's formulas, against values worked out by hand."""

from math import exp, log

import pytest

from keju.metrics import sentence_bleu
from keju.scoring.metric import keju_metrics

TRUTH = "学而时习之不亦说乎"
ANSWER = "学而时习之亦说"

# Of the answer's 7 characters all are in the truth; of its pairs 学而 而时 时习 习之 亦说 (5 of 6);
# of its triples 学而时 而时习 时习之 (3 of 5), of its runs of four 学而时习 而时习之 (2 of 4).
# The longest common subsequence is the whole answer: precision 1, recall 7/9. Two edits.
PRECISIONS = (7 / 7, 5 / 6, 3 / 5, 2 / 4)
EXPECTED = {
    "BLEU_eq5": exp(1 - 9 / 7) * exp(sum(map(log, PRECISIONS)) / 4),
    "ROUGE-1_recall": 7 / 9,
    "ROUGE-2_recall": 5 / 8,
    "ROUGE-L_beta1.2": (1 + 1.44) * 1 * (7 / 9) / (7 / 9 + 1.44 * 1),
    "ANLS_eq7": 1 - (2 / 9) / 9,
    "ANLS_biten": 1 - 2 / 9,
}


FORMULAS = {
    metric.name: metric.function
    for metric in keju_metrics().values()
    if metric.protocol == "printed" and metric.name in EXPECTED
}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_form_gives_the_value_worked_out_by_hand(name):
    assert FORMULAS[name](TRUTH, ANSWER) == pytest.approx(EXPECTED[name], abs=1e-12)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_truth_earns_everything_and_silence_nothing(name):
    assert FORMULAS[name](TRUTH, TRUTH) == 1
    # Eq. 8 divides by the reference once more, so that even silence keeps all but 1/9.
    silence = 8 / 9 if name == "ANLS_eq7" else 0
    assert FORMULAS[name](TRUTH, "") == pytest.approx(silence)


def test_without_smoothing_one_right_character_earns_nothing():
    assert FORMULAS["BLEU_eq5"]("月", "月") == 0
    assert sentence_bleu("月", "月") == pytest.approx(0.1778, abs=1e-4)
