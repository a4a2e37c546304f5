"""Answers with several letters after a review: an accuracy of its own that changes no other."""

from __future__ import annotations

import csv

import pytest
from msgspec.structs import replace

from keju.errors import DataError, UsageError
from keju.items import Item, Response
from keju.scoring import (
    aggregate,
    answer_code,
    is_unclear,
    read_decisions,
    score_answer,
    to_json,
)
from keju.scoring.decisions import (
    NO_DECISIONS,
    REVIEWED,
    Decisions,
    collect_reviewed_scores,
    reviewed_results,
)
from keju.scoring.scoring_sample import ScoringSample

ITEM = Item(
    id="i", benchmark="MCS-Bench", task="T5", question="何意？", options=("甲", "乙", "丙", "丁"),
    answer="B",
)  # fmt: skip


def said(text: str, **more: object) -> Response:
    about = {"item": "i", "task": "T5", "model": "m", "status": "answered"}
    return Response(key="k", benchmark="MCS-Bench", text=text, **(about | more))


def write(path, *rows) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["answer_key", "person", "letter"])
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("text", "status", "unclear"),
    [("A、B", "answered", True), ("不知道", "answered", True), ("B", "answered", False),
     ("答案是B", "answered", False), ("", "empty", False), ("A、B", "failed", False),
     ("A、B", "truncated", True), ("<think>A、B", "answered", False)],
)  # fmt: skip
def test_what_is_unclear(text, status, unclear):
    assert is_unclear(ITEM, said(text, status=status)) == unclear


def reviewed(answers, decisions, item=ITEM):
    """The score of each answer after the review."""
    found = []
    samples = [ScoringSample(item, each) for each in answers]
    assert list(collect_reviewed_scores(samples, decisions, found)) == samples
    assert {score.metric for score in found} == {REVIEWED}
    return found


def test_the_letter_that_people_name_counts_and_the_script_elsewhere():
    answers = [said(text) for text in ("A、B", "A或B", "C、D", "B", "A")]
    decided = {answer_code(answers[0]): "B", answer_code(answers[1]): "none"}
    found = reviewed(answers, Decisions(decided, "1f"))
    assert [score.value for score in found] == [1, 0, 0, 1, 0]
    assert all("reviewed:1f" in score.signature for score in found)
    strict = [score_answer(ITEM, each, ["strict"])[0] for each in answers]
    assert [score.value for score in strict] == [0, 0, 0, 1, 0]
    assert not {score.signature for score in strict} & {score.signature for score in found}


@pytest.mark.parametrize(
    ("text", "status", "how", "value", "highest"),
    [
        ("B", "answered", "script", 1, 1),
        ("b", "answered", "script", 0, 0),  # the script looks for a capital letter
        ("我不知道", "answered", "script", 0, 0),
        ("ABCD", "answered", "undecided", 0, 1),  # right by the script
        ("ACD", "answered", "undecided", 0, 0),  # wrong whichever is meant
        ("选项A错误，答案：B", "answered", "rules", 1, 1),
        ("选项B错误，答案：A", "answered", "rules", 0, 0),  # right by the script
        ("<think>A还是B？</think>B", "answered", "rules", 1, 1),
        ("AB", "failed", "script", 0, 0),
        ("B", "filtered", "script", 0, 0),
        ("", "empty", "script", 0, 0),
    ],
)
def test_what_the_value_after_the_review_rests_on(text, status, how, value, highest):
    (found,) = reviewed([said(text, status=status)], NO_DECISIONS)
    assert found.value == value
    assert (found.stats["highest"], found.stats.get(how)) == (highest, 1.0)


def test_the_means_of_the_reviewed_accuracy_follow_from_its_tasks():
    items = {
        task: ITEM if task == "T5" else replace(ITEM, id=task, task=task)
        for task in ("T5", "T10", "T12", "T32")
    }
    texts = {"T5": "ABCD", "T10": "B", "T12": "AB", "T32": "A"}
    pairs = [(items[t], said(text, item=items[t].id, task=t)) for t, text in texts.items()]
    scores = [score for pair in pairs for score in score_answer(*pair, ["official"])]
    found, samples = [], [ScoringSample(*pair) for pair in pairs]
    decisions = Decisions({answer_code(pairs[2][1]): "B"}, "1f")
    list(collect_reviewed_scores(samples, decisions, found))
    (official,) = aggregate(scores)
    (after,) = reviewed_results([official], found)
    for result, t5 in ((after.lowest, 0.0), (after.highest, 1.0)):
        assert {e.task: (e.main.metric, e.main.value) for e in result.tasks} == {
            "T5": (REVIEWED, t5), "T10": (REVIEWED, 1), "T12": (REVIEWED, 1), "T32": (REVIEWED, 0),
        }  # fmt: skip
        (benchmark,) = result.benchmarks
        domains = {name: m.value for name, m in benchmark.domains.items() if m.value is not None}
        assert domains == {"Ancient Chinese Text": t5, "Calligraphy": 1, "Cultural Relic": 0}
        assert benchmark.overall.value == benchmark.formats["MCQ"].value == (t5 + 1) / 3
    assert after.counts[""] == {"several_letters": 2, "people": 1, "rules": 0, "undecided": 1}
    assert after.counts["T5"]["undecided"] == after.counts["T12"]["people"] == 1
    written = to_json(scores, found)
    assert written["official"]["overall"] == pytest.approx((1 + 1 + 0) / 3)
    assert written["variants"]["reviewed"]["overall"] == pytest.approx(1 / 3)
    assert written["variants"]["reviewed"]["highest"]["formats"]["MCS-Bench: MCQ"] == pytest.approx(
        2 / 3
    )
    assert written["variants"]["reviewed"]["tasks"]["5"] == {REVIEWED: 0.0}
    assert written["variants"]["reviewed"]["counts"]["12"]["people"] == 1


def test_a_code_changes_with_the_answer_and_names_no_model():
    codes = {answer_code(said(text, model=model)) for text in ("A、B", "A、C") for model in "mn"}
    assert len(codes) == 4


def test_most_people_decide_and_an_even_vote_decides_nothing(tmp_path):
    path = tmp_path / "adjudicated.csv"
    write(path, ["1", "Li", "A"], ["1", "Wang", "B"], ["1", "Zhao", "B"], ["2", "Li", "none"],
          ["3", "Li", "A"], ["3", "Wang", "C"])  # fmt: skip
    found = read_decisions(path)
    assert found.letters == {"1": "B", "2": "none"}
    assert len(found.id) == 8


def test_what_is_no_table_of_decisions_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_decisions(tmp_path / "nothing.csv")
    path = tmp_path / "wrong.csv"
    for wrong in (["1", "Li", "AB"], ["1", "Li", ""], ["", "Li", "A"]):
        write(path, wrong)
        with pytest.raises(DataError, match="not a decision"):
            read_decisions(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError):
        read_decisions(path)
