"""Runs of keju 0.1.0: scored to the same values, reported, judged, and never written to."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import keju as api
from tests.compatibility.conftest import read

RUNS = ("all", "settings", "rounds")
OLD_SETTINGS = {"(own-ocr)": "(own-text)", "(gold-ocr)": "(gold-text)"}


def scores(file: str, protocol: str) -> dict[tuple[object, ...], dict[str, object]]:
    """The scores in a file of ``keju score --json`` by model, item, task, metric and round."""
    stored = read(file)
    models = stored if "official" not in stored else {"responses": stored}
    found = {}
    for name, model in models.items():
        plain, _, setting = name.partition(" ")
        label = f"{plain} {OLD_SETTINGS.get(setting, setting)}".strip()
        for each in model[protocol]["items"]:
            place = (label, each["id"], each["task"], each["metric"], each.get("round", 1))
            found[place] = each
    return found


def compared(keju, what: str, name: str, protocol: str):
    """The scores of 0.1.0 and of now, of the metrics that both have."""
    keju("score", what, "--json", "now.json")
    was, now = scores(f"made/scores/{name}.json", protocol), scores("now.json", protocol)
    gone = {place[3] for place in was.keys() - now.keys()}
    # CER_recognition and CER_layout replace the first, Precision@5 the second.
    assert gone <= {"CER_order_free", "mAP@5"}
    return [(place, was[place], now[place]) for place in was if place in now]


@pytest.mark.parametrize("name", RUNS)
def test_official_scores_are_equal_to_the_last_bit(old, keju, name):
    both = compared(keju, f"made/runs/{name}", name, "official")
    assert len(both) > 100
    for place, was, now in both:
        assert (now["value"], now["response"]) == (was["value"], was["response"]), place


@pytest.mark.parametrize("name", RUNS)
def test_strict_scores_are_equal_where_nothing_announces_the_answer(old, keju, name):
    """Since 0.2.0 `strict` removes an announcement (答案：) before a text."""
    both = compared(keju, f"made/runs/{name}", name, "strict")
    announced = announced_in(f"made/runs/{name}")
    changed = [place for place, was, now in both if was["value"] != now["value"]]
    assert len(both) > 90
    assert 0 < len(changed) < len(both) / 5
    for model, item, _, _, number in changed:
        assert (model, item, number) in announced


def announced_in(run: str) -> set[tuple[str, str, int]]:
    """The responses of a run that announce their answer, by model, item and round."""
    stored = api.open_run(run).responses().filter(pl.col("text").str.contains("答案："))
    label = "{} ({})" if run.endswith("settings") else "{}"
    columns = ("model", "setting", "item", "round")
    return {
        (label.format(model, setting), item, number)
        for model, setting, item, number in stored.select(columns).iter_rows()
    }


def test_a_bundle_of_an_old_run_is_verified(old, keju):
    keju("score", "made/runs/settings")
    path = api.bundle("made/runs/settings", "old.keju.zip")
    found = api.verify(path, api.open_run("made/runs/settings").dataset().path)
    assert (found.result, found.differences) == ("verified", ())
    assert {check.id: check.compared for check in found.checks}["scores"] > 100


def test_a_responses_file_scores_equally(old, keju):
    for protocol in ("official", "strict"):
        both = compared(keju, "written/RESPONSES.json", "responses", protocol)
        assert len(both) >= 17
        assert all(was["value"] == now["value"] for _, was, now in both)


def test_every_status_of_a_response_is_read(old):
    responses = api.open_run(old / "made/runs/all").responses()
    assert set(responses["status"]) == {"answered", "empty", "truncated", "filtered", "failed"}


@pytest.mark.parametrize("name", ["settings", "shard-1", "exam"])
def test_reports_are_written_after_scoring_again(old, keju, name):
    run = f"made/runs/{name}"
    refused = keju("report", run, "-o", "report.html", fails=True)
    assert f"keju score {run}" in str(refused.exception)
    keju("score", run)
    keju("report", run, "-o", "report.html")
    assert (old / "report.html").stat().st_size > 50_000


def test_other_commands_read_a_run_that_was_scored_again(old, keju):
    run = "made/runs/settings"
    keju("score", run)
    shown = keju("compare", run, "--models", "openai:good", "openai:poor", "--setting", "own-text")
    assert "T2" in shown.output
    keju("protocols", run)
    keju("audit", run)
    keju("export", "inspect", run, "-o", "logs")
    keju("export", "mcs-bench", run, "-o", "responses")
    assert len(list((old / "logs").rglob("*.json"))) + len(list((old / "logs").rglob("*.eval"))) > 0
    assert len(list((old / "responses").glob("*.json"))) == 6


@pytest.mark.parametrize("name", ["settings", "batch", "shard-1"])
def test_a_run_is_not_continued(old, keju, name):
    before = _files(old / "made/runs" / name)
    asked = ("made/datasets/all", "--model", "openai:good", "--base-url", "http://127.0.0.1:9/v1")
    refused = keju("run", *asked, "--out", f"made/runs/{name}", fails=True)
    assert refused.exception.id == "runs.old-run-read-only"
    assert _files(old / "made/runs" / name) == before


def test_its_responses_are_replayed_into_a_new_run(old, keju):
    """What a run of 0.1.0 has is not asked again: a new run takes it from the files."""
    stored = Path("made/runs/all/responses/openai_good-0f8e404c")
    tasks = ("--task", "T5", "--task", "T6")
    keju("run", "made/datasets/all", "--model", f"replay:{stored}", *tasks, "--out", "new")
    lines = [each for path in stored.glob("T[56].jsonl") for each in path.read_text().splitlines()]
    texts = {each["item"]: each["text"] for each in map(json.loads, lines)}
    found = api.open_run("new").responses()
    assert len(texts) == 2
    assert dict(zip(found["item"], found["text"], strict=True)) == texts


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }
