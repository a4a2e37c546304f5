"""Scans are imported once for each state of theirs, into a work folder."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from keju.datasets.scan_import import (
    Origin,
    is_scans,
    ocr_report_command,
    run_folder,
    take_scans,
)
from keju.datasets.store import Dataset
from keju.datasets.validate import validate
from keju.errors import DataError, UsageError
from keju.files import locked_file
from tests.support.children import started
from tests.support.making import make_dataset, picture


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    path = tmp_path / "my scans 掃描"
    for number in range(3):
        book = path / f"book{number}"
        book.mkdir(parents=True)
        (book / "p1.png").write_bytes(picture(number))
        (book / "p1.txt").write_text("天地玄黃\n宇宙洪荒\n", "utf-8")
    return path


def test_the_same_scans_are_imported_once(scans, tmp_path):
    work = tmp_path / "work"
    first = take_scans(scans, work, Origin())
    assert Dataset.open(first.dataset).manifest.items == 3
    assert first.dataset.parent == work
    assert any("unknown" in each for each in first.notes)
    made = (first.dataset / "dataset.json").stat().st_mtime_ns
    again = take_scans(scans, work, Origin())
    assert (again.dataset, again.notes) == (first.dataset, ())
    assert (first.dataset / "dataset.json").stat().st_mtime_ns == made


def test_the_way_a_path_is_written_and_times_of_change_make_no_change(scans, tmp_path, monkeypatch):
    work = tmp_path / "work"
    first = take_scans(scans, work, Origin())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(scans)
    for path in (Path(scans.name), Path("link")):
        again = take_scans(path, work, Origin())
        assert (again.dataset, again.notes) == (first.dataset, ())
    os.utime(scans / "book0" / "p1.txt", (1, 1))
    touched = take_scans(scans, work, Origin())
    assert touched.dataset == first.dataset


def test_changed_scans_get_a_dataset_of_their_own(scans, tmp_path):
    work = tmp_path / "work"
    first = take_scans(scans, work, Origin())
    (scans / "book0" / "p1.txt").write_text("天地玄黃宇宙洪荒日月", "utf-8")
    (scans / "book1" / "p2.png").write_bytes(picture(9))
    (scans / "book1" / "p2.txt").write_text("日月盈昃", "utf-8")
    (scans / "book2" / "p1.png").unlink()
    (scans / "book2" / "p1.txt").unlink()
    second = take_scans(scans, work, Origin())
    assert second.dataset != first.dataset
    assert Dataset.open(first.dataset).manifest.items == 3
    assert run_folder(work, None) != run_folder(work, 2)


def test_a_change_is_noticed_in_a_folder_of_any_number_of_files(scans, tmp_path, monkeypatch):
    monkeypatch.setattr("keju.datasets.readers.listing.MOST_FILES", 2)
    first = take_scans(scans, tmp_path / "work", Origin())
    (scans / "book2" / "p1.txt").write_text("天地玄黃", "utf-8")
    assert take_scans(scans, tmp_path / "work", Origin()).dataset != first.dataset


def images_of(dataset: Path) -> dict[str, int]:
    """The inode of each image file of a dataset, by its name."""
    return {path.name: path.stat().st_ino for path in (dataset / "images").iterdir()}


def test_images_that_did_not_change_are_stored_once(scans, tmp_path):
    work = tmp_path / "work"
    before = images_of(take_scans(scans, work, Origin()).dataset)
    (scans / "book0" / "p1.txt").write_text("天地玄黃宇宙", "utf-8")
    corrected = take_scans(scans, work, Origin()).dataset
    assert images_of(corrected) == before
    (scans / "book1" / "p1.png").write_bytes(picture(9))
    replaced = take_scans(scans, work, Origin()).dataset
    now = images_of(replaced)
    assert len(now) == len(before) == len(now.keys() & before.keys()) + 1
    assert all(now[name] == before[name] for name in now.keys() & before.keys())
    assert not [each for each in validate(replaced) if each.severity == "error"]
    assert not (replaced / ".unfinished").exists()


def test_a_damaged_image_of_the_earlier_dataset_is_written_again(scans, tmp_path):
    work = tmp_path / "work"
    first = take_scans(scans, work, Origin()).dataset
    damaged = min((first / "images").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-1])
    (scans / "book0" / "p1.txt").write_text("天地玄黃宇宙", "utf-8")
    second = take_scans(scans, work, Origin()).dataset
    assert not [each for each in validate(second) if each.severity == "error"]


def test_another_licence_is_stored(scans, tmp_path):
    work = tmp_path / "work"
    first = take_scans(scans, work, Origin())
    second = take_scans(scans, work, Origin(licence="CC0-1.0", source="us"))
    assert second.dataset == first.dataset
    assert Dataset.open(second.dataset).manifest.licence == "CC0-1.0"


def test_an_import_that_was_killed_is_begun_again(scans, tmp_path):
    work = tmp_path / "work"
    (work / "importing").mkdir(parents=True)
    (work / "importing" / "dataset.json").write_text("{}")
    assert Dataset.open(take_scans(scans, work, Origin()).dataset).manifest.items == 3


def test_a_dataset_is_taken_as_it_is(tmp_path):
    dataset = make_dataset(tmp_path / "d", pages=2)
    assert take_scans(dataset, tmp_path / "work", Origin()).dataset == dataset


def test_all_pages_without_partner_are_named_at_once(scans, tmp_path):
    for number in range(3):
        (scans / f"book{number}" / "p1.txt").rename(scans / f"book{number}" / "q1.txt")
    (scans / "book0" / "p2.png").write_bytes(picture(8))
    (scans / "book0" / "p2.txt").write_text("日月", "utf-8")
    with pytest.raises(DataError) as raised:
        take_scans(scans, tmp_path / "work", Origin())
    for number in range(3):
        assert f"book{number}/p1.png" in str(raised.value)


def test_work_folders_in_the_wrong_place_are_refused(scans, tmp_path):
    for place in (scans / "work", scans):
        with pytest.raises(UsageError, match="inside the scans"):
            take_scans(scans, place, Origin())
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.doc").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"letter\.doc"):
        take_scans(scans, other, Origin())
    (tmp_path / "run.txt").touch()
    with pytest.raises(UsageError, match=r"run\.txt: not a folder"):
        take_scans(scans, tmp_path / "run.txt", Origin())
    work = tmp_path / "work"
    take_scans(scans, work, Origin())
    copy = scans.rename(tmp_path / "renamed")
    with pytest.raises(UsageError, match="other scans"):
        take_scans(copy, work, Origin())
    with pytest.raises(UsageError, match="no such file"):
        take_scans(tmp_path / "nothing", work, Origin())


def test_scans_are_told_from_datasets_and_from_other_folders(scans, tmp_path):
    assert is_scans(scans)
    for text in scans.rglob("*.txt"):
        text.unlink()
    assert is_scans(scans)
    assert not is_scans(make_dataset(tmp_path / "d", pages=1))
    assert not is_scans(tmp_path / "nothing")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("a")
    assert not is_scans(tmp_path / "notes")


@pytest.mark.parametrize("name", ["my scans (1)", "a'b", "掃描", "-scans", 'say "x"', "$HOME"])
def test_the_command_is_quoted_for_the_shell(name):
    words = shlex.split(ocr_report_command(Path(name), ("ppocr", "replay:a b.jsonl")))
    place = f"./{name}" if name.startswith("-") else name
    assert words == [
        "keju", "ocr-report", place, "-o", "report.html", "--model", "ppocr", "--model",
        "replay:a b.jsonl",
    ]  # fmt: skip


_TAKE = """
import sys
from pathlib import Path
from keju.datasets.scan_import import Origin, take_scans
from keju.errors import UsageError
try:
    print(take_scans(Path(sys.argv[1]), Path(sys.argv[2]), Origin()).dataset)
