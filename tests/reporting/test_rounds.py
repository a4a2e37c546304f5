"""Rounds are named, items are told from calls, and each benchmark has its own failures."""

from __future__ import annotations

import msgspec
import pytest

from keju.analysis.leaderboard import leaderboards
from keju.analysis.run_set import load_runs
from keju.analysis.task_tables import task_tables
from keju.items import Item, Response
from keju.reporting.row_cells import counted_items, task_cells
from keju.reporting.view import build_view
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_run

ITEMS = [
    *(
        Item(id=f"q{n}", benchmark="MCS-Bench", task="T7", options=("甲", "乙"), answer="A")
        for n in range(3)
    ),
    Item(id="p", benchmark="AncientDoc", task="page_level_ocr", answer="天地玄黃"),
]


def make(path, *, synthetic=False, name="d"):
    """Two rounds of four items: the questions answered, the page failed both times."""
    run = RunFolder(path)
    run.write_items(ITEMS)
    run.write_manifest(
        RunManifest(
            keju="0", dataset=name, dataset_version="1", dataset_hash=name, synthetic=synthetic,
            models={"openai:m": {}}, not_asked={"openai:m": {"it takes no boxes": 7}},
        )
    )  # fmt: skip
    for item in ITEMS:
        out = run.responses_path("openai:m", item.task)
        out.parent.mkdir(parents=True, exist_ok=True)
        for round_ in (1, 2):
            failed = item.id == "p"
            response = Response(
                key=f"{item.id}{round_}", item=item.id, model="openai:m", round=round_,
                benchmark=item.benchmark, task=item.task, text="" if failed else "A",
                status="failed" if failed else "answered", seconds=10 if failed else 1,
            )  # fmt: skip
            with out.open("ab") as stream:
                stream.write(msgspec.json.encode(response) + b"\n")
    score_run(run)
    return path


def test_a_table_names_rounds(tmp_path):
    run_set = load_runs([make(tmp_path / "run")])
    notes = {
        row.id: task_cells(row)[0].note.splitlines()
        for table in task_tables(run_set, run_set.results)
        for row in table.rows
        if row.protocol == "strict"
    }
    assert "3 × 2 rounds" in notes["T7"]
    assert notes["page_level_ocr"] == ["none of 2 complete"]


def test_answers_are_in_the_order_of_rounds_whatever_came_first(tmp_path):
    run = RunFolder(make(tmp_path / "run"))
    path = run.responses_path("openai:m", "T7")
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    score_run(run)
    run_set = load_runs([run.path])
    for asked in run_set.asked:
        assert [answer.response.round for answer in asked.answers] == [1, 2]


@pytest.mark.parametrize(
    ("count", "rounds", "says"),
    [(12, 1, "12 items"), (1, 1, "1 item"), (60, 5, "12 × 5 rounds"),
     (58, 5, "58 answers in 5 rounds")],
)  # fmt: skip
def test_what_a_value_is_over(count, rounds, says):
    assert counted_items(count, rounds) == says


def test_items_are_told_from_calls(tmp_path):
    (row,) = build_view(load_runs([make(tmp_path / "run")]), title="t").models
    assert (row.asked.value, row.asked.note) == ("4", "× 2 rounds")
    assert (row.answered, row.failures) == (6, [("failed", 2)])
    assert row.not_asked == [("it takes no boxes", 7)]


def test_each_benchmark_has_its_own_failures_and_time(tmp_path):
    run_set = load_runs([make(tmp_path / "run")])
    boards = {board.benchmark: board for board in leaderboards(run_set, run_set.results)}
    (group,) = boards["MCS-Bench"].groups
    assert (group.rows[0].failures, group.rows[0].seconds) == ([], 1000)
    (group,) = boards["AncientDoc"].groups
    assert (group.rows[0].failures, group.rows[0].seconds) == ([("failed", 2)], 10_000)


def test_only_what_was_drawn_is_called_synthetic(tmp_path):
    drawn, scanned = make(tmp_path / "a", synthetic=True, name="drawn"), make(tmp_path / "b")
    view = build_view(load_runs([drawn, scanned]), title="t")
    first, second = view.synthetic
    assert first == (
        "drawn: keju generated these pages. Use their scores to check that the pipeline "
        "works, not to compare models."
    )
    assert second == "Not synthetic: d."
    assert build_view(load_runs([scanned]), title="t").synthetic == []
