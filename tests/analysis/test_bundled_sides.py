"""``keju compare`` and ``keju history`` of bundles give what they give of the run directories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

import keju
from keju.bundles import write_bundle
from keju.cli import app
from keju.errors import DataError, UsageError
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.bundles.bundling import altered, members_of
from tests.support.checkpoints import checkpoint_run

ACCURACIES = ({"T5": 0.3, "T7": 0.5}, {"T5": 0.9, "T7": 0.5})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sides")
    return [
        checkpoint_run(folder / f"r{place}", f"step-{place}", accuracies, checkpoint=place)
        for place, accuracies in enumerate(ACCURACIES)
    ]


@pytest.fixture(scope="module")
def bundles(runs: list[Path]) -> list[Path]:
    return [write_bundle(run, run.parent / f"{run.name}.keju.zip").path for run in runs]


def found(command: str, *paths: Path) -> dict[str, Any]:
    result = CliRunner().invoke(app, [command, *map(str, paths), "--json"])
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


def found_without_paths(command: str, paths: list[Path]) -> dict[str, Any]:
    value = found(command, *paths)
    for side in (*value.get("sides", ()), *value.get("labels", ())):
        assert Path(side.pop("run")) in paths
    return value


@pytest.mark.parametrize("command", ["compare", "history"])
@pytest.mark.parametrize("bundled", [(0,), (1,), (0, 1)])
def test_bundles_give_the_numbers_of_their_runs(runs, bundles, command, bundled):
    mixed = [bundles[at] if at in bundled else runs[at] for at in (0, 1)]

    assert found_without_paths(command, mixed) == found_without_paths(command, runs)


@pytest.mark.parametrize("command", ["compare", "history"])
def test_the_output_says_that_scores_of_bundles_are_not_computed_again(runs, bundles, command):
    result = CliRunner().invoke(app, [command, str(runs[0]), str(bundles[1])])

    assert result.exit_code == 0
    assert bundles[1].name in result.stdout.splitlines()[-1]
    assert "keju verify" in result.stdout.splitlines()[-1]


def test_the_function_of_python_says_so_too(bundles):
    compared = keju.compare(*bundles)

    assert "keju verify" in compared.notes[-1]
    assert compared.tasks["better"].to_list() == ["second", ""]


def test_other_items_are_refused_or_left_out(runs, bundles, tmp_path):
    other = checkpoint_run(tmp_path / "other", "step-9", ACCURACIES[0], checkpoint=9)
    folder = RunFolder.open(other)
    items = [
        msgspec.structs.replace(item, question="another") if place < 3 else item
        for place, item in enumerate(folder.iter_items())
    ]
    folder.write_items(items)
    score_run(folder)

    assert found("compare", bundles[0], other)["dropped"] == 3
    with pytest.raises(UsageError) as refused:
        keju_history(bundles[0], other)
    assert "3 items" in refused.value.problem


def test_a_bundle_whose_scores_were_altered_is_refused(runs, bundles, tmp_path):
    (member,) = [name for name in members_of(bundles[0]) if name.startswith("run/scores/")]
    changed = altered(
        bundles[0], tmp_path / "a.keju.zip", member, lambda data: data[:-1] + b"\0", rehash=False
    )
    with pytest.raises(DataError) as refused:
        keju.compare(changed, bundles[1])
    assert member.split("/")[-1] in str(refused.value)


def keju_history(*paths: Path) -> None:
    result = CliRunner().invoke(app, ["history", *map(str, paths)], catch_exceptions=True)
    assert result.exception is not None
    raise result.exception
