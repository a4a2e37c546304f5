"""Official with reasoning that came in a field of its own, beside the content alone."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from keju.cli.app import app
from keju.items import Item, Response
from keju.reporting.csv_export import write_csv
from keju.reporting.page import write_report
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run
from tests.support.stored_scores import read_scores

ITEMS = [
    Item(id="letter", benchmark="MCS-Bench", task="T7", question="？", verbatim=True, answer="B",
         options=("甲", "乙")),
    Item(id="page", benchmark="MCS-Bench", task="T1", question="？", verbatim=True, answer="天地"),
    Item(id="other", benchmark="MCS-Bench", task="T1", question="？", verbatim=True, answer="天地"),
    Item(id="book", benchmark="AncientDoc", task="page_level_ocr", answer="天地"),
]  # fmt: skip
SAID = {
    "letter": ("A", "甲？B乙？"),
    "page": ("天地", "天空"),
    "other": ("天", ""),
    "book": ("天地", "天空"),
}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run of a model with reasoning in a field, and of one without."""
    run = RunFolder(tmp_path / "run")
    run.write_items(ITEMS)
    run.write_manifest(
        RunManifest(keju="0", dataset="made", dataset_version="1", dataset_hash="h",
                    models={"thinker": {}, "plain": {}})
    )  # fmt: skip
    for model in ("thinker", "plain"):
        for item in ITEMS:
            text, thinking = SAID[item.id]
            path = run.responses_path(model, item.task)
            path.parent.mkdir(parents=True, exist_ok=True)
            response = Response(
                key=f"{model}{item.id}", item=item.id, model=model, benchmark=item.benchmark,
                task=item.task, status="answered", text=text,
                thinking=thinking if model == "thinker" else "",
            )  # fmt: skip
            with path.open("ab") as file:
                file.write(msgspec.json.encode(response) + b"\n")
    return run


def test_official_is_the_content_alone_and_both_values_are_in_the_json(folder: RunFolder, tmp_path):
    out = tmp_path / "scores.json"
    done = CliRunner().invoke(app, ["score", str(folder.path), "--json", str(out)])
    assert done.exit_code == 0, done.output
    told = json.loads(out.read_text("utf-8"))
    assert set(told["plain"]) == {"official", "strict"}
    alone, beside = told["thinker"]["official"], told["thinker"]["with_reasoning"]
    # "think>天空</think>" before 天地: 2 x "think" and two ideographs too many for two of two.
    assert alone["tasks"]["7"]["Acc"] == 0
    assert beside["tasks"]["7"]["Acc"] == 1
    assert (alone["tasks"]["1"]["AR"], beside["tasks"]["1"]["AR"]) == (0.75, (0.5 + 1 - 6) / 2)
    assert (alone["tasks"]["1"]["CR"], beside["tasks"]["1"]["CR"]) == (0.75, 0.75)
    assert {row["id"] for row in beside["items"]} == {"letter", "page", "other"}
    assert beside["form"] == "<think>REASONING</think>CONTENT"
    assert "reasoning:<think>+content" in beside["signatures"]["7"]["Acc"]
    assert "reasoning" not in alone["signatures"]["7"]["Acc"]
    assert "with the reasoning field" in done.output.replace("\n", " ")


def test_the_scores_are_stored_and_removed_again(folder: RunFolder):
    score_run(folder)
    files = sorted(folder.scores_dir.glob("*.parquet"))
    scores = [score for file in files for score in read_scores(file, ["with-reasoning"])]
    assert {each.model for each in scores} == {"thinker"}
    assert {each.benchmark for each in scores} == {"MCS-Bench"}
    assert not [each for file in files for each in read_scores(file) if each in scores]
    score_run(folder, ("strict",))
    assert not [each for file in files for each in read_scores(file, ["with-reasoning"])]


def test_the_report_has_both_values(folder: RunFolder, tmp_path: Path):
    score_run(folder)
    report = write_report([folder.path], tmp_path / "report.html")
    (table,) = report.view.views
    rows = {row.task: (row.as_returned.value, row.seen.value) for row in table.rows}
    assert table.model == "thinker"
    assert rows["T7"] == (0, 1)
    assert rows["T1"] == (0.75, 0.75)
    assert rows["OverAll"] == (pytest.approx(0.375), pytest.approx(0.875))
    page = report.page.read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert "protocol-views" in ids
    assert len(set(ids)) == len(ids)
    written = {path.name: path for path in write_csv(report, tmp_path / "csv")}
    with written["protocol-views.csv"].open(encoding="utf-8-sig") as file:
        found = {row["task"]: row for row in csv.DictReader(file)}
    assert float(found["T7"]["value"]) == 1


def test_reasoning_of_failed_responses_alone_changes_nothing(folder: RunFolder, tmp_path: Path):
    for path in folder.response_files("thinker"):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        failed = [row | {"status": "filtered"} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in failed), "utf-8")
    done = CliRunner().invoke(app, ["score", str(folder.path), "--json", str(tmp_path / "s.json")])
    assert done.exit_code == 0, done.output
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert {key for of_model in scores.values() for key in of_model} == {"official", "strict"}
