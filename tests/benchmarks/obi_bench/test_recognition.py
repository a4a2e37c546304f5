"""OBI-Bench's recognition: boxes drawn with LabelImg or listed in a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from keju.benchmarks.obi_bench.readers.recognition import READER
from keju.datasets.readers.listing import Listing
from keju.datasets.validate import validate
from keju.definitions import prompt_of
from keju.errors import DataError
from keju.items import Box
from tests.support.released import (
    obi_boxes,
    obi_recognition,
    obi_yinqiwenyuan,
    picture,
    put,
    table,
    voc,
)


def test_a_picture_is_asked_in_four_ways_and_its_boxes_answer(read, tmp_path: Path) -> None:
    obi_recognition(tmp_path / "O2BR")
    done = read("obi-recognition", tmp_path / "O2BR")
    asked = {item.query: item for item in done.items if "bone2" in item.id}
    assert list(asked) == ["What", "Yes-or-No", "How", "Where"]
    assert asked["Yes-or-No"].answer == "yes"
    assert asked["How"].answer == "2"
    assert asked["Where"].boxes == (Box(x0=1, y0=1, x1=9, y1=20), Box(x0=1, y0=1, x1=10, y1=20))
    assert "oracle bone inscriptions" in asked["What"].answer
    assert prompt_of(asked["How"]) == "How many oracle bone characters are in this image?"
    assert asked["How"].metadata == {
        "source": "O2BR", "type": "Fragments (original)", "file": "images/bone2.png",
    }  # fmt: skip
    assert list(validate(done.path)) == []


def test_a_negative_is_asked_yes_or_no_alone_and_the_answer_is_no(read, tmp_path: Path) -> None:
    obi_recognition(tmp_path / "O2BR")
    done = read("obi-recognition", tmp_path / "O2BR")
    (negative,) = [item for item in done.items if "tree" in item.id]
    assert (negative.query, negative.answer) == ("Yes-or-No", "no")
    assert not any("always says yes" in note for note in done.notes)


def test_without_negatives_the_note_says_what_yes_or_no_is_worth(read, tmp_path: Path) -> None:
    obi_boxes(tmp_path / "O2BR")
    notes = read("obi-recognition", tmp_path / "O2BR").notes
    assert "O2BR: 2 images; the paper has 800" in notes
    assert any("a model that always says yes is right" in note for note in notes)


def test_what_is_answered_by_the_table_then_the_option_then_keju(read, tmp_path: Path) -> None:
    src = tmp_path / "O2BR"
    obi_boxes(src)
    table(src / "descriptions.csv", ("image", "description"), ("bone1.png", "A shell."))
    what = {
        item.metadata["file"]: item.answer
        for item in read("obi-recognition", src, description="A bone.").items
        if item.query == "What"
    }
    assert what == {"images/bone1.png": "A shell.", "images/bone2.png": "A bone."}
    done = read("obi-recognition", src)
    assert any("keju's own description for 1 image" in note for note in done.notes)
    own = read("obi-recognition", src, source="my museum")
    assert sum(item.query == "What" for item in own.items) == 1
    assert any("1 image is not asked What" in note for note in own.notes)


def test_a_table_of_boxes_may_give_sizes_and_has_known_columns(read, tmp_path: Path) -> None:
    put(tmp_path / "a/p.png", picture(1))
    table(
        tmp_path / "a/boxes.csv",
        ("file", "x", "y", "width", "height", "label"),
        ("p.png", 2, 3, 10, 20, "王"),
    )
    done = read("obi-recognition", tmp_path / "a")
    assert done.items[-1].boxes == (Box(x0=2, y0=3, x1=12, y1=23),)
    table(tmp_path / "a/boxes.csv", ("pic", "l", "o", "r", "u"), ("p.png", 2, 3, 10, 20))
    with pytest.raises(
        DataError, match=r"a column for the image \(image or filename .*Name the columns image,xmin"
    ):
        read("obi-recognition", tmp_path / "a")


def test_sources_in_one_folder_are_read_in_the_papers_order(read, tmp_path: Path) -> None:
    for name in ("YinQiWenYuan", "O2BR"):
        obi_recognition(tmp_path / "all" / name)
    put(tmp_path / "all/HWOBC/1/1.png", picture(7))
    done = read("obi-recognition", tmp_path / "all")
    assert done.manifest.made["sources"] == "O2BR, YinQiWenYuan_detection"
    assert list(dict.fromkeys(item.metadata["source"] for item in done.items)) == [
        "O2BR", "YinQiWenYuan_detection",
    ]  # fmt: skip


def test_an_annotation_of_a_picture_of_another_size_is_refused(read, tmp_path: Path) -> None:
    put(tmp_path / "s/p.png", picture(1))
    voc(tmp_path / "s/p.xml", (1, 1, 9, 9), size=(80, 120))
    with pytest.raises(DataError, match=r"object 1: the box was drawn on an image of 80x120"):
        read("obi-recognition", tmp_path / "s")
    voc(tmp_path / "s/p.xml", (1, 1, 9, 9), size=(0, 0))
    assert len(read("obi-recognition", tmp_path / "s").items) == 3


def test_pictures_of_one_name_need_their_annotation_beside_them(read, tmp_path: Path) -> None:
    for number, folder in enumerate(("a", "b")):
        put(tmp_path / f"s/{folder}/p.png", picture(number))
        voc(tmp_path / f"s/{folder}/p.xml", (1, 1, 9, 9))
    assert len(read("obi-recognition", tmp_path / "s").items) == 6
    (tmp_path / "s/a/p.xml").rename(tmp_path / "s/p.xml")
    with pytest.raises(DataError, match=r"several images fit 'p': .*put the annotation beside"):
        read("obi-recognition", tmp_path / "s")


def test_a_box_that_stands_there_twice_is_counted_once_and_said(read, tmp_path: Path) -> None:
    obi_boxes(tmp_path / "s")
    with (tmp_path / "s/boxes.csv").open("a") as boxes:
        boxes.write("images/bone1.png,1,1,9,20\n")
    done = read("obi-recognition", tmp_path / "s")
    assert [item.answer for item in done.items if item.query == "How"] == ["2", "1"]
    assert "s: 1 box listed twice and counted once" in done.notes


def test_a_negative_has_no_boxes_and_a_picture_without_boxes_is_no_negative(
    read, tmp_path: Path
) -> None:
    obi_recognition(tmp_path / "s")
    (tmp_path / "s/annotations/bone1.xml").unlink()
    with pytest.raises(DataError, match=r"1 image without boxes: images/bone1\.png\. Draw them"):
        read("obi-recognition", tmp_path / "s")
    done = read("obi-recognition", tmp_path / "s", skip_missing="yes")
    assert "s: skipped 1 image without boxes: images/bone1.png" in done.notes
    put(tmp_path / "s/negatives/bone4.png", picture(4))
    table(tmp_path / "s/boxes.csv", ("image", "xmin", "ymin", "xmax", "ymax"),
          ("images/bone1.png", 1, 1, 9, 9), ("negatives/bone4.png", 1, 1, 9, 9))  # fmt: skip
    for path in (tmp_path / "s/annotations").iterdir():
        path.unlink()
    with pytest.raises(DataError, match=r"boxes on images of negatives: negatives/bone4\.png"):
        read("obi-recognition", tmp_path / "s", skip_missing="yes")


@pytest.mark.parametrize(
    ("folder", "source"),
    [
        ("O2BR", "O2BR"), ("o2br_dataset", "O2BR"), ("YinQiWenYuan", "YinQiWenYuan_detection"),
        ("yinqi", "YinQiWenYuan_detection"), ("AYNU detection", "YinQiWenYuan_detection"),
        ("殷契文渊", "YinQiWenYuan_detection"), ("my bones", "my bones"),
    ],
)  # fmt: skip
def test_a_source_is_recognised_by_the_usual_spellings_of_its_folder(
    read, tmp_path: Path, folder, source
) -> None:
    obi_boxes(tmp_path / folder)
    done = read("obi-recognition", tmp_path / folder)
    assert {item.metadata["source"] for item in done.items} == {source}


def detected(src: Path):
    return READER.detect(Listing(src))


def test_detection_names_the_source_and_what_is_missing(tmp_path: Path) -> None:
    obi_yinqiwenyuan(tmp_path / "bones")
    found = detected(tmp_path / "bones")
    assert found.fit == 1
    assert found.what == "OBI-Bench's recognition: 2 images"
    assert found.options == {"source": "YinQiWenYuan_detection"}
    assert found.missing == ""
    assert detected(tmp_path / "bones/none") is None
    put(tmp_path / "strange/O2BR/1.png", picture(1))
    put(tmp_path / "strange/other/1.png", picture(1))
    assert "found also other" in detected(tmp_path / "strange").missing
    put(tmp_path / "other/1.png", picture(1))
    put(tmp_path / "other/1.xml", "<PcGts/>")
    assert detected(tmp_path / "other") is None


def test_detection_finds_several_sources(tmp_path: Path) -> None:
    obi_recognition(tmp_path / "all/O2BR")
    obi_yinqiwenyuan(tmp_path / "all/AYNU")
    assert detected(tmp_path / "all") == (1, "OBI-Bench's recognition: 6 images", {}, "")
