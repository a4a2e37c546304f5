"""Decisions on unclear answers: they count in `strict`, people first, and change nothing else."""

from __future__ import annotations

import csv

import pytest
from msgspec.structs import replace

from keju.errors import DataError, UsageError
from keju.items import Box, ImageRef, Item, Response
from keju.scoring import Decision, Decisions, answer_code, read_decisions
from keju.scoring.decisions import normalised_value
from keju.scoring.score import _sample, score_samples
from keju.scoring.scoring_sample import ScoringSample

ITEM = Item(
    id="i", benchmark="MCS-Bench", task="T5", question="何意？", options=("甲", "乙", "丙", "丁"),
    answer="B",
)  # fmt: skip


def said(text: str, **more: object) -> Response:
    about = {"key": "k", "item": "i", "task": "T5", "model": "m", "status": "answered"}
    return Response(benchmark="MCS-Bench", text=text, **(about | more))


def decided(response: Response, value: str, by: str = "person") -> Decisions:
    code = answer_code(response)
    return Decisions(
        sources=("people@1f",), by_code={code: Decision(code=code, value=value, by=by)}
    )


def write(path, *rows) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["answer_key", "person", "value"])
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("text", "status", "unclear"),
    [("A、B", "answered", True), ("也许B，也许C", "answered", True), ("B", "answered", False),
     ("答案是B", "answered", False), ("", "empty", False), ("A、B", "failed", False),
     ("A、B", "truncated", True), ("<think>A、B", "answered", False)],
)  # fmt: skip
def test_what_is_unclear(text, status, unclear):
    assert ScoringSample(ITEM, said(text, status=status)).is_unclear == unclear


@pytest.mark.parametrize(
    ("value", "by", "read_by", "accuracy"),
    [("B", "person", "person", 1), ("A", "model", "model", 0), ("", "model", "model", 0)],
)
def test_a_decision_counts_in_strict_alone(value, by, read_by, accuracy):
    response = said("A或B")
    sample = ScoringSample(ITEM, response, decisions=decided(response, value, by))
    assert (sample.read_by, sample.reading.value) == (read_by, value)
    assert sample.reading.state == ("read" if value else "none")
    strict, official = (
        score_samples([sample], [protocol])[0] for protocol in ("strict", "official")
    )
    assert (strict.value, strict.extracted) == (accuracy, value)
    assert strict.verdict == ("ok" if value else "unparsable")
    assert official.value == 1
    assert "|reader:1|unclear:people@1f" in strict.signature
    assert "reader:" not in official.signature


def test_the_rules_read_an_answer_whatever_was_decided():
    response = said("答案是B")
    sample = ScoringSample(ITEM, response, decisions=decided(response, "A"))
    assert (sample.read_by, sample.answer) == ("reader", "B")


def obi(query: str, answer: str = "", **more: object) -> tuple[Item, Response]:
    item = Item(
        id="i", benchmark="OBI-Bench", task="recognition", query=query, question="?", verbatim=True,
        answer=answer, **more,
    )  # fmt: skip
    response = said("此处难以言说", task="recognition", query=query)
    return item, replace(response, benchmark="OBI-Bench")


@pytest.mark.parametrize(
    ("pair", "value", "metric"),
    [
        (obi("How", "3"), "三", "CountAcc"),
        (obi("Yes-or-No", "Yes"), "yes", "BalancedAcc"),
        (obi("Where", boxes=(Box(x0=1, y0=2, x1=30, y1=40),)), "[[1, 2, 30, 40]]", "mIoU"),
        ((replace(ITEM, task="T4", answer="孔子、颜回"), said("可能有，也可能没有", task="T4")),
         "顏回、孔子", "F1"),
        ((replace(ITEM, task="T21", answer="红色"), said("也许有颜色，也许没有", task="T21")),
         "紅色", "ExactMatch"),
    ],
)  # fmt: skip
def test_every_form_takes_decided_values(pair, value, metric):
    item, response = pair
    assert _sample(*pair).is_unclear
    sample = ScoringSample(item, response, decisions=decided(response, value))
    values = {score.metric: score.value for score in score_samples([sample], ["strict"])}
    assert values[metric] == 1
    none = ScoringSample(item, response, decisions=decided(response, ""))
    values = {score.metric: score.value for score in score_samples([none], ["strict"])}
    assert values[metric] == 0


