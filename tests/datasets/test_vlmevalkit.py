"""VLMEvalKit's tables."""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from pathlib import Path

import pytest

from keju.definitions import prompt_of
from keju.errors import DataError
from tests.support.released import picture, put, vlmevalkit

T7 = {"constants.task": "T7"}


def code(number: int) -> str:
    return b64encode(picture(number)).decode()


def tsv(path: Path, *rows: dict[str, object]) -> Path:
    out = io.StringIO()
    table = csv.DictWriter(out, list(rows[0]), delimiter="\t", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return put(path, out.getvalue())


def row(**more: object) -> dict[str, object]:
    base = {
        "index": 1,
        "image": code(1),
        "question": "哪本？",
        "A": "說苑",
        "B": "論語",
        "answer": "B",
    }
    return base | more


def test_rows_become_items_of_the_task_that_is_named(read, tmp_path: Path) -> None:
    vlmevalkit(tmp_path / "src")
    done = read("vlmevalkit-tsv", tmp_path / "src", **T7)
    item = done.items[0]
    assert (item.id, item.task, item.answer, item.options) == ("0", "T7", "B", ("說苑", "論語"))
    assert item.metadata == {"category": "經部"}
    assert prompt_of(item) == (
        "第0問？\nA、說苑 B、論語\n要求：只输出选项对应的字母，不要输出其他无关内容。"
    )
    assert read("vlmevalkit-tsv", tmp_path / "src").items == done.items
    (tmp_path / "src/T7.tsv").rename(tmp_path / "src/MyBench.tsv")
    with pytest.raises(DataError, match=r"no task has .* 'MyBench'.*--option constants\.task=T7"):
        read("vlmevalkit-tsv", tmp_path / "src")
    with pytest.raises(DataError, match="no task has the name 'T99'"):
        read("vlmevalkit-tsv", tmp_path / "src", **{"constants.task": "T99"})


def test_open_questions_keep_their_hint_and_take_no_options(read, tmp_path: Path) -> None:
    tsv(tmp_path / "t.tsv", row(hint="看圖。", answer="說苑"))
    (item,) = read("vlmevalkit-tsv", tmp_path / "t.tsv", **{"constants.task": "T6"}).items
    assert (prompt_of(item), item.options) == ("看圖。\n哪本？", ())
    tsv(tmp_path / "o.tsv", row(question="How many?", answer="3"))
    (item,) = read(
        "vlmevalkit-tsv",
        tmp_path / "o.tsv",
        **{"constants.task": "recognition", "constants.query": "How"},
    ).items
    assert (item.task, item.query, item.answer) == ("recognition", "How", "3")


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (
            {"A": "甲", "B": "", "C": "丙", "D": "丁"},
            "an option between others is empty",
        ),
        (
            {"A": "甲", "B": " ", "C": "丙", "D": ""},
            "an option between others is empty",
        ),
        ({"A": "", "B": "乙", "C": "", "D": ""}, "an option between others is empty"),
    ],
)
def test_a_gap_in_the_options_is_refused_lest_the_letters_move(
    read, tmp_path: Path, cells: dict[str, object], says: str
) -> None:
    file = tsv(tmp_path / "t.tsv", row(C="", D=""), row(index=2, **cells))
    with pytest.raises(DataError) as caught:
        read("vlmevalkit-tsv", file, **T7)
    assert f"{file}: line 3: {says}" in str(caught.value)


def test_empty_columns_after_the_last_option_are_none(read, tmp_path: Path) -> None:
    file = tsv(tmp_path / "t.tsv", row(C="", D=" "), row(index=2, C="丙", D="丁", answer="C"))
    first, second = read("vlmevalkit-tsv", file, **T7).items
    assert first.options == ("說苑", "論語")
    assert second.options == ("說苑", "論語", "丙", "丁")


