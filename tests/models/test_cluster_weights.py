"""The store of a node's weights: complete files only, one sender at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keju.files import sha256_file
from keju.models.cluster import WeightStore

FILES = {"config.json": b"{}", "model.safetensors": b"weights" * 9, "vocab.txt": b""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "weights"
    made.mkdir()
    for name, data in FILES.items():
        (made / name).write_bytes(data)
    return made


@pytest.fixture
def hashes(folder: Path) -> dict[str, str]:
    return {name: sha256_file(folder / name) for name in FILES}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KEJU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "weights"


def write(store: WeightStore, *, without: str = "") -> None:
    assert store.find("nowhere") == ""
    for name, data in FILES.items():
        if name != without:
            store.write(name, data[:5])
            store.write(name, data[5:])


def test_a_folder_of_the_node_with_the_same_files_is_used(folder: Path, hashes: dict[str, str]):
    (folder / "pytorch_model.bin").write_bytes(b"another format")
    assert WeightStore(hashes).find(str(folder)) == str(folder)
    (folder / "vocab.txt").write_bytes(b"other")
    assert WeightStore(hashes).find(str(folder)) == ""
    assert WeightStore(hashes).find(str(folder / "nowhere")) == ""


def test_sent_files_are_found_by_later_commands_once_they_are_complete(
    cache: Path, hashes: dict[str, str]
):
    store = WeightStore(hashes)
    write(store)
    assert WeightStore(hashes).find("nowhere") == ""
    place = Path(store.finish())
    assert place.parent == cache
    assert {each.name: each.read_bytes() for each in place.iterdir()} == FILES
    assert WeightStore(hashes).find("nowhere") == str(place)
    assert WeightStore(hashes | {"vocab.txt": "0"}).find("nowhere") == ""


def test_stores_of_one_cache_do_not_disturb_each_other(cache: Path, hashes: dict[str, str]):
    one, other = WeightStore(hashes), WeightStore(hashes)
    write(one)
    write(other)
    place = one.finish()
    assert other.finish() == place
    assert [each.name for each in cache.iterdir()] == [Path(place).name]
    assert {each.name: each.read_bytes() for each in Path(place).iterdir()} == FILES


def test_damaged_files_are_replaced_and_abandoned_ones_are_removed(
    cache: Path, hashes: dict[str, str]
):
    store = WeightStore(hashes)
    write(store)
    place = Path(store.finish())
    (place / "config.json").write_bytes(b"damaged")
    abandoned, recent = cache / "a.part", cache / "b.part"
    for each in (abandoned, recent):
        each.mkdir()
    os.utime(abandoned, (0, 0))
    again = WeightStore(hashes)
    write(again)
    assert again.finish() == str(place)
    assert (place / "config.json").read_bytes() == FILES["config.json"]
    assert recent.exists()
    assert not abandoned.exists()


def test_files_that_are_not_those_announced_are_refused(cache: Path, hashes: dict[str, str]):
    store = WeightStore(hashes)
    write(store, without="model.safetensors")
    with pytest.raises(OSError, match="part"):
        store.finish()
    assert WeightStore(hashes).find("nowhere") == ""
    for name in ("other.json", "../config.json"):
        with pytest.raises(ValueError, match=name):
            store.write(name, b"x")
    (cache.parent / "config.json").touch()
    with pytest.raises(ValueError, match="config"):
        WeightStore({"../config.json": ""}).write("../config.json", b"x")
