"""Scans and texts that look odd and are imported all the same; nothing is dropped silently."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from keju.datasets.store import Dataset
from tests.support.scanned import TEXT, Keju, pages, pdf, scan, text, tiff

CLEAN = "--licence CC0-1.0 --source mine"


def _one_folder(folder: str) -> Callable[[], object]:
    return lambda: pages(folder, "書 (1)", "p2")


def _capitals() -> None:
    scan("scans/p1.JPG")
    text("scans/p1.TXT")


def _windows() -> None:
    scan("scans/p1.jpg")
    text("scans/p1.txt", f"\ufeff{TEXT}\n".replace("\n", "\r\n"))


def _images_alone() -> None:
    scan("scans/p1.jpg")
    scan("scans/p2.jpg")


def _book() -> None:
    pdf("scans/book.pdf", 2)
    text("scans/book.txt", f"{TEXT}\f{TEXT[::-1]}")


def _tiff_with_texts() -> None:
    tiff("scans/p1.tif", 2)
    text("scans/p1.txt", f"{TEXT}\f{TEXT[::-1]}")


def _one_book() -> None:
    pdf("book.pdf")
    text("book.txt")


def _other_kinds() -> None:
    pages("scans")
    for name in ("p3.heic", "p4.docx", "old.zip"):
        Path("scans", name).write_bytes(b"PK\3\4")


class Accepted(NamedTuple):
    """A source that is imported, its number of items, and words of the notes."""

    prepare: Callable[[], object]
    items: int
    notes: tuple[str, ...] = ()
    source: str = "scans"
    options: str = ""


ACCEPTED = {
    "spaces, brackets, Chinese": Accepted(
        _one_folder("my scans [掃描]"), 2, source="'my scans [掃描]'"
    ),
    ".JPG/.TXT": Accepted(_capitals, 1),
    "CRLF, BOM": Accepted(_windows, 1),
    "PDF book.pdf + book.txt": Accepted(_book, 2),
    "PDF as SRC": Accepted(_one_book, 1, source="book.pdf"),
    "multi-page TIFF with as many texts": Accepted(_tiff_with_texts, 2),
    "pictures without texts, on purpose": Accepted(_images_alone, 2, options="--option texts=no"),
    ".docx, .heic, .zip beside pages": Accepted(_other_kinds, 2, ("3 files, old.zip",)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_odd_sources_are_imported_and_nothing_is_dropped_silently(name: str, keju: Keju) -> None:
    case = ACCEPTED[name]
    case.prepare()
    command = f"data import pages {case.source} -o dataset {CLEAN} {case.options}"
    done = keju(*shlex.split(command))
    assert done.status == 0
    assert len(Dataset.open(Path("dataset")).items()) == case.items
    notes = done.err.splitlines()
    assert len(notes) == len(case.notes)
    for words in case.notes:
        assert any(words in note for note in notes)


@pytest.mark.parametrize("named", ["", "--option encoding={}"])
@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "big5"])
def test_texts_of_another_encoding_are_read(encoding: str, named: str, keju: Keju) -> None:
    for name in ("p1", "p2"):
        scan(f"scans/{name}.jpg")
        text(f"scans/{name}.txt", encoding=encoding)
    done = keju(*f"data import pages scans -o dataset {CLEAN} {named}".format(encoding).split())
    assert done.status == 0
    assert {item.answer for item in Dataset.open(Path("dataset")).items()} == {TEXT}
    assert done.err.rstrip().endswith("scans/p1.txt and 1 more")


@pytest.mark.parametrize(
    ("form", "name", "options"),
    [
        ("L", "p1.tif", {"compression": "tiff_lzw"}),
        ("1", "p1.tif", {"compression": "group4"}),
        ("I;16", "p1.tif", {}),
        ("CMYK", "p1.tif", {}),
        ("RGBA", "p1.tif", {}),
        ("P", "p1.tif", {}),
        ("RGB", "p1.tif", {"compression": "jpeg"}),
        ("RGB", "p1.jp2", {}),
    ],
)
def test_every_kind_of_image_of_a_scanner_is_read(
    form: str, name: str, options: dict[str, str], keju: Keju
) -> None:
    text("scans/p1.txt")
    Image.linear_gradient("L").resize((60, 80)).convert(form).save(f"scans/{name}", **options)
    done = keju(*f"data import pages scans -o dataset {CLEAN}".split())
    assert (done.status, done.err) == (0, "")
