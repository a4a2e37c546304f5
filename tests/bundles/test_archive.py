"""A hostile zip file is an error of one line that names the file and the member."""

from __future__ import annotations

import io
import stat
import struct
import warnings
import zipfile
from pathlib import Path

import pytest

from keju.bundles import archive
from keju.bundles.archive import Archive
from keju.errors import DataError
from tests.bundles.bundling import pack


def read_all(path: Path) -> None:
    opened = Archive(path)
    for name in opened.names:
        opened.read(name, 1 << 20)


def refused(path: Path) -> DataError:
    with pytest.raises(DataError) as raised:
        read_all(path)
    assert raised.value.file == str(path)
    assert raised.value.hint
    assert len(str(raised.value).splitlines()) == 1
    return raised.value


@pytest.mark.parametrize(
    "name", ["../x", "a/../b", "/etc/passwd", "C:/x", "a\\b", ".hidden", "a/.b", "a//b", "x\u202ey",
             "x\n", "name with space", "a" * 400],
)  # fmt: skip
def test_a_name_outside_of_the_bundle(tmp_path: Path, name: str) -> None:
    error = refused(pack(tmp_path / "x.zip", [(name, b"x")]))
    assert error.item


def test_a_name_twice_and_in_two_cases(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = pack(tmp_path / "x.zip", [("a.json", b"1"), ("a.json", b"2")])
    assert refused(same).item == "a.json"
    assert refused(pack(tmp_path / "y.zip", [("a.json", b"1"), ("A.json", b"2")])).item == "A.json"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_or_device(tmp_path: Path, kind: int) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (kind | 0o777) << 16
    assert refused(pack(tmp_path / "x.zip", [(info, b"/etc/passwd")])).item == "link"


def test_an_encrypted_member_and_another_compression(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.zip", [("secret", b"x" * 100)])
    data = bytearray(path.read_bytes())
    data[6] |= 1
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    path.write_bytes(data)
    assert refused(path).item == "secret"
    with zipfile.ZipFile(tmp_path / "y.zip", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("packed", b"x")
    assert refused(tmp_path / "y.zip").item == "packed"


def test_a_zip_bomb_by_ratio(tmp_path: Path) -> None:
    error = refused(pack(tmp_path / "x.zip", [("bomb", bytes(8 << 20))]))
    assert error.item == "bomb"


def test_a_zip_bomb_of_many_small_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "x.zip", [(f"m{number}", bytes(1 << 20)) for number in range(8)])
    assert len(Archive(path).names) == 8
    monkeypatch.setattr(archive, "SMALL_TOTAL", 4 << 20)
    assert refused(path).template == "all members together are far larger than the file"


def test_a_bomb_whose_stated_size_is_small_is_cut(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.zip", [("bomb", bytes(8 << 20))])
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<L", data, central + 24, 10)
    path.write_bytes(data)
    assert refused(path).item == "bomb"
    pieces = Archive(path).stream("bomb")
    with pytest.raises(DataError):
        next(pieces)


def test_the_limits_of_members_and_of_the_total(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack(tmp_path / "x.zip", [(f"m{number}", b"abcdefgh") for number in range(5)])
    monkeypatch.setattr(archive, "MOST_TOTAL", 39)
    refused(path)
    monkeypatch.setattr(archive, "MOST_TOTAL", 40)
    assert len(Archive(path).names) == 5
    monkeypatch.setattr(archive, "MOST_MEMBERS", 4)
    refused(path)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 5)
    monkeypatch.setattr(archive, "MOST_MEMBER", 7)
    assert refused(path).item == "m0"


def test_no_cut_or_altered_byte_is_another_error_than_those_of_data(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.zip", [("a", b"0123456789"), ("b", b"abc")])
    whole = path.read_bytes()
    refusals = 0
    for place in range(0, len(whole), 2):
        byte = bytes([whole[place] ^ 0x55])
        for data in (whole[:place], whole[:place] + byte + whole[place + 1 :]):
            path.write_bytes(data)
            try:
                read_all(path)
            except DataError:
                refusals += 1
    assert refusals > len(whole) // 2


def test_what_is_not_a_zip_file(tmp_path: Path) -> None:
    for name, data in (("empty", b""), ("text", b"hello"), ("pdf", b"%PDF-1.4\n" * 50)):
        (tmp_path / name).write_bytes(data)
        refused(tmp_path / name)
    with pytest.raises(DataError):
        Archive(tmp_path / "missing.zip")
    with pytest.raises(DataError):
        Archive(tmp_path)


def test_a_damaged_member_gives_what_can_be_read(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as file:
        file.writestr("a", b"0123456789")
    data = stream.getvalue().replace(b"0123456789", b"0123x56789")
    (tmp_path / "x.zip").write_bytes(data)
    found = Archive(tmp_path / "x.zip").extract("a", tmp_path / "out")
    assert not found.damaged
    assert (tmp_path / "out").read_bytes() == b"0123x56789"
