"""The paper's formulas stand beside the script's metrics, in no mean."""

import json

import pytest

from keju.benchmarks.mcs_bench.formulas import bleu_eq5
from keju.scoring import aggregate, score_answer, to_json, variant_results
from keju.scoring.scoring_sample import Defect, ScoringSample
from keju.scoring.variants import collect_variant_scores, variant_scores, variants_of


def scores_of(*pairs, defect=None):
    return [
        score
        for pair in pairs
        for score in variant_scores(ScoringSample(*pair, defect or Defect()))
    ]


def test_each_formula_stands_beside_a_metric_of_the_script(make):
    beside = {
        task: [
            (each.name, each.beside) for each in variants_of(ScoringSample(*make(task, "天", "天")))
        ]
        for task in ("T1", "T2", "T5", "T6", "page_level_ocr", "reasoning_qa")
    }
    assert beside == {
        "T1": [("BLEU_eq5", "BLEU")],
        "T2": [
            ("BLEU_eq5", "BLEU"), ("ROUGE-1_recall", "ROUGE-1"), ("ROUGE-2_recall", "ROUGE-2"),
            ("ROUGE-L_beta1.2", "ROUGE-L"),
        ],
        "T5": [],
        "T6": [("ANLS_eq7", "ANLS"), ("ANLS_biten", "ANLS")],
        "page_level_ocr": [],
        "reasoning_qa": [],
    }  # fmt: skip


def test_values_are_those_of_the_formulas_on_the_texts_that_the_script_takes(make):
    (found,) = scores_of(make("T1", "學而時習", "「學而時習」之", answer_simplified="学而时习"))
    assert found.value == bleu_eq5("学而时习", "学而时习之")
    found = {s.metric: s.value for s in scores_of(make("T2", "学而时习", "學而"))}
    assert found["ROUGE-1_recall"] == 0.5
    assert found["BLEU_eq5"] == 0


def test_signatures_are_their_own(make):
    signed = [score.signature for score in scores_of(make("T6", "学而", "學而"))]
    assert [each.split("|")[:2] for each in signed] == [
        ["ANLS_eq7", "as-printed"],
        ["ANLS_biten", "as-printed"],
    ]
    assert all("zhconv" in each for each in signed)


@pytest.mark.parametrize("status", ["failed", "filtered"])
def test_a_failure_is_worth_nothing(make, status):
    assert {s.value for s in scores_of(make("T6", "学", "学", status=status))} == {0.0}


def test_what_the_script_cannot_read_is_unscored(make):
    (found,) = scores_of(make("T1", "学", "学"), defect=Defect(response="no text"))
    assert (found.value, found.reason, found.signature) == (None, "no text", "")
    (found,) = scores_of(make("T1", "", "学"), defect=Defect(answer_missing=True))
    assert "KeyError" in found.reason


def test_a_task_has_the_mean_of_its_items(make):
    pairs = [make("T2", "学而时习", text, name=text or "none") for text in ("学而", "学", "")]
    found = {each.metric: each for each in variant_results(scores_of(*pairs))}
    assert found["ROUGE-1_recall"].value == pytest.approx((0.5 + 0.25 + 0) / 3)
    assert found["ROUGE-1_recall"].items == 3


def test_no_value_of_a_protocol_changes_by_them(make):
    pair = make("T6", "学而时习", "学而")
    beside = []
    list(collect_variant_scores([ScoringSample(*pair)], beside))
    scores = score_answer(*pair)
    alone, both = to_json(scores), to_json(scores, beside)
    assert set(both) - set(alone) == {"variants"}
    assert json.dumps([both[name] for name in alone]) == json.dumps(list(alone.values()))
    assert both["variants"]["tasks"]["6"] == {s.metric: s.value for s in beside}
    names = {m.metric for r in aggregate(scores) for t in r.tasks for m in t.metrics}
    assert not names & {score.metric for score in beside}
