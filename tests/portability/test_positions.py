"""Open files on systems without `os.pread`, and files that another program has open."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keju.errors import DataError
from keju.files import read_at, replace_file, write_atomic
from keju.runs import RecordList


class InUseError(PermissionError):
    """The error of Windows for a file that another program has open."""

    winerror = 32


@pytest.fixture(params=["with pread", "without pread"])
def pread(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without pread":
        monkeypatch.delattr(os, "pread", raising=False)


@pytest.mark.usefixtures("pread")
def test_a_read_does_not_change_where_the_next_bytes_are_written(tmp_path: Path) -> None:
    with (tmp_path / "f").open("w+b") as stream:
        stream.write(b"0123456789")
        stream.flush()
        assert read_at(stream, 3, 2) == b"234"
        assert read_at(stream, 9, 8) == b"89"
        stream.write(b"X")
        stream.flush()
        assert read_at(stream, 20, 0) == b"0123456789X"


@pytest.mark.usefixtures("pread")
def test_a_long_list_is_the_same_while_it_grows() -> None:
    found = RecordList(int, most=2)
    for number in range(200):
        found.append(number)
        assert found[number // 2] == number // 2
    assert list(found) == list(range(200))


def _replacing(monkeypatch: pytest.MonkeyPatch, error: OSError, times: int) -> list[str]:
    """Let the first renames of a path fail."""
    tried: list[str] = []
    rename = os.replace

    def fail(old: Path, new: Path) -> None:
        tried.append(Path(new).name)
        if len(tried) <= times:
            raise error
        rename(old, new)

    monkeypatch.setattr(os, "replace", fail)
    return tried


def test_a_file_in_use_is_replaced_once_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("old", "utf-8")
    tried = _replacing(monkeypatch, InUseError(13, "in use"), times=2)
    write_atomic(tmp_path / "f", "new")
    assert tried == ["f"] * 3
    assert (tmp_path / "f").read_text("utf-8") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_other_errors_are_raised_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = _replacing(monkeypatch, PermissionError(13, "Permission denied"), times=9)
    with pytest.raises(PermissionError):
        replace_file(tmp_path / "a", tmp_path / "f")
    assert tried == ["f"]


def test_a_file_that_stays_in_use_is_an_error_without_leftovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    tried = _replacing(monkeypatch, InUseError(13, "in use"), times=99)
    with pytest.raises(DataError, match="in use"):
        write_atomic(tmp_path / "f", "new")
    assert len(tried) == 7
    assert list(tmp_path.iterdir()) == []
