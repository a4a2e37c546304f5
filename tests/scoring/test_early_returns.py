"""Every early return of the authors' script: empty texts, zero lengths, keys that are missing."""

import json

import pytest

from keju.scoring import score_responses

GONE = object()
"""A key that is not there."""

CASES = [
    # cal_ar_cr: no true character; keys default to empty texts.
    (1, "", "", {"AR": 0, "CR": 0}),
    (1, "，。", "天", {"AR": 0, "CR": 0}),
    (1, GONE, "天", {"AR": 0, "CR": 0}),
    (1, "天", "", {"AR": 0, "CR": 0}),
    (1, "天", GONE, {"AR": 0, "CR": 0}),
    # cal_edit_distance: two empty texts are divided by zero.
    (1, "", "", {"Edit_Distance": None}),
    (1, "，", "。", {"Edit_Distance": None}),
    (1, "", "天", {"Edit_Distance": 1}),
    (1, GONE, "天", {"Edit_Distance": 1}),
    (1, "天", "", {"Edit_Distance": 1}),
    (1, "天", GONE, {"Edit_Distance": 1}),
    # cal_ocr_f1_p_r: None of an empty response is 0, the recall of an empty answer stops.
    (1, "天", "", {"F1": 0, "Precision": 0, "Recall": 0}),
    (1, "天", "地", {"F1": 0, "Precision": 0, "Recall": 0}),
    (1, "", "天", {"F1": None, "Precision": None, "Recall": None}),
    (1, GONE, "天", {"F1": None, "Precision": None, "Recall": None}),
    # cal_ocr_bleu: nltk gives 0 where nothing matches.
    (1, "", "", {"BLEU": 0}),
    (1, "天", "", {"BLEU": 0}),
    (1, "", "天", {"BLEU": 0}),
    (1, GONE, "天", {"BLEU": None}),
    # cal_bleu and cal_rouge: rates over nothing are 0.
    (2, "", "", {"BLEU": 0, "ROUGE-1": 0, "ROUGE-2": 0, "ROUGE-L": 0}),
    (2, "天", "", {"BLEU": 0, "ROUGE-1": 0, "ROUGE-2": 0, "ROUGE-L": 0}),
    (2, "", "天", {"BLEU": 0, "ROUGE-1": 0, "ROUGE-2": 0, "ROUGE-L": 0}),
    (2, "天", "天", {"ROUGE-1": 1, "ROUGE-2": 0, "ROUGE-L": 1}),
    (2, " ", " ", {"ROUGE-1": 0, "ROUGE-2": 0, "ROUGE-L": 0}),
    (2, "奶油", "忌 廉", {"ROUGE-1": 1, "ROUGE-2": 1, "ROUGE-L": 1}),
    (2, GONE, "天", {"BLEU": None, "ROUGE-1": None}),
    (2, "天", [], {"BLEU": 0, "ROUGE-1": None}),
    # cal_punctuation_p_r_f1: no marks on one side or on both.
    (3, "天", "天", {"F1": 0, "Precision": 0, "Recall": 0}),
    (3, "", "", {"F1": 0, "Precision": 0, "Recall": 0}),
    (3, "天，", "天", {"F1": 0, "Precision": 0, "Recall": 0}),
    (3, "，", "，", {"F1": 1, "Precision": 1, "Recall": 1}),
    (3, GONE, "天", {"F1": None}),
    (3, "天，", [], {"F1": 0}),
    # cal_ner_p_r_f1: an empty text is one empty name.
    (4, "", "", {"F1": 1, "Precision": 1, "Recall": 1}),
    (4, "", " \n", {"F1": 1}),
    (4, " ", "", {"F1": 0}),
    (4, "天", "", {"F1": 0, "Precision": 0, "Recall": 0}),
    (4, "", [], {"F1": 1}),
    (4, GONE, "天", {"F1": None}),
    # cal_acc: an empty answer is in every response, an empty one too.
    (5, "", "", {"Acc": 1}),
    (5, "", "天", {"Acc": 1}),
    (5, "A", "", {"Acc": 0}),
    (5, GONE, "A", {"Acc": None}),
    (5, "A", [], {"Acc": None}),
    # cal_anls: two empty texts are alike, explicitly.
    (6, "", "", {"ANLS": 1}),
    (6, "", [], {"ANLS": 1}),
    (6, "", {}, {"ANLS": 1}),
    (6, "天", "", {"ANLS": 0}),
    (6, "", "天", {"ANLS": 0}),
    (6, GONE, "天", {"ANLS": None}),
]


@pytest.mark.parametrize(("task", "answer", "response", "expected"), CASES)
def test_the_value_is_the_scripts_and_none_where_it_stops(
    tmp_path, task, answer, response, expected
):
    row = {"ID": "x", "Task_ID": task, "Answer_Simplified": answer, "Response": response}
    row = {key: value for key, value in row.items() if value is not GONE}
    # A file in which no item has the key is refused.
    other = {"ID": "y", "Task_ID": task, "Answer_Simplified": "天", "Response": "天"}
    path = tmp_path / "responses.json"
    path.write_text(json.dumps([row, other]), "utf-8")
    scores = [each for each in score_responses(path, ("official",)) if each.item == "x"]
    found = {each.metric: each.value for each in scores}
    assert {metric: found[metric] for metric in expected} == expected
    for each in scores:
        assert (each.value is None) == bool(each.reason)


def test_a_failure_is_no_two_empty_texts(tmp_path):
    rows = [
        {"ID": "x", "Task_ID": 6, "Answer_Simplified": ""},
        {"ID": "y", "Task_ID": 6, "Answer_Simplified": "", "Response": ""},
    ]
    path = tmp_path / "responses.json"
    path.write_text(json.dumps(rows), "utf-8")
    found = {each.item: each.value for each in score_responses(path) if each.metric == "ANLS"}
    assert found == {"x": 0, "y": 1}
