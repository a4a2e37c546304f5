"""Drafts of mappings: every table and column is named, and what is not certain is a TODO."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from keju.datasets.readers import import_dataset
from keju.datasets.readers.draft import Preset, draft, mapping_text
from keju.datasets.readers.mapping import mapping_from, todos
from keju.datasets.store import Dataset
from keju.definitions import tasks
from keju.errors import KejuError
from tests.support.released import picture, put, table

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}
HEADS = ("ID", "任务编号", "题目", "图片", "A", "B", "答案")
ROW = ("1", "T7", "出自哪部书？", "1.png", "說苑", "論語", "A")


def records(*changes, **common):
    """Records of questions with an image, each changed."""
    base = {"ID": 1, "Task_ID": "T7", "Question": "出自？", "Options": ["說苑", "論語"],
            "Answer": "A", "Image": "1.png"}  # fmt: skip
    return json.dumps([{**base, **common, **change} for change in changes], ensure_ascii=False)


def source(tmp_path, *changes, **common) -> Path:
    put(tmp_path / "src/data.json", records(*changes, **common))
    for number in range(1, 5):
        put(tmp_path / f"src/images/{number}.png", picture(number, (8, 12)))
    return tmp_path / "src"


def imported(tmp_path, src, form="mcs-bench", **options):
    import_dataset(form, src, tmp_path / "out", **ABOUT, options=options)
    return list(Dataset.open(tmp_path / "out").items())


def left(src):
    return dict(todos(draft(src).mapping))


def test_a_folder_of_task_files_is_mapped_whole(tmp_path):
    """Fault 1: of eight files one was mapped, and 3 of 24 questions imported."""
    src = tmp_path / "src"
    for number in range(7, 15):
        row = {"Question": "问？", "Answer": "甲", "Image": "1.png", "Options": ["甲", "乙"]}
        rows = [{"ID": n, **row} for n in (1, 2, 3)]
        put(src / f"T{number}.json", json.dumps(rows))
    put(src / "images/1.png", picture(1, (8, 12)))
    drafted = draft(src)
    assert [each.task for each in drafted.mapping.tables] == [
        f"T{number}" for number in (10, 11, 12, 13, 14, 7, 8, 9)
    ]
    assert drafted.mapping.fields["id"] == "{task}-{ID}"
    assert drafted.mapping.fields["source_id"] == "ID"
    assert len(imported(tmp_path, src, "auto")) == 24


def test_tasks_of_another_benchmark_are_no_sign_of_a_preset(tmp_path):
    src = tmp_path / "src"
    named = next(task for task in tasks() if task.benchmark != "MCS-Bench")
    row = {"编号": "1", "任务": named.name_zh, "题": "问？", "图": "1.png"}
    rows = [row, {**row, "编号": "2"}]
    put(src / "1.png", picture(1, (8, 12)))
    put(src / "items.json", json.dumps(rows, ensure_ascii=False))
    assert draft(src, Preset(name="mcs-bench", benchmark="MCS-Bench")).fit == 0
    assert draft(src, Preset(name="own", benchmark=named.benchmark)).fit > 0


def test_a_null_cell_is_not_the_image_none(tmp_path):
    """Fault 2: ``images/{pic}.*`` imported ``images/None.png`` for a null cell."""
    src = source(tmp_path, {}, {"ID": 2, "Image": None})
    put(src / "images/None.png", picture(9, (8, 12)))
    with pytest.raises(KejuError, match="without an image"):
        imported(tmp_path, src)


def test_one_vocabulary_knows_a_question_in_a_script(tmp_path):
    """Fault 3: a second, smaller vocabulary made `Question_Simplified` metadata."""
    src = source(tmp_path, {"Question_Simplified": "问？"}, Question=None)
    mapping = draft(src).mapping
    assert mapping.fields["question"] == "Question_Simplified"
    assert "Question_Simplified" not in mapping.metadata.values()


def test_every_column_is_mapped_or_ignored(tmp_path):
    odd = {"朝代": "唐", "Response": "A", "box": {"x": [1, 2]}, "long": "字" * 3000, "备注": "x"}
    mapping = draft(source(tmp_path, odd)).mapping
    assert mapping.metadata == {"dynasty": "朝代", "备注": "备注"}
    assert set(mapping.ignored) == {"Response", "box.x", "long"}


def test_a_table_without_questions_is_ignored_by_name(tmp_path):
    src = source(tmp_path, {})
    table(src / "books.csv", ("书名", "卷数"), ("說苑", "20"))
    drafted = draft(src)
    assert drafted.mapping.ignored == ("books.csv",)
    assert any("books.csv" in note for note in drafted.notes)


def test_the_text_of_a_draft_is_its_mapping(tmp_path):
    put(tmp_path / "src/数据.csv", "")
    src = tmp_path / "src"
    table(src / "数据.csv", HEADS, ROW, ("2", "T7", "a\u202e\x1b", "1.png", "甲", "乙", "B"))
    put(src / "1.png", picture(1, (8, 12)))
    drafted = draft(src)
    text = mapping_text(drafted)
    assert mapping_from(tomllib.loads(text), src) == drafted.mapping
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert 'options = ["A", "B"]' in text


def test_images_that_no_column_names_are_a_todo(tmp_path):
    assert "fields.image" in left(source(tmp_path, {}, {"ID": 2}, Image=None))


def test_an_option_replaces_one_key(tmp_path):
    src = source(tmp_path, {}, {"ID": 2}, Answer=1)
    options = {"answer-is": "from-1", "constants.group": "g", "fields.id": "q{ID}"}
    items = imported(tmp_path, src, **options)
    assert [(item.id, item.answer, item.group) for item in items] == [
        ("q1", "A", "g"),
        ("q2", "A", "g"),
    ]


def test_the_mapping_is_stored_in_the_dataset(tmp_path):
    imported(tmp_path, source(tmp_path, {}))
    made = json.loads((tmp_path / "out/dataset.json").read_text())["made"]
    assert tomllib.loads(made["mapping"])["fields"]["question"] == "Question"


WRONG = {
    "no task": {"Task_ID": None},
    "a name of two tasks": {"Task_ID": "作者识别"},
    "a task that does not exist": {"Task_ID": "T99"},
    "an unknown task name": {"Task_ID": "单选"},
    "two columns of answers that differ": {"Label": "B"},
    "two columns of questions that differ": {"Prompt": "另一个问题？"},
    "an answer that is no option": {"Answer": "孟子"},
    "a letter beyond the options": {"Answer": "C"},
    "two right options": {"Answer": ["A", "B"]},
    "an answer that is an object": {"Answer": {"x": {"y": 1}}},
    "a question that is a list of numbers": {"Question": [1, 2]},
    "a question that is an object": {"Question": {"x": "y"}},
    "an image that is not there": {"Image": "9.png"},
    "an image outside": {"Image": "../../secret.png"},
    "an absolute image": {"Image": "/etc/secret.png"},
    "an empty image": {"Image": ""},
    "an image that is a number": {"Image": [4711]},
    "options with a gap": {"Options": {"A": "甲", "C": "丙"}},
    "no options": {"Options": None, "Answer": 1},
    "a name of another task": {"Task_Name": "作者识别"},
    "a domain of another task": {"Domain": "书法"},
    "no question": {"Question": None},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_wrong_data_is_never_imported_silently(tmp_path, change):
    src = source(tmp_path, {}, {"ID": 2, **change})
    with pytest.raises(KejuError):
        imported(tmp_path, src)


def test_two_images_of_one_name_are_refused(tmp_path):
    src = source(tmp_path, {"Image": "5.png"})
    for number, folder in enumerate(("a", "b")):
        put(src / folder / "5.png", picture(number, (8, 12)))
    with pytest.raises(KejuError):
        imported(tmp_path, src)


def test_records_of_two_scripts_in_one_table_are_refused(tmp_path):
    src = source(tmp_path, {"Language": "zh-CN"}, {"Language": "zh-TW"})
    with pytest.raises(KejuError, match=r"also that of object 1.*both scripts of a question into"):
        imported(tmp_path, src)


def test_a_conversation_is_drafted(tmp_path):
    talk = [{"from": "human", "value": "<image>\n出自？"}, {"from": "gpt", "value": "A"}]
    change = {"conversations": talk, "Question": None, "Answer": None}
    mapping = draft(source(tmp_path, change)).mapping
    assert mapping.messages == "conversations"
    assert mapping.fields["question"] == "messages.user"


def test_a_todo_names_the_command_that_writes_the_mapping(tmp_path):
    with pytest.raises(KejuError, match="--write-map"):
        imported(tmp_path, source(tmp_path, {}, Task_ID=None))


def test_images_without_tables_are_records_of_a_todo_task(tmp_path):
    src = tmp_path / "src"
    for number in (1, 2):
        put(src / f"book/p_{number}.png", picture(number, (8, 12)))
        put(src / f"book/p_{number}.gt.txt", "天地")
    mapping = draft(src).mapping
    assert mapping.texts == "{folder}/{stem}.gt.txt"
    assert mapping.fields == {"group": "folder", "answer": "text"}
    assert mapping.constants["task"].startswith("TODO")