except UsageError as error:
    print(error)
"""


def test_a_second_import_to_the_same_work_folder_is_refused(scans, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    lock = locked_file(work / "importing.lock", busy="")
    try:
        with pytest.raises(UsageError, match="another process"):
            take_scans(scans, work, Origin())
        assert [each.name for each in work.iterdir()] == ["importing.lock"]
    finally:
        lock.release()
    assert take_scans(scans, work, Origin()).dataset.is_dir()


def test_simultaneous_imports_leave_one_whole_dataset(scans, tmp_path):
    work = tmp_path / "work"
    for number in range(60):
        (scans / f"book{number % 3}" / f"p{number + 2}.png").write_bytes(picture(number + 10))
        (scans / f"book{number % 3}" / f"p{number + 2}.txt").write_text("日月盈昃", "utf-8")
    command = [sys.executable, "-c", _TAKE, str(scans), str(work)]
    begun = [started(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [each.communicate()[0].strip() for each in begun]
    assert [each.returncode for each in begun] == [0, 0, 0]
    made = take_scans(scans, work, Origin()).dataset
    assert any(each == str(made) for each in printed)
    assert all(each == str(made) or "another process" in each for each in printed)
    assert [each for each in validate(made) if each.severity == "error"] == []
    assert not (work / "importing").exists()
