"""What `keju report` prints about unfinished runs, and its progress on a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from typer.testing import CliRunner

from keju.cli.app import app, program
from keju.cli.page_progress import stage_bar
from keju.reporting.page import write_report
from keju.reporting.stages import show_stage, showing_stages
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.reporting.conftest import scored_run, shared_run

__all__ = ["scored_run", "shared_run"]


def report(run, tmp_path):
    return CliRunner().invoke(app, ["report", str(run), "-o", str(tmp_path / "report.html")])


def test_the_report_of_a_complete_run_has_no_warning(scored_run, tmp_path):
    done = report(scored_run, tmp_path)
    assert (done.exit_code, done.stderr) == (0, "")


def test_missing_responses_and_the_command_that_resumes_are_printed(scored_run, tmp_path):
    folder = RunFolder.open(scored_run)
    model = next(iter(folder.manifest().models))
    first = folder.response_files(model)[0]
    lines = first.read_text("utf-8").splitlines(keepends=True)
    first.write_text("".join(lines[:-1]), "utf-8")
    score_run(folder)
    dataset = (scored_run / folder.manifest().dataset_path).resolve()
    done = report(scored_run, tmp_path)
    assert done.exit_code == 0, done.output
    command = f"{program()} run {dataset} --model {model} --out {scored_run}"
    expected = (
        f"{model}: 1 of {len(folder.items())} requests have no response yet, so the report is "
        f"incomplete. Resume the run with its options: {command}"
    )
    assert done.stderr.splitlines() == [expected]


def test_each_stage_of_a_report_is_named_and_its_items_are_counted(scored_run, tmp_path):
    called: list[tuple[str, int, int]] = []
    with showing_stages(lambda stage, done, total: called.append((stage, done, total))):
        made = write_report([scored_run], tmp_path / "r.html")
    assert [stage for stage, _, _ in called] == [
        "Reading responses and scores", "Preparing items and images", "Computing tables",
        "Drawing figures", "Writing the report",
    ]  # fmt: skip
    assert called[1][1:] == (0, len(made.run_set.asked))


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_alone(terminal):
    console = Console(file=StringIO(), force_terminal=terminal, width=80)
    with stage_bar(console):
        show_stage("Reading")
        show_stage("Items", 5, 10)
    assert ("Items" in console.file.getvalue()) == terminal
