"""Labels of runs, and servers whose model changed under the same name."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.analysis.run_set import load_runs
from keju.errors import UsageError
from keju.models import ModelOptions
from keju.models.openai import read_answer
from keju.published.run_audit import audit_run
from keju.reporting.page import write_report
from keju.running import Policy, RunSummary, Selection, request_key, run
from keju.running.merging import merge
from keju.running.requests import request_for
from keju.running.selection import RequestVariant
from keju.runs import RunFolder
from keju.runs.manifest import LONGEST_LABEL, checked_label
from keju.runs.served_models import count_served
from keju.scoring import score_run
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.serving import Chat, run_command


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("labels") / "dataset", pages=6)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")


def go(dataset: Path, out: Path, label: str | None, **options: object) -> RunSummary:
    return run(dataset, ["baseline:copy"], out, selection=Selection(label=label, **options))


def keys(out: Path) -> list[str]:
    return [response.key for response in RunFolder(out).responses()]


@pytest.mark.parametrize(
    "label",
    ["", "  ", "x" * (LONGEST_LABEL + 1), "a/b", "a\\b", "..", ".", "a\nb", "a\x1b[31m", "\u202eb"],
)
def test_a_label_that_is_no_name_is_refused(label: str):
    with pytest.raises(UsageError):
        checked_label(label)


@pytest.mark.parametrize("label", ["step-2000", "2026-11-23", "第三輪", " v1.2 (lora) "])
def test_a_label_is_a_short_text_in_any_script(label: str):
    assert checked_label(label) == label.strip()


def test_without_a_label_keys_and_manifest_are_as_before(dataset: Path, tmp_path: Path):
    go(dataset, tmp_path / "run", None)
    manifest = RunFolder(tmp_path / "run").manifest()
    assert "label" not in manifest.settings
    assert manifest.label == ""
    item = RunFolder(tmp_path / "run").items()[0]
    plain = request_for(item)
    labelled = request_for(item, RequestVariant(label="a"))
    assert labelled == replace(plain, label="a")
    assert request_key(plain, {}) == request_key(replace(labelled, label=""), {})
    assert request_key(labelled, {}) != request_key(plain, {})


def test_another_label_asks_again_in_a_new_place(dataset: Path, tmp_path: Path):
    for label in ("step-1", "step-2"):
        assert go(dataset, tmp_path / label, label).models[0].asked == 6
        assert go(dataset, tmp_path / label, label).models[0].asked == 0
    assert not set(keys(tmp_path / "step-1")) & set(keys(tmp_path / "step-2"))
    before = (tmp_path / "step-1" / "run.json").read_bytes()
    for other in ("step-2", None):
        with pytest.raises(UsageError, match="--label"):
            go(dataset, tmp_path / "step-1", other)
    assert (tmp_path / "step-1" / "run.json").read_bytes() == before


def test_shards_with_different_labels_are_not_merged(dataset: Path, tmp_path: Path):
    for number, label in ((1, "a"), (2, "b")):
        go(dataset, tmp_path / label, label, shard=f"{number}/2")
    with pytest.raises(UsageError, match="label"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "merged")


def test_shards_with_one_label_are_merged_and_keep_it(dataset: Path, tmp_path: Path):
    for number in (1, 2):
        go(dataset, tmp_path / str(number), "a", shard=f"{number}/2")
    merge([tmp_path / "1", tmp_path / "2"], tmp_path / "merged")
    assert RunFolder(tmp_path / "merged").manifest().label == "a"


def test_reports_and_leaderboards_name_the_labels(dataset: Path, tmp_path: Path):
    paths = []
    for label in ("step-1", "step-2", None):
        paths.append(tmp_path / str(label))
        go(dataset, paths[-1], label)
        score_run(RunFolder(paths[-1]))
    names = ["baseline:copy · step-1", "baseline:copy · step-2", "baseline:copy"]
    assert load_runs(paths).models == names
    page = write_report(paths[:2], tmp_path / "report.html").page.read_text("utf-8")
    assert all(name in page for name in names[:2])


def test_two_runs_with_one_label_are_told_apart_by_their_names(dataset: Path, tmp_path: Path):
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        go(dataset, path, "x")
        score_run(RunFolder(path))
    assert load_runs(paths).models == ["baseline:copy · x · one", "baseline:copy · x · two"]


def test_the_reported_model_and_fingerprint_are_stored_with_each_response(
    dataset: Path, tmp_path: Path, chat: Chat
):
    chat.plan(serves=[["m-0513", "fp_1"]])
    ask(dataset, tmp_path / "run", chat)
    stored = list(RunFolder(tmp_path / "run").responses())
    assert {(each.served_model, each.fingerprint) for each in stored} == {("m-0513", "fp_1")}
    assert count_served(stored) == {"openai:served": {"m-0513 (fp_1)": 6}}


@pytest.mark.parametrize("name", [None, 5, ["m"], {"a": 1}])
def test_a_reported_name_that_is_not_a_text_is_not_stored(name: object):
    choices = [{"message": {"content": "x"}, "finish_reason": "stop"}]
    answer = read_answer(json.dumps({"model": name, "choices": choices}).encode())
    assert (answer.text, answer.served_model, answer.fingerprint) == ("x", "", "")


def test_a_reported_name_cannot_steer_the_terminal():
    choices = [{"message": {"content": "x"}, "finish_reason": "stop"}]
    body = json.dumps({"model": "m\x1b[2J" + "y" * 500, "choices": choices}).encode()
    name = read_answer(body).served_model
    assert "\x1b" not in name
    assert len(name) < 130


def ask(dataset: Path, out: Path, chat: Chat, limit: int | None = None) -> RunSummary:
    return run(
        dataset, ["openai:served"], out, selection=Selection(limit=limit),
        options=ModelOptions(base_url=chat.url), policy=Policy(concurrency=1),
    )  # fmt: skip


def test_a_change_of_the_served_model_is_named_with_counts(
    dataset: Path, tmp_path: Path, chat: Chat
):
    out = tmp_path / "run"
    chat.plan(serves=[["m-0513", ""], ["m-0513", ""], ["m-0806", ""]])
    ask(dataset, out, chat)
    stored = list(RunFolder(out).responses())
    assert count_served(stored) == {"openai:served": {"m-0513": 2, "m-0806": 4}}
    score_run(RunFolder(out))
    (finding,) = (each for each in audit_run(out).findings if each.check == "served-model")
    assert finding.place == "openai:served"
    assert [wrong.where for wrong in finding.mismatches] == ["m-0513", "m-0806"]
    page = write_report([out], tmp_path / "report.html").page.read_text("utf-8")
    assert "m-0513" in page
    assert "m-0806" in page


def test_a_resumed_run_does_not_mix_models_silently(dataset: Path, tmp_path: Path, chat: Chat):
    out = tmp_path / "run"
    chat.plan(serves=[["m-0513", "fp_1"]])
    ask(dataset, out, chat, limit=2)
    chat.plan(serves=[["m-0513", "fp_2"]])
    done = keju(*run_command(dataset, out, chat)[3:], env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if "m-0513 (fp_1)" in line)
    assert re.search(r"\b2\b.*\b4\b|\b4\b.*\b2\b", line)
    assert "m-0513 (fp_2)" in line
    assert "--label" in line
