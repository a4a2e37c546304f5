"""The paper's formulas stand beside the script's metrics, in no mean."""

import json

import pytest

from keju.definitions import tasks
from keju.encoders import Encoders
from keju.metrics import sentence_bleu
from keju.scoring import (
    Decision,
    Decisions,
    Tally,
    aggregate,
    answer_code,
    score_answer,
    scores_frame,
)
from keju.scoring.score import score_samples
from keju.scoring.scoring_sample import Defect, ScoringSample
from tests.support.score_json import to_json

PRINTED = ("printed",)


def scores_of(*pairs, defect=None):
    """The scores of formulas that need no weights."""
    scores = score_samples((ScoringSample(*pair, defect or Defect()) for pair in pairs), PRINTED)
    return [score for score in scores if score.metric != "BERTScore_zhang"]


def test_each_formula_stands_beside_a_metric_of_the_script(make):
    found = {
        task: [each.metric for each in scores_of(make(task, "天", "天"))]
        for task in ("T1", "T2", "T5", "T6", "page_level_ocr", "reasoning_qa")
    }
    assert found == {
        "T1": ["BLEU_eq5"],
        "T2": ["BLEU_eq5", "ROUGE-1_recall", "ROUGE-2_recall", "ROUGE-L_beta1.2"],
        "T5": ["Acc_reviewed"],
        "T6": ["ANLS_eq7", "ANLS_biten"],
        "page_level_ocr": [],
        "reasoning_qa": [],
    }
    for each in tasks():
        for query in each.queries:
            assert {name.rpartition("_")[0] for name in query.printed} <= set(query.official)


def test_values_are_those_of_the_formulas_on_the_texts_that_the_script_takes(make):
    (found,) = scores_of(make("T1", "學而時習", "「學而時習」之", answer_simplified="学而时习"))
    assert found.value == sentence_bleu("学而时习", "学而时习之", smoothing="none")
    found = {s.metric: s.value for s in scores_of(make("T2", "学而时习", "學而"))}
    assert found["ROUGE-1_recall"] == 0.5
    assert found["BLEU_eq5"] == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("B", 1),
        ("b", 0),  # the script looks for a capital letter
        ("我不知道", 0),
        ("ABCD", 0),  # right by the script
        ("选项A错误，答案：B", 1),
        ("选项B错误，答案：A", 0),  # right by the script
        ("<think>A还是B？</think>B", 1),
        ("", 0),
    ],
)
def test_answers_with_several_letters_count_by_the_letter_that_is_read(make, text, value):
    (found,) = scores_of(make("T5", "B", text, options=tuple("甲乙丙丁")))
    assert (found.metric, found.value) == ("Acc_reviewed", value)
    assert found.signature.startswith("Acc_reviewed|as-printed|text:one letter|")


def test_a_decision_counts_for_an_answer_with_several_letters(make):
    item, response = make("T5", "B", "A或B", options=tuple("甲乙丙丁"))
    code = answer_code(response)
    decision = Decision(code=code, value="B", by="person")
    decisions = Decisions(sources=("people@1f",), by_code={code: decision})
    (found,) = score_samples([ScoringSample(item, response, decisions=decisions)], PRINTED)
    assert found.value == 1
    assert found.signature.endswith("|reader:1|unclear:people@1f")


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
    (found,) = scores_of(make("T1", "学", "学"), defect=Defect(answer="no text"))
    assert (found.value, found.reason, found.signature) == (None, "no text", "")
    (found,) = scores_of(make("T1", "", "学"), defect=Defect(answer_missing=True, in_file=True))
    assert "KeyError" in found.reason


def test_an_item_without_a_reference_is_unscored_as_in_official(make):
    assert {s.reason for s in scores_of(make("T6", "", "学"))} == {"no reference"}


def test_a_task_has_the_mean_of_its_items(make):
    pairs = [make("T2", "学而时习", text, name=text or "none") for text in ("学而", "学", "")]
    (result,) = aggregate(scores_of(*pairs))
    found = {each.metric: each for each in result.tasks[0].metrics}
    assert found["ROUGE-1_recall"].value == pytest.approx((0.5 + 0.25 + 0) / 3)
    assert found["ROUGE-1_recall"].items == 3


def test_no_value_of_a_protocol_changes_by_them(make):
    pair = make("T6", "学而时习", "学而")
    scores, beside = score_answer(*pair), score_answer(*pair, PRINTED)
    alone, both = to_json(scores), to_json([*scores, *beside])
    assert set(both) - set(alone) == {"variants"}
    assert json.dumps([both[name] for name in alone]) == json.dumps(list(alone.values()))
    assert both["variants"]["tasks"]["6"] == {s.metric: s.value for s in beside}
    assert [each.benchmarks for each in aggregate(beside)] == [()]


OPEN = ["T6", "T9", "T15", "T17", "T22", "T25", "T27", "T29", "T35", "T38", "T39", "T44"]


def encoded(pairs, encoders=None):
    scores = score_samples((ScoringSample(*pair) for pair in pairs), PRINTED, encoders)
    return [score for score in scores if score.metric == "BERTScore_zhang"]


def test_the_twelve_open_tasks_have_the_bert_score_that_the_paper_cites(make):
    known = [each for each in tasks() if each.benchmark == "MCS-Bench"]
    found = {score.task for each in known for score in encoded([make(each.id, "天", "天")])}
    assert found == set(OPEN)


def test_bert_score_by_token_matching_is_the_one_computed_by_hand(make, shared):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = shared / "golden" / "tinybert"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    reference, answer = "天地玄黄宇宙洪荒", "天地玄黃，宙洪"
    states = []
    for text in ("天地玄黄，宙洪", reference):  # the response is made simplified
        tokens = tokenizer([text], return_tensors="pt")
        with torch.no_grad():
            layers = model(**tokens, output_hidden_states=True).hidden_states
        vectors = layers[min(8, len(layers) - 1)][0]
        states.append(vectors / vectors.norm(dim=1, keepdim=True))
    likeness = states[0] @ states[1].T
    precision = likeness.max(dim=1).values[1:-1].mean()
    recall = likeness.max(dim=0).values[1:-1].mean()
    by_hand = float(2 * precision * recall / (precision + recall))
    pair = make("T6", reference, answer)
    (found,) = encoded([pair], Encoders({"bert-base-chinese": folder}))
    assert found.value == pytest.approx(by_hand, abs=1e-5)
    assert found.signature.startswith("BERTScore_zhang|as-printed|")
    assert "encoder:bert-base-chinese|" in found.signature
    official = next(s for s in score_answer(*pair, ["official"]) if s.metric == "BERTScore")
    assert found.signature != official.signature


@pytest.mark.parametrize(("text", "status"), [("天", "failed"), ("天", "filtered"), ("", "empty")])
def test_without_an_answer_it_is_0(make, shared, text, status):
    pytest.importorskip("torch")
    weights = Encoders({"bert-base-chinese": shared / "golden" / "tinybert"})
    (found,) = encoded([make("T6", "天地", text, status=status)], weights)
    assert (found.value, found.reason) == (0.0, "")


def test_without_the_weights_it_has_no_value_and_says_why(make):
    (found,) = encoded([make("T6", "天地", "天")])
    assert (found.value, found.signature) == (None, "")
    assert "bert-base-chinese" in found.reason or "package" in found.reason
    summary = Tally([scores_frame([found])]).summary("m", {})
    assert [each.metrics for each in summary.unscored] == [("BERTScore_zhang",)]
