"""Recorded files of other programs, read again through keju's own readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.contract_servers import Playback, RuleServer
from tests.support.contract_trial import run, scores, told, trial
from tests.support.contracting import RECORDED


def having(name: str) -> list[str]:
    """The programs with such a record."""
    return sorted(each.name for each in RECORDED.iterdir() if (each / name).exists())


def folders(program: str) -> list[Path]:
    """The folders of result files that a program wrote."""
    return sorted((RECORDED / program / "replay").iterdir())


def record(program: str, name: str):
    return json.loads((RECORDED / program / name).read_text("utf-8"))


@pytest.mark.parametrize("program", having("http.json"))
def test_a_recorded_server_gives_the_same_responses(tmp_path: Path, program: str):
    """The requests are those that it was sent: another text or image has no recorded reply."""
    expected = record(program, "expected.json")
    data = trial(tmp_path / "d", expected)
    with Playback(record(program, "http.json")) as server:
        model = f"openai:{server.model}"
        options = record(program, "options.json") if program in having("options.json") else ()
        run(data, tmp_path / "r", model, "--base-url", server.url, "--concurrency", 1, *options)
    assert told(tmp_path / "r") == expected


REPLAYED = [f"{name}/{each.name}" for name in having("replay") for each in folders(name)]


@pytest.mark.parametrize("name", REPLAYED)
def test_recorded_result_files_give_the_responses_and_scores_of_a_direct_run(
    tmp_path: Path, name: str
):
    """The direct run is of a server that gives the same texts, and fails where they failed."""
    program, _, folder = name.partition("/")
    expected = record(program, f"replay/{folder}/expected.json")
    data, out, direct = trial(tmp_path / "d", expected), tmp_path / "r", tmp_path / "direct"
    written = record(program, f"replay/{folder}/replay.json")
    columns = ("--replay-columns", written["columns"]) if written["columns"] else ()
    files = RECORDED / program / "replay" / folder / "files" / written["files"]
    run(data, out, f"replay:{files}", *columns)
    assert told(out) == expected
    rules = {item: 400 if status == "failed" else text for item, (status, text) in expected.items()}
    with RuleServer(rules) as server:
        run(data, direct, "openai:served", "--base-url", server.url)
    assert scores(out) == scores(direct)
