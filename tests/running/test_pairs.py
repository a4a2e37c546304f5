"""Tasks of pairs, asked and gone on with: one request a candidate, none of them twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keju.analysis.run_set import load_runs
from keju.datasets.store import Dataset, DatasetWriter
from keju.definitions import task
from keju.items import Item
from keju.models import ModelOptions, open_model
from keju.running import Policy, Selection, run
from keju.runs import RunFolder
from keju.scoring import score_run
from tests.support.making import picture
from tests.support.planning import estimate, requests

CANDIDATES = 6


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two galleries of six candidates, the third of which is the same picture as the fourth."""
    with DatasetWriter(
        tmp_path / "pairs", name="pairs", version="1", licence="CC0-1.0", source="made here"
    ) as writer:
        refs = [writer.add_image(picture(seed), str(seed)) for seed in range(CANDIDATES)]
        for name, query in (("q1", "Yes-or-No"), ("q2", "How")):
            images = (refs[0], *refs[1:4], *refs[3:])
            writer.add(
                Item(id=name, benchmark="OBI-Bench", task="rejoining", query=query,
                     images=images, relevant=(2,))
            )  # fmt: skip
    return tmp_path / "pairs"


def answers(path: Path, upto: int) -> Path:
    lines = [
        {"item": name, "candidate": place, "text": said}
        for name, right, wrong in (("q1", "Yes", "No"), ("q2", "0.9", "0.2"))
        for place in range(1, upto + 1)
        for said in [right if place == 2 else wrong]
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_a_pair_is_the_first_picture_and_one_candidate(dataset: Path) -> None:
    found = [request for _, request in requests(Dataset.open(dataset))]
    assert [request.candidate for request in found] == [*range(1, 7), *range(1, 7)]
    items = {item.id: item for item in Dataset.open(dataset).items()}
    for request in found:
        images = items[request.item].images
        assert request.images == (images[0], images[request.candidate])
        assert request.prompt == task("rejoining").queries[request.item == "q2"].template


def test_a_plan_counts_the_pairs(dataset: Path) -> None:
    model = open_model("baseline:copy", ModelOptions())
    (row,) = estimate(Dataset.open(dataset), [model], Selection(rounds=2)).rows
    assert (row.calls, row.images) == (24, 48)


def test_a_run_that_stopped_goes_on_with_the_pairs_that_lack(dataset: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "run", tmp_path / "answers.jsonl"
    model = f"replay:{answers(file, CANDIDATES)}"
    summary = run(dataset, [model], out, policy=Policy())
    assert summary.models[0].statuses == {"answered": 12}
    (path,) = RunFolder.open(out).response_files()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[5:]))
    summary = run(dataset, [model], out, policy=Policy())
    assert summary.models[0].asked == 2
    stored = [(each.item, each.candidate) for each in RunFolder.open(out).responses()]
    assert sorted(stored) == [(name, place) for name in ("q1", "q2") for place in range(1, 7)]
    scores = score_run(RunFolder.open(out))
    found = {(score.item, score.protocol, score.metric): score.value for score in scores}
    assert found["q1", "official", "Acc@5"] == 1
    assert found["q2", "strict", "Acc@1"] == found["q2", "strict", "AUC"] == 1


def test_a_report_has_one_answer_an_item(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    model = f"replay:{answers(tmp_path / 'answers.jsonl', CANDIDATES)}"
    run(dataset, [model], out, policy=Policy())
    score_run(RunFolder.open(out))
    run_set = load_runs([out])
    for asked in run_set.asked:
        (answer,) = asked.answers
        assert len(answer.scores) == len({(s.protocol, s.metric) for s in answer.scores})
        assert answer.response.text.startswith("2 (")
