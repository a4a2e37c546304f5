"""Unclear answers as people settled them make an accuracy of their own and change no other."""

from __future__ import annotations

import csv

import pytest

from keju.errors import DataError, UsageError
from keju.items import Item, Response
from keju.scoring import answer_code, is_unclear, read_decisions, score_answer
from keju.scoring.decisions import ACC, Decisions, collect_adjudicated_scores
from keju.scoring.scoring_sample import ScoringSample

ITEM = Item(
    id="i", benchmark="MCS-Bench", task="T5", question="何意？", options=("甲", "乙", "丙", "丁"),
    answer="B",
)  # fmt: skip


def said(text: str, **more: object) -> Response:
    return Response(
        key="k", item="i", benchmark="MCS-Bench", task="T5",
        **{"model": "m", "status": "answered", "text": text, **more},
    )  # fmt: skip


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


def test_the_letter_that_people_name_counts_and_the_rules_elsewhere():
    answers = [said(text) for text in ("A、B", "A或B", "C、D", "B", "A")]
    decided = {answer_code(answers[0]): "B", answer_code(answers[1]): "none"}
    found = []
    samples = list(
        collect_adjudicated_scores(
            (ScoringSample(ITEM, each) for each in answers), Decisions(decided, "1f"), found
        )
    )
    assert [sample.response for sample in samples] == answers
    assert [score.value for score in found] == [1, 0, 0, 1, 0]
    assert {score.metric for score in found} == {ACC}
    assert all("adjudicated:1f" in score.signature for score in found)
    strict = [score_answer(ITEM, each, ["strict"])[0] for each in answers]
    assert [score.value for score in strict] == [0, 0, 0, 1, 0]
    assert not {score.signature for score in strict} & {score.signature for score in found}


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
