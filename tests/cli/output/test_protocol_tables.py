"""Protocol differences of a run, read from its stored scores."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from keju.cli.output.protocol_tables import (
    list_protocol_differences,
    protocol_lines,
    protocol_tables,
)
from keju.errors import UsageError
from keju.items import Item, Response
from keju.runs import RunFolder
from keju.scoring import score_run


@pytest.fixture
def run(scored_run: Path) -> RunFolder:
    return RunFolder.open(scored_run)


def test_every_model_and_task_has_a_row(run: RunFolder):
    found = list_protocol_differences(run)
    models = list(run.manifest().models)
    assert [(each.model, each.task) for each in found] == [
        (model, task) for model in models for task in ("T1", "T7")
    ]
    console = Console(file=io.StringIO(), width=120)
    console.print(*protocol_tables(found))
    shown = console.file.getvalue()
    assert shown.count("CharAcc") == 2
    assert "items apart" in shown


def test_one_model_and_task_alone(run: RunFolder):
    model = next(iter(run.manifest().models))
    (found,) = list_protocol_differences(run, models=[model], tasks=["T7"])
    assert (found.model, found.task) == (model, "T7")
    for options in ({"models": ["nobody"]}, {"tasks": ["T9"]}):
        with pytest.raises(UsageError, match=r"nobody|T9"):
            list_protocol_differences(run, **options)


def test_an_item_is_one_line_with_its_reason(run: RunFolder):
    assert list(protocol_lines(list_protocol_differences(run))) == []
    for file in run.response_files():
        doubled = file.read_text("utf-8").replace("天地玄黄", "天地玄黄" * 2)
        file.write_text(doubled, "utf-8")
    score_run(run)
    (line,) = protocol_lines(list_protocol_differences(run))
    why = "superfluous characters, which cost official CR nothing: 4"
    assert f", T1, page-0: official 100.0, strict 50.0: {why}" in line
    assert "\n" not in line


def test_an_unclear_answer_makes_strict_and_the_difference_ranges(run: RunFolder):
    (found,) = [
        each for each in list_protocol_differences(run, tasks=["T7"]) if "bad" in each.model
    ]
    assert (found.official, found.strict, found.strict_if_right) == (0, 0, 1)
    console = Console(file=io.StringIO(), width=120)
    console.print(*protocol_tables([found]))
    shown = " ".join(console.file.getvalue().split())
    assert "0.0–100.0 +0.0 to +100.0 0–1 of 1" in shown


@pytest.mark.parametrize("how", ["no scores", "one protocol"])
def test_scores_that_lack_something_are_not_shown(run: RunFolder, how: str):
    if how == "no scores":
        next(run.scores_dir.iterdir()).unlink()
    else:
        score_run(run, ("strict",))
    with pytest.raises(UsageError, match="Score it again: keju score"):
        list_protocol_differences(run)


def test_questions_that_nothing_scores_need_no_score(run: RunFolder):
    """deciphering/How is looked at by eye."""
    item = Item(id="sign", benchmark="OBI-Bench", task="deciphering", query="How")
    run.write_items([*run.items(), item])
    run.write_manifest(replace(run.manifest(), items_sha256=""))
    model = next(iter(run.manifest().models))
    response = Response(
        key="how", item=item.id, model=model, benchmark=item.benchmark, task=item.task,
        query=item.query, status="answered", text="a head of cattle",
    )  # fmt: skip
    with run.responses_path(model, item.task).open("ab") as stream:
        stream.write(msgspec.json.encode(response) + b"\n")
    score_run(run)
    assert {each.task for each in list_protocol_differences(run)} == {"T1", "T7"}


def test_tasks_that_no_paper_defines_need_no_official_scores(run: RunFolder):
    items = [
        replace(item, benchmark="pages", task="page_ocr")
        for item in run.items()
        if item.task == "T1"
    ]
    run.write_items(items)
    run.write_manifest(replace(run.manifest(), items_sha256=""))
    for model in run.manifest().models:
        file = run.responses_path(model, "T1")
        data = file.read_bytes().replace(b'"task":"T1"', b'"task":"page_ocr"')
        own = run.responses_path(model, "page_ocr")
        own.write_bytes(data.replace(b'"MCS-Bench"', b'"pages"'))
        for other in ("T1", "T7"):
            run.responses_path(model, other).unlink()
    score_run(run)
    assert list_protocol_differences(run) == []
