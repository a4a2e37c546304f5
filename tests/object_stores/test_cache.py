"""The cache of fetched files is bounded, and several processes share it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keju.errors import DataError, UsageError
from keju.files import write_atomic
from keju.object_stores import FileCache, cache_folder, cache_limit
from tests.support.children import started


def content(size: int, calls: list[int] | None = None) -> Callable[[Path], None]:
    def fetch(path: Path) -> None:
        if calls is not None:
            calls.append(size)
        write_atomic(path, b"x" * size)

    return fetch


def total(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "objects").rglob("*") if path.is_file())


def test_a_file_is_fetched_once(tmp_path: Path):
    cache, calls = FileCache(tmp_path, limit=1000), list[int]()
    first = cache.get("a", content(10, calls))
    assert FileCache(tmp_path, limit=1000).get("a", content(10, calls)) == first
    assert calls == [10]


def test_a_fetch_that_fails_leaves_nothing(tmp_path: Path):
    def fail(path: Path) -> None:
        raise DataError("no")

    with pytest.raises(DataError):
        FileCache(tmp_path, limit=1000).get("a", fail)
    assert total(tmp_path) == 0


def test_the_size_is_bounded_and_files_in_use_stay(tmp_path: Path):
    cache = FileCache(tmp_path, limit=1000)
    used = cache.get("used", content(100))
    for number in range(100):
        path = cache.get(f"n{number}", content(100))
        os.utime(path, (number, number))
        assert total(tmp_path) <= 1100
        cache.get("used", content(100))
    assert used.exists()
    assert not cache.path("n0").exists()


def test_what_an_earlier_process_left_counts(tmp_path: Path):
    FileCache(tmp_path, limit=10_000).get("old", content(900))
    os.utime(FileCache(tmp_path, limit=1000).path("old"), (1, 1))
    FileCache(tmp_path, limit=1000).get("new", content(900))
    assert total(tmp_path) == 900


def test_a_file_that_another_process_is_writing_stays(tmp_path: Path):
    cache = FileCache(tmp_path, limit=1000)
    folder = cache.get("old", content(900)).parent
    os.utime(cache.path("old"), (1, 1))
    unfinished, abandoned = folder / ".a.part", folder / ".b.part"
    for path in (unfinished, abandoned):
        path.write_bytes(b"x" * 900)
    os.utime(abandoned, (1, 1))
    FileCache(tmp_path, limit=1000).get("new", content(900))
    assert unfinished.exists()
    assert not abandoned.exists()


_WORKER = """
import sys
from pathlib import Path
from keju.files import write_atomic
from keju.object_stores import FileCache
cache = FileCache(Path(sys.argv[1]), limit=20_000)
for turn in range(3):
    for number in range(40):
        key = f"k{number}"
        data = key.encode() * 300
        for _ in range(100):
            path = cache.get(key, lambda path: write_atomic(path, data))
            try:
                assert path.read_bytes() == data
                break
            except FileNotFoundError:
                continue
        else:
            raise AssertionError(key)
"""


def test_several_processes_never_see_a_part_of_a_file(tmp_path: Path):
    workers = [started([sys.executable, "-c", _WORKER, str(tmp_path)]) for _ in range(3)]
    assert [worker.wait(120) for worker in workers] == [0, 0, 0]
    assert total(tmp_path) <= 20_000 + 3 * 1000


def test_the_folder_and_the_size_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("KEJU_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/keju")
    monkeypatch.setenv("KEJU_CACHE", "/other")
    assert cache_folder() == Path("/other")
    monkeypatch.setenv("KEJU_CACHE_GB", "0.5")
    assert cache_limit() == 500_000_000
    for wrong in ("0", "-1", "many", "nan"):
        monkeypatch.setenv("KEJU_CACHE_GB", wrong)
        with pytest.raises(UsageError) as caught:
            cache_limit()
        assert caught.value.template.startswith("KEJU_CACHE_GB is {!r}.")
