"""A run as files of the authors' form, which give the run's official numbers again."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from keju.benchmarks.mcs_bench.responses import export_responses
from keju.cli.app import app
from keju.definitions import task, tasks
from keju.errors import UsageError
from keju.items import Failure, Item, Response
from keju.runs import RunFolder, RunManifest
from keju.scoring import score_responses, score_run

SAID = [
    "<think>或為{0}？</think>\n\n{0}", "{0}", " {0}。\n", "", " \n", "<think>{0}", "圖中是{0}",
    None, [], ["天地", "，"], [{"type": "text", "text": "{0}"}], "filtered", "failed",
]  # fmt: skip


def items() -> list[Item]:
    found = []
    for each in tasks():
        if each.benchmark == "MCS-Bench":
            for number in range(len(SAID)):
                answer = "B" if each.format == "MCQ" else f"學而時習之，不亦說乎{number}"
                found.append(
                    Item(id=f"{each.id}-{number}", benchmark="MCS-Bench", task=each.id,
                         question="何謂也？", verbatim=True, answer=answer)
                )  # fmt: skip
    other = Item(id="o", benchmark="AncientDoc", task="knowledge_qa", question="？", answer="天")
    return [*found, other]


def response(item: Item, said: object, model: str, **more: object) -> Response:
    text, not_text, status = "", "", "answered"
    if said in ("filtered", "failed"):
        status = said
    elif isinstance(said, str):
        text = said.replace("{0}", item.answer)
    elif isinstance(said, list) and said and isinstance(said[0], dict):
        text = item.answer
    elif isinstance(said, list):
        text, not_text = "".join(said), json.dumps(said)
    if status == "answered" and not text.strip():
        status = "empty"
    error = Failure(kind="rate") if status == "failed" else None
    return Response(
        key=f"{model}{item.id}{more}", item=item.id, model=model, benchmark=item.benchmark,
        task=item.task, status=status, text=text, not_text=not_text, error=error, **more,
    )  # fmt: skip


def made(folder: Path, models: list[str], rounds: int = 1) -> Path:
    run = RunFolder(folder)
    run.write_items(items())
    run.write_manifest(
        RunManifest(keju="0", dataset="made", dataset_version="1", dataset_hash="h",
                    models={model: {} for model in models}, settings={"rounds": str(rounds)})
    )  # fmt: skip
    for model in models:
        for number in range(1, rounds + 1):
            for place, item in enumerate(items()):
                said = SAID[(place + number) % len(SAID)]
                path = run.responses_path(model, item.task)
                path.parent.mkdir(parents=True, exist_ok=True)
                line = msgspec.json.encode(response(item, said, model, round=number))
                with path.open("ab") as file:
                    file.write(line + b"\n")
    return folder


def official(scores, **of):
    return {
        (score.task, score.item, score.metric): (score.value, score.reason)
        for score in scores
        if score.benchmark == "MCS-Bench"
        and all(getattr(score, name) == value for name, value in of.items())
    }


def test_the_file_gives_the_runs_official_numbers(tmp_path):
    folder = made(tmp_path / "run", ["m"])
    (written,) = export_responses(folder, tmp_path / "RESPONSES.json")
    assert (written.responses, written.failures) == (45 * len(SAID), 45 * 2)
    expected = official(score_run(RunFolder(folder), ("official",)))
    found = official(score_responses(written.file, ("official",)))
    assert found == expected
    assert sum(value is not None for value, _ in found.values()) > 1000


def test_a_row_has_the_authors_fields_and_the_content_as_it_was_returned(tmp_path):
    folder = made(tmp_path / "run", ["m"])
    (written,) = export_responses(folder, tmp_path / "RESPONSES.json")
    rows = {row["ID"]: row for row in json.loads(written.file.read_text("utf-8"))}
    stored = {each.item: each for each in RunFolder(folder).responses()}
    assert "o" not in rows
    assert list(rows["T1-0"]) == [
        "ID", "Task_ID", "Domain", "Task_Name", "Question", "Answer_Simplified",
        "Answer_Traditional", "Response",
    ]  # fmt: skip
    about = rows["T19-0"]["Task_ID"], rows["T19-0"]["Domain"], rows["T19-0"]["Task_Name"]
    assert about == (19, "绘画", "朝代识别")
    assert rows["T1-0"]["Answer_Simplified"] == "学而时习之，不亦说乎0"
    for name, row in rows.items():
        answered = stored[name].status not in {"failed", "filtered"}
        assert ("Response" in row) == answered
        if answered and not stored[name].not_text:
            assert row["Response"] == stored[name].text


def test_strict_takes_the_same_letters_from_the_file(tmp_path):
    run = RunFolder(made(tmp_path / "run", ["m"]))
    options = ("甲", "乙", "丙", "丁")
    run.write_items([replace(item, options=options) for item in items() if item.task == "T5"])
    (written,) = export_responses(run.path, tmp_path / "RESPONSES.json")
    variants = score_run(run, ("strict",)), score_responses(written.file, ("strict",))
    first, second = (
        {(each.item, each.metric): each.value for each in scores if each.item.startswith("T5-")}
        for scores in variants
    )
    assert first == second
    assert {metric for _, metric in first} == {"Acc", "Acc_chance_corrected"}
    assert None not in first.values()


def test_several_models_and_rounds_have_a_file_each(tmp_path):
    folder = made(tmp_path / "run", ["a", "b"], rounds=2)
    with pytest.raises(UsageError, match="4 sets of responses"):
        export_responses(folder, tmp_path / "RESPONSES.json")
    written = export_responses(folder, tmp_path / "out")
    assert len({each.file for each in written}) == 4
    scores = score_run(RunFolder(folder), ("official",))
    by_model = [(model, number) for model in ("a", "b") for number in (1, 2)]
    for each, (model, number) in zip(written, by_model, strict=True):
        found = official(score_responses(each.file, ("official",)))
        assert found == official(scores, model=model, round=number)
    with pytest.raises(UsageError, match="not an empty directory"):
        export_responses(folder, tmp_path / "out")


def test_the_command_says_what_it_wrote(tmp_path):
    folder = made(tmp_path / "run", ["m"])
    out = tmp_path / "RESPONSES.json"
    done = CliRunner().invoke(app, ["export", "mcs-bench", str(folder), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "585 responses (90 failures)" in done.output.replace("\n", " ")
    assert out.is_file()


def test_every_task_has_the_authors_chinese_domain():
    assert {task(f"T{number}").domain_zh for number in range(1, 46)} == {
        "古籍文本", "书法", "绘画", "甲骨文", "印鉴", "文物", "插图",
    }  # fmt: skip


def test_settings_and_scripts_have_a_file_each(tmp_path):
    run = RunFolder(made(tmp_path / "run", ["m"]))
    item = items()[0]
    with run.responses_path("m", "T1").open("ab") as file:
        for more in ({"setting": "own-ocr"}, {"script": "traditional"}):
            line = msgspec.json.encode(response(item, "{0}", "m", **more))
            file.write(line + b"\n")
    written = export_responses(run.path, tmp_path / "out")
    counts = {each.file.name: each.responses for each in written}
    assert sorted(counts.values()) == [1, 1, 45 * len(SAID)]
    assert any("own-ocr" in name for name in counts)
    assert any("traditional" in name for name in counts)


def test_a_row_has_the_prompt_that_was_asked_and_both_released_wordings(tmp_path):
    run = RunFolder(made(tmp_path / "run", ["m"]))
    both = {"simplified": "读？", "traditional": "讀？"}
    asked = Item(id="w", benchmark="MCS-Bench", task="T1", question="读？", question_in=both,
                 verbatim=True, answer="天")  # fmt: skip
    run.write_items([asked])
    path = run.responses_path("m", "T1")
    line = msgspec.json.encode(response(asked, "天", "m", script="traditional"))
    path.write_bytes(line + b"\n")
    (written,) = export_responses(run.path, tmp_path / "RESPONSES.json")
    (row,) = json.loads(written.file.read_text("utf-8"))
    assert row["Question"] == row["Question_Traditional"] == "讀？"
    assert row["Question_Simplified"] == "读？"
