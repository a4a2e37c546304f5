"""Runs of keju 0.1.0 (keju-run-1) are read with the old meaning, and are never written to."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from keju.analysis.run_set import load_runs
from keju.annotation import AnnotationApp
from keju.annotation.adjudication import Adjudication
from keju.cli import app
from keju.datasets import mini
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.figures import Undrawn, of_run
from keju.files import sha256_bytes
from keju.judging.answers import AnswerId, AnswerSelection, answers_of, code_of
from keju.judging.folder import JudgementFolder
from keju.judging.ratings import read_ratings
from keju.judging.rubrics import read_rubrics
from keju.models import ModelOptions, open_models
from keju.reporting.page import write_report
from keju.running import Selection, merge, run
from keju.running.request_rebuilding import RequestRebuilder
from keju.running.store import ResponseStore
from keju.runs import FORMAT_1, RunFolder
from keju.scoring import answer_code, score_run
from tests.support.planning import estimate

STORED = Path(__file__).parent / "golden" / "run-0.1.0"
MODELS = ["openai:plain", "openai:thinker"]
OLD_NAMES = {"own-text": "own-ocr", "gold-text": "gold-ocr", "image": "image"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    shutil.copytree(STORED, tmp_path / "old")
    return tmp_path / "old"


def test_the_settings_of_0_1_0_are_read_as_text_only():
    folder = RunFolder.open(STORED)
    manifest = folder.manifest()
    assert manifest.format == FORMAT_1
    assert manifest.input_settings == ["image", "own-text", "gold-text"]
    assert manifest.scripts == ["released"]
    found = Counter((each.model, each.setting, each.script) for each in folder.responses())
    assert found == {
        (model, setting, "released"): count
        for model in MODELS
        for setting, count in (("image", 5), ("own-text", 4), ("gold-text", 4))
    }
    sent = {(each.setting, each.text.partition("，")[2].strip()) for each in folder.responses()}
    assert sent == {
        ("image", "1 images, without text"),
        ("own-text", "0 images, with text"),
        ("gold-text", "0 images, with text"),
    }
    assert {each.setting for each in folder.all_readings()} == {"image"}


def test_a_stored_script_of_0_1_0_is_each_responses(old: Path):
    path = old / "run.json"
    manifest = json.loads(path.read_text())
    manifest["settings"]["wording"] = "traditional"
    path.write_text(json.dumps(manifest))
    folder = RunFolder.open(old)
    assert folder.manifest().scripts == ["traditional"]
    assert {each.script for each in folder.responses()} == {"traditional"}


def test_scores_stored_by_0_1_0_are_refused_and_scoring_again_gives_the_same_values(old: Path):
    stored = pl.concat(map(pl.read_parquet, sorted((old / "scores").glob("*.parquet"))))
    for command in (
        ["report", str(old), "-o", str(old / "report.html")], ["compare", str(old)],
        ["protocols", str(old)], ["audit", str(old)], ["figures", str(old), "-o", str(old)],
        ["export", "inspect", str(old), "-o", str(old / "logs")],
    ):  # fmt: skip
        result = CliRunner().invoke(app, command)
        assert isinstance(result.exception, UsageError)
        assert "was scored by an older keju" in str(result.exception)
        assert str(result.exception).endswith(f"Score it again: keju score {old}")
    now = {
        (s.model, s.item, OLD_NAMES[s.setting], s.protocol, s.metric): s.value
        for s in score_run(RunFolder.open(old))
    }
    before = {
        (row["model"], row["item"], row["setting"], row["protocol"], row["metric"]): row["value"]
        for row in stored.iter_rows(named=True)
    }
    new, gone = {"CER_recognition", "CER_layout"}, {"CER_order_free"}
    assert {key[-1] for key in now.keys() ^ before.keys()} == new | gone
    assert {key: value for key, value in now.items() if key[-1] not in new} == {
        key: value for key, value in before.items() if key[-1] not in gone
    }
    names = [f"{m} · {s}" for m in MODELS for s in ("image", "own-text", "gold-text")]
    assert load_runs([old]).models == names


def test_nothing_is_added_to_a_run_of_0_1_0(old: Path, tmp_path: Path):
    before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    options = ModelOptions(base_url="http://localhost:1/v1")
    chosen = Selection(tasks=("T1",), limit=1)
    refused = r"old: a run of keju 0\.1\.0 .* is read-only.* another --out"
    with pytest.raises(UsageError, match=refused):
        run(mini.path(), ["openai:plain"], old, selection=chosen, options=options)
    with pytest.raises(UsageError, match=refused):
        merge([old], tmp_path / "merged")
    models = open_models(["openai:plain"], options)
    with pytest.raises(UsageError, match=refused):
        estimate(Dataset.open(mini.path()), models, chosen, folder=RunFolder(old))
    assert {path: path.read_bytes() for path in old.rglob("*") if path.is_file()} == before


def test_its_responses_are_replayed_with_the_old_meaning(old: Path, tmp_path: Path):
    (path,) = (each for each in RunFolder(old).response_files() if "plain" in str(each)
               and each.stem == "T2")  # fmt: skip
    chosen = Selection(tasks=("T2",), limit=1, settings=("gold-text", "gold-ocr"))
    run(mini.path(), [f"replay:{path}"], tmp_path / "again", selection=chosen)
    found = {each.setting: each for each in RunFolder(tmp_path / "again").responses()}
    assert found["gold-text"].text.strip() == "天地玄黃，0 images, with text"
    assert found["gold-ocr"].error.kind == "missing-answer"


def test_people_are_not_examined_in_a_run_of_0_1_0(old: Path):
    pages = AnnotationApp(mini.path(), old)
    try:
        assert "is read-only" in pages.closed["exam"]
    finally:
        pages.close()


def test_a_run_of_another_format_is_refused(old: Path):
    path = old / "run.json"
    path.write_text(path.read_text().replace("keju-run-1", "keju-run-9"))
    with pytest.raises(DataError, match="keju-run-9"):
        RunFolder.open(old).manifest()


def test_what_0_1_0_sent_is_rebuilt_as_it_was(old: Path):
    folder = RunFolder.open(old)
    shown = RequestRebuilder(folder)
    items = {item.id: item for item in folder.items()}
    for response in folder.responses("openai:plain", ["T2"]):
        request = shown.request(items[response.item], response)
        with_text = response.setting != "image"
        assert len(request.images) == int(not with_text)
        assert request.prompt.startswith("以下是圖中的文字") is with_text
        assert bool(request.source) is with_text


def test_judgements_of_0_1_0_belong_to_the_answers_they_graded(old: Path):
    rubrics = read_rubrics(None)
    folder = JudgementFolder(RunFolder.open(old), rubrics)
    item = AnswerId("openai:plain", "lienv-t2", "T2", "", "own-ocr", 1).spelled
    path = folder.responses_path("judge", "T2")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({
        "key": "k", "item": item, "model": "judge", "benchmark": "MCS-Bench", "task": "T2",
        "status": "answered", "text": "8",
    }) + "\n")  # fmt: skip
    now = AnswerId("openai:plain", "lienv-t2", "T2", "", "own-text", 1).spelled
    (path.parents[2] / "judges.json").write_text('{"judges": {"judge": {}}, "keju": "0.1.0"}')
    assert [reply.item for reply in folder.responses("judge")] == [now]
    assert [slot.item for slot in ResponseStore(folder).known("judge")] == [now]


def code_in_0_1_0(*spelled: object, text: str = "") -> str:
    """The codes of keju 0.1.0: of a judged answer, whose text follows; and of an unclear one."""
    data = json.dumps(spelled, ensure_ascii=False, separators=(",", ":"))
    return sha256_bytes((f"{data}\0{text}" if text else data).encode())[:16]


def test_codes_that_people_were_given_by_0_1_0_still_name_their_answers(old: Path):
    folder = RunFolder.open(old)
    judged = answers_of(folder, read_rubrics(None), AnswerSelection(tasks=("T2",))).judged
    found = {(each.id.model, each.id.setting): code_of(each) for each in judged}
    assert found == {
        (model, now): code_in_0_1_0(
            model, "lienv-t2", "T2", "", before, 1,
            text=f"天地玄黃，{int(now == 'image')} images, with{'out' * (now == 'image')} text",
        )
        for model in MODELS
        for now, before in OLD_NAMES.items()
    }  # fmt: skip
    response = next(r for r in folder.responses("openai:plain", ["T7"]) if r.setting == "gold-text")
    code = code_in_0_1_0(
        "openai:plain", response.key, response.item, "T7", "", "gold-ocr", 1, response.text
    )
    assert answer_code(response, of_0_1_0=True) == code
    assert code in Adjudication(folder).list_subjects("")


def test_ratings_by_name_are_of_the_answers_that_0_1_0_called_so(old: Path, tmp_path: Path):
    judged = answers_of(
        RunFolder.open(old), read_rubrics(None), AnswerSelection(tasks=("T2",))
    ).judged
    sheet = tmp_path / "ratings.csv"
    sheet.write_text(
        "item,task,model,setting,rater,score\nlienv-t2,T2,openai:plain,gold-ocr,Li,7\n"
    )
    (rated,) = read_ratings([sheet], {code_of(each): each for each in judged}).rated
    assert (rated.which.setting, rated.raters) == ("gold-text", {"Li": 7})


def test_figure_5_has_nothing_of_a_run_that_sent_text_alone(old: Path, tmp_path: Path):
    score_run(RunFolder.open(old))
    report = write_report([old], tmp_path / "r.html", picture_bytes=0)
    (drawn,) = of_run(report, ["settings"])
    assert isinstance(drawn, Undrawn)
