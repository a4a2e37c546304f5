"""Judges' grades in the report, and the metrics beside them."""

from __future__ import annotations

import json

import pytest

from keju.analysis.grades import grades
from keju.analysis.run_set import load_runs
from keju.judging.answers import grading_requests
from keju.reporting.page import write_report
from keju.reporting.row_cells import grade_cells
from keju.scoring import score_run
from tests.judging.conftest import _key, answers, context, judged_run  # noqa: F401  fixtures
from tests.support.judged import GOOD, JUDGE


@pytest.fixture
def graded(context, answers):  # noqa: F811
    """The run with grades: the good model 6 to 9 by sentence, the poor one 1 throughout."""

    def says(request) -> str:
        model, item = json.loads(request.item)[:2]
        return f"分数：{6 + int(item[1]) if model == GOOD else 1}"

    asked = list(grading_requests(answers, context.folder.rubrics))
    context.rule(asked, says)
    assert context.ask(asked).complete
    score_run(context.folder.run)
    return context.folder.run.path


def test_a_grade_is_shown_with_the_strict_metric(graded):
    found = grades(load_runs([graded]))
    (table,) = found.tables
    by_task = {row.task: row for row in table.rows}
    assert set(by_task) == {"T2", "T6"}
    good, poor = grade_cells(by_task["T2"])
    assert by_task["T2"].judge == JUDGE
    assert good.value == "7.50"
    assert good.best
    assert not good.second
    # Four books are too few for an interval.
    assert good.note.splitlines() == ["4 of 4 graded", "strict 100.0"]
    # One answer of the poor model is empty, and worth 0 without being sent.
    assert poor.value == "0.75"
    assert poor.second


def test_a_metric_that_orders_as_the_judge_does_is_said_to(graded):
    found = {
        (each.task, each.protocol, each.metric): each
        for each in grades(load_runs([graded])).metrics
    }
    assert not found  # seven answers of a task say nothing about order


def test_the_page_has_the_grades(graded, tmp_path):
    with_grades = write_report([graded], tmp_path / "graded.html").page.read_text("utf-8")
    assert 'id="grades"' in with_grades
    assert "7.50" in with_grades
    assert 'href="#grades"' in with_grades


def test_the_page_says_nothing_of_judges_where_there_are_none(scored_run, tmp_path):
    without = write_report([scored_run], tmp_path / "plain.html").page.read_text("utf-8")
    assert 'id="grades"' not in without


def test_correlations_follow_the_answers(graded, monkeypatch):
    monkeypatch.setattr("keju.analysis.grades._FEWEST", 5)
    found = grades(load_runs([graded])).metrics
    main = next(each for each in found if each.task == "T2" and each.main)
    assert (main.judge, main.answers, main.models) == (JUDGE, 7, 2)
    assert main.spearman.value > 0.5
    assert main.kendall.value > 0.5
    assert main.kendall.interval is None
