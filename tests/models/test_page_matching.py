"""Results belong to the pages whose names they have, and to no others."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

from keju.datasets.page_names import NamedPage, find_named_pages, scan_page
from keju.errors import DataError
from keju.items import ImageRef, Item, Request
from keju.models.page_files import PageIndex


def page(name: str, *more: tuple[str, ...], image: str = "", alone: str = "") -> NamedPage:
    ref = ImageRef(path="images/x.png", sha256=image or name, width=1, height=1, size=1)
    names = (PurePosixPath(name).parts, *more)
    others = (alone,) if alone else ()
    return NamedPage(item=name, task="t", number=1, image=ref, names=names, alone=others)


def match_files(folder: Path, files: Iterable[str], pages: Iterable[NamedPage]) -> PageIndex:
    """The index with files, each given as its path in the folder."""
    index = PageIndex(pages)
    for inside in files:
        path = folder / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        index.add(path, PurePosixPath(inside), "form")
    return index


def found(folder: Path, files: Iterable[str], pages: list[NamedPage]) -> dict[str, str]:
    """The file of each page that has one."""
    index = match_files(folder, files, pages)
    about = {"benchmark": "b", "task": "t", "form": "text", "prompt": ""}
    requests = [Request(item=page.item, images=(page.image,), **about) for page in pages]
    matches = {request.item: index.find(request, 0) for request in requests}
    return {item: file[0] for item, file in matches.items() if file}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("p1.txt", "p1"),
        ("P1.XML", "p1"),
        ("p1.jpg.txt", "p1"),
        ("p1.alto.xml", "p1"),
        ("page/p1.xml", "p1"),
        ("1234/Lunyu/page/p1.xml", "p1"),
        ("book/p1.xml", "book/p1"),
        ("Book/alto/p1.xml", "book/p1"),
        ("export/book/page/p1.xml", "book/p1"),
        ("p1.xml", "book/p1"),
        (unicodedata.normalize("NFD", "é1.txt"), unicodedata.normalize("NFC", "é1")),
        (unicodedata.normalize("NFC", "é1.txt"), unicodedata.normalize("NFD", "é1")),
    ],
)
def test_a_file_belongs_to_the_page_of_its_name(tmp_path, given, wanted):
    assert found(tmp_path, [given], [page(wanted)]) == {wanted: given}


@pytest.mark.parametrize(
    ("given", "pages"),
    [
        ("book2/p1.txt", ["book1/p1"]),
        ("p10.txt", ["p1"]),
        ("p1-1.txt", ["p1"]),
        ("book/p1/x.txt", ["book/p1"]),
    ],
)
def test_another_name_or_folder_is_another_page(tmp_path, given, pages):
    named = [page(name) for name in pages]
    assert found(tmp_path, [given], named) == {}


def test_the_name_of_an_export_counts_in_no_other_folder(tmp_path):
    known = [page("a/p1", alone="p1"), page("b/p2", alone="b_p2")]
    assert found(tmp_path, ["page/b_p2.xml"], known) == {"b/p2": "page/b_p2.xml"}
    assert found(tmp_path, ["p1.xml"], known) == {"a/p1": "p1.xml"}
    assert found(tmp_path, ["other/p1.xml", "other/b_p2.xml"], known) == {}


def test_books_are_told_apart_by_their_folders(tmp_path):
    pages = [page("a/001"), page("b/001")]
    files = ["b/001.txt", "a/page/001.xml"]
    assert found(tmp_path, files, pages) == {"a/001": "a/page/001.xml", "b/001": "b/001.txt"}
    with pytest.raises(DataError, match=r"001\.txt: the name fits several pages: a/001, b/001"):
        match_files(tmp_path, ["001.txt"], pages)


@pytest.mark.parametrize(
    "given",
    [("p1.txt", "p1.xml"), ("page/p1.xml", "alto/p1.xml"), ("p1.txt", "p1.jpg.txt")],
)
def test_two_results_for_one_page_are_an_error_that_names_both(tmp_path, given):
    with pytest.raises(DataError, match="page p1: two results for one page") as caught:
        match_files(tmp_path, given, [page("p1")])
    assert all(file in str(caught.value) for file in given)


def test_one_image_of_two_items_has_one_result(tmp_path):
    pages = [page("a", ("p1",), image="same"), page("b", ("p1",), image="same")]
    assert found(tmp_path, ["p1.txt"], pages) == {"a": "p1.txt", "b": "p1.txt"}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (("book/001.txt", "book/002.txt"), {"1": "book/001.txt", "2": "book/002.txt"}),
        (("book-1.xml", "book-2.xml"), {"1": "book-1.xml", "2": "book-2.xml"}),
    ],
)
def test_pages_of_a_pdf_are_found_by_number(tmp_path, given, wanted):
    pages = [page(str(at))._replace(names=(("book", scan_page(at)),)) for at in (1, 2)]
    assert found(tmp_path, given, pages) == wanted


@pytest.mark.parametrize("given", [("book_0.txt", "book_1.txt"), ("book/001.txt", "book/000.txt")])
def test_results_that_are_numbered_from_0_are_an_error(tmp_path, given):
    pages = [page(str(at))._replace(names=(("book", scan_page(at)),)) for at in (1, 2)]
    with pytest.raises(DataError, match="the results of book are numbered from 0"):
        match_files(tmp_path, given, pages)


def test_an_image_that_is_called_0_has_a_file_of_that_name(tmp_path):
    assert found(tmp_path, ["book/p0.txt"], [page("book/p0")]) == {"book/p0": "book/p0.txt"}


def test_the_names_of_a_page_are_those_of_source_item_export_and_image():
    def item(name: str, images: int = 1, **metadata: str) -> Item:
        refs = tuple(
            ImageRef(path=f"images/{name}{at}.png", sha256="0" * 64, width=1, height=1, size=1)
            for at in range(images)
        )
        return Item(id=name, benchmark="AncientDoc", task="page_level_ocr", images=refs,
                    metadata=metadata)  # fmt: skip

    given = [item("a/x", file="a/p1.jpg"), item("b/002", file="b.pdf", page="2"), item("c", 2)]
    pages = list(find_named_pages(given))
    assert [each.names for each in pages[:2]] == [
        (("a", "p1"), ("a", "x")), (("b", scan_page(2)), ("b", "002")),
    ]  # fmt: skip
    assert [each.names for each in pages[2:]] == [(), ()]
    assert [each.alone for each in pages] == [
        ("p1", "x0"), ("b_002", "0020"), ("c-1", "c0"), ("c-2", "c1"),
    ]  # fmt: skip
