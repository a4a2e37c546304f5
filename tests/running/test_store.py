from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest

from keju.errors import DataError
from keju.items import Failure, Response
from keju.running import ResponseStore
from keju.running.requests import Slot
from keju.runs import RunFolder, file_name

HOSTILE = (
    "../../../etc/passwd",
    "/abs",
    "..",
    ".",
    "a/b",
    "a\\b",
    "nul\0",
    "长" * 300,
    "",
    "con:1",
)


def response(item: str, *, failed: bool = False, **fields: object) -> Response:
    error = Failure(kind="server", message="away") if failed else None
    return Response(**{
        "key": f"key-{item}", "item": item, "model": "m", "benchmark": "b", "task": "T1",
        "status": "failed" if failed else "answered", "text": "" if failed else f"天{item}",
        "error": error, **fields,
    })  # fmt: skip


def stored(folder: RunFolder) -> list[Response]:
    return list(folder.responses())


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")


def test_a_response_is_on_disk_as_soon_as_it_is_appended(folder: RunFolder):
    with ResponseStore(folder) as store:
        store.append(response("a"))
        path = folder.responses_path("m", "T1")
        assert path.read_bytes() == msgspec.json.encode(response("a")) + b"\n"
        store.append(response("b"))
        assert stored(folder) == [response("a"), response("b")]


def test_each_response_is_one_write(folder: RunFolder, monkeypatch: pytest.MonkeyPatch):
    writes: list[bytes] = []
    write = os.write
    with ResponseStore(folder) as store:
        monkeypatch.setattr(
            os, "write", lambda file, data: writes.append(data) or write(file, data)
        )
        store.append(response("a", text="x" * 200_000))
        monkeypatch.undo()
    assert len(writes) == 1
    assert writes[0].endswith(b"\n")


def test_what_is_known_is_found_by_key_item_and_candidate(folder: RunFolder):
    with ResponseStore(folder) as store:
        store.append(response("a"))
        store.append(response("a", round=2, key="k2", task="T5", source_sha256="5" * 64))
        store.append(response("b", failed=True))
        store.append(response("c", model="other"))
        known = store.known("m")
    assert known == {
        Slot("key-a", "a", 0): ("answered", ""),
        Slot("k2", "a", 0): ("answered", ""),
        Slot("key-b", "b", 0): ("failed", "server"),
    }


def test_a_line_torn_at_any_byte_is_mended_and_no_whole_answer_is_lost(folder: RunFolder):
    with ResponseStore(folder) as store:
        store.append(response("a"))
        store.append(response("b"))
    path = folder.responses_path("m", "T1")
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    for end in range(start, len(whole) + 1):
        path.write_bytes(whole[:end])
        with ResponseStore(folder) as store:
            known = store.known("m")
            # All but the newline is there: the answer was paid for and is kept.
            assert len(known) == (2 if end >= len(whole) - 1 else 1)
            if len(known) == 1:
                store.append(response("b"))
        assert path.read_bytes() == whole


def test_a_torn_line_nested_too_deeply_is_cut_off_too(folder: RunFolder):
    with ResponseStore(folder) as store:
        store.append(response("a"))
    path = folder.responses_path("m", "T1")
    with path.open("ab") as stream:
        stream.write(b'{"x":' + b"[" * 100_000)
    with ResponseStore(folder):
        assert stored(folder) == [response("a")]


def test_a_file_of_nothing_but_a_torn_line_is_emptied(folder: RunFolder):
    path = folder.responses_path("m", "T1")
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"key": "half')
    with ResponseStore(folder) as store:
        assert store.known("m") == {}
    assert path.read_bytes() == b""


def test_a_plan_beside_a_running_run_ignores_a_line_that_is_being_written(folder: RunFolder):
    with ResponseStore(folder) as store:
        store.append(response("a"))
    path = folder.responses_path("m", "T1")
    torn = path.read_bytes() + msgspec.json.encode(response("b"))[:20]
    path.write_bytes(torn)
    # A plan only reads: it does not open the store, which would cut the torn line.
    assert list(ResponseStore(folder).known("m")) == [Slot("key-a", "a", 0)]
    assert path.read_bytes() == torn


def test_dropped_responses_leave_the_others_as_they_are(folder: RunFolder):
    with ResponseStore(folder) as store:
        for name in "abc":
            store.append(response(name, failed=name == "b"))
        store.append(response("b", model="other"))
        path = folder.responses_path("m", "T1")
        lines = path.read_bytes().splitlines(keepends=True)
        store.drop("m", {Slot("key-b", "b", 0)})
        assert path.read_bytes() == lines[0] + lines[2]
        store.append(response("b"))
        assert [(r.item, r.status) for r in folder.responses("m")] == [
            ("a", "answered"), ("c", "answered"), ("b", "answered"),
        ]  # fmt: skip
    assert [r.item for r in folder.responses("other")] == ["b"]
    with ResponseStore(folder) as store:
        store.drop("m", store.known("m"))
    assert folder.response_files("m") == []


def test_the_same_key_of_two_items_is_two_responses(folder: RunFolder):
    with ResponseStore(folder) as store:
        store.append(response("a", key="k"))
        store.append(response("b", key="k"))
    assert len(stored(folder)) == 2


def test_a_damaged_line_is_named(folder: RunFolder):
    path = folder.responses_path("m", "T1")
    path.parent.mkdir(parents=True)
    good = msgspec.json.encode(response("a")) + b"\n"
    path.write_bytes(good + b"\x00\x00{}\n" + good)
    with (
        pytest.raises(DataError, match=r"T1\.jsonl: line 2: .*Delete that line"),
        ResponseStore(folder) as store,
    ):
        store.known("m")
    with ResponseStore(RunFolder(folder.path.parent / "other")):
        pass


def test_a_write_of_a_part_is_continued(folder: RunFolder, monkeypatch: pytest.MonkeyPatch):
    write = os.write
    with ResponseStore(folder) as store:
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:20]))
        store.append(response("a"))
        monkeypatch.undo()
    assert stored(folder) == [response("a")]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_failed_write_leaves_no_half_line(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, code: int
):
    write = os.write

    room = 20

    def fill(file: int, data: bytes) -> int:
        nonlocal room
        if not room:
            raise OSError(code, os.strerror(code))
        part, room = write(file, data[:room]), 0
        return part

    with ResponseStore(folder) as store:
        store.append(response("a"))
        monkeypatch.setattr(os, "write", fill)
        with pytest.raises(DataError, match=rf"b: .*{os.strerror(code)}\. Correct this"):
            store.append(response("b"))
        monkeypatch.undo()
        assert stored(folder) == [response("a")]
        store.append(response("b"))
    assert stored(folder) == [response("a"), response("b")]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leaves_the_run_folder(folder: RunFolder, name: str):
    with ResponseStore(folder) as store:
        store.append(response("a", model=f"replay:{name}", task=name))
        assert len(store.known(f"replay:{name}")) == 1
    root = folder.path.resolve() / "responses"
    written = [path for path in folder.path.parent.rglob("*") if path.is_file()]
    files = [path for path in written if path.name != "run.lock"]
    assert len(files) == 1
    assert files[0].resolve().parent.parent == root
    assert len(files[0].name) < 120


def test_different_hostile_names_stay_apart():
    assert len({file_name(name) for name in HOSTILE}) == len(HOSTILE)
    assert file_name("a/b") != file_name("a_b")
