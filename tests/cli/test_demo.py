"""The demo runs from end to end with the real OCR engine, and contacts nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keju.cli.demo import MODELS, table_rows
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.definitions import paper_tasks, query_of
from keju.runs import RunFolder
from keju.scoring import MetricResult, Result, TaskResult, aggregate, score_run
from tests.cli.test_chinese_output import english_in
from tests.support.bundled import PAPERS, TASKS
from tests.support.making import make_dataset
from tests.support.watched_network import namespaces_missing, need_namespaces, watched

FEW = ("T1", "T7", "recognition", "rejoining")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The run, its report and what was printed; and what it tried to reach, where watched."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    command = (sys.executable, "-m", "keju", "demo", "--out", folder)
    if namespaces_missing():
        done, seen = subprocess.run(command, capture_output=True, text=True, check=False), None
        status = done.returncode
    else:
        # onnxruntime contacts nobody where CI is set.
        environment = {key: value for key, value in os.environ.items() if key != "CI"}
        done = seen = watched(*command, env=environment)
        status = done.status
    assert status == 0, done.stderr
    return folder, folder / "report.html", done.stdout, seen


@pytest.fixture
def few_items(tmp_path, monkeypatch):
    """The first item of a few tasks in place of the whole bundled set."""
    whole = Dataset.open(mini.path())
    firsts = {}
    for item in whole.items():
        if item.split == "test" and item.task in FEW:
            firsts.setdefault((item.task, item.query), item)
    make_dataset(tmp_path / "few", firsts.values(), images_of=whole)
    monkeypatch.setattr(mini, "path", lambda: tmp_path / "few")


def test_a_demo_of_few_items_ends_with_the_report_and_a_summary(few_items, keju):
    done = keju("demo", "--out", "run")
    assert (done.status, Path("run", "report.html").is_file()) == (0, True)
    assert "synthetic" in done.out
    for name in ("ppocr", *FEW):
        assert name in done.out
    answered = {each.model for each in RunFolder.open(Path("run")).responses()}
    assert {"ppocr", "baseline:chance", "baseline:copy", "baseline:edges"} <= answered


@pytest.mark.slow
def test_the_demo_contacts_nobody(demo):
    need_namespaces()
    *_, seen = demo
    assert (seen.names, seen.addresses) == ([], [])


@pytest.mark.slow
def test_a_complete_demo_prints_its_summary_in_chinese(demo):
    folder, *_ = demo
    done = subprocess.run(
        [sys.executable, "-m", "keju", "demo", "--out", folder],
        env={**os.environ, "KEJU_LANG": "zh", "COLUMNS": "1000", "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    assert len(done.stdout.splitlines()) > len(MODELS)
    assert [line for line in done.stdout.splitlines() if english_in(line)] == []


@pytest.mark.slow
def test_every_item_has_an_answer_from_each_model_that_can_give_one(demo):
    folder, *_ = demo
    items = [item for item in Dataset.open(mini.path()).items() if item.split == "test"]
    answered: dict[str, set[str]] = {name: set() for name in MODELS}
    for each in RunFolder.open(folder).responses():
        assert each.status in {"answered", "empty"}, (each.model, each.item)
        answered[each.model].add(each.item)
    forms = {item.id: query_of(item).form for item in items}
    assert answered["ppocr"] == {name for name, form in forms.items() if form == "transcription"}
    letters = {name for name, form in forms.items() if form in {"letter", "yes-no"}}
    assert letters <= answered["baseline:chance"]
    assert {item.id for item in items if item.options} <= answered["baseline:majority"]
    assert answered["baseline:copy"] == set(forms)
    assert answered["baseline:hog"] | answered["baseline:edges"] == {
        item.id for item in items if item.relevant
    }


@pytest.mark.slow
def test_all_tasks_are_answered_and_scored_and_it_says_by_whom(demo):
    folder, _, text, _ = demo
    rows = list(table_rows(aggregate(score_run(RunFolder.open(folder)))))
    answered = {task for name in PAPERS for task in TASKS[name]}
    assert {row.task for row in rows} == answered
    total = len(paper_tasks())
    assert f"{len(answered)} of {total} tasks are answered and scored" in text
    assert "ppocr (engine)" in text
    for row in rows:
        task = next(each for each in paper_tasks() if each.id == row.task)
        query = next(each for each in task.queries if each.name == row.query)
        assert (row.engine is not None) == (query.form == "transcription")
        assert row.floor is not None
        assert row.by
        assert (row.chance is not None) == (query.form in {"letter", "yes-no", "probability"})


def results_of(task: str, metrics: dict[str, dict[str, float | None]]) -> list[Result]:
    """Strict results of one task: by model, its metrics in their order."""
    return [
        Result(
            model=model,
            setting="image",
            protocol="strict",
            benchmarks=(),
            tasks=(TaskResult(
                task=task, query="", items=1, statuses={}, verdicts={},
                metrics=tuple(
                    MetricResult(metric=name, value=value, without_failures=value,
                                 item_mean=value, value_if_right=value, items=1, scored=1)
                    for name, value in values.items()
                ),
            ),),
        )
        for model, values in metrics.items()
    ]  # fmt: skip


def test_of_equal_floors_the_one_made_for_the_task_is_named():
    found = {"baseline:copy": 0.2, "baseline:edges": 0.2, "baseline:chance": 0.9, "ppocr": 0.5}
    results = results_of("T1", {model: {"CharAcc": value} for model, value in found.items()})
    (row,) = table_rows(results)
    assert (row.engine, row.floor, row.by, row.chance) == (0.5, 0.2, "edges", 0.9)


def test_where_the_main_metric_is_not_to_be_had_the_next_one_is_shown():
    results = results_of("T6", {"baseline:copy": {"BERTScore_floor": None, "chrF": 0.1}})
    (row,) = table_rows(results)
    assert (row.metric, row.floor) == ("chrF", 0.1)


@pytest.mark.slow
def test_the_engine_reads_clean_pages_and_struggles_with_worn_ones(demo):
    folder, *_ = demo
    rates = [
        score.value
        for score in score_run(RunFolder.open(folder))
        if score.model == "ppocr" and score.metric == "CER" and score.protocol == "strict"
    ]
    assert min(rates) <= 0.05
    assert max(rates) >= 0.5


@pytest.mark.slow
def test_echoing_the_prompt_earns_everything_officially_and_nothing_strictly(demo):
    folder, *_ = demo
    scores = score_run(RunFolder.open(folder))
    found = {
        (result.protocol, each.task): each.main.value
        for result in aggregate(scores)
        if result.model == "baseline:copy"
        for each in result.tasks
    }
    assert found["official", "T7"] == 1.0
    assert found["strict", "T7"] == 0.0


@pytest.mark.slow
def test_it_ends_with_the_report_and_a_summary(demo):
    _, report, text, _ = demo
    assert report.is_file()
    assert str(report) in text.replace("\n", "")
    assert "synthetic" in text
    for name in ("ppocr", "T1", "T7", "page_level_ocr"):
        assert name in text
