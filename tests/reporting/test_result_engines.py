"""An engine whose results were read from files is an engine of the report, and has no time."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.analysis.run_set import RunSet, load_runs
from keju.datasets.mini import path as mini
from keju.formatting import NOTHING
from keju.reporting.time_table import time_table
from keju.reporting.view import build_view
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring.score import score_run

SELECTION = Selection(tasks=("T1",), limit=2)


@pytest.fixture(scope="module")
def run_set(tmp_path_factory) -> RunSet:
    """A report of an engine that read one of two pages, and of answers from a file."""
    folder: Path = tmp_path_factory.mktemp("results")
    (folder / "abbyy").mkdir()
    run(mini(), ["baseline:copy"], folder / "first", selection=SELECTION)
    first, second = [each.id for each in RunFolder(folder / "first").items()]
    (folder / "abbyy" / f"{first}.txt").write_text("天地玄黃")
    (folder / "answers.jsonl").write_text(
        "".join(f'{{"item": "{item}", "text": "天"}}\n' for item in (first, second))
    )
    models = [f"replay:ABBYY 16={folder / 'abbyy'}", f"replay:{folder / 'answers.jsonl'}"]
    run(mini(), models, folder / "run", selection=SELECTION)
    score_run(RunFolder(folder / "run"))
    return load_runs([folder / "run"])


def test_it_is_an_engine_under_its_own_name(run_set):
    view = build_view(run_set, title="t")
    assert run_set.by_model["ABBYY 16"].role == "engine"
    assert view.boards[0].groups[0].title == "OCR engines"
    row = next(each for each in view.models if each.name == "ABBYY 16")
    assert row.kind == "OCR engine; its results were read from files"
    assert (row.answered, row.failures) == (1, [("failed", 1)])


def test_what_was_read_from_files_has_no_time(run_set):
    assert [row.seconds for row in build_view(run_set, title="t").models] == [NOTHING, NOTHING]
    (row,) = time_table(run_set).rows
    assert (row.model, row.thousand) == ("ABBYY 16", NOTHING)
    assert row.why == "its results were read from files"
    timed = replace(run_set.by_model["ABBYY 16"], kind="ppocr", seconds=3.0)
    assert timed.seconds_an_item == 1.5
