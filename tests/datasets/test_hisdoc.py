"""M5HisDoc and MTHv2: pages with text lines."""

from __future__ import annotations

import pytest

from keju.datasets.readers.listing import Listing
from keju.datasets.readers.presets import HISDOC
from keju.errors import DataError, KejuError
from tests.support.layouts import hisdoc
from tests.support.released import picture, put


def test_a_page_has_its_lines_in_released_order_with_their_outlines(read, tmp_path):
    done = read("hisdoc", hisdoc.whole(tmp_path / "src"))
    by_id = {item.id: item for item in done.items}
    assert list(by_id) == ["M5HisDoc_hard/p2", "M5HisDoc_regular/p1"]
    page = by_id["M5HisDoc_regular/p1"]
    assert (page.benchmark, page.task) == ("pages", "page_ocr")
    assert page.answer == page.transcription == "學而時習之,不亦說乎\n有朋自遠方來"
    assert page.lines[1].polygon == ((20, 1), (29, 1), (29, 59), (20, 59))
    assert page.metadata == {"subset": "M5HisDoc_regular", "split": "test", "order": "stated"}


def test_the_regular_and_the_hard_image_of_a_page_are_one_group(read, tmp_path):
    for subset in ("M5HisDoc_regular", "M5HisDoc_hard"):
        hisdoc.page(tmp_path / "src" / subset, "p1")
    first, second = read("hisdoc", tmp_path / "src").items
    assert first.id != second.id
    assert first.group == second.group == "p1"


def test_a_split_chooses_pages(read, tmp_path):
    src = hisdoc.whole(tmp_path / "src")
    assert [item.id for item in read("hisdoc", src, **{"only.split": "train"}).items] == [
        "M5HisDoc_hard/p2"
    ]


def test_names_in_a_split_may_have_a_suffix_and_a_page_may_be_in_none(read, tmp_path):
    src = hisdoc.subset(tmp_path / "src")
    put(src / "split_val.txt", "images/p1.jpg\n")
    done = read("hisdoc", src)
    assert [item.metadata.get("split") for item in done.items] == ["val", None]


def test_geometry_orders_columns_from_right_to_left(read, tmp_path):
    rows = ["1,1,9,1,9,59,1,59,左", "20,1,29,1,29,59,20,59,右"]
    put(tmp_path / "src/label_textline/p1.txt", "\n".join(rows))
    put(tmp_path / "src/images/p1.png", picture(1))
    assert read("hisdoc", tmp_path / "src").items[0].answer == "左\n右"


def test_the_task_may_be_mcs_benchs(read, tmp_path):
    (item, _) = read("hisdoc", hisdoc.subset(tmp_path / "src"), **{"constants.task": "T1"}).items
    assert (item.benchmark, item.task) == ("MCS-Bench", "T1")


@pytest.mark.parametrize(
    ("line", "text"),
    [("1,2,3,4,5,6,7,8,9", "9"), ("1,2,3,4,5,6,7,8,,", ","), ("天,地,1,2,3,4,5,6,7,8", "天,地")],
)
def test_texts_may_be_numbers_and_contain_commas(read, tmp_path, line, text):
    put(tmp_path / "src/label_textline/p1.txt", line)
    put(tmp_path / "src/images/p1.png", picture(1))
    (item,) = read("hisdoc", tmp_path / "src").items
    assert item.answer == text
    assert item.lines[0].polygon[0] == (1, 2)


@pytest.mark.parametrize(
    "row", ["天地", "1,2,3,4,5,6,7,天", "1,2,3,4,5,6,7,nan,天", "1,2,3,1e9,5,6,7,8,天"]
)
def test_a_line_of_another_kind_is_named(read, tmp_path, row):
    put(tmp_path / "src/label_textline/p1.txt", f"1,2,3,4,5,6,7,8,天\n\n{row}\n")
    put(tmp_path / "src/images/p1.png", picture(1))
    with pytest.raises(DataError, match=r"p1\.txt: line 3: expected x1,y1") as refused:
        read("hisdoc", tmp_path / "src")
    assert refused.value.hint


def test_a_page_without_image_stops_the_import_or_is_skipped(read, tmp_path):
    src = hisdoc.subset(tmp_path / "src")
    (src / "images/p2.jpg").unlink()
    with pytest.raises(DataError, match=r"1 file is missing: the image of label_textline/p2\.txt"):
        read("hisdoc", src)
    done = read("hisdoc", src, skip_missing="yes")
    assert [item.id for item in done.items] == ["p1"]
    assert any(note.startswith("1 record dropped; the first: ") for note in done.notes)


def test_a_page_in_two_splits_is_named(read, tmp_path):
    src = hisdoc.whole(tmp_path / "src")
    put(src / "split_val.txt", "p1\n")
    with pytest.raises(DataError, match=r"split_val\.txt: line 1: two different .* 'p1'"):
        read("hisdoc", src)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"only.split": "all"}, "the source has no records"),
        ({"constants.task": "T7"}, "the blank .options. of task .T7"),
    ],
)
def test_an_unknown_option_value_is_named(read, tmp_path, options, says):
    with pytest.raises(KejuError, match=says):
        read("hisdoc", hisdoc.whole(tmp_path / "src"), **options)


@pytest.mark.parametrize("layout", hisdoc.LAYOUTS, ids=lambda layout: layout.name)
def test_each_layout_is_recognised(tmp_path, layout):
    found = HISDOC.detect(Listing(layout.write(tmp_path / "src")))
    assert found is not None
    assert bool(found.missing) == bool(layout.missing)
    assert found.fit >= 0.9


def test_a_folder_of_pages_is_not_taken_for_m5hisdoc(tmp_path):
    put(tmp_path / "src/book/p1.txt", "天地")
    put(tmp_path / "src/book/p1.png", picture(1))
    assert HISDOC.detect(Listing(tmp_path / "src")) is None
