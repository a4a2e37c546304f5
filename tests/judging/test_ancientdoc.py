"""AncientDoc's judge: all five tasks by default, the human study's sample, the papers' columns."""

from __future__ import annotations

import csv
import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

from keju.analysis.same_models import read_same_as
from keju.cli import app
from keju.datasets.store import DatasetWriter
from keju.definitions import tasks
from keju.items import Item
from keju.judging.answers import answers_of
from keju.judging.prompting import read_rubrics
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.judged import JUDGE, KEY
from tests.support.making import picture
from tests.support.serving import Chat

FIVE = [task.id for task in tasks() if task.benchmark == "AncientDoc"]
PAGES = 52
"""More than the 50 that the human study draws of each task."""


@pytest.fixture
def ancient_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A replayed model's answers to one item of each task on each of 52 pages."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    with DatasetWriter(Path("set"), name="s", version="1", licence="CC0", source="t") as writer:
        for page in range(PAGES):
            ref = writer.add_image(picture(page, side=8), f"p{page}")
            for task in FIVE:
                writer.add(_item(task, page, ref))
    lines = [json.dumps({"item": f"{task}-{page}", "text": f"答{task}{page}"})
             for task in FIVE for page in range(PAGES)]  # fmt: skip
    Path("m.jsonl").write_text("\n".join(lines), "utf-8")
    run(Path("set"), ["replay:m.jsonl"], Path("run"))
    return RunFolder.open(Path("run"))


def _item(task: str, page: int, ref) -> Item:
    question = f"第{page}頁何以如此？" if task.endswith("qa") else ""
    return Item(id=f"{task}-{page}", benchmark="AncientDoc", task=task, images=(ref,),
                question=question, answer=f"正解{page}", group=f"book {page % 9}")  # fmt: skip


def judge(*args: object) -> None:
    assert (app(["judge", *map(str, args)], standalone_mode=False) or 0) == 0


def test_all_five_tasks_are_graded_unasked_and_fill_the_papers_columns(
    ancient_run: RunFolder, chat: Chat, tmp_path: Path
) -> None:
    chat.plan(says="分数：7", images=True)
    judge("sample", "run", "-o", "two.csv", "--per-task", 2)
    judge("grade", "run", "--model", JUDGE, "--base-url", chat.url, "--only", "two.csv")
    seen = chat.stats()
    assert seen["requests"] == 2 * len(FIVE)
    assert seen["images"] == [[]] * 10  # a judge compares with the reference: no image is sent
    shown = [json.loads(body)["messages"][0]["content"] for body in seen["bodies"]]
    rubrics = read_rubrics()
    for task in FIVE:
        says = rubrics.rubric(task).says.strip()
        asked = [text for text in shown if says in text and f"答{task}" in text]
        assert len(asked) == 2, task
        assert all("正解" in text for text in asked)
    score_run(ancient_run)
    report = write_report([ancient_run.path], tmp_path / "report.html", published=True)
    tables = {path.stem: pl.read_csv(path) for path in write_csv(report, tmp_path / "csv")}
    for number, task in zip((8, 10, 9, 11, 12), FIVE, strict=True):
        table = tables[f"ancientdoc-table-{number}"]
        own = table.filter(pl.col("source") == "this run")
        assert own[f"{task}:GPT4oScore"].cast(pl.Float64).to_list() == [7.0], task
        assert own["judge"].to_list() == [JUDGE], task
        assert table.filter(pl.col("source") == "paper")["judge"].null_count() == len(table) - 1
    page = (tmp_path / "report.html").read_text("utf-8")
    assert f"graded by {JUDGE}" in page


