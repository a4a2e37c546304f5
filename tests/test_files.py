"""Files are read and written whole, or an error names them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keju.errors import DataError
from keju.files import read_json, read_jsonl, write_atomic


def test_a_byte_order_mark_is_passed_over(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(file, list[int]) == [1]


@pytest.mark.parametrize("half", ["\\ud800", "\\uDC00", "\\ud800\\u0041", "\\\\\\ud800"])
def test_half_a_character_is_named_with_its_place(tmp_path: Path, half: str):
    file = tmp_path / "a.json"
    file.write_text(f'["\\ud840\\udc00", "\\\\ud800", "{half}"]')
    with pytest.raises(DataError, match=r"a\.json: half a character, .u[dD][8cC]00, at byte"):
        read_json(file, list[str])


def test_an_escaped_backslash_and_a_pair_are_no_half_characters(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_text(r'["\\ud800", "\ud840\udc00"')
    with pytest.raises(DataError, match="not readable as JSON"):
        read_json(file, list[str])


def test_a_folder_is_no_json(tmp_path: Path):
    with pytest.raises(DataError, match="this is no file"):
        read_json(tmp_path, list[int])


def test_a_line_that_is_not_readable_is_named(tmp_path: Path):
    file = tmp_path / "a.jsonl"
    file.write_text('1\n"x"\n')
    with pytest.raises(DataError, match=r"a\.jsonl: line 2: not readable: .* Delete that line"):
        list(read_jsonl(file, int))


def test_what_is_no_file_is_never_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with pytest.raises(DataError, match="cannot be written: there is something") as caught:
            write_atomic(place, b"x")
        assert caught.value.file == str(place)
    assert pipe.is_fifo()


def test_a_place_that_takes_no_file_is_named_as_the_user_knows_it(tmp_path: Path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(DataError, match=r"file/report\.html: cannot be written"):
        write_atomic(tmp_path / "file" / "report.html", b"x")
    with pytest.raises(DataError, match="cannot be written: File name too long"):
        write_atomic(tmp_path / ("x" * 300), b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
