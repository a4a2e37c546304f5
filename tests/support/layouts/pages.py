"""Layouts of pages: images, PDF and TIFF files with their texts, in several encodings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.support.layouts import Evidence, Layout
from tests.support.pdfs import pdf_of, tiff_of
from tests.support.released import picture, put

TEXTS = (
    "學而時習之，不亦說乎。\n有朋自遠方來，不亦樂乎。",
    "人不知而不慍，不亦君子乎。",
    "其為人也孝弟，而好犯上者，鮮矣。",
)
JPEGS = tuple(picture(number, form="JPEG") for number in range(3))
PNGS = tuple(picture(number) for number in range(3))


def _images(src: Path, images: tuple[bytes, ...], suffix: str, encoding: str = "utf-8") -> Path:
    for number, (image, text) in enumerate(zip(images, TEXTS, strict=True), start=1):
        put(src / f"book/{number:03}.{suffix}", image)
        put(src / f"book/{number:03}.txt", text.encode(encoding))
    return src


def _one_file(src: Path, data: bytes, suffix: str, name: str = "") -> Path:
    put(src / f"book.{suffix}", data)
    if name:
        for number, text in enumerate(TEXTS, start=1):
            put(src / f"{name.format(number)}.txt", text)
    else:
        put(src / "book.txt", "\f".join(TEXTS) + "\f")
    return src


def _single(src: Path) -> Path:
    return _one_file(src, pdf_of(JPEGS), "pdf") / "book.pdf"


def _without_text(src: Path) -> Path:
    _images(src, JPEGS, "jpg")
    (src / "book/002.txt").unlink()
    return src


def _layout(
    name: str,
    files: str,
    write: Callable[[Path], Path],
    evidence: Evidence = "assumed",
    where: str = "",
    **more: object,
) -> Layout:
    about = {"canonical": "pages: JPEG images", "ignoring": ("metadata",), **more}
    return Layout(f"pages: {name}", "Pages", files, evidence, where, "pages", write, **about)


_PNG = {"canonical": "pages: PNG images"}

LAYOUTS = [
    _layout("JPEG images", "book/001.jpg; book/001.txt",
            partial(_images, images=JPEGS, suffix="jpg")),
    _layout("PNG images", "book/001.png; book/001.txt",
            partial(_images, images=PNGS, suffix="png"), **_PNG),
    *(
        _layout(f"texts in {encoding}", f"book/001.jpg; book/001.txt in {encoding}",
                partial(_images, images=JPEGS, suffix="jpg", encoding=encoding))
        for encoding in ("UTF-8-sig", "UTF-16", "GB18030", "Big5")
    ),
    _layout("PDF, one text with form feeds", "book.pdf; book.txt",
            partial(_one_file, data=pdf_of(JPEGS), suffix="pdf")),
    _layout("PDF, one text a page in a folder", "book.pdf; book/001.txt",
            partial(_one_file, data=pdf_of(JPEGS), suffix="pdf", name="book/{:03}")),
    _layout("a single PDF", "book.pdf beside book.txt", _single),
    _layout("TIFF with several frames", "book.tif; book.txt",
            partial(_one_file, data=tiff_of(PNGS), suffix="tif"), **_PNG),
    _layout("a page without text", "book/001.jpg; book/001.txt", _without_text,
            canonical="pages: JPEG images", missing="1 page without a text"),
]  # fmt: skip
