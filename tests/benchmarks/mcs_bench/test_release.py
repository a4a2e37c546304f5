"""From a release of MCS-Bench to scores: without answers, with IDs of each task, by metadata."""

from __future__ import annotations

import json
from pathlib import Path

from keju.analysis.breakdowns import breakdowns
from keju.analysis.run_set import load_runs
from keju.cli import app
from keju.datasets.store import Dataset
from keju.runs import RunFolder
from keju.scoring import score_responses
from tests.support.layouts import mcs_bench as release
from tests.support.serving import Chat
from tests.support.stored_scores import read_scores

LAYOUTS = {layout.name.partition(": ")[2]: layout for layout in release.LAYOUTS}


def go(*arguments: object, status: int = 0) -> None:
    assert (app(list(map(str, arguments)), standalone_mode=False) or 0) == status


def imported(folder: Path, layout: str) -> list:
    src = LAYOUTS[layout].write(folder / "src")
    go("data", "import", "mcs-bench", src, "--out", folder / "data",
       "--licence", "research-only", "--source", "test")  # fmt: skip
    return Dataset.open(folder / "data").items()


def answers(folder: Path, rows: list[dict]) -> Path:
    path = folder / "RESPONSES.json"
    path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return path


def test_items_without_answers_are_run_here_and_scored_elsewhere(tmp_path, chat: Chat, capsys):
    items = imported(tmp_path, "without answers")
    assert "50 items without an answer" in capsys.readouterr().err
    chat.plan(says="A")
    go("run", tmp_path / "data", "--model", "openai:served", "--base-url", chat.url,
       "--out", tmp_path / "run")  # fmt: skip
    go("score", tmp_path / "run")
    assert "no reference" in "".join(capsys.readouterr())
    scores = [each for path in (tmp_path / "run" / "scores").glob("*.parquet")
              for each in read_scores(path)]  # fmt: skip
    assert {(each.value, each.reason) for each in scores} == {(None, "no reference")}
    assert len({each.item for each in scores}) == len(items) == 50
    go("export", "mcs-bench", tmp_path / "run", "-o", tmp_path / "out.json")
    rows = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [(row["ID"], row["Task_ID"]) for row in rows] == [
        (str(each.number), each.t) for each in release.said()
    ]
    assert {row["Response"] for row in rows} == {"A"}
    assert not any("Answer_Simplified" in row for row in rows)
    known = {(str(each.number), each.t): each.answer for each in release.said()}
    for row in rows:
        row["Answer_Simplified"] = known[row["ID"], row["Task_ID"]]
    found = score_responses(answers(tmp_path, rows), ("official",))
    right = {each.item for each in found if each.metric == "Acc" and each.value == 1}
    assert right == {str(each.number) for each in release.said() if each.answer == "A"}


def test_ids_of_each_task_match_the_responses_of_id_and_task(tmp_path, capsys):
    items = imported(tmp_path, "a file a task, called T7")
    printed = capsys.readouterr().err
    assert "IDs start again: id is {task}-{ID}" in printed
    assert {item.id for item in items if item.task == "T7"} == {f"T7-{n}" for n in range(1, 7)}
    rows = [
        {"ID": each.place, "Task_ID": each.t, "Answer_Simplified": each.answer,
         "Response": f"{each.answer}"}
        for each in release.said()
    ]  # fmt: skip
    file = answers(tmp_path, rows)
    go("run", tmp_path / "data", "--model", f"replay:{file}", "--out", tmp_path / "run")
    (name,) = RunFolder.open(tmp_path / "run").manifest().models
    responses = {each.item: each for each in RunFolder.open(tmp_path / "run").responses(name)}
    assert {each.status for each in responses.values()} == {"answered"}
    expected = {f"{each.task.id}-{each.place}": each.answer for each in release.said()}
    assert {item: each.text for item, each in responses.items()} == expected
    go("export", "mcs-bench", tmp_path / "run", "-o", tmp_path / "out.json")
    out = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert {(row["ID"], row["Task_ID"]) for row in out} == {
        (str(each.place), each.t) for each in release.said()
    }
    again = {(each.task, each.item, each.metric): each.value
             for each in score_responses(tmp_path / "out.json", ("official",))}  # fmt: skip
    assert again == {(each.task, each.item, each.metric): each.value
                     for each in score_responses(file, ("official",))}  # fmt: skip


def test_reports_break_imported_data_down_by_author_dynasty_title_and_script(tmp_path):
    imported(tmp_path, "field names in Chinese")
    go("figures", tmp_path / "data", "--which", "strata", "-o", tmp_path / "figures")
    drawn = "".join(path.read_text("utf-8") for path in (tmp_path / "figures").glob("*.csv"))
    assert "Jin" in drawn
    assert "running" in drawn
    rows = [
        {"ID": each.number, "Task_ID": each.t, "Answer_Simplified": each.answer,
         "Response": each.answer if each.number % 3 else "D"}
        for each in release.said()
    ]  # fmt: skip
    file = answers(tmp_path, rows)
    go("run", tmp_path / "data", "--model", f"replay:{file}", "--task", "T7", "--task", "T10",
       "--out", tmp_path / "run")  # fmt: skip
    go("score", tmp_path / "run")
    tables = {(each["task"], each["kind"]): {row[0]: row for row in each["rows"]}
              for each in breakdowns(load_runs([tmp_path / "run"]))}  # fmt: skip
    of_task = {kind: rows for (task, kind), rows in tables.items() if "T7" in task}
    assert {"author", "dynasty", "title", "script"} <= set(of_task)
    assert of_task["dynasty"]["晋 Jin"][2] == _right("东晋")
    assert of_task["dynasty"]["元 Yuan"][2] == _right("元")
    assert of_task["script"]["行书 running"][2] == _right("东晋")
    assert of_task["author"]["赵孟頫"][1] == sum(
        each.metadata["Author"] == "赵孟頫" for each in release.said() if each.t == 7
    )


def _right(dynasty: str) -> float:
    """The share of right responses to T7 about a dynasty."""
    asked = [e for e in release.said() if e.t == 7 and e.metadata["Dynasty"] == dynasty]
    return sum(bool(e.number % 3) or e.answer == "D" for e in asked) / len(asked)


def test_items_on_one_image_share_its_transcription(tmp_path):
    items = imported(tmp_path, "one JSON list")
    truth = next(item.answer for item in items if item.task == "T1")
    shared = {item.task: item.transcription for item in items if item.task in
              {"T1", "T2", "T4", "T5", "T6"}}  # fmt: skip
    assert shared == dict.fromkeys(["T1", "T2", "T4", "T5", "T6"], truth)
    assert next(item.transcription for item in items if item.task == "T7") is None
    go("run", "--plan", tmp_path / "data", "--model", "baseline:chance", "--task", "T2",
       "--task", "T5",
       "--setting", "gold-ocr")  # fmt: skip
