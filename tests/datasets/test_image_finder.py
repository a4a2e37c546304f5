"""Images are found by the names in records, whatever the folder of the release looks like."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from pathlib import Path

import pytest

from keju.datasets.import_log import logging_import
from keju.datasets.readers import images
from keju.datasets.readers.images import ImageFinder, decoded_image
from keju.datasets.readers.records import Place
from keju.errors import DataError
from tests.support.released import picture, put

FILES = ("data.json", "images/1.png", "images/2.jpg", "images/學.png", "T1/3.png", "T2/3.png",
         "deep/er/imgs/4.png", "deep/er/imgs/Ünï.png", "both/5.png", "both/5.jpg")  # fmt: skip


@pytest.fixture
def src(tmp_path: Path) -> Path:
    for number, name in enumerate(FILES):
        put(tmp_path / "src" / name, picture(number))
    (tmp_path / "src/empty").mkdir()
    put(tmp_path / "secret.png", picture(99))
    return tmp_path / "src"


def find(src: Path, name: str, near: tuple[str, ...] = ()) -> tuple[str | None, list[str]]:
    """The path found, from `src` on, and the notes of the import."""
    file = src / "data.json"
    with logging_import() as log:
        found = ImageFinder((src, src / "images")).find(name, Place(file, "a1"), near)
    return found and found.relative_to(src).as_posix(), list(log.notes())


@pytest.mark.parametrize("name", ["images/1.png", "1.png", "./images/1.png", "images\\1.png"])
def test_a_path_from_a_root_is_found_without_a_note(src, name):
    assert find(src, name) == ("images/1.png", [])


@pytest.mark.parametrize(
    ("name", "path", "way"),
    [
        ("1.jpg", "images/1.png", "under another suffix"),
        ("images/1.tif", "images/1.png", "under another suffix"),
        ("1", "images/1.png", "under another suffix"),
        ("/data/mcs/images/1.png", "images/1.png", "by the end of their path"),
        ("../images/1.png", "images/1.png", "by the end of their path"),
        ("C:\\mcs\\images\\1.png", "images/1.png", "by the end of their path"),
        ("https://host.example/v1/images/1.png?x=2", "images/1.png", "by the end of their path"),
        ("file:///home/x/images/學.png", "images/學.png", "by the end of their path"),
        ("imgs/4.png", "deep/er/imgs/4.png", "by the end of their path"),
        ("img/4.png", "deep/er/imgs/4.png", "by their file name"),
        ("mcs/1.png", "images/1.png", "by their file name"),
        ("4.png", "deep/er/imgs/4.png", "by their file name"),
        ("U\u0308NI\u0308.PNG", "deep/er/imgs/Ünï.png", "by their file name"),
        ("/x/T1/3.jpg", "T1/3.png", "under another suffix"),
        ("/data/images/2.png", "images/2.jpg", "under another suffix"),
    ],
)
def test_another_way_of_finding_an_image_is_reported(src, name, path, way):
    found, notes = find(src, name)
    assert found == path
    (note,) = notes
    assert note.startswith(f"1 image found {way}: {name[:8]}")
    assert note.endswith(f" as {path}")


@pytest.mark.parametrize(
    "name",
    [
        "../../secret.png",
        "/etc/passwd",
        "nobody.png",
        "T1/1.png",  # The folder T1 exists, so the image of another folder is not meant.
        "empty/1.png",
        "T9/4.png",  # A page of one book is not that of another book.
        "..",
        "/",
        "C:",
        "https://host.example",
        "images/1.png;images/2.jpg",
        "images/2.jpg, images/1.png",
    ],
)
def test_an_image_that_is_missing_is_not_guessed(src, name):
    assert find(src, name) == (None, [])


@pytest.mark.parametrize("name", ["3.png", "5", "/both/5.tif", "3.gif"])
def test_several_images_that_fit_are_named(src, name):
    both = r"a1: several images fit .*(T1/3\.png, T2/3|5\.jpg, both/5)"
    with pytest.raises(DataError, match=both):
        find(src, name)


def test_the_folder_of_the_task_decides_between_images_of_one_name(src):
    assert find(src, "3.png", near=("t2",))[0] == "T2/3.png"
    with pytest.raises(DataError, match="several images fit"):
        find(src, "3.png", near=("T1", "T2"))


def test_the_folder_called_after_the_file_decides_between_images_of_one_name(src):
    index = ImageFinder([src])
    found = index.find("3.png", Place(src / "T1.json", "a1"))
    assert found == src / "T1/3.png"


def test_a_link_that_leads_out_is_refused(src):
    (src / "images/out.png").symlink_to(src.parent / "secret.png")
    for name in ("images/out.png", "/data/images/out.png", "out.jpg"):
        with pytest.raises(DataError, match=r"must be inside|points outside"):
            find(src, name)


def test_many_images_are_searched_once_and_bounded(src, monkeypatch):
    walked: list[Path] = []
    walk = images.walk
    monkeypatch.setattr(images, "walk", lambda top: walked.append(top) or walk(top))
    index = ImageFinder((src, src / "images"))
    for _ in range(3):
        assert index.find("/x/imgs/4.png", Place(src / "data.json", "a1"))
    assert walked == [src]
    monkeypatch.setattr(images, "MOST_FILES", 3)
    with pytest.raises(DataError, match="more than 3 images"):
        ImageFinder([src]).find("none.png", Place(src / "data.json", "a1"))


@pytest.mark.parametrize(
    "encode",
    [
        lambda data: b64encode(data).decode(),
        lambda data: "data:image/png;base64," + b64encode(data).decode(),
        lambda data: "data:image/png;charset=x;base64,\n" + b64encode(data).decode() + "\n",
        lambda data: urlsafe_b64encode(data).decode(),
        lambda data: "\n".join(b64encode(data).decode()[n : n + 60] for n in range(0, 9999, 60)),
    ],
)
def test_an_image_in_base64_is_decoded(encode):
    for form in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "JPEG2000"):
        data = picture(1, form=form)
        assert decoded_image(encode(data), file=Path("f"), item="a1") == data


@pytest.mark.parametrize("name", ["1.png", "/9j/images/1.png", "x" * 300, "data/1.png", ""])
def test_a_name_is_not_base64(name):
    assert decoded_image(name, file=Path("f"), item="a1") is None


def test_broken_base64_is_named():
    with pytest.raises(DataError, match="f: a1: its image is not valid base64"):
        decoded_image("data:image/png;base64,!!!!", file=Path("f"), item="a1")


def test_an_annotation_means_the_image_that_is_nearest_to_it(tmp_path):
    paths = [put(tmp_path / name, picture(n)) for n, name in enumerate(("p.png", "a/p.png"))]
    finder = ImageFinder([tmp_path], paths)
    page = tmp_path / "a/p.xml"
    assert finder.beside(page) == tmp_path / "a/p.png"
    assert finder.find("x/p.png", Place(page, "")) == tmp_path / "a/p.png"
