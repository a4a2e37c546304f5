"""MCS-Bench's JSON, its field names known or mapped."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from traceback import walk_stack
from types import FrameType

import pytest

import keju
from keju.datasets.readers import Imported, import_dataset, mapped
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.definitions import UnitCounter, Units, choices_of, prompt_of
from keju.errors import DataError, UsageError
from keju.items import Item
from keju.text import in_script

OCR = {
    "ID": "a1", "Task_ID": 1, "Image": "p.jpg",
    "Question": "按古代阅读顺序识别图中古籍内的文字内容。",
    "Answer": "學而時習之", "Answer_Simplified": "学而时习之",
}  # fmt: skip
MCQ = {
    "ID": "a2", "Task_ID": "T7", "Image": ["p.jpg", "q.jpg"], "Answer": "B",
    "Question": "图片中的古籍文本内容出自哪本书？\nA、說苑 B、論語\n要求：只输出字母。",
    "Answer_Simplified": "B",
}  # fmt: skip
APART = {
    "ID": "a3", "Task_ID": "t07", "Question": "出自哪本书？", "Options": ["说苑", "论语"],
    "Image": "q.jpg", "Answer": "论语", "Answer_Simplified": "B",
}  # fmt: skip


BOTH = {
    "ID": "a4", "Task_ID": 6, "Image": "q.jpg", "Answer_Simplified": "天地",
    "Question_Simplified": "谁是后羿？", "Question_Traditional": "孰爲后羿？",
}  # fmt: skip


class Source:
    def __init__(self, folder: Path, picture: Callable[..., bytes]) -> None:
        self.folder = folder / "mcs"
        (self.folder / "images").mkdir(parents=True)
        for shade, name in enumerate(("p.jpg", "q.jpg")):
            (self.folder / "images" / name).write_bytes(picture(shade * 99, form="JPEG"))

    def read(self, *records: object, options: dict[str, str] | None = None) -> Imported:
        return self.read_content(list(records), options)

    def read_content(self, content: object, options: dict[str, str] | None = None) -> Imported:
        return self.read_text(json.dumps(content, ensure_ascii=False), options)

    def read_text(self, text: str, options: dict[str, str] | None = None) -> Imported:
        (self.folder / "data.json").write_text(text, encoding="utf-8", errors="surrogatepass")
        about = {"name": "n", "version": "1", "licence": "research", "source": "s"}
        out = self.folder.parent / "out"
        return import_dataset("mcs-bench", self.folder, out, **about, options=options)

    def items(self) -> list[Item]:
        return Dataset.open(self.folder.parent / "out").items()


@pytest.fixture
def source(tmp_path: Path, picture: Callable[..., bytes]) -> Source:
    return Source(tmp_path, picture)


def without(record: dict[str, object], *keys: str) -> dict[str, object]:
    return {key: value for key, value in record.items() if key not in keys}


def test_questions_come_word_for_word_with_both_answers(source: Source) -> None:
    source.read(OCR, MCQ, APART)
    ocr, mcq, _ = source.items()
    assert prompt_of(ocr) == OCR["Question"]
    assert (ocr.task, ocr.answer, ocr.answer_simplified) == ("T1", "學而時習之", "学而时习之")
    assert ocr.transcription == "學而時習之"
    assert ocr.group == ocr.images[0].sha256
    assert prompt_of(mcq) == MCQ["Question"]
    assert (mcq.options, mcq.answer, len(mcq.images)) == (("說苑", "論語"), "B", 2)
    assert list(validate(source.folder.parent / "out")) == []


def test_without_a_group_the_images_are_the_units_and_the_import_says_so(source: Source) -> None:
    done = source.read(OCR, MCQ, APART)
    assert done.notes[-1] == (
        "Not every item has a group: the unit of independence is then its first image, or the "
        "item itself (2 units in total). If images come from one book, "
        "plate or bone, they are not independent: give its column with "
        "--option fields.group=COLUMN"
    )
    units = UnitCounter(source.items()).units(done.manifest.unit)
    assert units == Units("image", "", groups=2, items=3, largest=2 / 3)


def test_the_column_of_the_group_names_the_units(source: Source) -> None:
    records = [each | {"Volume": "論語", "Book": "論語"} for each in (OCR, MCQ, APART)]
    done = source.read(*records, options={"fields.group": "Volume"})
    assert not [note for note in done.notes if "independence" in note]
    units = UnitCounter(source.items()).units(done.manifest.unit)
    assert units == Units("group", "Volume", groups=1, items=3, largest=1.0)


def test_an_import_in_which_some_records_have_a_group_says_so(source: Source) -> None:
    done = source.read(OCR | {"Group": "論語"}, APART | {"Group": ""})
    assert done.notes[-1].startswith(
        "Not every item has a group: the unit of independence is then its first image, or the item "
        "itself (2 units in total). If images"
    )
    assert UnitCounter(source.items()).units().kind == "mixed"


def test_options_of_a_field_are_put_under_the_question(source: Source) -> None:
    source.read(APART)
    (item,) = source.items()
    assert prompt_of(item) == (
        "出自哪本书？\nA、说苑 B、论语\n要求：只输出选项对应的字母，不要输出其他无关内容。"
    )
    assert choices_of(item) == ("A", "B")
    assert item.answer == "B"


def test_both_wordings_are_kept_as_released(source: Source) -> None:
    source.read(BOTH)
    (item,) = source.items()
    found = {script: prompt_of(item, script=script) for script in ("simplified", "traditional")}
    assert found == {"simplified": "谁是后羿？", "traditional": "孰爲后羿？"}
    assert prompt_of(item) == "谁是后羿？"


def test_a_question_released_in_one_script_is_converted_into_the_other(source: Source) -> None:
    source.read(without(BOTH, "Question_Traditional"))
    (item,) = source.items()
    assert item.question_in == {}
    assert prompt_of(item, script="traditional") == in_script("谁是后羿？", "traditional")


def test_options_of_a_field_are_put_under_both_wordings(source: Source) -> None:
    wordings = {"Question_Simplified": "出自哪本书？", "Question_Traditional": "源出何書？"}
    source.read(without(APART, "Question") | wordings)
    (item,) = source.items()
    assert prompt_of(item, script="traditional").splitlines()[:2] == [
        "源出何書？",
        "A、說苑 B、論語",
    ]
    assert prompt_of(item, script="simplified").splitlines()[:2] == [
        "出自哪本书？",
        "A、说苑 B、论语",
    ]
    assert item.answer == "B"


def test_of_punctuation_the_transcription_is_the_answer_without_marks(source: Source) -> None:
    source.read(OCR | {"Task_ID": 3, "Answer": "子曰：「學而，\n時習之。」𠀀"})
    assert source.items()[0].transcription == "子曰學而\n時習之𠀀"


def test_other_fields_can_be_mapped(source: Source) -> None:
    record = {
        "no": 7, "kind": 2, "asked": "翻译", "pic": "p.jpg", "gold": "学习", "Question": "unused",
    }  # fmt: skip
    mapped = {"id": "no", "task": "kind", "question": "asked", "image": "pic", "answer": "gold"}
    source.read(record, options={f"fields.{role}": name for role, name in mapped.items()})
    (item,) = source.items()
    assert (item.id, item.task, item.question, item.answer) == ("7", "T2", "翻译", "学习")


def test_spellings_of_a_name_are_one_name(source: Source) -> None:
    source.read(
        {"id": "x", "task_id": "1", "question": "读", "image_path": "images/p.jpg", "answer": "天"}
    )
    assert source.items()[0].answer == "天"


def test_an_unknown_layout_shows_expected_and_found(source: Source) -> None:
    with pytest.raises(
        DataError,
        match=r"fields\.image = TODO: a column, or a path such as .*found the columns ID, Task_ID, "
        r"Question, Answer, Answer_Simplified, bild\)",
    ):
        source.read(without(OCR, "Image") | {"bild": "p.jpg"})
    with pytest.raises(DataError, match=r"no record has a column 'Frage'.*Columns: .*Question"):
        source.read(OCR, options={"fields.question": "Frage"})
    with pytest.raises((DataError, UsageError), match="colour"):
        source.read(OCR, options={"fields.colour": "x"})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"data": ["x"]}, "expected a list of objects"),
        (["a"], "object 1: expected an object; found str"),
        ([], "the table has no lines"),
        ("text", "expected a list of objects"),
        ([OCR, without(OCR, "ID")], "fields.id = TODO: 1 record without ID"),
        ([OCR | {"ID": None}], "fields.id = TODO: 1 record without ID"),
        ([OCR, OCR], "the id 'T1-a1' is also that of object 1"),
        ([OCR | {"Task_ID": 46}], "values.task.46 = TODO"),
        ([OCR | {"Task_ID": 0}], "values.task.0 = TODO"),
        ([OCR | {"Task_ID": "OCR"}], "values.task.OCR = TODO"),
        ([OCR | {"Task_ID": "9" * 5000}], "values.task.9999"),
        ([OCR | {"Task_ID": 1.5}], "values.task.1.5 = TODO"),
        ([OCR | {"Question": ["a"]}], "object 1: expected text in 'Question'; found list"),
        ([OCR | {"Question": " "}], "object 1: the blank {question} of task 'T1' has no value"),
        ([OCR | {"Image": None}], "fields.image = TODO"),
        ([OCR | {"Image": [[1]]}], "1 file is missing: 1 (of object 1)"),
        ([OCR | {"Image": {"a": 1}}], "fields.image = TODO"),
        ([OCR | {"Image": "../../secret.jpg"}], "is missing: ../../secret.jpg (of object 1)"),
        ([OCR | {"Image": "/etc/passwd"}], "1 file is missing: /etc/passwd (of object 1)"),
        ([OCR | {"Image": "x" * 400 + ".jpg"}], "…" + "x" * 36 + ".jpg': File name too long"),
        ([APART | {"Options": {"A": "x", "C": "y"}}], "expected options A, B, C …; found A, C"),
    ],
)  # fmt: skip
def test_a_wrong_record_is_named(source: Source, content: object, says: str) -> None:
    with pytest.raises(DataError) as caught:
        source.read_content(content)
    assert says in str(caught.value)
    assert str(source.folder) in str(caught.value)


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, '[{"ID": "\udc00"}]', "[-Infinity]"])
def test_what_is_no_json_is_a_data_error(source: Source, text: str) -> None:
    with pytest.raises(
        DataError, match=r"data\.json: (object 1: )?(not readable as JSON|the text is not UTF-8)"
    ):
        source.read_text(text)


def test_missing_images_are_listed_or_left_out(source: Source) -> None:
    lost = OCR | {"ID": "lost", "Image": "lost.jpg"}
    half = MCQ | {"ID": "half", "Image": ["p.jpg", "gone.jpg"]}
    with pytest.raises(
        DataError, match=r"2 files are missing: lost\.jpg \(of object 2\), gone\.jpg"
    ):
        source.read(OCR, lost, half)
    done = source.read(OCR, lost, half, options={"skip-missing": "yes"})
    assert any("2 records dropped; the first: object 2: " in each for each in done.notes)
    assert [item.id for item in source.items()] == ["a1"]


def test_images_may_lie_elsewhere(source: Source, tmp_path: Path) -> None:
    (source.folder / "images").rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is not a folder"):
        source.read(OCR, options={"images": str(tmp_path / "nowhere")})
    source.read(OCR, options={"images": str(tmp_path / "elsewhere")})
    assert len(source.items()) == 1


def test_a_folder_without_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no tables and no images\. Expected a table \(\.csv"):
        import_dataset(
            "mcs-bench", tmp_path / "empty", tmp_path / "out",
            name="n", version="1", licence="l", source="s",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("record", "task"),
    [
        ({"Task_Name": "文本OCR"}, "T1"),
        ({"Task_Name": "Text OCR"}, "T1"),
        ({"Task_Name": "朝代识别", "Domain": "绘画"}, "T19"),
        ({"Task_Name": "Dynasty Identification", "Domain": "Cultural Relic"}, "T33"),
        ({"Task_ID": 19, "Task_Name": "朝代识别"}, "T19"),
        ({"Task_ID": 19, "Task_Name": "朝代识别", "Domain": "绘画"}, "T19"),
        ({"Task_ID": 19, "Task_Name": "朝代判断", "Domain": "书画"}, "T19"),
    ],
)
def test_name_and_domain_find_the_task(source: Source, record: dict, task: str) -> None:
    source.read(without(OCR, "Task_ID") | record)
    (item,) = source.items()
    assert item.task == task


def test_names_that_are_worded_otherwise_are_kept_as_metadata(source: Source) -> None:
    same = {"Task_Name": "文本OCR", "Domain": "古籍文本"}
    source.read(OCR | same, MCQ | {"Task_Name": "出处", "Domain": "Ancient Chinese Text"})
    plain, other = source.items()
    assert plain.metadata == {}
    assert other.metadata == {"Task_Name": "出处"}


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (
            {"Task_ID": 11, "Task_Name": "作者识别"},
            "T11 朝代识别 Dynasty Identification, but it names '作者识别'",
        ),
        ({"Task_ID": 11, "Task_Name": "朝代识别", "Domain": "绘画"}, "but it names '绘画'"),
        ({"Task_Name": "朝代识别"}, "TODO: T11 or T19 or T33"),
        ({"Task_Name": "朝代识别", "Domain": "印鉴"}, "TODO: T11 or T19 or T33"),
        ({"Task_Name": "朝代"}, "values.task.朝代 = TODO"),
    ],
)
def test_number_name_and_domain_must_agree(source: Source, record: dict, says: str) -> None:
    with pytest.raises(DataError) as caught:
        source.read(without(OCR, "Task_ID") | record)
    assert says in str(caught.value)


def test_without_a_number_or_a_name_the_field_is_named(source: Source) -> None:
    with pytest.raises(DataError, match=r"tables 1\.task = TODO"):
        source.read(without(OCR, "Task_ID"))


def test_an_item_passes_twelve_functions_of_eight_files(source: Source) -> None:
    """Those that run while a record is read, its image found and stored, or the item added."""
    ends = {"rows", "ImageFinder.find", "DatasetWriter.add_image", "DatasetWriter.add"}
    path: dict[str, str] = {}

    def note_callers(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_qualname in ends:
            codes = [caller.f_code for caller, _line in walk_stack(frame)]
            stack = {code.co_qualname: code.co_filename for code in codes
                     if keju.__path__[0] in code.co_filename}  # fmt: skip
            if "draft" not in stack:  # It looks at the records too, before any is imported.
                path.update(stack)

    sys.setprofile(note_callers)
    try:
        source.read(OCR)
    finally:
        sys.setprofile(None)
    assert (len(path), len(set(path.values()))) == (12, 8)
    drawn = str(mapped.__doc__)
    assert [name for name in path if name.rpartition(".")[2] not in drawn] == []
