"""Parts of the reader of MCS-Bench: names, options, answers, conversations, JSON, images."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from keju.benchmarks.mcs_bench.reader.choices import options_from
from keju.benchmarks.mcs_bench.reader.conversations import without_conversation
from keju.benchmarks.mcs_bench.reader.detection import detect_mcs_bench
from keju.benchmarks.mcs_bench.reader.words import (
    domains_in,
    load_names,
    numbered_task,
    plain_key,
    script_in,
    tasks_of_path,
)
from keju.datasets.readers import Imported, import_dataset
from keju.datasets.readers.letters import letter_of
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.records import Place
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError

PLACE = Place(Path("data.json"), "1")
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
    ("words", "ids"),
    [
        (("7",), ["T7"]), (("T7",), ["T7"]), (("task_07",), ["T7"]), (("mcs_t7_test",), ["T7"]),
        (("任务7",), ["T7"]), (("07_判断出处",), ["T7"]), (("判断出处",), ["T7"]),
        (("01_作者识别", "书法"), ["T10"]), (("作者識別", "書法"), ["T10"]),
        (("Author_Identification", "painting"), ["T18"]), (("data", "T45"), ["T45"]),
        (("test", "Seal OCR", "Seal"), ["T30"]), (("作者识别",), ["T10", "T18"]),
        (("18-作者识别",), ["T18"]), (("1", "书法"), []), (("data",), []), (("46",), []),
        (("2024-07",), []), (("v1.5",), []), (("part7",), []), (("jobs",), []),
    ],
)  # fmt: skip
def test_names_of_files_and_folders_mean_tasks(words: tuple[str, ...], ids: list[str]) -> None:
    assert [task.id for task in tasks_of_path(words)] == ids


@pytest.mark.parametrize(
    ("word", "script"),
    [
        ("data_zh-TW", "traditional"), ("繁體", "traditional"), ("简体版", "simplified"),
        ("mcs_cn", "simplified"), ("Traditional", "traditional"), ("data", None),
        ("second", None), ("twenty", None), ("zh_Hans", "simplified"),
    ],
)  # fmt: skip
def test_names_mean_scripts(word: str, script: str | None) -> None:
    assert script_in(word) == script


def test_domains_have_several_names() -> None:
    named = {name: domains_in(name) for name in ("绘画", "paintings", "印章", "jobs", "古籍文本")}
    assert named == {"绘画": ("Painting",), "paintings": ("Painting",), "印章": ("Seal",),
                     "jobs": (), "古籍文本": ("Ancient Chinese Text",)}  # fmt: skip
    assert numbered_task("T12 标题识别").id == "T12"


def test_every_name_of_a_field_has_one_meaning() -> None:
    meant: dict[str, set[str]] = {}
    for role, spellings in load_names().roles.items():
        family = role.partition("_")[0]
        for name in spellings:
            meant.setdefault(plain_key(name), set()).add(family)
    assert not {name: roles for name, roles in meant.items() if len(roles) > 1}
    assert not set(meant) & load_names().ignored


@pytest.mark.parametrize(
    "value",
    [
        ["论语", "说苑"], ["A. 论语", "B. 说苑"], ["A、论语", "B、说苑"], ["(A) 论语", "(B) 说苑"],
        {"A": "论语", "B": "说苑"}, "A. 论语\nB. 说苑",
        {"option_a": "论语", "option_b": "说苑"}, "A、论语 B、说苑", "论语\n说苑", "论语|说苑",
        "论语；说苑", '["论语", "说苑"]', "['论语', '说苑']", ["A、论语 B、说苑"],
        [{"label": "A", "text": "论语"}, {"label": "B", "text": "说苑"}],
        [{"key": "A", "value": "论语"}, {"key": "B", "value": "说苑"}],
    ],
)  # fmt: skip
def test_options_have_many_forms(value: object) -> None:
    assert options_from(value, (), PLACE) == ("论语", "说苑")


def test_options_of_columns_end_with_the_last_one_that_is_filled() -> None:
    assert options_from(None, ["论语", "说苑", "", None], PLACE) == ("论语", "说苑")
    assert options_from("", ["", ""], PLACE) == ()


@pytest.mark.parametrize("value", [7, [["a"], ["b"]], [{"x": "y"}, "b"], {"A": "x", "C": "y"}])
def test_options_of_another_form_are_refused(value: object) -> None:
    with pytest.raises(DataError):
        options_from(value, (), PLACE)


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"), ("b", "B"), ("b.", "B"), ("(b)", "B"), ("答案：B", "B"), ("选项B", "B"),
        ("说苑", "B"), ("說苑", "B"), ("B 说苑", "B"), ("B、说苑", "B"), ("B.说苑", "B"),
        ("ｂ", "B"), ("答案是B", "B"), ("選Ｂ", "B"), ("**B**", "B"), ("b) 說苑。", "B"),
        (" B ", "B"), ("B、", "B"), ("（Ｂ）", "B"),
        ("A、说苑", "A、说苑"), ("A. 说苑", "A. 说苑"), ("A good one", "A good one"), ("C", "C"),
        ("AB", "AB"), ("B或A", "B或A"), ("后汉书", "后汉书"), ("2", "2"), ("", ""),
    ],
)  # fmt: skip
def test_an_answer_becomes_its_letter_where_that_is_sure(answer: str, letter: str) -> None:
    assert letter_of(answer, ("论语", "说苑")) == letter


def test_the_text_of_an_option_comes_before_its_letter_and_its_number() -> None:
    assert letter_of("b", ("b", "a")) == "A"
    assert letter_of("说苑", ("说苑", "说苑")) == "说苑"


@pytest.mark.parametrize(
    ("content", "question", "images"),
    [
        ("<image>\n问", "问", None),
        ("<img>a/b.jpg</img>\n问", "问", ["a/b.jpg"]),
        ("Picture 1: <img>a.jpg</img>\nPicture 2: <img>b.jpg</img>\n问", "问", ["a.jpg", "b.jpg"]),
        ([{"type": "text", "text": "问"}, {"type": "image_url", "image_url": {"url": "u"}}], "问",
         ["u"]),
        ([{"type": "image_url", "image_url": "u"}, {"type": "text", "text": "问"}], "问", ["u"]),
        ([{"type": "image", "source": {"type": "base64", "data": "iVBO"}},
          {"type": "text", "text": "问"}], "问", ["iVBO"]),
    ],
)  # fmt: skip
def test_a_question_and_its_images_come_out_of_messages(content, question, images) -> None:
    record = {"ID": 1, "messages": [{"role": "system", "content": "s"},
                                    {"role": "user", "content": content},
                                    {"role": "assistant", "content": "答"}]}  # fmt: skip
    found = without_conversation(record, PLACE)
    assert (found["Question"], found["Answer"]) == (question, "答")
    assert found.get("Image") == images


@pytest.mark.parametrize(
    "messages",
    [
        "no list", [], ["text"], [{"content": "问"}], [{"role": "assistant", "content": "答"}],
        [{"role": "user", "content": "一"}, {"role": "user", "content": "二"}],
        [{"role": "user", "content": [7]}],
    ],
)  # fmt: skip
def test_a_conversation_of_another_form_is_refused(messages: object) -> None:
    with pytest.raises(DataError) as refused:
        without_conversation({"messages": messages}, PLACE)
    assert (refused.value.file, refused.value.item) == ("data.json", "1")
    assert refused.value.hint


@pytest.mark.parametrize(
    "content",
    [
        [RECORD], {"data": [RECORD]}, {"test": {"T7": [RECORD]}}, {"a": RECORD}, RECORD,
        {key: [value] for key, value in RECORD.items()},
        {key: {"0": value} for key, value in RECORD.items()},
    ],
    ids=["list", "wrapped", "nested", "by ID", "one record", "columns", "columns by row"],
)  # fmt: skip
def test_shapes_of_json_give_the_same_item(read, content: object) -> None:
    ((item,), _) = read({"data.json": content})
    assert (item.id, item.task, item.answer) == ("a", "T7", "A")


def test_a_file_a_record_in_folders_of_tasks(read) -> None:
    bare = {"question": RECORD["Question"], "answer": "A"}
    files = {f"T7/{name}.json": bare | {"image": name} for name in ("p", "q")}
    items, done = read(files)
    assert [item.id for item in items] == ["T7-1", "T7-2"]
    assert any("2 records have no ID" in note for note in done.notes)


def test_files_without_questions_are_named(read) -> None:
    items, done = read({"data.json": [RECORD], "books.csv": "书,朝代\n论语,周\n",
                        "meta.json": {"version": 1}})  # fmt: skip
    assert len(items) == 1
    assert done.notes[0] == "files without questions, not read: books.csv, meta.json"


def test_one_field_may_name_several_images(read) -> None:
    items, _ = read({"data.json": [RECORD | {"Image": "p.jpg; q.jpg"},
                                   RECORD | {"ID": "b", "Image": "p.jpg", "image_2": "q.jpg"},
                                   RECORD | {"ID": "c", "Image": ["q.jpg", "p.jpg"]}]})  # fmt: skip
    one, two, three = ([ref.sha256 for ref in item.images] for item in items)
    assert len(one) == 2
    assert one == two == three[::-1]


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
    with pytest.raises(DataError, match="may count from 0 or from 1"):
        read({"data.json": [asked_of]})
    with pytest.raises(UsageError, match="answers-from"):
        read({"data.json": asked}, answers_from="2")
    items, _ = read({"data.json": asked}, answers_from="0")
    assert items[0].answer == "B"


def test_the_task_of_an_option_is_of_records_that_name_none(read) -> None:
    bare = {key: value for key, value in RECORD.items() if key != "Task_ID"}
    with pytest.raises(DataError, match="--option task=T7"):
        read({"data.json": [bare]})
    items, _ = read({"data.json": [bare]}, task="T7")
    assert items[0].task == "T7"


def test_unmatched_items_of_one_script_are_reported(read) -> None:
    other = RECORD | {"Question": "出自何書？\nA、論語 B、說苑"}
    files = {"data_simplified.json": [RECORD, RECORD | {"ID": "b"}],
             "data_traditional.json": [other]}  # fmt: skip
    items, done = read(files)
    assert [(item.id, sorted(item.question_in)) for item in items] == [
        ("a", ["simplified", "traditional"]), ("b", [])
    ]  # fmt: skip
    assert "joined 1 item of both scripts by task and ID" in done.notes
    assert "1 item in simplified script only: b" in done.notes


def test_the_import_lists_what_became_of_each_field(read) -> None:
    more = {"作者": "孔丘", "年代": "周", "难度": 3, "解析": "很" * 300, "Response": "A"}
    (item,), done = read({"data.json": [RECORD | more]})
    assert item.metadata == {"author": "孔丘", "dynasty": "周", "difficulty": "3"}
    assert "fields used: id, task from Task_ID, question, image, answer" in done.notes
    assert "fields kept as metadata: 作者, 年代, 难度" in done.notes
    assert "fields ignored: 解析, Response" in done.notes


def test_images_that_may_be_several_files_are_refused(read, picture, tmp_path) -> None:
    for shade, folder in enumerate(("one", "two")):
        path = tmp_path / "src" / folder / "x.jpg"
        path.parent.mkdir(parents=True)
        path.write_bytes(picture(50 + shade, form="JPEG"))
    with pytest.raises(DataError, match=r"several images fit 'x\.jpg'"):
        read({"data.json": [RECORD | {"Image": "x.jpg"}]})
    bare = {key: value for key, value in RECORD.items() if key != "Image"}
    with pytest.raises(DataError, match="several images are called after it"):
        read({"data.json": [bare | {"ID": "x"}]})


def test_a_file_of_responses_is_no_dataset(tmp_path: Path) -> None:
    row = {"ID": 1, "Task_ID": 1, "Answer_Simplified": "天", "Response": "地"}
    (tmp_path / "RESPONSES.json").write_text(json.dumps([row]), "utf-8")
    found = detect_mcs_bench(Listing(tmp_path))
    assert "keju score FILE" in found.missing


@pytest.mark.parametrize(
    "record",
    [{"image": "a.jpg", "task": "Page-level OCR", "question": "读", "answer": "天"},
     {"text": "hello"}, {"question": "What?", "answer": "this"}],
)  # fmt: skip
def test_other_records_are_not_taken_for_mcs_bench(tmp_path: Path, record: dict) -> None:
    (tmp_path / "data.json").write_text(json.dumps([record]), "utf-8")
    assert detect_mcs_bench(Listing(tmp_path)) is None


def test_an_import_stops_after_a_thousand_missing_images(read) -> None:
    records = [RECORD | {"ID": n, "Image": f"x{n}.jpg"} for n in range(1500)]
    with pytest.raises(DataError, match="1,000 missing images or more: x0"):
        read({"data.json": records})
    items, done = read({"data.json": [*records, RECORD]}, skip_missing="yes")
    assert len(items) == 1
    assert done.notes[0].startswith("skipped 1,500 items without image: 0, 1")


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (["T7/a.jpg", "T8/a.jpg"], "T7/a.jpg"), (["T8/a.jpg"], None), (["书法/a.jpg"], None),
        (["古籍文本/a.jpg", "书法/a.jpg"], "古籍文本/a.jpg"), (["12/a.jpg"], "12/a.jpg"),
        (["12/a.jpg", "7/b.jpg"], None), (["T7_a.jpg", "a.jpg"], "T7_a.jpg"),
        (["a/1.jpg"], "a/1.jpg"), (["A.JPG"], "A.JPG"),
    ],
)  # fmt: skip
def test_an_image_called_after_an_id_is_not_one_of_another_task(
    read, tmp_path, picture, files: list[str], wanted: str | None
) -> None:
    for shade, name in enumerate(files):
        path = tmp_path / "src" / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(20 + shade, form="JPEG"))
    bare = {key: value for key, value in RECORD.items() if key != "Image"}
    if wanted is None:
        with pytest.raises(DataError, match="image"):
            read({"data.json": [bare]})
        return
    ((item,), _) = read({"data.json": [bare]})
    expected = sha256((tmp_path / "src" / "images" / wanted).read_bytes()).hexdigest()
    assert [ref.sha256 for ref in item.images] == [expected]
