"""From a folder as it was released to scores: detect, then import, run and score."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from keju.datasets.store import Dataset
from keju.definitions import NO_REFERENCE, query_of
from keju.items import Item
from keju.scoring import aggregate
from tests.support import commanding
from tests.support.layouts import layouts
from tests.support.serving import Chat
from tests.support.stored_scores import read_scores

LAYOUTS = {layout.name: layout for layout in layouts()}


class Expected(NamedTuple):
    """What a server says to every question, and what that earns in one metric.

    `value` is None where the release has no answers, so that nothing is scored.
    """

    says: str
    benchmark: str
    task: str
    protocol: str
    metric: str
    value: float | None


RELEASES = {
    "mcs-bench: one JSON list": Expected("A", "MCS-Bench", "T11", "strict", "Acc", 1.0),
    "mcs-bench: without answers": Expected("A", "MCS-Bench", "T11", "strict", "Acc", None),
    "ancientdoc: JSON lines of the README": Expected(
        "文", "AncientDoc", "page_level_ocr", "strict", "Precision", 0.0
    ),
    "ancientdoc: images alone in parquet": Expected(
        "文", "AncientDoc", "page_level_ocr", "official", "CER", None
    ),
    "obi-recognition: YinQiWenYuan": Expected(  # one of its four images is a negative
        "Yes", "OBI-Bench", "recognition/Yes-or-No", "official", "Acc", 0.75
    ),
    "OBC306": Expected("Yes", "OBI-Bench", "retrieval/Yes-or-No", "strict", "Acc@1", 2 / 9),
    "HUST-OBC": Expected("It means king.", "OBI-Bench", "deciphering/What", "strict", "chrF", None),
}
"""Releases of each benchmark, with and without answers."""


def keju(home: Path, *words: object) -> str:
    """What a command prints, run as a user does in that folder; it must succeed."""
    done = commanding.keju(*words, cwd=home, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def metrics_of(item: Item) -> tuple[tuple[str, ...], tuple[str, ...]]:
    query = query_of(item)
    return query.official, query.strict


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_is_imported_run_and_scored_in_three_commands(
    tmp_path: Path, chat: Chat, name: str
) -> None:
    expected = RELEASES[name]
    src = LAYOUTS[name].write(tmp_path / "src")
    printed = keju(tmp_path, "data", "detect", src)
    command = next(line.strip() for line in printed.splitlines() if "keju data import" in line)
    chat.plan(says=expected.says)

    # A source that is smaller than the paper's needs the number of classes.
    options = [f"--option={key}={value}" for key, value in LAYOUTS[name].options.items()]
    keju(tmp_path, *shlex.split(command.partition("keju ")[2]), *options)
    dataset = tmp_path / shlex.split(command)[-1]
    keju(tmp_path, "run", dataset, "--model", "openai:served", "--base-url", chat.url,
         "--out", "run")  # fmt: skip
    printed = keju(tmp_path, "score", "--all", "run")

    items = Dataset.open(dataset).items()
    assert {item.benchmark for item in items} == {expected.benchmark}
    (file,) = (tmp_path / "run" / "scores").glob("*.parquet")
    scores = read_scores(file)
    scored = {item.id for item in items if any(map(len, metrics_of(item)))}
    assert {score.item for score in scores} == scored
    result = next(each for each in aggregate(scores) if each.protocol == expected.protocol)
    task = next(each for each in result.tasks if each.name == expected.task)
    metric = next(each for each in task.metrics if each.metric == expected.metric)
    if expected.value is None:
        assert (metric.value, metric.unscored) == (None, {NO_REFERENCE: metric.items})
        assert NO_REFERENCE in printed
    else:
        assert metric.value == pytest.approx(expected.value)
        assert expected.task.partition("/")[0] in printed


@pytest.mark.parametrize("name", ["ancientdoc: JSON lines of the README", "HUST-OBC"])
def test_import_auto_takes_what_detect_names(tmp_path: Path, name: str) -> None:
    src = LAYOUTS[name].write(tmp_path / "src")
    printed = keju(tmp_path, "data", "detect", src)
    command = next(line.strip() for line in printed.splitlines() if "keju data import" in line)
    keju(tmp_path, *shlex.split(command.partition("keju ")[2]))
    keju(tmp_path, "data", "import", "auto", src, "--out", "auto")
    named = Dataset.open(tmp_path / shlex.split(command)[-1])
    assert Dataset.open(tmp_path / "auto").manifest.hash == named.manifest.hash
