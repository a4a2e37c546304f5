"""`keju score`, `compare` and `plan` fit on a screen; ``--all`` prints the rest."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from keju.analysis.comparison import Comparison
from keju.cli.output.brief import MOST_LINES
from keju.cli.output.comparison_table import first_rows
from keju.running import Selection, run
from keju.runs import RunFolder
from keju.scoring import TaskComparison, score_run
from tests.support.commanding import keju

MODELS = ["baseline:chance", "baseline:majority", "baseline:copy"]


@pytest.fixture(scope="module")
def mini_run(tmp_path_factory) -> Path:
    from keju.datasets import mini

    folder = tmp_path_factory.mktemp("mini") / "run"
    run(mini.path(), MODELS, folder, selection=Selection())
    score_run(RunFolder.open(folder))
    return folder


def printed(*arguments: object) -> list[str]:
    done = keju(*map(str, arguments))
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n").split("\n")


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("score RUN", "Overall means in percent"),
        (f"run --plan mini {' '.join(f'--model openai:{n}' for n in 'abcdefgh')}", ""),
        ("run --plan mini --model openai:a --setting image --setting own-ocr", ""),
    ],
)
def test_at_most_forty_lines_are_printed_and_all_on_request(mini_run, command, first):
    arguments = [str(mini_run) if word == "RUN" else word for word in shlex.split(command)]
    if arguments[0] == "run":
        arguments += ["--base-url", "http://127.0.0.1:9/v1"]
    brief, whole = printed(*arguments), printed(*arguments, "--all")
    assert len(brief) <= MOST_LINES < len(whole)
    assert brief[0].startswith(first)
    (count,) = re.findall(r"--all prints all ([\d,]+) lines", brief[-1])
    assert int(count.replace(",", "")) == len(whole)
    assert not any("--all prints" in line for line in whole)


def test_a_long_comparison_shows_the_largest_differences_significant_ones_first():
    tasks = [
        TaskComparison(
            task=f"T{n}", query="", metric="Acc", first=n / 100, second=0.0, difference=n / 100,
            first_if_right=n / 100, second_if_right=0.0, unclear_first=0.0, unclear_second=0.0,
            items=9, groups=9, largest=0.2, better="first" if n == 3 else "",
        )
        for n in range(45)
    ]  # fmt: skip
    compared = Comparison(
        first="a", second="b", shared="", sides=({}, {}), protocol="strict", overall=[], tasks=tasks
    )
    shown = [each.task for each in first_rows(compared).tasks]
    assert shown == ["T3", *(f"T{n}" for n in range(44, 33, -1))]


def test_what_fits_on_a_screen_is_printed_whole(mini_run):
    arguments = ["run", "--plan", "mini", "--model", "baseline:chance", "--task", "T5"]
    assert printed(*arguments) == printed(*arguments, "--all")


def test_a_plan_states_how_to_start():
    lines = printed(
        "run", "--plan", "mini", "--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1"
    )
    assert "Nothing was sent. Run the same command without --plan to start" in lines


def test_equal_notes_of_a_comparison_are_one_line(mini_run):
    lines = printed("compare", mini_run, "--model", MODELS[0], "--model", MODELS[1], "--all")
    assert sum("Null hypothesis" in line for line in lines) == 1


def test_a_comparison_begins_with_the_overall_difference_in_at_most_thirty_lines(mini_run):
    arguments = ["compare", mini_run, "--model", MODELS[0], "--model", MODELS[1]]
    brief, whole = printed(*arguments), printed(*arguments, "--all")
    assert len(brief) <= 30 < len(whole)
    assert brief[0].startswith(f"MCS-Bench, strict, mean over domains of 22 tasks: {MODELS[0]} ")
    assert brief[0] == whole[0]
