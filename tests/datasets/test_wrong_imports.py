"""Attempts to import wrong data: each is refused with file, place and hint, or named in a note."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from keju.datasets.readers import import_dataset
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from tests.support.released import picture, put

ABOUT = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}
MAPPING = """
[[tables]]
path = "data.json"
[fields]
id = "ID"
task = "Task_ID"
question = "Question"
options = "Options"
answer = "Answer"
image = "Image"
"""
HEAD = "ID,Task_ID,Question,A,B,Answer,Image\n1,T7,何書？,說苑,論語,A,1.png\n"
PAGE = "imgs/儒家类/book/page_1.png"
LINE = '{"image": "1.png", "task": "OCR", "question": "讀出文字。", "answer": "天地"}\n'


def record(number: int, **changes: object) -> dict[str, object]:
    """A question of T7 on the image of its number."""
    row = {"ID": number, "Task_ID": "T7", "Question": "出自何書？", "Options": ["說苑", "論語"],
           "Answer": "A", "Image": f"{number}.png"}  # fmt: skip
    return {key: value for key, value in {**row, **changes}.items() if value is not ...}


def questions(*changes: dict[str, object]) -> dict[str, Any]:
    """A source of one file: a sound record, and one for each change."""
    rows = [record(number, **change) for number, change in enumerate(changes, start=2)]
    return {"data.json": [record(1), *rows]}


class Attempt(NamedTuple):
    """A wrong source, and what is said about it.

    Attributes:
        files: of the source, beside images/1.png to images/3.png.
        says: in the error or note.
        place: of the record in the error; empty where the fault is of the whole source.
        mapping: the mapping file; empty: it is drafted.
        form: the format.
        options: of the import.
    """

    files: dict[str, Any]
    says: str
    place: str = ""
    mapping: str = ""
    form: str = "mcs-bench"
    options: dict[str, str] = {}  # noqa: RUF012 - never changed


def attempt_in(folder: Path, attempt: Attempt) -> tuple[str, ...]:
    """The notes of an import."""
    src = folder / "src"
    for number in (1, 2, 3):
        put(src / f"images/{number}.png", picture(number, (8, 12)))
    for name, content in attempt.files.items():
        as_it_is = isinstance(content, str | bytes)
        put(src / name, content if as_it_is else json.dumps(content, ensure_ascii=False))
    options, form = dict(attempt.options), attempt.form
    if attempt.mapping:
        form, options["map"] = "mapped", str(put(folder / "mapping.toml", attempt.mapping))
    return import_dataset(form, src, folder / "out", **ABOUT, options=options).notes


REFUSED = {
    "a null for an image": Attempt(questions({"Image": None}), "without an image", "object 2"),
    "a null for an id": Attempt(questions({"ID": None}), "fields.id = TODO: 1 record without ID"),
    "a null for a question": Attempt(
        questions({"Question": None}), "the blank {question} of task 'T7' has no value", "object 2"
    ),
    "an answer that is no option": Attempt(
        questions({"Answer": "孟子"}), "'孟子' is not one of the options A to B", "object 2"
    ),
    "a letter beyond the options": Attempt(
        questions({"Answer": "C"}), "'C' is not one of the options A to B", "object 2"
    ),
    "a number beyond the options": Attempt(
        questions({"Answer": 3}, {"Answer": 1}), "'3' is not the number of an option", "object 2",
        options={"answer-is": "from-1"},
    ),
    "a number from 0 or from 1": Attempt(
        {"data.json": [record(1, Answer=1)]}, "'1' is not one of the options A to B", "object 1"
    ),
    "two right options": Attempt(
        questions({"Answer": ["A", "B"]}), "2 answers to a question with one right", "object 2"
    ),
    "an option that exists twice": Attempt(
        questions({"Options": ["甲", "甲"], "Answer": "甲"}), "'甲' is not one of", "object 2"
    ),
    "options with a gap": Attempt(
        questions({"Options": {"A": "甲", "C": "丙"}}), "found A, C", "object 2"
    ),
    "two columns of answers that differ": Attempt(
        questions({"Label": "B"}), "fields.answer = TODO: Answer or Label"
    ),
    "an object in place of a text": Attempt(
        questions({"Question": {"text": "何書？"}}),
        "fields.question = TODO: Question or Question.text",
    ),
    "a list of numbers in place of a text": Attempt(
        questions({"Question": [1, 2]}), "expected text in 'Question'; found list", "object 2"
    ),
    "an image name that fits two files": Attempt(
        questions({"Image": "5.png"}) | {"a/5.png": picture(5), "b/5.png": picture(6)},
        "several images fit '5.png': a/5.png, b/5.png", "object 2",
    ),
    "an image name that fits no file": Attempt(
        questions({"Image": "9.png"}), "1 file is missing: 9.png (of object 2)"
    ),
    "an image outside of the source": Attempt(
        questions({"Image": "../mapping.toml"}), "1 file is missing: ../mapping.toml"
    ),
    "an image in the folder of another task": Attempt(
        questions({"Image": "x.png"}) | {"T8/x.png": picture(7)}, "1 file is missing: x.png"
    ),
    "a file that is no image": Attempt(
        questions({"Image": "x.png"}) | {"images/x.png": b"text"}, "not an image in a format"
    ),
    "a column that is not mapped": Attempt(
        questions({"late": "x"}), "the column 'late' is neither mapped nor ignored", "object 2",
        MAPPING,
    ),
    "a misspelled column in the mapping": Attempt(
        questions(), "no record has a column 'Anwser'. Did you mean 'Answer'?", "[fields] answer",
        MAPPING.replace('"Answer"', '"Anwser"'),
    ),
    "a misspelled role in the mapping": Attempt(
        questions(), "no key 'anwser'. Did you mean 'answer'?", "[fields]",
        MAPPING.replace("answer =", "anwser ="),
    ),
    "a misspelled column in an option": Attempt(
        questions(), "no record has a column 'Anwser'. Did you mean 'Answer'?", "[fields] answer",
        options={"fields.answer": "Anwser"},
    ),
    "a column that a whole preset does not know": Attempt(
        {"label.csv": "type,name,OCR,译文\n儒家类,bookpage_1.png,天,天\n", PAGE: picture(4)},
        "the column '译文' is neither mapped nor ignored", "line 2", form="ancientdoc",
    ),
    "a table that is not mapped": Attempt(
        questions() | {"more.csv": HEAD}, "neither mapped nor ignored: more.csv", "", MAPPING
    ),
    "a TODO": Attempt(
        questions(), "still TODO (which book)", "constants.group",
        MAPPING + '[constants]\ngroup = "TODO: which book"\n',
    ),
    "the files of two scripts exchanged": Attempt(
        {
            "simplified.json": [record(1)],
            "traditional.json": [record(1, Question="出自何书？", Options=["说苑", "论语"])],
        },
        "the id 'T7-1' is also that of simplified.json, object 1", "object 1",
    ),
    "options of two scripts in another order": Attempt(
        {
            "simplified.json": [record(1, Question="出自何书？", Options=["论语", "说苑"])],
            "traditional.json": [record(1)],
        },
        "the id 'T7-1' is also that of simplified.json, object 1", "object 1",
    ),
    "two columns exchanged": Attempt(
        {"data.csv": HEAD.replace("Question,A,B,Answer", "Answer,A,B,Question")},
        "'何書？' is not one of the options A to B", "line 2",
    ),
    "two columns of one name": Attempt(
        {"data.csv": HEAD.replace("Question,A,", "Question,Question,")},
        "two columns are called 'Question'",
    ),
    "a comma too many": Attempt(
        {"data.csv": f"{HEAD}2,T7,何,書？,說苑,論語,A,2.png\n"}, "8 cells, but there", "line 3"
    ),
    "a file that is cut off": Attempt(
        {"data.json": '[{"ID": 1, "Task_ID": "T7"'}, "not readable as JSON", "object 1"
    ),
    "duplicate ids": Attempt(
        {"data.json": [record(1), record(1, Image="2.png")]}, "the id '1' is also that of object 1",
        "object 2", MAPPING,
    ),
    "duplicate ids of one task": Attempt(
        {"data.json": [record(1), record(1, Image="2.png")]}, "'T7-1' is also that of object 1",
        "object 2",
    ),
    "a task that does not exist": Attempt(
        questions({"Task_ID": "T99"}), "values.task.T99 = TODO: an id of keju tasks"
    ),
    "a name of another task": Attempt(
        questions({"Task_Name": "作者识别"}), "its task is T7", "object 2"
    ),
    "a table called after no task": Attempt(
        {"MyBench.tsv": "index\tquestion\tanswer\timage_path\n1\t何書？\t說苑\t1.png\n"},
        "no task has the name 'MyBench'. Add", "line 2", form="vlmevalkit-tsv",
    ),
}  # fmt: skip


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED)
def test_wrong_data_is_refused(tmp_path: Path, attempt: Attempt) -> None:
    with pytest.raises((DataError, UsageError)) as refused:
        attempt_in(tmp_path, attempt)
    text = str(refused.value)
    assert attempt.says in text
    assert "\n" not in text
    assert str(tmp_path) in text
    if isinstance(refused.value, DataError):
        assert (refused.value.item or "") == attempt.place
        assert refused.value.hint
    assert not (tmp_path / "out/dataset.json").exists()


def test_two_presets_that_fit_are_refused_with_both_commands(tmp_path: Path) -> None:
    files = {"label.csv": "type,name,OCR\n儒家类,bookpage_1.png,天\n", PAGE: picture(4),
             "data.jsonl": LINE}  # fmt: skip
    with pytest.raises(UsageError, match="several formats fit equally") as refused:
        attempt_in(tmp_path, Attempt(files, "", form="auto"))
    for name in ("ancientdoc", "ancientdoc-lines"):
        assert f"keju data import {name} {tmp_path}/src --out" in str(refused.value)


NOTED = {
    "a null for an answer": Attempt(questions({"Answer": None}), "1 item without an answer"),
    "a NaN for an answer": Attempt(questions({"Answer": math.nan}), "1 item without an answer"),
    "no options": Attempt(
        questions({"Options": None}), "1 question with one right option has no options"
    ),
    "images that no item has": Attempt(
        questions(), "unused images: 2, e.g. images/2.png, images/3.png"
    ),
    "an image found by its file name alone": Attempt(
        questions({"Image": "/data/mcs/2.png"}), "1 image found by their file name: /data/mcs/2.png"
    ),
    "an image under another suffix": Attempt(
        questions({"Image": "2.jpg"}), "1 image found under another suffix: 2.jpg as images/2.png"
    ),
    "ids that start again": Attempt(
        {"T7.json": [record(1, Task_ID=...)], "T8.json": [record(1, Task_ID=...)]},
        "IDs start again: id is {task}-{ID}",
        options={"fields.image": "images/{ID}.*"},
    ),
    "fewer questions than the paper has": Attempt(
        questions({"Task_ID": "T8"}),
        "MCS-Bench states other numbers of items: T7 1 of 145, T8 1 of 130",
    ),
    "a table without questions": Attempt(
        questions() | {"books.csv": "书名,卷数\n說苑,20\n"}, "no questions in books.csv: ignored"
    ),
    "a column that no item has": Attempt(questions({"Response": "A"}), "fields ignored: Response"),
}


@pytest.mark.parametrize("attempt", NOTED.values(), ids=NOTED)
def test_doubtful_data_is_named_in_a_note(tmp_path: Path, attempt: Attempt) -> None:
    notes = attempt_in(tmp_path, attempt)
    assert any(attempt.says in note for note in notes), notes
    assert len(Dataset.open(tmp_path / "out").items()) > 0
