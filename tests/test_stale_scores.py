"""Every command that shows scores refuses those of other responses or items than the stored ones.

The answers come from a real server; it is first told to fail, or to say something else.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import msgspec
import polars as pl
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from keju.analysis.run_set import load_runs
from keju.cli import app
from keju.datasets.store import Dataset, DatasetWriter
from keju.errors import DataError, UsageError
from keju.files import read_jsonl
from keju.items import Response
from keju.models import ModelOptions
from keju.running import run
from keju.runs import RunFolder
from keju.scoring import answer_code
from keju.scoring.stored import read_fingerprint
from tests.support.making import make_dataset, page_item, picture
from tests.support.policies import policy_of
from tests.support.serving import Chat
from tests.support.stored_scores import read_scores, write_scores

MODEL = "openai:served"
OTHER = "openai:other"
QUESTIONS = 4


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions with the options A to D; the right one is A."""
    path = tmp_path_factory.mktemp("stale") / "d"
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="tests") as writer:
        for number in range(QUESTIONS):
            ref = writer.add_image(picture(number), f"page {number}")
            question = f"[item q{number}] Which? A. 天 B. 地 C. 玄 D. 黃"
            right = {"answer": "A", "answer_simplified": "A"}
            writer.add(
                page_item(f"q{number}", task="T7", images=(ref,), question=question, **right)
            )
    return path


def ask(dataset: Path, out: Path, chat: Chat, *models: str, retry_failed: bool = False) -> None:
    options = ModelOptions(base_url=chat.url)
    policy = policy_of(first_wait=0.01, attempts=1, dead_after=1000, retry_failed=retry_failed)
    run(dataset, models or [MODEL], out, options=options, policy=policy)


def commands(folder: Path, out: Path) -> Iterator[list[str]]:
    """Each command that shows scores of a run."""
    yield ["report", str(folder), "-o", str(out / "report.html")]
    yield ["report", str(folder), "-o", str(out / "page"), "--csv", str(out / "csv")]
    yield ["protocols", str(folder)]
    yield ["compare", str(folder), "--model", MODEL, "--model", OTHER]
    yield ["audit", str(folder)]
    yield ["figures", str(folder), "-o", str(out / "figures"), "--which", "standings"]
    if find_spec("inspect_ai") is not None or os.environ.get("CI") == "true":
        yield ["export", "inspect", str(folder), "-o", str(out / "logs")]


def refusals(folder: Path, out: Path) -> dict[str, str]:
    """What each command says when it refuses; empty where it does not."""
    found = {}
    for command in commands(folder, out):
        error = CliRunner().invoke(app, command).exception
        found[" ".join(command[:2])] = str(error) if isinstance(error, UsageError) else ""
    assert not any(out.rglob("*.*"))
    return found


def accuracies(folder: Path) -> set[float | None]:
    """The values of accuracy in the stored scores."""
    return {
        score.value
        for file in RunFolder(folder).scores_dir.glob("*.parquet")
        for score in read_scores(file)
        if score.metric == "Acc"
    }


def invoke(*command: str) -> None:
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def scored_once(chat: Chat, dataset: Path) -> Path:
    """A run of two models that say A, scored."""
    folder = dataset.parent / "r"
    chat.plan(says="A")
    ask(dataset, folder, chat, MODEL, OTHER)
    invoke("score", str(folder))
    return folder


@pytest.fixture
def scored(scored_once: Path, chat: Chat, tmp_path: Path) -> Path:
    """A copy of that run, which the test changes."""
    chat.plan(says="A")
    return shutil.copytree(scored_once, tmp_path / "r")


def refusal(folder: Path) -> str:
    """What the reading of the scores says, with which each of the commands begins."""
    with pytest.raises(UsageError) as refused:
        load_runs([folder])
    return str(refused.value)


def edit(folder: Path, model: str, place: int, **changes: object) -> None:
    """Change one stored response."""
    (file,) = RunFolder(folder).response_files(model)
    responses = list(read_jsonl(file, Response))
    responses[place] = replace(responses[place], **changes)
    file.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in responses))


def test_scores_of_the_stored_responses_are_shown(scored: Path, tmp_path: Path):
    for command in commands(scored, tmp_path / "out"):
        invoke(*command)


def test_scores_from_before_retry_failed_are_refused(chat: Chat, dataset: Path, tmp_path: Path):
    folder = tmp_path / "r"
    chat.plan(modes=["400"], times=-1)
    ask(dataset, folder, chat, MODEL)
    chat.plan(says="A")
    ask(dataset, folder, chat, MODEL, OTHER)
    invoke("score", str(folder))
    ask(dataset, folder, chat, MODEL, OTHER, retry_failed=True)
    for said in refusals(folder, tmp_path / "out").values():
        assert f"of {MODEL}: T7.jsonl" in said
        assert f"keju score {folder}" in said
        assert OTHER not in said
    invoke("score", str(folder))
    load_runs([folder])
    assert accuracies(folder) == {1.0}


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "B"},
        {"key": "another"},
        {"status": "truncated"},
        {"not_text": '["A"]'},
        {"thinking": "B?"},
        {"finish_reason": "length"},
        {"box_convention": "yxyx-1000"},
    ],
)
def test_an_edited_response_has_no_score(scored: Path, changes: dict[str, object]):
    edit(scored, MODEL, 1, **changes)
    assert f"of {MODEL}: T7.jsonl" in refusal(scored)


