"""``keju history``: what changed over checkpoints is found, and what did not is not claimed."""

from __future__ import annotations

import csv
import json
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import Result
from scipy.stats import binom
from typer.testing import CliRunner

from keju.analysis.comparison_sides import SideChoice
from keju.analysis.history import History, history_of
from keju.cli import app
from keju.cli.output.history_table import history_lines
from keju.errors import UsageError
from keju.runs import RunFolder
from keju.scoring import (
    SideScores,
    adjust_comparisons,
    compare_tasks,
    score_run,
    scores_frame,
)
from keju.statistics import LEVEL
from keju.statistics.paired import holm
from keju.texts import in_terminal, using
from tests.support.checkpoints import MODEL, checkpoint_run, checkpoint_scores

TASKS = ("T5", "T7", "T10")
KNOWN = (
    dict(zip(TASKS, (0.50, 0.50, 0.60), strict=True)),
    dict(zip(TASKS, (0.58, 0.50, 0.60), strict=True)),
    dict(zip(TASKS, (0.58, 0.50, 0.54), strict=True)),
)
"""The true accuracies: T5 gains 8 points, then T10 loses 6; T7 stays."""
NOISE = (KNOWN[0],) * 3
"""Checkpoints that only differ by noise."""
PAIRS = ((0, 1), (1, 2), (0, 2))
TRUE = {(0, 1): {"T5": "first"}, (1, 2): {"T10": "second"},
        (0, 2): {"T5": "first", "T10": "second"}}  # fmt: skip
SEEDS = 25
ITEMS = 600


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("history")
    return [
        checkpoint_run(folder / f"r{place}", f"step-{place}", accuracies, checkpoint=place)
        for place, accuracies in enumerate(KNOWN)
    ]


