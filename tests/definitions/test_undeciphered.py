"""Undeciphered characters from the import to the report, asked of a real server."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.analysis.run_set import load_runs
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.definitions import NO_REFERENCE, is_undeciphered, missing_reference
from keju.definitions.references import DECIPHERED, UNDECIPHERED
from keju.runs import RunFolder
from keju.scoring import aggregate, score_run
from tests.support.commanding import keju
from tests.support.released import picture, put, table
from tests.support.serving import Chat
from tests.support.stored_scores import read_scores

SAID = "It may picture a hand that holds a branch."


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three characters of HUST-OBS, one with a description."""
    home = tmp_path_factory.mktemp("undeciphered")
    src = home / "HUST-OBS"
    rows = [("wang.png", "王", "It means king."), ("x1.png", "", ""), ("x2.png", "", " ")]
    table(src / "descriptions.csv", ("image", "character", "description"), *rows)
    for number, row in enumerate(rows):
        put(src / f"images/{row[0]}", picture(number))
    done = keju(
        "data", "import", "obi-deciphering", src, "--out", home / "d",
        "--licence", "CC0-1.0", "--source", "made here",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 of 3 characters have no description (asked, not scored)" in done.stdout + done.stderr
    return home / "d"


def test_they_are_imported_marked_and_valid(dataset: Path):
    items = Dataset.open(dataset).items()
    marked = [item for item in items if is_undeciphered(item)]
    assert len(marked) == 4
    assert {(item.answer, item.metadata[DECIPHERED]) for item in marked} == {("", "no")}
    assert list(validate(dataset)) == []


def test_an_unmarked_item_has_no_reference_and_the_notice_names_the_mark(
    dataset: Path, tmp_path: Path
):
    items = Dataset.open(dataset).items()
    marked = next(item for item in items if is_undeciphered(item) and item.query == "What")
    bare = replace(marked, metadata={})
    assert (missing_reference(marked), missing_reference(bare)) == (UNDECIPHERED, NO_REFERENCE)
    copy = tmp_path / "copy"
    with DatasetWriter(copy, name="n", version="1", licence="CC0-1.0", source="s") as writer:
        image = Dataset.open(dataset).image_bytes(bare.images[0])
        writer.add(replace(bare, images=(writer.add_image(image, "x1.png"),)))
    (finding,) = validate(copy)
    assert (finding.severity, DECIPHERED in finding.hint) == ("notice", True)


def test_they_are_asked_unscored_with_the_reason_and_shown(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(images=True, says=SAID)
    out = tmp_path / "run"
    done = keju(
        "run", dataset, "--model", "openai:served", "--base-url", chat.url, "--out", out,
        "--task", "deciphering/What",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = chat.stats()
    prompts = [json.loads(body)["messages"][0]["content"] for body in seen["bodies"]]
    assert len(prompts) == 3
    asked = "What is the meaning of this oracle bone character?"
    assert all(asked in str(each) for each in prompts)
    assert sorted(map(len, seen["images"])) == [1, 1, 1]
    scores = score_run(RunFolder.open(out))
    unknown = {item.id for item in Dataset.open(dataset).items() if is_undeciphered(item)}
    assert {score.value for score in scores if score.item in unknown} == {None}
    assert {score.reason for score in scores if score.item in unknown} == {UNDECIPHERED}
    (chrf,) = [s for s in scores if s.metric == "chrF" and s.item not in unknown]
    assert chrf.value is not None
    strict = next(each for each in aggregate(scores) if each.protocol == "strict")
    metric = next(each for each in strict.tasks[0].metrics if each.metric == "chrF")
    assert (metric.items, metric.scored, metric.value) == (3, 1, chrf.value)
    assert metric.unscored == {UNDECIPHERED: 2}


def test_the_readings_are_in_the_report_and_its_tables(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(says=SAID)
    out, tables, page = tmp_path / "run", tmp_path / "tables", tmp_path / "report.html"
    asked = ("run", dataset, "--model", "openai:served", "--base-url", chat.url, "--out", out)
    assert keju(*asked).returncode == 0
    assert keju("score", out).returncode == 0
    assert read_scores(next((out / "scores").glob("*.parquet")))
    done = keju("report", out, "-o", page, "--csv", tables)
    assert done.returncode == 0, done.stderr
    with (tables / "undeciphered.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert {(row["query"], row["reading"]) for row in rows} == {("What", SAID), ("How", SAID)}
    run_set = load_runs([out])
    shown = [each for each in run_set.asked if is_undeciphered(each.item)]
    assert {answer.response.text for each in shown for answer in each.answers} == {SAID}
    assert UNDECIPHERED in page.read_text("utf-8")