@pytest.mark.parametrize("form", ["json", "python"])
def test_a_row_may_have_several_images_or_paths(read, tmp_path: Path, form: str) -> None:
    put(tmp_path / "images/a.png", picture(3))
    several = json.dumps([code(1), code(2)])
    rows = [
        row(image=several if form == "json" else several.replace('"', "'"), image_path=""),
        row(index=2, image=code(1), image_path="a.png"),
        row(index=3, image="", image_path="a.png"),
        row(index=4, image="", image_path="['a.png', 'images/a.png']"),
    ]
    tsv(tmp_path / "t.tsv", *rows)
    items = read("vlmevalkit-tsv", tmp_path / "t.tsv", **T7).items
    assert [len(item.images) for item in items] == [2, 1, 1, 2]
    assert items[0].images[:1] == items[1].images


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"image": "@@@@" * 30}, "1 file is missing: @@@@"),
        (
            {"image": b64encode(b"not a picture at all, but text" * 9).decode()},
            "line 2: image 'bm90",
        ),
        ({"image": "7"}, "1 file is missing: 7 (of line 2)"),
        ({"image": ""}, "line 2: without an image. Name its image"),
        ({"image": "[]"}, "line 2: without an image. Name its image"),
        ({"image": "", "image_path": "[ ]"}, "line 2: without an image. Name its image"),
        ({"image": "", "image_path": "b.png"}, "1 file is missing: b.png (of line 2)"),
        ({"image": "", "image_path": "../b.png"}, "1 file is missing: ../b.png (of line 2)"),
        ({"question": " "}, "line 2: the blank {question} of task 'T7' has no value"),
        ({"index": ""}, "line 2: no value in the column 'index'"),
    ],
)
def test_a_wrong_row_is_named(read, tmp_path: Path, changed: dict[str, object], says: str) -> None:
    tsv(tmp_path / "t.tsv", row() | changed)
    with pytest.raises(DataError) as caught:
        read("vlmevalkit-tsv", tmp_path / "t.tsv", **T7)
    assert says in str(caught.value)
    assert "t.tsv" in str(caught.value)


def test_a_table_without_a_column_or_rows_is_named(read, tmp_path: Path) -> None:
    put(tmp_path / "a.tsv", "index\tquestion\timage\n1\tq\tx\n")
    with pytest.raises(
        DataError, match=r"no record has a column 'answer'.*Columns: image, image_or_path, index"
    ):
        read("vlmevalkit-tsv", tmp_path / "a.tsv", **T7)
    put(tmp_path / "b.tsv", "index\tquestion\timage\tanswer\n")
    with pytest.raises(DataError, match=r"b\.tsv: the table has no lines"):
        read("vlmevalkit-tsv", tmp_path / "b.tsv", **T7)


LETTERS = ["B", "b", "B.", "(B)", "（ｂ）", "Ｂ", " B ", "**B**", "論語", "论语"]


@pytest.mark.parametrize("answer", LETTERS)
def test_an_answer_that_is_plainly_a_letter_is_stored_as_the_letter(
    read, tmp_path: Path, answer: str
) -> None:
    file = tsv(tmp_path / "t.tsv", row(answer=answer))
    assert [item.answer for item in read("vlmevalkit-tsv", file, **T7).items] == ["B"]


@pytest.mark.parametrize("answer", ["C", "AB", "A,B", "B或A", "2", "B. 說苑", "A good one", "乙"])
def test_an_answer_that_is_no_option_is_refused_with_its_line(
    read, tmp_path: Path, answer: str
) -> None:
    file = tsv(tmp_path / "t.tsv", row(), row(index=2, answer=answer))
    with pytest.raises(DataError) as caught:
        read("vlmevalkit-tsv", file, **T7)
    assert "t.tsv: line 3: the answer" in str(caught.value)
    assert "is not one of the options A to B. Write the letter" in str(caught.value)


def test_a_letter_counts_before_the_text_of_another_option(read, tmp_path: Path) -> None:
    file = tsv(tmp_path / "t.tsv", row(A="B", B="A", answer="A"))
    assert [item.answer for item in read("vlmevalkit-tsv", file, **T7).items] == ["A"]


def test_a_row_without_an_answer_stays_without(read, tmp_path: Path) -> None:
    file = tsv(tmp_path / "t.tsv", row(answer=""))
    assert [item.answer for item in read("vlmevalkit-tsv", file, **T7).items] == [""]
