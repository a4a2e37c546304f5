"""Texts in UTF-8, UTF-16, GB18030 and Big5 are read, and the encoding is reported."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from keju.datasets.import_log import logging_import
from keju.datasets.readers import FORMATS, import_dataset
from keju.datasets.readers.encodings import decode
from keju.datasets.readers.tables import all_rows
from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from tests.support.hanging import ends
from tests.support.released import picture, put

FILE = Path("a.txt")
TEXTS = {
    "short": "學而時習之，不亦說乎？",
    "simplified": "古籍页面文字识别，按前人阅读顺序输出其全文。",
    "JSON": '[{"ID": "a1", "Question": "何人所作？", "Answer": "孫過庭《書譜》"}]',
    "CSV": "ID,Question,Answer\r\na1,何人所作？,孫過庭\r\n",
    "rare": "𠀀𪚥㐀，學而時習之，不亦說乎，有朋自遠方來。",
    "long": "天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。" * 40_000,
}
ENCODINGS = {
    "utf-8": "utf-8-sig",
    "utf-8-sig": "utf-8-sig",
    "utf-16": "UTF-16",
    "gb18030": "GB18030",
    "big5": "Big5",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", TEXTS)
def test_the_encoding_is_detected(kind, encoding):
    text = TEXTS[kind]
    if encoding == "big5":
        text = "".join(char for char in text if char.encode("big5", "ignore"))
    found = decode(text.encode(encoding), FILE)
    assert found[0] == text
    if not text.isascii():
        assert found[1] == ENCODINGS[encoding]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_user_can_name_the_encoding(encoding):
    assert decode("天地玄黃".encode(encoding), FILE, encoding) == ("天地玄黃", encoding)


@pytest.mark.parametrize("text", ["裏", "恒", "嫺", "粧"])
def test_big5_with_the_characters_of_windows_is_read(text):
    text = f"學而時習之，不亦說乎？{text}"
    assert decode(text.encode("cp950"), FILE) == (text, "Big5")


@pytest.mark.parametrize("text", ["", "plain text\n", "\t\r\n\f", "a\0b", "caf\u00e9 and 天"])
def test_utf8_stays_utf8(text):
    assert decode(text.encode(), FILE) == (text, "utf-8-sig")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("天地玄黃宇宙洪荒".encode()[:-1], "is not UTF-8: byte 21 is not valid"),
        ("天地玄黃".encode() + b"\xff" + "宇宙洪荒".encode(), "is not UTF-8: byte 12 is not valid"),
        (bytes(range(128, 256)) * 3, "is not UTF-8, UTF-16, GB18030 or Big5"),
        ("El niño comió más piñas".encode("latin-1"), "is not UTF-8, UTF-16, GB18030 or Big5"),
        ("學習".encode("big5"), "the encoding is uncertain: '厩策' as GB18030, '學習' as Big5"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8a", "is not UTF-16"),
        ("學而時習之".encode("utf-16-le"), "is not UTF-8, UTF-16, GB18030 or Big5"),
        ("ID,Question\n".encode("utf-16-be"), "is not UTF-8, UTF-16, GB18030 or Big5"),
    ],
)
def test_a_text_in_no_known_encoding_is_refused_in_one_line(data, words):
    with pytest.raises(DataError, match=words) as refused:
        decode(data, FILE)
    assert "--option encoding=NAME" in refused.value.hint
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("data", [b"PK\x03\x04\x14\x00\xff\xfe", b"{\\rtf1 x}", b"%PDF-1.7"])
def test_an_office_file_in_place_of_a_text_is_named(data):
    with pytest.raises(DataError, match=r"office program, not a text\. Save it as plain text"):
        decode(data, FILE)


@pytest.mark.parametrize("name", ["none", "rot13", "hex", "a\0b", "x" * 5000])
def test_an_encoding_that_does_not_exist_is_refused(name):
    with pytest.raises(UsageError, match="option encoding="):
        decode(b"a", FILE, name)


def test_a_text_that_is_not_in_the_named_encoding_is_refused():
    with pytest.raises(DataError, match="the text is not GB18030: byte 3 is not valid"):
        decode(b"abc\xff", FILE, "gb18030")


def test_the_encoding_of_a_large_file_is_found():
    text = "天地玄黃" * 4_000_000
    data = text.encode("gb18030")

    def decoded():
        assert decode(data, FILE) == (text, "GB18030")

    ends(decoded)


def test_tables_are_read_in_their_encoding_and_it_is_reported(tmp_path):
    text = "ID,Question\na1,何人所作此書？\n"
    file = put(tmp_path / "a.csv", text.encode("gb18030"))
    with logging_import() as log:
        (row,) = all_rows(file)
    assert row.cells == {"ID": "a1", "Question": "何人所作此書？"}
    assert list(log.notes()) == [f"read as GB18030: {file}"]


def test_the_option_sets_the_encoding_of_an_import(tmp_path):
    src = tmp_path / "src"
    put(src / "a.png", picture(1))
    put(src / "a.txt", "學習".encode("big5"))
    about = {"name": "n", "version": "1", "licence": "CC0-1.0", "source": "test"}
    made = import_dataset("pages", src, tmp_path / "out", **about, options={"encoding": "big5"})
    (item,) = Dataset.open(tmp_path / "out").items()
    assert item.answer == "學習"
    assert made.notes == (f"read as big5: {src / 'a.txt'}",)


def test_json_in_utf16_is_read(tmp_path):
    records = [{"ID": "a1", "Question": "何人？"}]
    file = put(tmp_path / "a.json", json.dumps(records, ensure_ascii=False).encode("utf-16"))
    assert [row.cells for row in all_rows(file)] == records


def test_readers_of_texts_have_the_option():
    without = {name for name, reader in FORMATS.items() if "encoding" not in reader.every_option}
    assert without == {"page-xml", "alto", "parquet"}


@pytest.mark.parametrize(
    "text", ["学而時習之、不亦説乎", "これは漢文の訓読である。学びて時に之を習ふ"]
)
def test_a_japanese_text_is_not_read_as_chinese(text):
    with pytest.raises(DataError, match="Shift_JIS"):
        decode(text.encode("shift_jis"), Path("a.txt"))
    assert decode(text.encode("shift_jis"), Path("a.txt"), "shift_jis")[0] == text
