"""Recorded files of other programs, read again through keju's own readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from contract_servers import Playback
from contract_trial import run, scores, told, trial
from contracting import RECORDED


def having(name: str) -> list[str]:
    """The programs with such a record."""
    return sorted(each.name for each in RECORDED.iterdir() if (each / name).exists())


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


@pytest.mark.parametrize("program", having("replay"))
def test_recorded_result_files_give_the_same_responses_and_scores(tmp_path: Path, program: str):
    expected = record(program, "expected.json")
    data = trial(tmp_path / "d", expected)
    for number, folder in enumerate(sorted((RECORDED / program / "replay").iterdir())):
        out = tmp_path / f"r{number}"
        run(data, out, f"replay:{folder}")
        assert told(out) == expected, folder.name
        assert scores(out) == record(program, "scores.json"), folder.name
