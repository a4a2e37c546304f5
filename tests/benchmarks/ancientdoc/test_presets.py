"""AncientDoc's presets: the forms that were seen need no edit, assumed ones a few lines."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from keju.datasets.readers.mapped import FileSettings, read_mapped
from keju.datasets.store import Dataset, DatasetWriter
from keju.datasets.values import value_label
from keju.errors import DataError, UsageError
from keju.items import Item
from tests.support.layouts import ancientdoc
from tests.support.released import picture, put

LAYOUTS = {layout.name.removeprefix("ancientdoc: "): layout for layout in ancientdoc.LAYOUTS}


def read(src: Path, out: Path, edit: ancientdoc.Edit, **about: str) -> tuple[list[Item], list[str]]:
    """Items and notes of a source by a preset with an edit."""
    mapping = ancientdoc.mapping_of(edit)
    with DatasetWriter(out, name="n", version="1", **about) as writer:
        notes = list(read_mapped(src, writer, mapping, FileSettings()))
    return Dataset.open(out).items(), notes


@pytest.fixture
def imported(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    return tmp_path, {"licence": "CC0-1.0", "source": "s"}


def test_every_complete_layout_is_seen_or_has_an_edit():
    complete = {name for name, layout in LAYOUTS.items() if not layout.missing}
    mapped = {name for name in complete if LAYOUTS[name].reader == "mapped"}
    assert mapped == ancientdoc.EDITS.keys()
    assert {name for name in complete if LAYOUTS[name].evidence == "assumed"} == mapped


@pytest.mark.parametrize("name", list(ancientdoc.EDITS))
def test_a_layout_that_nobody_has_seen_is_refused_without_its_edit(imported, name: str):
    place, about = imported
    src = LAYOUTS[name].write(place / "src") or place / "src"
    for preset in ("ancientdoc", "ancientdoc-lines", "ancientdoc-images"):
        with pytest.raises(
            (DataError, UsageError),
            match=r"neither mapped nor ignored|no table is called|matches none of|"
            r"no record has a column 'answer'. Did you mean 'Knowledge Answer 1'",
        ):
            read(src, place / preset, ancientdoc.Edit(preset, {}), **about)


def test_a_second_text_of_a_page_and_an_image_that_is_missing_are_refused(imported):
    place, about = imported
    row = "兵家类,兵鏡page_1.png,"
    put(place / "src/label.csv", f"type,name,OCR\n{row}一\n{row}二\n")
    with pytest.raises(DataError, match=r"1 file is missing: imgs/兵家类/兵鏡/page_1\.png"):
        read(place / "src", place / "out", ancientdoc.Edit("ancientdoc", {}), **about)
    put(place / "src/imgs/兵家类/兵鏡/page_1.png", picture(1))
    with pytest.raises(DataError, match="page_level_ocr-1' is also that of line 2"):
        read(place / "src", place / "out", ancientdoc.Edit("ancientdoc", {}), **about)


def test_a_page_without_text_gives_no_item_and_is_noted(imported):
    place, about = imported
    put(place / "src/label.csv", "type,name,OCR\n兵家类,甲page_1.png,一\n兵家类,甲page_2.png, \n")
    for number in (1, 2):
        put(place / f"src/imgs/兵家类/甲/page_{number}.png", picture(number))
    items, notes = read(place / "src", place / "out", ancientdoc.Edit("ancientdoc", {}), **about)
    assert [item.answer for item in items] == ["一"]
    assert notes == [
        "unused images: 1, e.g. imgs/兵家类/甲/page_2.png",
        "no item where the question or answer is empty: page_level_ocr: 1",
    ]


def test_a_table_of_books_adds_its_columns_by_a_lookup(imported):
    place, about = imported
    src = LAYOUTS["label.csv with OCR alone"].write(place / "src")
    put(src / "books.csv", "title,dynasty\n兵垣四編,Ming\n書譜,Tang\n")
    edit = ancientdoc.Edit(
        "ancientdoc",
        {'book = "book"\n': 'book = "book"\ndynasty = "dynasty"\n'},
        '[[mapping.lookup]]\npath = "books.csv"\nkey = "title"\nby = "book"\n',
    )
    items, _notes = read(src, place / "out", edit, **about)
    assert {item.metadata["book"]: item.metadata["dynasty"] for item in items} == {
        "兵垣四編": "Ming", "書譜": "Tang",
    }  # fmt: skip


@pytest.mark.parametrize("preset", ["ancientdoc", "ancientdoc-lines"])
def test_the_categories_are_the_papers(preset: str):
    data = tomllib.loads((ancientdoc.PRESETS / f"{preset}.toml").read_text("utf-8"))
    categories = data["mapping"]["values"]["category"]
    assert len(categories) == 14
    for chinese, english in categories.items():
        assert value_label("category", chinese) == value_label("category", english)
