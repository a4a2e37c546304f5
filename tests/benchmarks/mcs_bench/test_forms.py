"""Forms of sources of MCS-Bench: shapes of JSON, answers, images, and what an import says."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from keju.datasets.readers import Imported, import_dataset
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from tests.support.released import put

RECORD = {"ID": "a", "Task_ID": "T7", "Question": "出自哪本书？\nA、论语 B、说苑", "Answer": "A",
          "Image": "p.jpg"}  # fmt: skip


@pytest.fixture
def read(tmp_path: Path, picture: Callable[..., bytes]):
    """Imports files, given as path and content, beside the images p.jpg and q.jpg."""

    def go(files: dict[str, object], **options: str) -> tuple[list, Imported]:
        src = tmp_path / "src"
        for shade, name in enumerate(("p.jpg", "q.jpg")):
            (src / "images").mkdir(parents=True, exist_ok=True)
            (src / "images" / name).write_bytes(picture(shade * 99, form="JPEG"))
        for name, content in files.items():
            path = src / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            path.write_text(text, "utf-8")
        options = {name.replace("_", "-"): value for name, value in options.items()}
        done = import_dataset("mcs-bench", src, tmp_path / "out", name="n", version="1",
                              licence="l", source="s", options=options)  # fmt: skip
        return Dataset.open(tmp_path / "out").items(), done

    return go


@pytest.mark.parametrize(
    "content",
    [
        [RECORD], {"data": [RECORD]}, {"test": {"T7": [RECORD]}}, {"a": RECORD},
    ],
    ids=["list", "wrapped", "nested", "by ID"],
)  # fmt: skip
def test_shapes_of_json_give_the_same_item(read, content: object) -> None:
    ((item,), _) = read({"data.json": content})
    assert (item.id, item.task, item.answer) == ("a", "T7", "A")


def test_files_without_questions_are_named(read) -> None:
    items, done = read({"data.json": [RECORD], "books.csv": "书,朝代\n论语,周\n",
                        "meta.json": {"version": 1}})  # fmt: skip
    assert len(items) == 1
    assert done.notes[:2] == (
        "no questions in books.csv: ignored",
        "no questions in meta.json: ignored",
    )


def test_one_field_may_name_several_images(read) -> None:
    with pytest.raises(DataError, match=r"missing: p\.jpg; q\.jpg"):
        read({"data.json": [RECORD | {"Image": "p.jpg; q.jpg"}]})
    items, _ = read({"data.json": [RECORD | {"Image": "p.jpg", "image_2": "q.jpg"},
                                   RECORD | {"ID": "b", "Image": ["q.jpg", "p.jpg"]}]})  # fmt: skip
    one, two = ([ref.sha256 for ref in item.images] for item in items)
    assert len(one) == 2
    assert one == two[::-1]


def test_further_accepted_answers_are_kept(read) -> None:
    asked = RECORD | {"Task_ID": 21, "Question": "画中何物？"}
    items, _ = read({"data.json": [asked | {"Answer": ["马", "骏马"]},
                                   asked | {"ID": "b", "Answer": "马", "Also_Accepted": ["骏马"]},
                                   asked | {"ID": "c", "Answer": '["马", "骏马"]'}]})  # fmt: skip
    assert {(item.answer, item.also_accepted) for item in items} == {("马", ("骏马",))}


def test_lists_of_answers_are_read_as_the_task_asks(read) -> None:
    ocr = {"ID": "b", "Task_ID": 1, "Answer": ["学而", "时习之"]}
    names_ = {"ID": "c", "Task_ID": 4, "Answer": ["宋意", "章帝"]}
    with pytest.raises(DataError, match="2 answers to a question with one right option"):
        read({"data.json": [RECORD | {"Answer": ["A", "B"]}]})
    items, _ = read({"data.json": [RECORD | ocr, RECORD | names_]})
    assert [item.answer for item in items] == ["学而\n时习之", "宋意、章帝"]


def test_numbers_of_options_count_as_the_user_says(read) -> None:
    asked = [RECORD | {"Answer": 1}]
    asked_of = RECORD | {"Question": "?", "Options": ["a", "b", "c"], "Answer": 2}
    with pytest.raises(DataError, match="is not one of the options"):
        read({"data.json": [asked_of]})
    with pytest.raises(UsageError, match="answer-is: no value '2'"):
        read({"data.json": asked}, answer_is="2")
    items, _ = read({"data.json": asked}, answer_is="from-0")
    assert items[0].answer == "B"


def test_the_task_of_an_option_is_of_records_that_name_none(read) -> None:
    bare = {key: value for key, value in RECORD.items() if key != "Task_ID"}
    with pytest.raises(DataError, match="task = TODO"):
        read({"data.json": [bare]})
    items, _ = read({"data.json": [bare]}, **{"constants.task": "T7"})
    assert items[0].task == "T7"


def test_the_import_lists_what_became_of_each_field(read) -> None:
    more = {"作者": "孔丘", "年代": "周", "难度": 3, "解析": "很" * 3000, "Response": "A"}
    (item,), done = read({"data.json": [RECORD | more]})
    assert item.metadata == {"author": "孔丘", "dynasty": "周", "difficulty": "3"}
    assert "fields used: id, task (Task_ID), question, image, answer" in done.notes
    assert "fields kept as metadata: 作者, 年代, 难度" in done.notes
    assert "fields ignored: Response, 解析" in done.notes


def test_images_that_may_be_several_files_are_refused(read, picture, tmp_path) -> None:
    for shade, folder in enumerate(("one", "two")):
        path = tmp_path / "src" / folder / "x.jpg"
        path.parent.mkdir(parents=True)
        path.write_bytes(picture(50 + shade, form="JPEG"))
    with pytest.raises(DataError, match=r"several images fit 'x\.jpg'"):
        read({"data.json": [RECORD | {"Image": "x.jpg"}]})
    bare = {key: value for key, value in RECORD.items() if key != "Image"}
    with pytest.raises(DataError, match=r"fields\.image = TODO"):
        read({"data.json": [bare | {"ID": "x"}]})


def test_an_import_stops_after_a_thousand_missing_images(read) -> None:
    records = [RECORD | {"ID": n, "Image": f"x{n}.jpg"} for n in range(1500)]
    with pytest.raises(DataError, match="1,000 files are missing: x0"):
        read({"data.json": records})
    items, done = read({"data.json": [*records, RECORD]}, skip_missing="yes")
    assert len(items) == 1
    assert any("1,500 records dropped; the first: object 1: " in each for each in done.notes)


@pytest.mark.parametrize(
    "files",
    [
        ["T7/a.jpg", "T8/a.jpg"], ["T8/a.jpg"], ["书法/a.jpg"], ["古籍文本/a.jpg", "书法/a.jpg"],
        ["12/a.jpg"], ["12/a.jpg", "7/b.jpg"], ["T7_a.jpg", "a.jpg"], ["a/1.jpg"], ["A.JPG"],
        ["a.jpg"],
    ],
)  # fmt: skip
def test_an_image_that_no_field_names_is_asked_for(
    read, tmp_path, picture, files: list[str]
) -> None:
    for shade, name in enumerate(files):
        path = tmp_path / "src" / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(20 + shade, form="JPEG"))
    bare = {key: value for key, value in RECORD.items() if key != "Image"}
    with pytest.raises(DataError, match=r"fields\.image = TODO"):
        read({"data.json": [bare]})


@pytest.mark.parametrize(
    ("name", "edit", "others"),
    [("12/a.jpg", "images/12/{ID}.*", []), ("T7_a.jpg", "images/{task}_{ID}.*", ["a.jpg"]),
     ("书法/a.jpg", "images/书法/{ID}.*", []), ("a/1.jpg", "images/{ID}/1.jpg", []),
     ("a.jpg", "images/{ID}.*", []), ("T7/a.jpg", "images/{task}/{ID}.*", ["T8/a.jpg"])],
)  # fmt: skip
def test_an_image_that_is_not_certain_is_found_by_an_option(
    read, tmp_path, picture, name: str, edit: str, others: list[str]
) -> None:
    for shade, each in enumerate([name, *others]):
        put(tmp_path / "src" / "images" / each, picture(20 + shade, form="JPEG"))
    path = tmp_path / "src" / "images" / name
    bare = {key: value for key, value in RECORD.items() if key != "Image"}
    ((item,), _) = read({"data.json": [bare]}, **{"fields.image": edit})
    assert item.images[0].sha256 == sha256(path.read_bytes()).hexdigest()
