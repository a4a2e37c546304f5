"""Pages in PDF and TIFF files, with their texts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from keju.datasets.readers import Imported, import_dataset
from keju.datasets.readers.pages import scans
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.items import Item
from tests.support.pdfs import ENCRYPTED, pdf_of, raw_pdf, tiff_of
from tests.support.released import picture, put

SCANS = [picture(number, form="JPEG") for number in range(3)]
TEXTS = ["天地玄黃", "宇宙洪荒", "日月盈昃"]


def read(src: Path, **options: str) -> tuple[list[Item], Imported, Dataset]:
    named = {name.replace("_", "-"): value for name, value in options.items()}
    out = src.parent / f"{src.name}-out"
    about = {"licence": "CC0-1.0", "source": "s"}
    done = import_dataset("pages", src, out, name="n", version="1", **about, options=named)
    dataset = Dataset.open(out)
    return dataset.items(), done, dataset


@pytest.fixture
def src(tmp_path: Path) -> Path:
    put(tmp_path / "src/book.pdf", pdf_of(SCANS))
    return tmp_path / "src"


@pytest.mark.parametrize(
    "names",
    [
        ["book/001", "book/002", "book/003"],
        ["book/1", "book/2", "book/3"],
        ["book/page_1", "book/page_2", "book/page_3"],
    ],
)
def test_the_pages_of_a_pdf_have_one_text_each(src, names):
    for name, text in zip(names, TEXTS, strict=True):
        put(src / f"{name}.txt", text)
    items, done, dataset = read(src)
    assert [item.answer for item in items] == TEXTS
    assert [item.id for item in items] == ["book/001", "book/002", "book/003"]
    assert {item.group for item in items} == {"book"}
    assert [dataset.image_bytes(item.images[0]) for item in items] == SCANS
    assert items[1].metadata == {"file": "book.pdf", "page": "2", "page_image": "embedded"}
    assert done.notes == ()


def test_texts_beside_a_pdf_are_refused_with_the_names_that_they_need(src):
    for number, text in enumerate(TEXTS, start=1):
        put(src / f"book-{number:03}.txt", text)
    with pytest.raises(DataError, match=r"book\.txt, with a form feed .* book/001\.txt") as refused:
        read(src)
    assert "3 texts without an image: book-001.txt" in str(refused.value)


@pytest.mark.parametrize("end", ["", "\f", "\n\f\n"])
def test_form_feeds_part_the_texts_of_pages(src, end):
    put(src / "book.txt", "\f".join(TEXTS) + end)
    assert [item.answer for item in read(src)[0]] == TEXTS


def test_a_single_pdf_is_a_source(src):
    put(src / "book.txt", "\f".join(TEXTS))
    put(src / "other.txt", "of another book")
    items, *_ = read(src / "book.pdf")
    assert [item.answer for item in items] == TEXTS


def test_texts_of_another_number_of_pages_are_refused(src):
    put(src / "book.txt", "\f".join(TEXTS[:2]))
    with pytest.raises(DataError, match=r"book\.txt: the text has 2 pages .* book\.pdf has 3"):
        read(src)


def test_pages_without_text_are_listed_or_skipped(src):
    put(src / "book/002.txt", TEXTS[1])
    put(src / "book/004.txt", "no such page")
    said = (
        r"(?s)2 pages without a text: book\.pdf/page 1, book\.pdf/page 3\n"
        r".*1 text without an image: book/004\.txt\n"
    )
    with pytest.raises(DataError, match=said):
        read(src)
    items, done, _ = read(src, skip_missing="yes")
    assert [(item.id, item.answer) for item in items] == [("book/002", TEXTS[1])]
    assert [note.partition(":")[0] for note in done.notes] == [
        "skipped 2 pages without a text",
        "skipped 1 text without an image",
    ]


def test_images_without_any_text_are_imported_without_references(src):
    put(src / "single.jp2", picture(9, form="JPEG2000"))
    put(src / "single.txt", "not read")
    with pytest.raises(DataError, match="--option texts=no"):
        read(src)
    items, *_ = read(src, texts="no")
    assert [item.id for item in items] == ["book/001", "book/002", "book/003", "single"]
    assert {(item.answer, item.transcription) for item in items} == {("", None)}


@pytest.mark.parametrize(
    ("data", "made", "size"),
    [
        (pdf_of(SCANS[:1], rotation=90), "150 dpi", (60, 40)),
        (pdf_of(SCANS[:1], margin=36), "300 dpi", (380, 420)),
        (raw_pdf(), "300 dpi", (300, 300)),
    ],
    ids=["rotated", "with a margin", "drawn"],
)
def test_a_page_that_is_not_one_upright_image_is_rendered(tmp_path, data, made, size):
    put(tmp_path / "src/book.pdf", data)
    (item,), _, dataset = read(tmp_path / "src", texts="no")
    assert item.metadata["page_image"] == made
    ref = item.images[0]
    assert (ref.width, ref.height) == pytest.approx(size, abs=1)
    assert Image.open(io.BytesIO(dataset.image_bytes(ref))).format == "PNG"


def test_the_resolution_can_be_given(src):
    items, *_ = read(src, texts="no", dpi="75")
    assert {(item.images[0].width, item.metadata["page_image"]) for item in items} == {
        (21, "75 dpi")
    }


def test_a_resolution_that_is_no_number_is_refused(src):
    with pytest.raises(UsageError, match="dpi: expected a whole number, got 'high'"):
        read(src, texts="no", dpi="high")


def test_the_same_pdf_gives_the_same_hash(tmp_path):
    for name in ("a", "b"):
        put(tmp_path / name / "src/book.pdf", raw_pdf(pages=2))
    hashes = {read(tmp_path / name / "src", texts="no")[1].manifest.hash for name in ("a", "b")}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (raw_pdf(pages=100_000), r"book\.pdf: the PDF has 100,000 pages; at most 10,000"),
        (raw_pdf(side=14_400), r"page 1: a page of 200 x 200 inches has 3,600 megapixels at 300"),
        (raw_pdf(trailer=ENCRYPTED), r"book\.pdf: the PDF is encrypted"),
        (raw_pdf(pages=0), r"book\.pdf: "),
        (b"%PDF-1.4\nbroken", r"book\.pdf: not readable as a PDF"),
        (b"", r"book\.pdf: not readable as a PDF"),
        (picture(1), r"book\.pdf: not readable as a PDF"),
    ],
    ids=["100,000 pages", "200 inches", "encrypted", "no pages", "broken", "empty", "an image"],
)
def test_a_hostile_pdf_is_refused_in_one_line(tmp_path, data, words):
    put(tmp_path / "src/book.pdf", data)
    with pytest.raises(DataError, match=words) as refused:
        read(tmp_path / "src", texts="no")
    assert "\n" not in str(refused.value)
    assert refused.value.hint


def test_a_page_that_takes_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(scans, "PAGE_SECONDS", 2.0)
    put(tmp_path / "src/a.pdf", raw_pdf())
    put(tmp_path / "src/b.pdf", raw_pdf(side=1000, content=b"0 0 3600 3600 re f " * 20_000))
    with pytest.raises(DataError, match=r"b\.pdf: page 1: the page takes more than 2 seconds"):
        read(tmp_path / "src", texts="no")


def test_a_pdf_that_ends_the_library_is_refused(src, monkeypatch):
    put(src.parent / "worker.py", "import sys; sys.stdin.readline(); sys.exit(1)")
    monkeypatch.setattr(scans, "_WORKER", src.parent / "worker.py")
    with pytest.raises(DataError, match=r"book\.pdf: the PDF cannot be read"):
        read(src, texts="no")


def test_a_pdf_with_a_broken_table_of_objects_is_repaired_or_refused(tmp_path):
    data = raw_pdf().replace(b"startxref\n", b"startxref\n9")
    put(tmp_path / "src/book.pdf", data)
    (item,), *_ = read(tmp_path / "src", texts="no")
    assert item.images[0].width == 300


def test_each_frame_of_a_tiff_is_a_page(tmp_path):
    frames = [picture(number) for number in range(3)]
    put(tmp_path / "src/book.tif", tiff_of(frames))
    put(tmp_path / "src/one.TIFF", tiff_of(frames[:1]))
    put(tmp_path / "src/one.txt", "單頁")
    put(tmp_path / "src/book.txt", "\f".join(TEXTS))
    items, _, dataset = read(tmp_path / "src")
    assert [(item.id, item.group) for item in items] == [
        ("book/001", "book"), ("book/002", "book"), ("book/003", "book"), ("one", "src"),
    ]  # fmt: skip
    for item, frame in zip(items, frames, strict=False):
        stored = Image.open(io.BytesIO(dataset.image_bytes(item.images[0])))
        assert stored.format == "PNG"
        assert stored.tobytes() == Image.open(io.BytesIO(frame)).tobytes()
    assert dataset.image_bytes(items[3].images[0]) == tiff_of(frames[:1])


def test_a_tiff_with_too_many_frames_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("keju.images.MOST_FRAMES", 3)
    put(tmp_path / "src/book.tif", tiff_of([picture(number) for number in range(4)]))
    with pytest.raises(DataError, match=r"book\.tif: more than 3 frames"):
        read(tmp_path / "src", texts="no")


def test_a_broken_tiff_is_named(tmp_path):
    data = tiff_of([picture(1), picture(2)])
    put(tmp_path / "src/book.tif", data[: len(data) // 2])
    with pytest.raises(DataError, match=r"book\.tif"):
        read(tmp_path / "src", texts="no")


def test_an_image_in_a_page_that_is_too_large_is_refused(src, monkeypatch):
    monkeypatch.setattr(scans, "MAX_PIXELS", 100)
    with pytest.raises(DataError, match="page 1: an image of 40 x 60 pixels is too large"):
        read(src, texts="no")


def test_files_of_other_kinds_are_reported(src):
    put(src / "book.txt", "\f".join(TEXTS))
    put(src / "notes/readme.docx", b"PK")
    put(src / "p.heic", b"x")
    put(src / "Thumbs.db", b"x")
    notes = read(src)[1].notes
    (note,) = notes
    assert note.startswith("not imported, since neither images nor texts: 2 files, notes/readme")
    assert "Save images as JPEG" in note


def test_a_folder_without_images_names_what_it_has(tmp_path):
    put(tmp_path / "src/p.heic", b"x")
    with pytest.raises(DataError, match=r"found p\.heic"):
        read(tmp_path / "src")


def test_a_pdf_and_an_image_of_one_name_are_refused(src):
    put(src / "book.png", picture(1))
    with pytest.raises(DataError, match=r"two images for one text: book\.pdf and book\.png"):
        read(src, texts="no")


def test_a_text_of_more_than_32_mb_is_refused(tmp_path: Path):
    put(tmp_path / "src/a.jpg", SCANS[0])
    put(tmp_path / "src/a.txt", b"a" * (scans.MOST_TEXT + 1))
    with pytest.raises(DataError, match=r"a\.txt: 32 MB, more than 32 MB"):
        read(tmp_path / "src")
    assert not (tmp_path / "src-out/dataset.json").exists()