def test_answers_of_a_sheet_that_are_not_graded_are_counted(
    ancient_run: RunFolder, chat: Chat, capsys: pytest.CaptureFixture[str]
) -> None:
    judge("sample", "run", "-o", "two.csv", "--per-task", 2)
    chat.plan(says="分数：7")
    arguments = ["grade", "run", "--model", JUDGE, "--base-url", chat.url, "--only", "two.csv"]
    judge(*arguments, "--task", FIVE[0])
    assert "8 answers of two.csv are not graded" in " ".join(capsys.readouterr().err.split())


def test_a_judge_call_that_fails_is_counted_and_leaves_the_papers_mean(
    ancient_run: RunFolder, chat: Chat, tmp_path: Path
) -> None:
    arguments = ["grade", "run", "--model", JUDGE, "--base-url", chat.url]
    judge("sample", "run", "-o", "three.csv", "--per-task", 3, "--task", "reasoning_qa")
    lines = Path("three.csv").read_text("utf-8").splitlines(keepends=True)
    Path("two.csv").write_text("".join(lines[:3]), "utf-8")
    chat.plan(says="分数：8")
    judge(*arguments, "--only", "two.csv")
    chat.plan(says="I cannot tell.")
    judge(*arguments, "--only", "three.csv")
    score_run(ancient_run)
    report = write_report([ancient_run.path], tmp_path / "r.html", published=True)
    tables = {path.stem: pl.read_csv(path) for path in write_csv(report, tmp_path / "csv")}
    (own,) = tables["ancientdoc-table-9"].filter(pl.col("source") == "this run").to_dicts()
    assert own["reasoning_qa:GPT4oScore"] == 8.0
    assert own["graded"] == f"2 of {PAGES}"
    page = (tmp_path / "r.html").read_text("utf-8")
    assert f"2 of {PAGES} answers have a grade" in page
    assert "1 without a grade" in page


def test_no_difference_is_taken_between_grades_of_unlike_judges(
    ancient_run: RunFolder, chat: Chat, tmp_path: Path
) -> None:
    chat.plan(says="分数：7")
    judge("grade", "run", "--model", JUDGE, "--base-url", chat.url, "--task", "page_level_ocr")
    score_run(ancient_run)
    same = read_same_as(["replay:m.jsonl=GPT-4o"])
    report = write_report([ancient_run.path], tmp_path / "r.html", published=True, same_as=same)
    tables = {path.stem: pl.read_csv(path) for path in write_csv(report, tmp_path / "csv")}
    (row,) = tables["ancientdoc-table-8"].filter(pl.col("source") == "difference").to_dicts()
    assert row["page_level_ocr:GPT4oScore"] is None
    assert row["page_level_ocr:CER"] is not None


def test_grades_by_the_present_rubrics_go_before_older_ones(
    ancient_run: RunFolder, chat: Chat, tmp_path: Path
) -> None:
    text = files("keju.judging").joinpath("rubrics.toml").read_text("utf-8")
    old = tmp_path / "old.toml"
    old.write_text(text.replace('name = "keju"', 'name = "zzz"'), "utf-8")
    arguments = ["grade", "run", "--model", JUDGE, "--base-url", chat.url]
    arguments += ["--task", "reasoning_qa"]
    for says, rubrics in (("分数：7", []), ("分数：2", ["--rubrics", old])):
        chat.plan(says=says)
        judge(*arguments, *rubrics)
    score_run(ancient_run)
    report = write_report([ancient_run.path], tmp_path / "r.html", published=True)
    tables = {path.stem: pl.read_csv(path) for path in write_csv(report, tmp_path / "csv")}
    own = tables["ancientdoc-table-9"].filter(pl.col("source") == "this run")
    assert own["reasoning_qa:GPT4oScore"].to_list() == [7.0]


def test_the_human_study_draws_fifty_of_each_of_the_five(ancient_run: RunFolder) -> None:
    assert len(answers_of(ancient_run, read_rubrics())) == PAGES * len(FIVE)
    judge("sample", "run", "-o", "sheet.csv")
    with Path("sheet.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert Counter(row["task"] for row in rows) == dict.fromkeys(FIVE, 50)
