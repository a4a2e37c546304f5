"""Accuracies after the review of answers with several letters: report, CSV and terminal."""

from __future__ import annotations

import csv

import msgspec
import polars as pl
import pytest
from typer.testing import CliRunner

from keju.cli import app
from keju.items import Item, Response
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.runs import RunFolder, RunManifest
from keju.scoring import answer_code

ANSWERS = {"T5": ("ABCD", "B", "AB"), "T10": ("A", "C", "选项B错误，答案：A")}
"""Of the reference A; by the script T5 is right in two of three, T10 in two of three."""


@pytest.fixture
def run(tmp_path):
    run = RunFolder(tmp_path / "run")
    items = [
        Item(id=f"{task}-{n}", benchmark="MCS-Bench", task=task, options=tuple("天地玄黄"),
             answer="A", answer_simplified="A")
        for task, said in ANSWERS.items() for n in range(len(said))
    ]  # fmt: skip
    run.write_items(items)
    run.write_manifest(
        RunManifest(keju="0", dataset="d", dataset_version="1", dataset_hash="h", models={"m": {}})
    )
    for item in items:
        path = run.responses_path("m", item.task)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = ANSWERS[item.task][int(item.id[-1])]
        response = Response(key=item.id, item=item.id, model="m", benchmark="MCS-Bench",
                            task=item.task, status="answered", text=text)  # fmt: skip
        with path.open("ab") as stream:
            stream.write(msgspec.json.encode(response) + b"\n")
    return run


def score(run, *options):
    done = CliRunner().invoke(app, ["score", str(run.path), *options], terminal_width=200)
    assert done.exit_code == 0, done.output
    return done.output


def decide(run, tmp_path, letters):
    path = tmp_path / "decided.csv"
    codes = {each.item: answer_code(each) for each in run.responses()}
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["answer_key", "letter"])
        rows.writerows([codes[item], letter] for item, letter in letters.items())
    return str(path)


def test_the_report_has_the_metric_with_its_means_and_what_they_rest_on(run, tmp_path):
    page = tmp_path / "r.html"
    score(run)
    assert "Acc_reviewed" not in (write_report([run.path], page), page.read_text())[1]
    shown = score(run, "--adjudicated", decide(run, tmp_path, {"T5-2": "A"}))
    assert "33.3 – 66.7 (66.7)" in shown
    counts = "3 answers contain the letters of several options. Decided: 1 by people, 1 by"
    assert counts in " ".join(shown.split())
    report = write_report([run.path], page)
    assert "Acc_reviewed" in page.read_text()
    assert counts in page.read_text()
    write_csv(report, tmp_path / "csv")
    rows = pl.read_csv(tmp_path / "csv" / "acc-reviewed.csv").rows(named=True)
    found = {
        (row["task_or_benchmark"], row["mean"]): tuple(
            row[name] for name in ("acc_reviewed", "undecided_as_script", "script")
        )
        for row in rows
    }
    third, two = pytest.approx(1 / 3), pytest.approx(2 / 3)
    mean = (pytest.approx(0.5), two, two)
    assert found == {
        ("T5", ""): (third, two, two),
        ("T10", ""): (two, two, two),
        ("MCS-Bench", "Ancient Chinese Text"): (third, two, two),
        ("MCS-Bench", "Calligraphy"): (two, two, two),
        ("MCS-Bench", "MCQ"): mean,
        ("MCS-Bench", "OverAll"): mean,
    }
    assert {row["undecided"] for row in rows} == {1}


def test_decisions_can_lower_the_scripts_value_and_close_the_range(run, tmp_path):
    shown = score(run, "--adjudicated", decide(run, tmp_path, {"T5-0": "none", "T5-2": "B"}))
    assert "0.0 (66.7)" in shown
    assert "0 undecided" in " ".join(shown.split())


def test_a_scoring_without_it_leaves_none_of_an_earlier_one(run, tmp_path):
    score(run, "--variants")
    assert list(run.reviewed_scores_dir.glob("*.parquet"))
    score(run)
    assert not list(run.reviewed_scores_dir.glob("*.parquet"))
    write_report([run.path], tmp_path / "r.html")
    assert "Acc_reviewed" not in (tmp_path / "r.html").read_text()


def test_the_table_is_absent_where_there_is_nothing_to_review(run):
    for task in ANSWERS:
        path = run.responses_path("m", task)
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[1 if task == "T5" else 0])
    shown = score(run, "--variants")
    assert "Acc_reviewed" in shown
    assert "contain the letters of several options" not in " ".join(shown.split())