def test_decided_pairs_are_ranked_in_strict_alone():
    images = tuple(ImageRef(path=f"{n}.png", sha256=f"{n}" * 64, size=9, width=9, height=9)
                   for n in range(3))  # fmt: skip
    item = Item(id="i", benchmark="OBI-Bench", task="rejoining", query="How", question="?",
                images=images, relevant=(2,))  # fmt: skip
    about = {"task": "rejoining", "query": "How"}
    pairs = [replace(said("难以言说", key=f"k{n}", candidate=n, **about), benchmark="OBI-Bench")
             for n in (1, 2)]  # fmt: skip
    decisions = decided(pairs[1], "0.9")
    samples = [ScoringSample(item, pair, decisions=decisions) for pair in pairs]
    scores = {(score.protocol, score.metric): score
              for score in score_samples(samples, ["official", "strict"])}  # fmt: skip
    assert scores["strict", "Acc@1"].value == 1
    assert scores["strict", "Acc@1"].signature.endswith("|reader:1|unclear:people@1f")
    assert scores["official", "Acc@1"].value < 1
    assert "unclear:" not in scores["official", "Acc@1"].signature


@pytest.mark.parametrize(
    ("form", "value"),
    [("letter", "E"), ("letter", "AB"), ("yes-no", "是"), ("number", "两三个"),
     ("probability", "70"), ("boxes", "[[1,2,3]]"), ("boxes", "1,2,3,4"), ("short", " ")],
)  # fmt: skip
def test_values_of_another_form_are_refused(form, value):
    assert normalised_value(form, value, tuple("ABCD")) is None
    assert normalised_value("letter", "甲") is None


def test_a_decision_of_another_form_is_an_error_with_its_item():
    response = said("A或B")
    sample = ScoringSample(ITEM, response, decisions=decided(response, "甲"))
    with pytest.raises(DataError, match="i: the decision '甲'"):
        score_samples([sample], ["strict"])


def test_people_come_before_an_extractor():
    people, model = decided(said("A或B"), "B"), decided(said("A或B"), "A", "model")
    other = replace(decided(said("C或D"), "C", "model"), sources=("openai:m@2e",))
    both = people.before(replace(model, by_code={**model.by_code, **other.by_code}))
    assert both.of(answer_code(said("A或B"))).value == "B"
    assert both.of(answer_code(said("C或D"))).by == "model"
    assert people.before(other).signature == "unclear:people@1f+openai:m@2e"
    assert Decisions().signature == ""


def test_a_code_changes_with_the_answer_and_names_no_model():
    codes = {answer_code(said(text, model=model)) for text in ("A、B", "A、C") for model in "mn"}
    assert len(codes) == 4
    assert answer_code(said("A、B")) == "3fb84ebd86467e68"


def test_most_people_decide_and_an_even_vote_decides_nothing(tmp_path):
    path = tmp_path / "decisions.csv"
    write(path, ["1", "Li", "A"], ["1", "Wang", "B"], ["1", "Zhao", "B"], ["2", "Li", "none"],
          ["3", "Li", "A"], ["3", "Wang", "C"], ["4", "Li", "A"], ["4", "Li", "D"],
          ["4", "Wang", "A"], ["4", "Wang", "D"])  # fmt: skip
    found = read_decisions(path)
    values = {code: decision.value for code, decision in found.by_code.items()}
    assert values == {"1": "B", "2": "", "4": "D"}
    assert {decision.by for decision in found.by_code.values()} == {"person"}
    assert len(found.signature) == len("unclear:people@") + 8


def test_hostile_cells_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "decisions.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["answer_key", "value", "answer"])
        writer.writerow(["1", "'=1+1", "=HYPERLINK(1)"])
        writer.writerow(["2", "'-3", "甲" * 400_000])
        writer.writerow(["3", "'quoted'", "\n,\"'"])
    values = {code: decision.value for code, decision in read_decisions(path).by_code.items()}
    assert values == {"1": "=1+1", "2": "-3", "3": "'quoted'"}


def test_what_is_no_table_of_decisions_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_decisions(tmp_path / "nothing.csv")
    path = tmp_path / "wrong.csv"
    for wrong in (["1", "Li", ""], ["", "Li", "A"]):
        write(path, wrong)
        with pytest.raises(DataError, match="row 2: the row is not a decision"):
            read_decisions(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError):
        read_decisions(path)
