"""What hOCR files have is what a page read of them has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from keju.datasets.mini import path as mini
from keju.datasets.readers.pages.hocr import read_hocr
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.interop.page_exports import export_pages
from tests.support.exported_pages import column, item, made_run, response

PAGE = """<!DOCTYPE html><html><body>
<div class="ocr_page" title='image "a;b.png"; bbox 0 0 300 400; ppageno 0'>{}</div></body></html>"""
LINE = '<span class="ocr_line" id="l1" title="{}">{}</span>'


def hocr(folder: Path, *lines: str) -> Path:
    path = folder / "p.hocr"
    path.write_text(PAGE.format("\n".join(lines)), "utf-8")
    return path


def test_an_export_reads_back_with_texts_kinds_outlines_and_confidence(tmp_path):
    kinds = ("main", "note", "title", "centre", "seal")
    lines = [
        column(kind, f"<{kind}> & 天", 380 - 50 * at, kind=kind) for at, kind in enumerate(kinds)
    ]
    run = made_run(tmp_path / "run", [item("p")], [response("p", "天", *lines)])
    export_pages(run, "hocr", tmp_path / "out")
    page = read_hocr(tmp_path / "out" / "p.hocr")
    assert (page.image_name, page.width, page.height) == ("p.png", 400, 600)
    found = [(line.text, line.kind, line.polygon, line.confidence) for line in page.lines]
    assert found == [(line.text, line.kind, line.polygon, line.confidence) for line in lines]


def test_the_words_of_a_line_are_its_text_and_confidence(tmp_path):
    word = '<span class="ocrx_word" title="bbox 0 0 9 9; x_wconf {}">{}</span>'
    words = [word.format(80, "天"), "\n ", word.format(40, "地"), word.format(90, "one"),
             word.format(90, "two")]  # fmt: skip
    page = read_hocr(hocr(tmp_path, LINE.format("bbox 10 20 30 90; x_size 3", "".join(words))))
    (line,) = page.lines
    assert line.text == "天地one two"
    assert line.confidence == pytest.approx(0.75)
    assert line.polygon == ((10, 20), (30, 20), (30, 90), (10, 90))
    assert page.image_name == "a;b.png"


def test_a_line_may_have_no_place_and_no_words(tmp_path):
    header = '<span class="ocr_header">卷 一</span>'
    page = read_hocr(hocr(tmp_path, LINE.format("", " 天\n地 "), header))
    assert [(line.text, line.polygon, line.kind) for line in page.lines] == [
        ("天 地", (), "main"),
        ("卷 一", (), "head"),
    ]
    assert [line.confidence for line in page.lines] == [None, None]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<html><body><p>天</p></body></html>", "0 elements of class ocr_page"),
        (PAGE.format('<div class="ocr_page"></div>'), "2 elements of class ocr_page"),
        (PAGE.format(LINE.format("bbox 1 2 x 4", "天")), "'x' is not a number"),
        ("", "not readable as HTML"),
    ],
)
def test_what_is_not_a_page_is_an_error(tmp_path, text, problem):
    path = tmp_path / "p.hocr"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=problem):
        read_hocr(path)


def test_tesseracts_file_has_the_lines_that_tesseract_prints(tmp_path):
    if shutil.which("tesseract") is None:
        pytest.skip("the program tesseract is not installed")
    ref = next(each for each in Dataset.open(mini()).items() if each.task == "T1").images[0]
    image = Dataset.open(mini()).image_path(ref)
    for form in ("hocr", "txt"):
        subprocess.run(
            ["tesseract", image, tmp_path / "page", "--psm", "6", form],
            check=True, capture_output=True,
        )  # fmt: skip
    page = read_hocr(tmp_path / "page.hocr")
    printed = (tmp_path / "page.txt").read_text("utf-8").split("\n")
    shown = ["".join(row.split()) for row in printed if row.strip()]
    assert ["".join(line.text.split()) for line in page.lines if line.text] == shown
    assert (page.width, page.height) == (ref.width, ref.height)
    assert all(len(line.polygon) == 4 for line in page.lines)
