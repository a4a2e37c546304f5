"""People in reports: a row each, one together, with the median time of an answer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keju.analysis.human_rows import with_people
from keju.analysis.leaderboard import leaderboards
from keju.analysis.run_set import load_runs
from keju.reporting.leaderboard_cells import time_text
from keju.running import ResponseStore
from keju.runs import RunFolder
from keju.scoring import score_run

TIMES = {"human:李": [10.0, 20.0, 60.0], "human:Wang": [2.0, 4.0, 400.0]}


@pytest.fixture
def with_humans(scored_run):
    """The run, its first model's answers given again by two people, who took their time."""
    run = RunFolder.open(scored_run)
    manifest = run.manifest()
    first = next(iter(manifest.models))
    answers = list(run.responses(first))[:3]
    with ResponseStore(run) as store:
        for name, times in TIMES.items():
            for number, (answer, seconds) in enumerate(zip(answers, times, strict=True)):
                store.append(replace(answer, model=name, seconds=seconds, key=f"{name}{number}"))
    people = {name: {"kind": "human"} for name in TIMES}
    run.write_manifest(replace(manifest, models={**manifest.models, **people}))
    score_run(run)
    return load_runs([scored_run]), first


def test_people_stand_apart_and_together(with_humans):
    run_set, first = with_humans
    board = leaderboards(run_set, run_set.results)[0]
    (people,) = [group for group in board.groups if group.title == "people"]
    rows = {row.model: row for row in people.rows}
    assert set(rows) == {"human:李", "human:Wang", "people (2)"}
    others = {row.model: row for group in board.groups for row in group.rows}
    for row in people.rows:
        assert [mean.value for mean in row.overall] == [
            mean.value for mean in others[first].overall
        ]
        assert all(rank.place is None for rank in row.ranks)
    assert rows["human:李"].answer_seconds == 20
    assert rows["human:Wang"].answer_seconds == 4
    assert rows["people (2)"].answer_seconds == 15
    assert time_text(rows["people (2)"]) == "15 s per answer, median"
    note = (
        "The row of all people contains all answers of each person. Its interval shows "
        "what other books and plates would change, not what other people would"
    )
    assert note in board.notes


def test_the_joint_row_takes_every_answer_and_leaves_the_rest_alone(with_humans):
    run_set, _ = with_humans
    joined = with_people(run_set)
    assert set(joined.by_model) - set(run_set.by_model) == {"people (2)"}
    assert joined.by_model["people (2)"].items == 6
    theirs = [
        answer for asked in joined.asked for answer in asked.answers
        if answer.model == "people (2)"
    ]  # fmt: skip
    assert len(theirs) == 6
    assert sorted(score.round for answer in theirs for score in answer.scores[:1]) == [
        1,
        1,
        1,
        2,
        2,
        2,
    ]
    assert "people (2)" not in run_set.models


def test_without_people_nothing_changes(scored_run):
    run_set = load_runs([scored_run])
    assert with_people(run_set) is run_set
