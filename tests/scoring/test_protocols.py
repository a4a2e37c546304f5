"""A protocol is its row: every name has one, and a row alone decides how responses are scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from keju.cli.app import app
from keju.definitions.protocols import PROTOCOL_ROWS, STORED, ProtocolRow, asked_protocols
from keju.items import Item, Protocol, Response
from keju.reporting.page import write_report
from keju.runs import RunFolder, RunManifest
from keju.scoring import NO_DECISIONS, Decisions
from keju.scoring.scoring_sample import ScoringSample, text_response

ITEM = Item(
    id="page", benchmark="AncientDoc", task="page_level_ocr", question="？", verbatim=True,
    answer="天地",
)  # fmt: skip


def test_every_protocol_has_a_row_under_its_name():
    assert set(PROTOCOL_ROWS) == set(get_args(Protocol))
    assert all(name == row.name for name, row in PROTOCOL_ROWS.items())
    assert set(STORED) < set(PROTOCOL_ROWS)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("official", {"official"}),
        ("strict", {"strict"}),
        ("both", {"official", "strict", "with-reasoning"}),
        ("with-reasoning", {"official", "with-reasoning"}),
        ("printed", {"official", "strict", "with-reasoning", "printed"}),
    ],
)
def test_the_protocols_that_an_option_means(asked, expected):
    assert set(asked_protocols(asked)) == expected


def _first_line(response: Response) -> Response:
    line, *more = response.text.split("\n")
    return replace(response, text=line) if more else response


@pytest.fixture(params=["official", "strict"])
def first_line(request, monkeypatch) -> str:
    """In place of `with-reasoning` a protocol that sees the first line alone; whose metrics."""
    row = ProtocolRow(
        name="with-reasoning",
        metrics=request.param,
        beside=(request.param,),
        view=_first_line,
        view_signature="|view:first line",
        by_default=True,
        about="the first line alone",
        json_key="first_line",
    )
    monkeypatch.setitem(PROTOCOL_ROWS, row.name, row)
    return request.param


def _score(tmp_path: Path, *texts: str, of: Item = ITEM) -> tuple[dict, str]:
    run = RunFolder(tmp_path / "run")
    items = [replace(of, id=f"page{place}") for place in range(len(texts))]
    run.write_items(items)
    run.write_manifest(
        RunManifest(keju="0", dataset="made", dataset_version="1", dataset_hash="h",
                    models={"m": {}})
    )  # fmt: skip
    path = run.responses_path("m", of.task)
    path.parent.mkdir(parents=True, exist_ok=True)
    responses = [
        Response(key=item.id, item=item.id, model="m", benchmark=item.benchmark, task=item.task,
                 status="answered", text=text)
        for item, text in zip(items, texts, strict=True)
    ]  # fmt: skip
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in responses))
    out = tmp_path / "scores.json"
    done = CliRunner().invoke(app, ["score", str(run.path), "--json", str(out)])
    assert done.exit_code == 0, done.output
    return json.loads(out.read_text("utf-8")), done.output


def test_a_view_is_scored_stored_shown_and_signed_by_its_row(first_line, tmp_path):
    scores, output = _score(tmp_path, "天地\n這是一頁", "天地")
    task = ITEM.task
    assert scores[first_line]["tasks"][task]["CER"] >= 1  # four characters too many for four
    assert scores["first_line"]["tasks"][task]["CER"] == 0
    assert "|view:first line" in scores["first_line"]["signatures"][task]["CER"]
    assert "|view:first line" not in scores[first_line]["signatures"][task]["CER"]
    assert "with-reasoning: the first line alone" in output
    view = write_report([tmp_path / "run"], tmp_path / "report.html").view
    (table,) = view.views
    assert table.protocol.metrics == first_line
    assert (table.rows[0].as_returned.value or 0) != table.rows[0].seen.value


def test_decisions_on_an_answer_do_not_count_for_what_a_view_makes_of_it(first_line):
    row, decisions = PROTOCOL_ROWS["with-reasoning"], Decisions(sources=("people@1",))
    changed = text_response(ITEM, "天地\n這是一頁")
    unchanged = text_response(ITEM, "天地")
    seen = [
        ScoringSample(ITEM, each, decisions=decisions).seen_by(row) for each in (changed, unchanged)
    ]
    assert [sample.decisions for sample in seen] == [NO_DECISIONS, decisions]
    assert row.metrics == first_line


def test_a_view_of_strict_has_ranges_and_names_the_reader(first_line, tmp_path):
    letter = Item(id="letter", benchmark="MCS-Bench", task="T7", question="？", verbatim=True,
                  answer="B", options=("甲", "乙"))  # fmt: skip
    scores, output = _score(tmp_path, "A或者B都有可能\nB", of=letter)
    seen = scores["first_line"]
    assert "with-reasoning" in output
    if first_line == "strict":
        assert (seen["tasks"]["7"]["Acc"], seen["if_right"]["tasks"]["7"]["Acc"]) == (0, 1)
    assert ("reader:1" in seen["signatures"]["7"]["Acc"]) == (first_line == "strict")


@pytest.mark.usefixtures("first_line")
def test_a_model_has_no_scores_under_a_view_that_changes_no_response(tmp_path):
    scores, output = _score(tmp_path, "天地")
    assert set(scores) == {"official", "strict"}
    assert "first line" not in output
