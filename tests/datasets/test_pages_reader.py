"""A folder of page images, each with its text in a .txt of the same name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from keju.datasets.readers import Imported, import_dataset
from keju.datasets.readers.listing import Listing
from keju.datasets.readers.pages.folder import detect_pages
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.errors import DataError, UsageError


@pytest.fixture
def src(tmp_path: Path, picture: Callable[..., bytes]) -> Path:
    root = tmp_path / "scans"
    (root / "論語/卷一").mkdir(parents=True)
    (root / "001.jpg").write_bytes(picture(1, form="JPEG"))
    (root / "001.txt").write_bytes("\ufeff學而時習之\r\n不亦說乎\r\n".encode())
    (root / "論語/卷一/p2.PNG").write_bytes(picture(2))
    (root / "論語/卷一/p2.TXT").write_text("有朋\n\n自遠方來")
    return root


def read(src: Path, **options: str) -> Imported:
    about = {"name": "n", "version": "1", "licence": "CC0", "source": "s"}
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return import_dataset("pages", src, src.parent / "out", **about, options=named)


def test_a_page_is_an_item_with_its_text_and_its_folder_for_group(src: Path) -> None:
    done = read(src)
    first, second = Dataset.open(src.parent / "out").items()
    assert done.notes == ()
    assert (first.id, first.group) == ("001", "scans")
    assert (second.id, second.group) == ("論語/卷一/p2", "論語/卷一")
    assert (first.benchmark, first.task) == ("pages", "page_ocr")
    assert first.answer == first.transcription == "學而時習之\n不亦說乎"
    assert second.answer == "有朋\n\n自遠方來"
    assert second.metadata == {"file": "論語/卷一/p2.PNG"}
    assert list(validate(src.parent / "out")) == []


def test_the_text_may_answer_another_task(src: Path) -> None:
    read(src, task="T1")
    assert {item.benchmark for item in Dataset.open(src.parent / "out").items()} == {"MCS-Bench"}


@pytest.mark.parametrize(("task", "says"), [("T5", r"blank \{term\}"), ("T98", "no task 'T98'")])
def test_a_task_that_asks_for_more_than_an_image_is_wrong_use(
    src: Path, task: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        read(src, task=task)


def test_files_without_their_partner_are_listed_or_skipped(src: Path) -> None:
    (src / "alone.jpg").write_bytes((src / "001.jpg").read_bytes())
    (src / "論語/lost.txt").write_text("x")
    with pytest.raises(
        DataError,
        match=r"(?s)1 page without a text: alone\.jpg.*1 text without an image: 論語/lost\.txt.*"
        "skip-missing",
    ):
        read(src)
    done = read(src, skip_missing="yes")
    assert done.notes == (
        "skipped 1 page without a text: alone.jpg",
        "skipped 1 text without an image: 論語/lost.txt",
    )
    assert done.manifest.items == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("學而時習之".encode()[:-1], "the text is not UTF-8: byte 12 is not valid"),
        (b"\n \n", "the text is empty"),
        (b"", "the text is empty"),
    ],
)
def test_a_text_that_is_empty_or_not_utf8_is_named(src: Path, content: bytes, says: str) -> None:
    (src / "001.txt").write_bytes(content)
    with pytest.raises(DataError, match=rf"001\.txt: {says}"):
        read(src)


@pytest.mark.parametrize(
    "text",
    [
        " [BLANK]\n",
        "[blank]",
        "［blank］",
        "[空白]",
        "［空白］",
        "(空白)",
        "（空白頁）",
        "空白",
        "空白页",
        "blank",
    ],
)
def test_a_page_may_be_declared_blank_by_its_text(text: str, src: Path) -> None:
    (src / "001.txt").write_text(text, "utf-8")
    assert read(src).notes == ("imported as blank: 1 page: 001",)
    first, second = Dataset.open(src.parent / "out").items()
    assert (first.answer, first.transcription, first.metadata["blank"]) == ("", None, "yes")
    assert "blank" not in second.metadata


@pytest.mark.parametrize(
    "text", ["空白。其餘", "[空白]\n天地", "no text", "無字", "空", "[]", "TODO"]
)
def test_other_texts_do_not_declare_a_blank_page(text: str, src: Path) -> None:
    (src / "001.txt").write_text(text, "utf-8")
    assert "imported as blank" not in " ".join(read(src).notes)


def test_an_empty_text_is_a_blank_page_only_where_the_option_says_so(src: Path) -> None:
    (src / "001.txt").write_text("\n", "utf-8")
    with pytest.raises(DataError, match="--option blank-pages=yes"):
        read(src)
    done = read(src, blank_pages="yes")
    assert done.notes == ("imported as blank: 1 page: 001",)


def test_a_name_that_is_not_utf8_is_named(src: Path, picture: Callable[..., bytes]) -> None:
    name = os.fsdecode(b"\xb0\xa1")
    try:
        (src / f"{name}.png").write_bytes(picture(5))
        (src / f"{name}.txt").write_text("天地", "utf-8")
    except OSError:
        pytest.skip("this file system takes no name that is not UTF-8")
    with pytest.raises(DataError, match=r"the name '.*\.(png|txt)' is not UTF-8\. Rename it"):
        read(src)


def test_two_images_for_one_text_are_named(src: Path, picture: Callable[..., bytes]) -> None:
    (src / "001.png").write_bytes(picture())
    with pytest.raises(DataError, match=r"two images for one text: 001\.jpg and 001\.png"):
        read(src)


def test_a_broken_image_is_named(src: Path) -> None:
    (src / "001.jpg").write_bytes(b"<html>not found</html>")
    with pytest.raises(DataError, match=r"001\.jpg: a web page"):
        read(src)


def test_a_pipe_among_the_pages_is_named_and_not_waited_for(src: Path) -> None:
    os.mkfifo(src / "pipe.png")
    (src / "pipe.txt").write_text("天", "utf-8")
    with pytest.raises(DataError, match=r"pipe\.png: not a file"):
        read(src)


def test_an_empty_folder_and_a_file_are_no_source(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"expected images with \.txt files"):
        read(tmp_path / "empty")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"a PDF or a TIFF; found file"):
        read(tmp_path / "file")


TRUTH = "學而時習之"


@pytest.mark.parametrize(
    ("files", "item", "left"),
    [
        (["001.png", "001.gt.txt"], "001", []),
        (["001.png", "001.GT.TXT"], "001", []),
        (["001.png", "001.png.txt"], "001", []),
        (["001.png", "001.png.gt.txt"], "001", []),
        (["001.bin.png", "001.bin.txt"], "001.bin", []),
        (["001.gt.png", "001.gt.txt"], "001.gt", []),
        (["001.png", "001.gt.txt", "001.txt!"], "001", ["001.txt"]),
        (["001.png", "001.gt.txt", "001.pred.txt!"], "001", ["001.pred.txt"]),
        (["001.png", "001.gt.txt", "001.pred.txt!", "001.txt!"], "001",
         ["001.pred.txt, 001.txt"]),
    ],
)  # fmt: skip
def test_the_text_of_a_page_has_the_names_of_tesstrain_kraken_and_ocr4all(
    tmp_path: Path, picture: Callable[..., bytes], files: list[str], item: str, left: list[str]
) -> None:
    root = tmp_path / "scans"
    root.mkdir()
    for name in files:
        is_image = name.endswith("png")
        content = picture(1) if is_image else ("誤" if name.endswith("!") else TRUTH).encode()
        (root / name.removesuffix("!")).write_bytes(content)
    done = read(root)
    (found,) = Dataset.open(tmp_path / "out").items()
    assert (found.id, found.answer) == (item, TRUTH)
    assert [note.rpartition(": ")[2] for note in done.notes] == left
    detection = detect_pages(Listing(root))
    assert detection is not None
    assert not detection.missing


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (["001.png", "001.pred.txt"], "1 page without a text: 001.png"),
        (["001.png", "001.txt", "001.png.txt"], "two texts for this image"),
        (["001.png", "001_gt.txt"], "1 text without an image: 001_gt.txt"),
    ],
)
def test_an_engines_text_is_no_reference_and_unclear_names_are_refused(
    tmp_path: Path, picture: Callable[..., bytes], files: list[str], says: str
) -> None:
    root = tmp_path / "scans"
    root.mkdir()
    for name in files:
        (root / name).write_bytes(picture(1) if name.endswith("png") else TRUTH.encode())
    with pytest.raises(DataError) as caught:
        read(root)
    assert says in " ".join(str(caught.value).split())