def test_a_file_of_responses_that_is_gone_is_named(scored: Path):
    (file,) = RunFolder(scored).response_files(MODEL)
    file.rename(file.with_name("T9.jsonl"))
    assert f"of {MODEL}: T7.jsonl, T9.jsonl" in refusal(scored)


def test_all_models_with_stale_scores_are_named(scored: Path):
    edit(scored, MODEL, 0, text="B")
    edit(scored, OTHER, 0, text="B")
    assert f"of {MODEL}: T7.jsonl; of {OTHER}: T7.jsonl" in refusal(scored)


def test_a_comparison_looks_at_its_own_models_alone(scored: Path):
    edit(scored, OTHER, 0, text="B")
    invoke("protocols", str(scored), "--model", MODEL)
    assert isinstance(
        CliRunner().invoke(app, ["protocols", str(scored), "--model", OTHER]).exception, UsageError
    )


@pytest.mark.parametrize("other", ["", "keju-scores-0"])
def test_scores_of_another_format_or_none_are_refused(scored: Path, other: str):
    for file in RunFolder(scored).scores_dir.glob("*.parquet"):
        if other:
            before = read_fingerprint(file)
            assert before is not None
            write_scores(file, read_scores(file), replace(before, format=other))
        else:
            pl.read_parquet(file).write_parquet(file)
    said = refusal(scored)
    assert "are in another format than those of this keju" in said
    assert said.endswith(f"Score it again: keju score {scored}")
    invoke("score", str(scored))
    load_runs([scored])


def rewritten_items(folder: Path) -> None:
    """Every reference becomes B, as somebody with a notebook would do it."""
    file = RunFolder(folder).items_path
    pl.read_parquet(file).with_columns(answer=pl.lit("B")).write_parquet(file)


def test_edited_references_are_refused_also_when_scoring_and_restored(
    chat: Chat, scored: Path, dataset: Path, tmp_path: Path
):
    rewritten_items(scored)
    judge = ["judge", "grade", str(scored), "--model", MODEL, "--base-url", chat.url]
    for command in (["score", str(scored)], *commands(scored, tmp_path / "out"), judge):
        error = CliRunner().invoke(app, command).exception
        assert isinstance(error, DataError)
        assert (Path(error.file).name, "keju run" in error.hint) == ("items.parquet", True)
    ask(dataset, scored, chat, MODEL, OTHER)
    load_runs([scored])


def test_edited_references_of_a_run_without_a_hash_make_the_scores_stale(scored: Path):
    manifest = json.loads((scored / "run.json").read_text())
    del manifest["items_sha256"]
    (scored / "run.json").write_text(json.dumps(manifest))
    rewritten_items(scored)
    said = refusal(scored)
    assert "items.parquet changed" in said
    assert f"keju score {scored}" in said
    invoke("score", str(scored))
    load_runs([scored])


def test_a_run_without_its_items_is_an_error_of_one_line(scored: Path, tmp_path: Path):
    (scored / "items.parquet").unlink()
    for command in (["score", str(scored)], *commands(scored, tmp_path / "out")):
        error = CliRunner().invoke(app, command).exception
        assert isinstance(error, DataError)
        assert Path(error.file).name == "items.parquet"


def test_answers_are_taken_over_for_corrected_references(
    scored: Path, dataset: Path, tmp_path: Path
):
    """The way that the refusal of an edited items.parquet names."""
    right = Dataset.open(dataset)
    corrected = [replace(item, answer="B", answer_simplified="B") for item in right.items()]
    make_dataset(tmp_path / "d", corrected, images_of=right)
    answers = RunFolder(scored).response_files(MODEL)[0].parent
    run(tmp_path / "d", [f"replay:{answers}"], tmp_path / "again")
    invoke("score", str(tmp_path / "again"))
    assert accuracies(tmp_path / "again") == {0.0}
    assert accuracies(scored) == {1.0}


def test_decisions_on_changed_answers_are_counted_and_have_no_effect(
    chat: Chat, dataset: Path, tmp_path: Path
):
    folder, sheet = tmp_path / "r", tmp_path / "adjudicated.csv"
    chat.plan(says="A、B")
    ask(dataset, folder, chat, MODEL)
    rows = [f"{answer_code(each)},A" for each in RunFolder(folder).responses()]
    sheet.write_text("\n".join(["answer_key,value", *rows]))
    edit(folder, MODEL, 0, text="C、D")
    result = CliRunner().invoke(app, ["score", str(folder), "--adjudicated", str(sheet)])
    assert result.exit_code == 0
    assert "1 decision in" in " ".join(result.output.split())
    assert "not counted" in " ".join(result.output.split())
