"""Datasets without references, or with some: every command works, and no score is made up."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.cli import app
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.validate import validate
from keju.definitions import NO_REFERENCE, has_reference
from keju.errors import KejuError
from keju.items import Item
from keju.runs import RunFolder
from tests.support.commanding import keju as in_a_process
from tests.support.making import picture
from tests.support.serving import Chat
from tests.support.stored_scores import read_scores
from tests.support.unreferenced import QUERIES, asked, without

CHOSEN = [
    (kind, query) for kind, query in QUERIES
    if kind.id in {"T1", "T2", "T3", "T4", "T5", "T6", "T21", "page_level_ocr", "recognition",
                   "rejoining", "retrieval"}
]  # fmt: skip
"""Queries of all forms of answer."""


def write(path: Path, items: Iterable[Item]) -> Path:
    with DatasetWriter(path, name="d", version="1", licence="CC0-1.0", source="made") as writer:
        for number, item in enumerate(items):
            refs = tuple(
                writer.add_image(picture(3 * number + place, side=90), f"{number}")
                for place in range(len(item.images))
            )
            writer.add(replace(item, images=refs, group=f"g{number}"))
    return path


def items_of(*, known: bool) -> list[Item]:
    bare = [without(asked(kind, query, f"{kind.id}{query.name}-bare")) for kind, query in CHOSEN]
    sound = [asked(kind, query, f"{kind.id}{query.name}-known") for kind, query in CHOSEN]
    return [*bare, *sound * known]


@pytest.fixture(scope="module", params=["bare", "mixed"])
def home(request, tmp_path_factory, chat: Chat) -> Path:
    """A dataset, and a scored run of it: a model and baselines."""
    folder = tmp_path_factory.mktemp(request.param)
    dataset = write(folder / "dataset", items_of(known=request.param == "mixed"))
    chat.plan(says="A")
    models = ("openai:served", "baseline:chance", "baseline:majority", "baseline:components")
    named = [word for model in models for word in ("--model", model)]
    done = in_a_process("run", dataset, *named, "--base-url", chat.url, "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    done = in_a_process("score", folder / "run")
    assert done.returncode == 0, done.stderr
    assert "no reference" in done.stdout + done.stderr
    return folder


@pytest.fixture
def keju(home: Path, monkeypatch, capsys) -> Callable[..., str]:
    """Runs a command in this process, in that folder; what it prints."""
    monkeypatch.chdir(home)

    def go(*arguments: object, status: int = 0) -> str:
        found = app(list(map(str, arguments)), standalone_mode=False)
        assert (found or 0) == status
        printed = capsys.readouterr()
        return printed.out + printed.err

    return go


def bare_of(home: Path) -> set[str]:
    return {item.id for item in Dataset.open(home / "dataset").items() if not has_reference(item)}


def test_validate_reports_one_notice_with_the_count(home: Path) -> None:
    (notice,) = validate(home / "dataset")
    assert notice.severity == "notice"
    assert notice.problem.startswith("no reference: ")
    assert notice.item.endswith(f" and {len(bare_of(home)) - 1} more")


def test_every_item_is_asked_and_those_without_a_reference_are_unscored(home: Path) -> None:
    run = RunFolder.open(home / "run")
    responses = {response.item for response in run.responses("openai:served")}
    assert responses == {item.id for item in run.items()}
    bare = bare_of(home)
    scores = [
        score for path in (home / "run" / "scores").glob("*.parquet") for score in read_scores(path)
    ]
    unscored = [score for score in scores if score.item in bare]
    assert {score.protocol for score in unscored} == {"official", "strict"}
    assert {(score.value, score.reason) for score in unscored} == {(None, NO_REFERENCE)}
    assert any(score.value is not None for score in scores) == (len(bare) < len(run.items()))


def test_plan_counts_them_and_prints_that_their_length_is_not_known(home: Path, keju) -> None:
    printed = keju(
        "run", "--plan", "dataset", "--model", "openai:served", "--base-url", "http://x.test/v1"
    )
    pairs = sum(len(item.images) > 1 for item in Dataset.open(home / "dataset").items()
                if item.id in bare_of(home))  # fmt: skip
    assert f"{len(bare_of(home)) - pairs} answers to items without a reference" in printed


def test_settings_that_send_a_transcription_refuse_with_the_reason(keju) -> None:
    printed = keju(
        "run", "--plan", "dataset", "--model", "baseline:chance", "--setting", "gold-ocr", "--json"
    )
    declined = {why for row in json.loads(printed)["rows"] for why in row["declined"]}
    assert any("it has no transcription" in why for why in declined)


def test_the_report_states_their_number(home: Path, keju) -> None:
    keju("report", "run", "-o", "report.html", "--csv", "tables")
    items = Dataset.open(home / "dataset").items()
    page = (home / "report.html").read_text("utf-8")
    assert f"{len(bare_of(home))} of {len(items)} items have no reference" in page
    with (home / "tables" / "items.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["item"] in bare_of(home)]
    assert {(row["value"], row["reason"]) for row in rows} == {("", NO_REFERENCE)}


def test_responses_in_the_authors_form_have_no_answer_fields(home: Path, keju) -> None:
    keju("export", "mcs-bench", "run", "-o", "responses")
    (file,) = (home / "responses").glob("openai_served*.json")
    rows = {row["ID"]: row for row in json.loads(file.read_text("utf-8"))}
    expected = {
        item.id for item in Dataset.open(home / "dataset").items() if item.benchmark == "MCS-Bench"
    }
    assert set(rows) == expected
    for name, row in rows.items():
        assert row["Response"] == "A"
        assert ("Answer_Simplified" in row) == (name not in bare_of(home))


def test_compare_and_judge_use_only_items_with_a_reference(home: Path, keju, chat: Chat) -> None:
    compare = ("compare", "run", "--model", "openai:served", "--model", "baseline:chance")
    judge = (
        "judge",
        "grade",
        "run",
        "--model",
        "openai:judge",
        "--base-url",
        chat.url,
        "--plan",
        "--json",
    )
    if home.name.startswith("bare"):
        with pytest.raises(KejuError, match=NO_REFERENCE):
            keju(*compare)
        with pytest.raises(KejuError, match="items without a reference"):
            keju(*judge)
    else:
        assert "T5 Acc" in keju(*compare)
        # Open questions alone are graded: T2, T6, page_level_ocr and recognition/What.
        assert sum(row["calls"] for row in json.loads(keju(*judge))["rows"]) == 4


@pytest.mark.parametrize(
    "command",
    [
        "audit run",
        "protocols run",
        "data stats dataset",
        "export inspect run -o inspect",
        "data export jsonl dataset -o lines",
        "data export vlmevalkit-tsv dataset -o tsv",
        "data export parquet dataset -o parquet",
        "build leaks dataset",
    ],
)
def test_other_commands_take_them(keju, command: str) -> None:
    assert keju(*command.split())


def test_a_release_notes_how_many_have_none(home: Path, keju) -> None:
    printed = keju("build", "release", "dataset", "--out", "release")
    assert f"not passed: every item has a reference: {len(bare_of(home))} of" in printed


def test_the_reference_split_has_only_items_with_a_reference(home: Path, keju) -> None:
    split = ("build", "split", "dataset", "--out", "split", "--reference", "0.5")
    if home.name.startswith("bare"):
        with pytest.raises(KejuError, match="references to the"):
            keju(*split)
    else:
        keju(*split)
        held = [item for item in Dataset.open(home / "split").items() if item.split == "reference"]
        assert held
        assert all(has_reference(item) for item in held)
