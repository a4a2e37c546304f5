"""Responses that were edited so that they cannot be scored end in an error with file and item."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.datasets.mini import path as mini
from keju.errors import DataError
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run

MODEL = "baseline:copy"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run of two answers to a task without pairs."""
    run(mini(), [MODEL], tmp_path / "run", selection=Selection(tasks=["T7"], limit=2))
    return RunFolder.open(tmp_path / "run")


def edit(folder: RunFolder, **fields: object) -> tuple[Path, str]:
    """Change fields of the last stored response; its file and its item."""
    (path,) = folder.response_files(MODEL)
    lines = path.read_text("utf-8").splitlines()
    last = json.loads(lines[-1]) | fields
    path.write_text("\n".join([*lines[:-1], json.dumps(last)]) + "\n", "utf-8")
    return path, last["item"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"text": "", "not_text": "[1,"}, "not_text"),
        ({"text": "", "not_text": "[" * 100_000}, "not_text"),
        ({"candidate": 3}, "candidate"),
    ],
)
def test_the_error_names_file_and_item(folder, fields, named):
    path, item = edit(folder, **fields)
    with pytest.raises(DataError) as refused:
        score_run(folder)
    assert named in refused.value.args[0]
    assert (refused.value.file, refused.value.item) == (str(path), item)


def test_content_that_is_json_is_scored_or_has_a_reason(folder):
    _, item = edit(folder, text="", not_text="7")
    strict = [each for each in score_run(folder) if each.protocol == "strict"]
    assert {each.item for each in strict if each.reason} == {item}
