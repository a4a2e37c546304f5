"""Sheets for raters: blind, seeded, even; and the way from a run to the alignment."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.errors import DataError
from keju.items import Item, Response
from keju.judging.aligning import align
from keju.judging.answers import (
    GradableAnswer,
    answers_of,
    graded_answers,
    grading_requests,
)
from keju.judging.grading import judgements_of, mean_grades
from keju.judging.raters import draw_sample, read_ratings, sampled_codes, write_sample
from tests.support.judged import GOOD, JUDGE, POOR


def many(models: int, items: int) -> list[GradableAnswer]:
    return [
        GradableAnswer(
            Item(
                id=f"i{place}", benchmark="MCS-Bench", task="T2", answer="a", group=f"p{place % 7}"
            ),
            Response(
                key="k",
                item=f"i{place}",
                model=f"model {m}",
                benchmark="MCS-Bench",
                task="T2",
                status="answered",
            ),
            f"text {m} {place}",
        )
        for place in range(items)
        for m in range(models)
    ]


def test_a_sample_is_even_over_items_models_and_groups_and_seeded(judged_run):
    judged = many(5, 80)
    drawn = draw_sample(judged, judged_run, per_task=50)
    assert len({each.item.id for each in drawn}) == 50
    assert set(Counter(each.response.model for each in drawn).values()) == {10}
    assert set(Counter(each.group for each in drawn).values()) <= {7, 8}
    assert drawn == draw_sample(judged, judged_run, per_task=50)
    other = draw_sample(judged, judged_run, per_task=50, seed=1)
    assert {each.id for each in other} != {each.id for each in drawn}
    assert [each.item.id for each in drawn] != sorted(each.item.id for each in drawn)


def test_with_few_items_other_models_answers_follow(judged_run):
    drawn = draw_sample(many(5, 4), judged_run, per_task=18)
    assert len({each.id for each in drawn}) == 18
    assert set(Counter(each.item.id for each in drawn).values()) == {4, 5}
    assert len(draw_sample(many(5, 4), judged_run, per_task=50)) == 20


def test_a_sheet_tells_nobody_who_answered(judged_run, answers, tmp_path):
    sheet = tmp_path / "sheet.csv"
    write_sample(sheet, draw_sample(answers, judged_run, per_task=50))
    text = sheet.read_text("utf-8-sig")
    assert not any(name in text for name in (GOOD, POOR, "good", "poor", "replay"))
    # Two of the poor model's answers have no text.
    assert len(sampled_codes(sheet)) == 14
    write_sample(tmp_path / "again.csv", draw_sample(answers, judged_run, per_task=50))
    assert (tmp_path / "again.csv").read_bytes() == sheet.read_bytes()


def test_no_text_in_a_sheet_is_a_formula(judged_run, tmp_path):
    hostile = many(1, 1)[0]._replace(text='=HYPERLINK("http://x")\n第二行')
    write_sample(tmp_path / "s.csv", [hostile])
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["answer"] == '\'=HYPERLINK("http://x")\n第二行'


def filled(sheet: Path, rater: str, score: str) -> Path:
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    path = sheet.with_name(f"{rater}.csv")
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        for place, row in enumerate(rows):
            writer.writerow({**row, "rater": rater, "score": score or str(place % 10)})
    return path


def test_from_a_run_to_the_alignment(context, tmp_path):
    run, rubrics = context.folder.run, context.folder.rubrics
    everything = answers_of(run, rubrics)
    sheet = tmp_path / "sheet.csv"
    write_sample(sheet, draw_sample(everything, run, per_task=3))
    # The judge is asked about the sample alone.
    only = answers_of(run, rubrics, only=sampled_codes(sheet))
    assert len(only) == 6
    asked = list(grading_requests(only, rubrics))
    context.rule(asked, lambda request: "分数：3" if "T2" in request.item else "分数：6")
    assert context.ask(asked).models[0].asked == 6
    answers = graded_answers(run, rubrics)
    sheets = [filled(sheet, "Li", "4"), filled(sheet, "Wang", "5")]
    found = align(
        read_ratings(sheets, answers), mean_grades(judgements_of(answers, context.folder))
    )
    assert (found.answers, found.ratings, found.ungraded) == (6, 12, {})
    bias = {each.task: each.measures["bias"].value for each in found.tasks if each.judge == JUDGE}
    assert bias == {"T2": 1.5, "T6": -1.5, "": 0}
    with pytest.raises(DataError, match="the run has no answer"):
        read_ratings(sheets, [])


def test_an_empty_answer_bears_no_judges_grade(context):
    answers = graded_answers(context.folder.run, context.folder.rubrics)
    asked = list(grading_requests(answers, context.folder.rubrics))
    context.rule(asked, lambda _: "分数：3")
    context.ask(asked)
    grades = mean_grades(judgements_of(answers, context.folder))[JUDGE]
    assert len(grades) == 14
    assert all(each.text for each in answers if each.id in grades)


def test_an_answer_that_changed_since_is_another_one(answers):
    judged = answers[0]
    text = f"{judged.response.text}。"
    assert judged.code != judged._replace(response=replace(judged.response, text=text)).code
