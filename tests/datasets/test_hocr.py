"""What hOCR files have is what a page read of them has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from keju.api.data import read_hocr
from keju.datasets.mini import path as mini
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.page_exports import export_pages
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


def element(name: str, inner: str, title: str = "", tag: str = "span") -> str:
    return f'<{tag} class="{name}" title="{title}">{inner}</{tag}>'


LINES = LINE.format("bbox 90 10 96 120", "卷一") + LINE.format("bbox 75 10 81 120", "學而")
WORDS = element("ocrx_word", "學而", "bbox 90 10 96 60; x_wconf 80") + element(
    "ocrx_word", "時習", "bbox 91 70 97 120; x_wconf 60"
)
BOX = ((90, 10), (97, 10), (97, 120), (90, 120))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (element("ocr_header", LINES, "bbox 0 0 9 9", "div"), [("卷一", "head"), ("學而", "head")]),
        (element("ocr_footer", LINES, "", "div"), [("卷一", "foot"), ("學而", "foot")]),
        (element("ocr_caption", LINES, "", "div"), [("卷一", "other"), ("學而", "other")]),
        (element("ocr_textfloat", f"<p>{LINES}</p>", "", "div"),
         [("卷一", "main"), ("學而", "main")]),
        (element("ocr_line", element("ocrx_line", "卷一") + "學而"),
         [("卷一", "main"), ("學而", "main")]),
        (element("ocr_header", "論") + LINES, [("論", "head"), ("卷一", "main"), ("學而", "main")]),
        (element("ocr_pageno", "十"), [("十", "number")]),
        (element("ocr_title", LINES), [("卷一", "title"), ("學而", "title")]),
        (element("ocrx_line", WORDS), [("學而時習", "main")]),
        (element("ocr_par", WORDS, "", "p"), [("學而時習", "main")]),
        (element("ocr_carea", f"卷一 <p>{WORDS}</p>四", "", "div"),
         [("卷一", "main"), ("學而時習", "main"), ("四", "main")]),
        ("學而<br>時習<p>ad <i>hoc</i></p>",
         [("學而", "main"), ("時習", "main"), ("ad hoc", "main")]),
        (element("ocr_line", ""), [("", "main")]),
        (element("ocr_par", " ", "", "p") + "<script>x</script>", []),
    ],
)  # fmt: skip
def test_the_innermost_lines_are_the_lines_and_other_text_too(tmp_path, body, lines):
    page = read_hocr(hocr(tmp_path, body))
    assert [(line.text, line.kind) for line in page.lines] == lines


def test_words_without_a_line_give_it_a_place_and_confidence(tmp_path):
    for body in (element("ocr_par", WORDS), WORDS, element("ocr_line", WORDS, "bbox 0 0 0 0")):
        (line,) = read_hocr(hocr(tmp_path, body)).lines
        assert (line.polygon, line.confidence) == (BOX, pytest.approx(0.7))
    (line,) = read_hocr(hocr(tmp_path, element("ocr_carea", "學", "bbox 1 2 3 4"))).lines
    assert line.polygon == ((1, 2), (3, 2), (3, 4), (1, 4))


@pytest.mark.parametrize("system", ["tesseract 5.3.0", "Tesseract", "ABBYY 16", ""])
def test_headings_and_captions_of_tesseract_are_text(tmp_path, system):
    """In other files, and around lines, as alto__hocr.xsl writes them, they are marginal."""
    body = element("ocr_header", "卷一") + element("ocr_caption", "圖")
    body += element("ocr_header", LINE.format("", "葉"), tag="div")
    path = hocr(tmp_path, body)
    head = f"<html><head><meta name='ocr-system' content='{system}'/></head>"
    path.write_text(path.read_text("utf-8").replace("<html>", head), "utf-8")
    kinds = [line.kind for line in read_hocr(path).lines]
    assert kinds == (["title", "main"] if "ess" in system else ["head", "other"]) + ["head"]


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


@pytest.mark.parametrize("boxes", [[], ["-c", "hocr_char_boxes=1"]], ids=["words", "characters"])
@pytest.mark.parametrize("choices", [[], ["-c", "lstm_choice_mode=2"]], ids=["one", "choices"])
def test_tesseracts_file_has_the_lines_that_tesseract_prints(tmp_path, boxes, choices):
    if shutil.which("tesseract") is None:
        pytest.skip("the program tesseract is not installed")
    ref = next(each for each in Dataset.open(mini()).items() if each.task == "T1").images[0]
    image = Dataset.open(mini()).image_path(ref)
    subprocess.run(
        ["tesseract", image, tmp_path / "page", "--psm", "6", *boxes, *choices, "hocr", "txt"],
        check=True, capture_output=True,
    )  # fmt: skip
    page = read_hocr(tmp_path / "page.hocr")
    printed = (tmp_path / "page.txt").read_text("utf-8").split("\n")
    shown = ["".join(row.split()) for row in printed if row.strip()]
    assert ["".join(line.text.split()) for line in page.lines if line.text] == shown
    assert (page.width, page.height) == (ref.width, ref.height)
    assert all(len(line.polygon) == 4 for line in page.lines)
