"""Sources in which an image, a letter or a text may belong to another item."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.listing import LOWEST, Listing, find_candidates
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.items import Item
from tests.support.released import picture, put

Read = Callable[..., tuple[list[Item], tuple[str, ...]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Imports files, JSON or text by name, beside images by name."""

    def go(
        files: dict[str, Any], images: Iterable[str], reader: str = "mcs-bench"
    ) -> tuple[list[Item], tuple[str, ...]]:
        write(tmp_path / "src", files, images)
        done = import_dataset(reader, tmp_path / "src", tmp_path / "out", name="n", version="1")
        return list(Dataset.open(tmp_path / "out").items()), done.notes

    return go


def write(src: Path, files: dict[str, Any], images: Iterable[str]) -> Path:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        put(src / name, text)
    for number, name in enumerate(images):
        put(src / name, picture(number, (8, 12)))
    return src


def record(name: int | str, task: int = 1, **other: Any) -> dict[str, Any]:
    return {"ID": name, "Task_ID": task, "Question": "问题书", "Answer": f"书{name}", **other}


def choice(**other: Any) -> dict[str, Any]:
    return record(1, 7, Image="1.png", **other)


def test_numbers_that_may_be_task_and_id_or_id_and_image_are_refused(read: Read) -> None:
    images = [f"images/{name}.png" for name in ("1_1", "1_2", "2_1", "2_2")]
    with pytest.raises(DataError, match=r"fields\.image = TODO"):
        read({"data.json": [record(1), record(2)]}, images)


def test_an_image_found_for_different_paths_is_reported(read: Read) -> None:
    records = [record(1, Image="/x/a/1.jpg"), record(2, Image="/x/b/1.jpg")]
    _, notes = read({"data.json": records}, ["1.png"])
    assert any("for /x/a/1.jpg and /x/b/1.jpg" in note for note in notes)


def test_an_image_found_for_ends_of_one_path_is_not_doubtful(read: Read) -> None:
    records = [record(1, Image="/x/a/1.jpg"), record(2, Image="a/1.jpg")]
    _, notes = read({"data.json": records}, ["1.png"])
    assert not any("different paths" in note for note in notes)


@pytest.mark.parametrize(
    "options",
    [["B. 乙", "A. 甲", "C. 丙"], "B. 乙\nA. 甲\nC. 丙", ["Ａ．甲", "Ｂ．乙", "Ｃ．丙"]],
)
def test_lettered_options_are_put_in_the_order_of_their_letters(read: Read, options: Any) -> None:
    items, _ = read({"data.json": [choice(Options=options, Answer="A")]}, ["images/1.png"])
    assert items[0].options == ("甲", "乙", "丙")
    assert items[0].answer == "A"


@pytest.mark.parametrize("options", [["A. 甲", "C. 丙", "D. 丁"], "A. 甲 C. 丙 D. 丁"])
def test_lettered_options_with_a_gap_are_refused(read: Read, options: Any) -> None:
    with pytest.raises(DataError, match="found A, C, D"):
        read({"data.json": [choice(Options=options, Answer="C")]}, ["images/1.png"])


def test_years_are_not_letters_of_options(read: Read) -> None:
    records = [choice(Options=["A.D. 100", "B.C. 200"], Answer="B")]
    items, _ = read({"data.json": records}, ["images/1.png"])
    assert items[0].options == ("A.D. 100", "B.C. 200")


def test_fields_that_differ_in_case_are_both_kept(read: Read) -> None:
    items, _ = read(
        {"data.json": [record(1, Author="甲", author="乙", Image="1.png")]}, ["images/1.png"]
    )
    assert items[0].metadata == {"author": "甲", "author_2": "乙"}


@pytest.mark.parametrize("head", ["", "Unnamed: 0"])
def test_a_column_without_name_is_no_metadata(read: Read, head: str) -> None:
    rows = f"{head},ID,Task_ID,Question,Answer,Image\n0,1,1,问,甲,1.png\n"
    items, _ = read({"data.csv": rows}, ["images/1.png"])
    assert items[0].metadata == {}


@pytest.mark.parametrize(
    "corners", [("xmin", "ymin", "xmax", "ymax"), ("x", "y", "width", "height")]
)
def test_boxes_in_shares_are_not_read_as_pixels(read: Read, corners: tuple[str, ...]) -> None:
    boxes = f"image,{','.join(corners)}\na.png,0.1,0.2,0.5,0.6\n"
    with pytest.raises(DataError, match="fractions of the image"):
        read({"boxes.csv": boxes}, ["a.png"], "obi-recognition")


@pytest.mark.parametrize(
    "files",
    [
        {"data.json": [{"id": 1, "task": "OCR", "question": "Read", "answer": "B",
                        "image": "1.png"}]},
        {"data.json": [{"id": 1, "task": "reading comprehension", "question": "Read",
                        "answer": "B", "image": "1.png"}]},
        {"T1.json": [{"id": 1, "question": "Read", "answer": "B", "image": "1.png"}]},
        {"label.csv": "name,type,OCR\n1.png,invoice,Total 1\n"},
    ],
)  # fmt: skip
def test_sources_without_chinese_are_of_no_chinese_benchmark(
    tmp_path: Path, files: dict[str, Any]
) -> None:
    listing = Listing(write(tmp_path, files, ["1.png"]))
    found = find_candidates(listing, FORMATS.values())
    assert not [each.reader.name for each in found if each.detection.fit >= LOWEST]
