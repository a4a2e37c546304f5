"""Files are read and written whole, or an error names them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keju.errors import DataError, error_text
from keju.files import (
    MOST_TOML,
    bounded_bytes,
    read_json,
    read_jsonl,
    read_toml,
    write_atomic,
    write_json,
)
from keju.running.options import read_item_ids
from keju.runs import RunFolder
from keju.texts import _, in_terminal, using


def test_a_byte_order_mark_is_passed_over(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(file, list[int]) == [1]


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff\xfe{\x00}\x00", b'{"keju": "\xff"}', b'{"keju": "\\ud800"}', b'{"a":' * 100_000,
        b"[" * 100_000, b'{"models": {"m": NaN}}', b'{"format": 1e999}', b'{"keju": "1"} x',
        b'{"keju": "\x1b[31m\n"}', b'{"format": "\\u001b[31m\\n"}', b"9" * 100_000,
    ],
)  # fmt: skip
def test_a_hostile_manifest_is_an_error_of_one_line_with_its_file(tmp_path: Path, data: bytes):
    (tmp_path / "run.json").write_bytes(data)
    with pytest.raises(DataError) as caught:
        RunFolder.open(tmp_path)
    for language in ("en", "zh"):
        line = caught.value.render(language)
        assert line.isprintable()
        assert line.startswith(f"{tmp_path / 'run.json'}: ")


def test_a_folder_is_no_json(tmp_path: Path):
    with pytest.raises(DataError, match="not a regular file"):
        read_json(tmp_path, list[int])


def test_a_line_that_is_not_readable_is_named(tmp_path: Path):
    file = tmp_path / "a.jsonl"
    file.write_text('1\n"x"\n')
    with pytest.raises(DataError, match=r"a\.jsonl: line 2: not readable: .* Delete that line"):
        list(read_jsonl(file, int))


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ('{"a": [1, 2', "the JSON ends too early", "JSON 提前结束"),
        ('{"a": 1,}', "not JSON from byte 8 on", "从第 8 个字节起不是 JSON"),
        ("[" * 100_000, "the JSON is nested too deeply", "JSON 嵌套层数过多"),
    ],
)
def test_what_is_wrong_with_json_is_said_in_both_languages(tmp_path: Path, text, english, chinese):
    file = tmp_path / "a.json"
    file.write_text(text, "utf-8")
    with pytest.raises(DataError) as caught:
        read_json(file, object)
    assert english in str(caught.value)
    with using("zh"):
        assert chinese in in_terminal(error_text(caught.value))


def test_what_is_no_file_is_never_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with pytest.raises(DataError, match="cannot be written: the path exists") as caught:
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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (".".join(["a"] * 50_000) + " = 1", "a key has more than 40 parts"),
        (".".join(['"a"'] * 50_000) + " = 1", "a key has more than 40 parts"),
        ("[" + " . ".join(["a"] * 50_000) + "]", "a key has more than 40 parts"),
        ("x = [" + "[" * 50_000, "recursion"),
        ("x = " + "{a = " * 50_000, "recursion"),
        ("x = " + "9" * 5000, "limit"),
        ("x = 1\nx = 2", "Cannot overwrite"),
        ('x = "a\\q"', "Write / in paths"),
    ],
)
def test_toml_that_would_stop_the_parser_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"x\.toml: not readable as TOML: .*{why}"):
        read_toml(path, dict[str, object])


def test_dots_in_texts_comments_and_numbers_are_no_key(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    dots = "a." * 200
    path.write_text(
        f'# {dots}\na = "{dots}"\nb = \'{dots}\'\nc = """\n{dots}"x\\""{dots}"""\n'
        f"d = '''{dots}'''\n{'k.' * 39}k = 1.5\n"
    )
    found = read_toml(path, dict[str, object])
    assert [str(found[key]).count("a.") for key in "abcd"] == [200, 200, 400, 200]


def test_toml_of_another_shape_or_no_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("a = 1")
    with pytest.raises(DataError, match=r"x\.toml: not a list of words: .*str.*\. Write it"):
        read_toml(path, dict[str, str], what="a list of words", hint="Write it")
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(DataError, match="not UTF-8"):
        read_toml(path, dict[str, str])
    path.write_bytes(b"#" * (MOST_TOML + 1))
    with pytest.raises(DataError, match="larger than 4,000,000 bytes"):
        read_toml(path, dict[str, str])
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DataError, match="not a regular file"):
        read_toml(path, dict[str, str])
    path.unlink()
    path.symlink_to(path.name)
    with pytest.raises(DataError, match="not readable: Too many levels"):
        read_toml(path, dict[str, str])


def test_a_file_beyond_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    with path.open("wb") as file:
        file.truncate(5 << 30)
    with pytest.raises(DataError, match=r"x\.txt: larger than 10 bytes"):
        bounded_bytes(path, 10)
    with pytest.raises(DataError, match=r"x\.txt: larger than 67,108,864 bytes"):
        read_item_ids(path)
    path.write_bytes(b"0123456789")
    assert bounded_bytes(path, 10) == b"0123456789"


def test_messages_are_stored_in_english(tmp_path: Path):
    with using("zh"):
        text = _("{}: not UTF-8", "x")
        write_json(tmp_path / "a.json", {"text": text})
    stored = json.loads((tmp_path / "a.json").read_text("utf-8"))["text"]
    assert stored == "x: not UTF-8"
