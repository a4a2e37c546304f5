"""What a new user does wrong with scans, one test each: what is printed, and what is not done."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from tests.support.scanned import TEXT, Keju, pages, pdf, scan, text, tiff

WRONG_USE = 2


class Mistake(NamedTuple):
    """A command that cannot succeed, and words that its message must contain, line by line."""

    prepare: Callable[[], object]
    command: str
    lines: tuple[tuple[str, ...], ...]


def _empty_folder() -> None:
    Path("scans").mkdir()


def _images_alone() -> None:
    scan("scans/p1.jpg")
    scan("scans/p2.jpg")


def _one_image() -> None:
    pages("my scans", "p1")


def _zip() -> None:
    with zipfile.ZipFile("scans.zip", "w") as archive:
        archive.writestr("p1.txt", TEXT)


def _pdf_beside() -> None:
    pages("scans")
    pdf("scans/book.pdf")
    Path("scans/notes.docx").write_bytes(b"PK\3\4")


def _pdf_as_jpg() -> None:
    pdf("scans/p1.jpg")
    text("scans/p1.txt")


def _tiff_of_three() -> None:
    tiff("scans/p1.tif", 3)
    text("scans/p1.txt")


def _rtf_as_txt() -> None:
    pages("scans")
    text("scans/p1.txt", "{\\rtf1\\ansi \\u22825 ?}")


def _near_names() -> None:
    for name in ("p1.jpg", "Page2.jpg", "p3.jpg"):
        scan(f"scans/{name}")
    for name in ("p1.txt.txt", "page2.txt", "p03.txt"):
        text(f"scans/{name}")


def _texts_of_other_names() -> None:
    for name in ("p1", "p2"):
        Image.new("L", (700, 900), 255).save(Path(f"{name}.png"))
    Path("scans/a").mkdir(parents=True)
    for name in ("p1", "p2"):
        Path(f"{name}.png").rename(f"scans/a/{name}.png")
        text(f"scans/a/{name.replace('p', 'p0')}.txt")


def _page_xml() -> None:
    scan("scans/p1.jpg")
    name = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
    page = '<Page imageFilename="p1.jpg" imageWidth="60" imageHeight="80"/>'
    text("scans/p1.xml", f'<PcGts xmlns="{name}">{page}</PcGts>')


def _alto() -> None:
    scan("scans/p1.jpg")
    text("scans/p1.xml", '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout/></alto>')


def _everything_wrong() -> None:
    pages("scans")
    scan("scans/p3.jpg")
    text("scans/p4.txt")
    for name in ("p5", "p6"):
        scan(f"scans/{name}.jpg")
        Path(f"scans/{name}.txt").write_bytes(b"\x80\xff\xff\xff")
    text("scans/p7.txt")
    Path("scans/p7.jpg").write_bytes(b"<html>")
    Path("scans/p8.heic").write_bytes(b"x")


def _link() -> None:
    pages("scans")
    Path("link").symlink_to("scans")


IMPORT = "data import pages scans --out dataset"
SKIP = "--option skip-missing=yes"

MISTAKES = {
    "wrong folder": Mistake(Path, IMPORT, (("scans: no such file or folder",),)),
    "empty folder": Mistake(_empty_folder, IMPORT, (("expected images", "found none"),)),
    "pictures without texts": Mistake(
        _images_alone, IMPORT, (("2 pages without a text: p1.jpg, p2.jpg", SKIP, "texts=no"),)
    ),
    "one picture instead of the folder": Mistake(
        _one_image,
        "data import pages 'my scans/p1.jpg' --out dataset",
        (("found p1.jpg", "keju data import pages 'my scans' --out"),),
    ),
    "--out inside the scans folder": Mistake(
        lambda: pages("scans"),
        "data import pages scans --out scans/out",
        (("--out scans/out is inside the source folder scans", "--out scans-dataset"),),
    ),
    "--out inside the scans folder through a link": Mistake(
        _link, "data import pages scans --out link/out", (("inside the source folder scans",),)
    ),
    "--out is the scans folder": Mistake(
        lambda: pages("scans"), "data import pages scans --out scans", (("scans-dataset",),)
    ),
    "multi-page TIFF": Mistake(
        _tiff_of_three,
        IMPORT,
        (("p1.txt", "the text has 1 page ", "p1.tif has 3", "form feed", "p1/1.txt"),),
    ),
    "PDF beside good pages": Mistake(
        _pdf_beside,
        IMPORT,
        (("1 page without a text: book.pdf/page 1", SKIP),),
    ),
    "PDF called .jpg": Mistake(_pdf_as_jpg, IMPORT, (("p1.jpg: a PDF, not an image",),)),
    "zip as SRC": Mistake(
        _zip, "data import pages scans.zip -o dataset", (("found scans.zip", "unzip scans.zip"),)
    ),
    ".rtf content in .txt": Mistake(
        _rtf_as_txt, IMPORT, (("p1.txt: an archive, a PDF or", "plain text"),)
    ),
    "p1.txt.txt, Page1/page1, p1/p01": Mistake(
        _near_names, IMPORT, (("3 pages without a text",), ("3 texts without an image",), (SKIP,)),
    ),
    "texts of other names, to be detected": Mistake(
        _texts_of_other_names,
        "data import auto scans --out scans-dataset --licence CC0-1.0 --source me",
        (("2 pages without a text",), ("2 texts without an image",), (SKIP,)),
    ),
    "PAGE-XML given as pages": Mistake(
        _page_xml,
        IMPORT,
        (("1 page without a text", SKIP, "PAGE-XML, ALTO or hOCR see: keju data detect scans"),),
    ),
    "ALTO given as pages": Mistake(
        _alto,
        IMPORT,
        (("1 page without a text", SKIP, "PAGE-XML, ALTO or hOCR see: keju data detect scans"),),
    ),
    "all problems of a folder at once": Mistake(
        _everything_wrong,
        IMPORT,
        (
            ("1 page without a text: p3.jpg",),
            ("1 text without an image: p4.txt",),
            ("3 unusable files: p5.txt", "p6.txt", "p7.jpg (a web page"),
            (SKIP, "--option encoding=NAME"),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_a_hint(name: str, keju: Keju) -> None:
    mistake = MISTAKES[name]
    mistake.prepare()
    done = keju(*shlex.split(mistake.command))
    assert done.status == WRONG_USE
    printed = done.err.splitlines()
    for line, words in zip(printed, mistake.lines, strict=True):
        assert all(each in line for each in words), line
    assert not Path("dataset/dataset.json").exists()
    assert not any(Path("scans").glob("out/*"))
