"""Uploaded runs: immutable parts, an index that one of several writers creates."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from keju.errors import DataError, UsageError
from keju.object_stores import ObjectFolder, parse_address
from keju.running import run
from keju.runs import RunFolder, uploading
from keju.runs.uploading import download_run, upload_run
from tests.support.making import make_dataset


@pytest.fixture
def made(tmp_path: Path, server: object) -> Path:
    run(make_dataset(tmp_path / "d", pages=4), ["baseline:copy"], tmp_path / "run")
    return tmp_path / "run"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock" and not path.name.startswith(".")
    }


def objects(address: str) -> dict[str, str]:
    return {each.name: each.etag for each in ObjectFolder(parse_address(address)).list()}


def responses_file(folder: Path) -> Path:
    (file,) = RunFolder.open(folder).response_files()
    return file


def test_a_run_comes_back_byte_for_byte(made: Path, address: str, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(uploading, "PART_BYTES", 200)
    done = upload_run(made, address)
    assert done.number == 0
    assert done.size > 200
    assert contents(download_run(address, tmp_path / "back")) == contents(made)
    assert RunFolder.open(tmp_path / "back").items() == RunFolder.open(made).items()


def test_the_second_upload_adds_only_what_is_new(made: Path, address: str, tmp_path: Path):
    upload_run(made, address)
    first = objects(address)
    assert upload_run(made, address) == (0, 0, 0)
    with responses_file(made).open("ab") as file:
        file.write(b'{"more": 1}\n{"torn": ')
    done = upload_run(made, address)
    assert (done.number, done.parts, done.size) == (1, 1, len(b'{"more": 1}\n'))
    assert first.items() <= objects(address).items()
    back = contents(download_run(address, tmp_path / "back"))
    assert back[responses_file(made).relative_to(made).as_posix()].endswith(b'\n{"more": 1}\n')


def test_earlier_uploads_are_found_by_one_list(made: Path, address: str, monkeypatch):
    for number in range(3):
        (made / "note.txt").write_text(str(number))
        assert upload_run(made, address).number == number
    lists = list[str]()
    listed = ObjectFolder.list
    monkeypatch.setattr(ObjectFolder, "find", None)
    monkeypatch.setattr(
        ObjectFolder, "list", lambda *given: (lists.append("list"), listed(*given))[1]
    )
    assert upload_run(made, address).number == 2
    assert lists == ["list"]


def test_a_file_that_changed_is_uploaded_again(made: Path, address: str, tmp_path: Path):
    upload_run(made, address)
    responses_file(made).write_bytes(b'{"other": 1}\n')
    assert upload_run(made, address).number == 1
    assert contents(download_run(address, tmp_path / "back")) == contents(made)


def test_of_writers_at_the_same_time_one_writes_the_index(made: Path, address: str, monkeypatch):
    read = uploading._read_last
    monkeypatch.setattr(uploading, "_read_last", lambda folder: None if folder else read(folder))

    def write(_: int) -> str:
        try:
            upload_run(made, address)
        except UsageError as error:
            return error.template
        return "done"

    with ThreadPoolExecutor(4) as pool:
        ends = sorted(pool.map(write, range(4)))
    assert ends[0] == "done"
    assert all(end.startswith("{}: another process uploaded at the same time") for end in ends[1:])


def test_a_damaged_part_or_index_is_a_data_error(made: Path, address: str, tmp_path: Path):
    upload_run(made, address)
    folder = ObjectFolder(parse_address(address))
    index = msgspec.json.decode(folder.read("index-00000.json"))
    part = index["files"]["items.parquet"][0][0]
    data = folder.read(f"parts/{part}")
    folder.write(f"parts/{part}", b"x" + data[1:])
    with pytest.raises(DataError) as caught:
        download_run(address, tmp_path / "back")
    assert caught.value.template == "the content differs from the content that was uploaded"
    assert not (tmp_path / "back" / "run.json").exists()
    for name in ("../run.json", "/etc/x", "a/../../b", "", "a//b", "a/.", "C:x", "a\\b", "a\0"):
        wrong = index | {"files": index["files"] | {name: []}}
        folder.write("index-00000.json", msgspec.json.encode(wrong))
        with pytest.raises(DataError) as caught:
            download_run(address, tmp_path / "other")
        assert (
            caught.value.template == "the index of an uploaded run is damaged or has another format"
        )
        assert not (tmp_path / "other").exists()


def test_an_address_without_an_upload_and_a_full_directory_are_refused(
    made: Path, address: str, tmp_path: Path
):
    with pytest.raises(UsageError) as caught:
        download_run(address, tmp_path / "back")
    assert caught.value.template == "{}: there is no uploaded run (no object index-00000.json)"
    upload_run(made, address)
    with pytest.raises(UsageError) as caught:
        download_run(address, made)
    assert caught.value.template == "{}: exists and is not empty. Use another directory"