def invoked(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


def shown(*arguments: object) -> dict[str, Any]:
    result = invoked("history", *arguments, "--json")
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


def claims(
    accuracies: tuple[dict[str, float], ...], seed: int
) -> dict[tuple[int, int], dict[str, str]]:
    """The tasks that each pair of checkpoints is claimed to differ in, tested as history tests."""
    sides = [
        SideScores("strict", scores_frame(checkpoint_scores(each, ITEMS, place, seed)))
        for place, each in enumerate(accuracies)
    ]
    compared = adjust_comparisons(
        [each for before, after in PAIRS for each in compare_tasks(sides[after], sides[before])]
    )
    rest = iter(compared)
    return {
        pair: {each.task: each.better for each in islice(rest, len(TASKS)) if each.better}
        for pair in PAIRS
    }


def most_by_chance(families: int) -> int:
    """The number of families with a false claim that chance exceeds once in a thousand times."""
    return int(binom.ppf(0.999, families, LEVEL))


@pytest.mark.slow
def test_known_changes_are_found_and_no_others_at_the_level():
    found: dict[tuple[int, int, str], int] = {}
    false = 0
    for seed in range(SEEDS):
        by_pair = claims(KNOWN, seed)
        false += any(
            TRUE[pair].get(task) != side
            for pair, claimed in by_pair.items() for task, side in claimed.items()
        )  # fmt: skip
        for pair, claimed in by_pair.items():
            for task, side in TRUE[pair].items():
                found[*pair, task] = found.get((*pair, task), 0) + (claimed.get(task) == side)
    assert false <= most_by_chance(SEEDS)
    assert min(found[0, 1, "T5"], found[0, 2, "T5"]) >= 0.9 * SEEDS
    assert min(found[1, 2, "T10"], found[0, 2, "T10"]) >= 0.7 * SEEDS


@pytest.mark.slow
def test_checkpoints_that_differ_by_noise_alone_are_rarely_claimed_to_differ():
    false = sum(any(claims(NOISE, seed).values()) for seed in range(SEEDS))
    assert false <= most_by_chance(SEEDS)


@pytest.fixture(scope="module")
def found(runs: list[Path]) -> History:
    return history_of([RunFolder.open(run) for run in runs])


@pytest.fixture(scope="module")
def written(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the command prints, and the folder of its files."""
    pytest.importorskip("altair")
    folder = tmp_path_factory.mktemp("written")
    result = invoked(
        "history", *runs, "--csv", folder / "all.csv", "-o", folder / "f", "--format", "svg,png"
    )
    assert result.exit_code == 0, result.exception
    return result.stdout, folder


def test_history_names_the_changed_tasks_of_each_pair_of_labels(found: History):
    assert [each.label for each in found.labels] == ["step-0", "step-1", "step-2"]
    assert found.level == 0.05
    changes = [(each.before, each.after) for each in found.changes]
    assert changes == [(f"step-{one}", f"step-{two}") for one, two in PAIRS]
    for pair, change in zip(PAIRS, found.changes, strict=True):
        assert {each.task: each.better for each in change.tasks if each.better} == TRUE[pair]


def test_the_overall_mean_of_each_pair_is_tested_and_adjusted_over_the_pairs(found: History):
    means = [mean for change in found.changes for mean in change.overall]
    assert [mean.tasks for mean in means] == [TASKS] * 3
    (row,) = (row for row in found.rows if not row.task)
    values = [value.value for value in row.values]
    for (before, after), mean in zip(PAIRS, means, strict=True):
        assert mean.difference == pytest.approx(values[after] - values[before])
        assert mean.low is not None
        assert mean.low < mean.difference < mean.high
    assert [mean.p_holm for mean in means] == holm([mean.p for mean in means])


def test_compare_finds_the_same_with_the_labels_as_names(runs: list[Path], found: History):
    result = invoked("compare", runs[1], runs[0], "--json")
    compared = json.loads(result.stdout)
    assert (compared["first"], compared["second"]) == (f"{MODEL} · step-1", f"{MODEL} · step-0")
    assert [side["label"] for side in compared["sides"]] == ["step-1", "step-0"]
    adjusted = {"p_holm", "needed"}
    change = found.changes[0]
    for both in ((compared["tasks"], change.tasks), (compared["overall"], change.overall)):
        one, other = (
            [{key: value for key, value in each.items() if key not in adjusted} for each in side]
            for side in (both[0], plain(both[1]))
        )
        assert one == other
    two = history_of([RunFolder.open(run) for run in runs[:2]]).changes
    assert plain(two[0].tasks) == compared["tasks"]
    assert plain(two[0].overall) == compared["overall"]


def plain(found: object) -> Any:
    return json.loads(msgspec.json.encode(found))


def test_values_and_intervals_are_by_benchmark_and_task(found: History):
    rows = {(row.benchmark, row.task): row.values for row in found.rows}
    assert list(rows) == [("MCS-Bench", ""), *(("MCS-Bench", task) for task in TASKS)]
    for place, change in enumerate(found.changes[:2], start=1):
        for each in change.tasks:
            assert rows["MCS-Bench", each.task][place].value == pytest.approx(each.first)
    for values in rows.values():
        assert all(each.low < each.value < each.high for each in values)


def test_the_order_is_that_of_time_unless_it_is_given(tmp_path: Path):
    runs = [small(tmp_path / str(n), f"step-{n}", checkpoint=n) for n in (2, 0, 1)]
    assert [each["label"] for each in shown(*runs)["labels"]] == ["step-0", "step-1", "step-2"]
    given = shown(*runs, "--order", "given")
    assert [each["label"] for each in given["labels"]] == ["step-2", "step-0", "step-1"]
    assert (given["changes"][-1]["before"], given["changes"][-1]["after"]) == ("step-2", "step-1")


def test_two_labels_have_one_change_and_a_run_without_label_its_directory(tmp_path: Path):
    runs = [small(tmp_path / "a", "step-0"), small(tmp_path / "before", "", checkpoint=9)]
    found = shown(*runs)
    assert [each["label"] for each in found["labels"]] == ["step-0", "before"]
    assert len(found["changes"]) == 1


def test_the_terminal_marks_what_changed_and_states_level_and_order(written: tuple[str, Path]):
    lines, _ = written
    (mean,) = (line for line in lines.splitlines() if line.startswith("step-0 → step-1: MCS"))
    assert "95 % interval" in mean
    assert ", p " in mean
    (of_t5,) = (line for line in lines.splitlines() if line.strip().startswith("T5 "))
    (of_t7,) = (line for line in lines.splitlines() if line.strip().startswith("T7 "))
    assert of_t5.count("▲") == 1
    assert "▼" not in of_t5
    assert not {"▲", "▼"} & set(of_t7)
    assert "step-0 → step-1 → step-2" in lines
    assert ".05" in lines


def test_the_output_is_in_chinese_too(found: History):
    with using("zh"):
        lines = [*map(in_terminal, history_lines(found))]
    assert any(line.startswith("step-0 → step-1：显著变好的任务：T5") for line in lines)
    assert not any("significant" in line for line in lines)


def test_csv_and_figures_have_the_same_numbers(written: tuple[str, Path]):
    _, folder = written
    rows = list(csv.DictReader((folder / "all.csv").open(encoding="utf-8-sig")))
    assert len(rows) == 3 * (1 + len(TASKS))
    significant = {(row["task"], row["label"]): row["significant"] for row in rows}
    assert significant["T5", "step-1"] == "improved"
    assert significant["T10", "step-2"] == "declined"
    assert significant["T7", "step-1"] == ""
    names = sorted(path.name for path in (folder / "f").iterdir())
    assert names == [
        f"{kind}-mcs-bench.{suffix}"
        for kind in ("history", "history-tasks") for suffix in ("csv", "png", "svg")
    ]  # fmt: skip
    table = folder / "f" / "history-tasks-mcs-bench.csv"
    for row in csv.DictReader(table.open(encoding="utf-8-sig")):
        assert float(row["value_if_right"]) == float(row["value"])
        if row["change"]:
            assert float(row["change_least"]) == float(row["change"])
    drawn = (folder / "f" / "history-tasks-mcs-bench.svg").read_text("utf-8")
    assert all(name in drawn for name in (*TASKS, "step-0", "step-2"))


def refused(*runs: Path, **options: str) -> UsageError:
    wanted = SideChoice(**{part: (name,) for part, name in options.items()})
    with pytest.raises(UsageError) as found:
        history_of([RunFolder.open(run) for run in runs], "strict", wanted)
    return found.value


SMALL = {"T5": 0.5}


def small(path: Path, label: str, **options: Any) -> Path:
    return checkpoint_run(path, label, options.pop("accuracies", SMALL), count=12, **options)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"accuracies": {"T7": 0.5}, "dataset_hash": "other"}, "T5-0"),
        ({"models": {MODEL: {"system_prompt": "Be brief."}}}, "--system-prompt"),
        ({"settings": {"label": "b", "rounds": "2"}}, "--rounds"),
        ({"settings": {"label": "b", "boxes": "xyxy-1000"}}, "--boxes"),
        ({"settings": {"label": "b", "pairs": "once"}}, "--pairs"),
        ({"settings": {"label": "a"}}, "a"),
    ],
)
def test_runs_that_do_not_match_are_refused_with_the_reason(
    tmp_path: Path, options: dict[str, Any], part: str
):
    first = small(tmp_path / "a", "a")
    second = small(tmp_path / "b", "b", **options)
    assert part in str(refused(first, second))


def test_a_run_with_missing_answers_is_refused(tmp_path: Path):
    first = small(tmp_path / "a", "a")
    second = small(tmp_path / "b", "b")
    file = RunFolder(second).responses_path(MODEL, "T5")
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    score_run(RunFolder(second))
    assert "T5-11" in str(refused(first, second))


def test_one_run_is_not_a_history(tmp_path: Path):
    assert str(refused(small(tmp_path / "a", "a")))


def test_a_model_that_a_run_lacks_is_refused(tmp_path: Path):
    runs = [small(tmp_path / name, name) for name in ("a", "b")]
    assert "openai:n" in str(refused(*runs, model="openai:n"))
