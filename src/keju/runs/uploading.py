"""`upload_run` and `download_run`: copies of a run in an object store, in immutable parts.

::

    s3://BUCKET/PREFIX/  index-00000.json · index-00001.json … · parts/<sha256>

A part is at most 64 MiB of a file and is named by its SHA-256. An index lists the parts of each
file. Nothing is ever replaced: a second upload adds the parts that are new and the next index, on
the condition that no other process has written it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from keju.errors import DataError, UsageError
from keju.files import write_atomic
from keju.items import Record
from keju.object_stores import ObjectFolder, parse_address
from keju.runs.folder import RunFolder

FORMAT = "keju-run-upload-1"

PART_BYTES = 64 << 20
"""The maximum size of a part, which is in memory while it is sent."""

_RUN = "run.json"


class Part(Record, frozen=True, array_like=True):
    """A part of a file: its SHA-256 and its size in bytes."""

    sha256: str
    size: int


class UploadIndex(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of an index: the parts of each file, by its path in the run."""

    format: str
    number: int
    files: dict[str, tuple[Part, ...]]


class UploadedRun(NamedTuple):
    """The result of an upload: the index's number, and what was sent."""

    number: int
    parts: int
    size: int
    """Bytes."""


def upload_run(run: Path, address: str) -> UploadedRun:
    """Upload a run, or what is new in it since the last upload.

    A run that is being written can be uploaded: of its responses all complete lines are.

    Args:
        run: the directory of the run.
        address: such as ``s3://BUCKET/PREFIX``, new or with earlier uploads of the same run.

    Raises:
        UsageError: there is no run, the address is not valid, or another process uploaded to it at
            the same time.
        DataError: the store answers with an error, or its last index is damaged.
    """
    folder = ObjectFolder(parse_address(address))
    source = RunFolder.open(run).path
    last = _read_last(folder)
    before = last.files if last else {}
    files: dict[str, tuple[Part, ...]] = {}
    sent = size = 0
    for path in _list_files(source):
        name = path.relative_to(source).as_posix()
        parts = []
        for part, data in _read_parts(path, before.get(name, ())):
            parts.append(part)
            if data and folder.create(_part_name(part), data):
                sent, size = sent + 1, size + part.size
        files[name] = tuple(parts)
    if last and files == last.files:
        return UploadedRun(last.number, 0, 0)
    index = UploadIndex(format=FORMAT, number=last.number + 1 if last else 0, files=files)
    if not folder.create(_index_name(index.number), msgspec.json.encode(index)):
        raise UsageError(
            "{}: another process uploaded at the same time. If it uploaded the same run, upload "
            "again",
            folder,
        )
    return UploadedRun(index.number, sent, size)


def download_run(address: str, out: Path) -> Path:
    """Write the last upload of a run into a new directory; every part is checked.

    Args:
        address: such as ``s3://BUCKET/PREFIX``.
        out: the directory, new or empty.

    Raises:
        UsageError: there is no upload at the address, or the directory is not empty.
        DataError: a part is missing or damaged, the index names a file outside of the directory, or
            the store answers with an error.
    """
    folder = ObjectFolder(parse_address(address))
    index = _read_last(folder)
    if index is None:
        raise UsageError("{}: there is no uploaded run (no object index-00000.json)", folder)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("{}: exists and is not empty. Use another directory", out)
    unsafe = next((name for name in index.files if not _is_inside(name)), None)
    if unsafe is not None or _RUN not in index.files:
        place = f"{folder}/{_index_name(index.number)}"
        raise DataError(
            "the index of an uploaded run is damaged or has another format",
            file=place,
            hint="Upload the run to another address",
        )
    # A directory without run.json is not a run.
    for name in sorted(index.files, key=lambda name: (name == _RUN, name)):
        write_atomic(out / name, _fetch_parts(folder, index.files[name]))
    return out


def _fetch_parts(folder: ObjectFolder, parts: tuple[Part, ...]) -> Iterator[bytes]:
    for part in parts:
        data = folder.read(_part_name(part))
        if hashlib.sha256(data).hexdigest() != part.sha256:
            raise DataError(
                "the content differs from the content that was uploaded",
                file=f"{folder}/{_part_name(part)}",
                hint="Upload the run to another address",
            )
        yield data


def _read_last(folder: ObjectFolder) -> UploadIndex | None:
    """The last index; None where there is none.

    Raises:
        DataError: it is damaged, or the store answers with an error.
    """
    number = -1
    while folder.find(_index_name(number + 1)):
        number += 1
    if number < 0:
        # The error of a listing names a missing bucket; that of a lookup does not.
        next(folder.list(), None)
        return None
    name = _index_name(number)
    try:
        index = msgspec.json.decode(folder.read(name), type=UploadIndex)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        index = None
    if index is None or index.format != FORMAT or index.number != number:
        raise DataError(
            "the index of an uploaded run is damaged or has another format",
            file=f"{folder}/{name}",
            hint="Upload the run to another address",
        )
    return index


def _list_files(source: Path) -> list[Path]:
    """The files of a run without locks and incomplete files, sorted."""
    return sorted(
        path
        for path in source.rglob("*")
        if path.is_file()
        and path.suffix != ".lock"
        and not any(part.startswith(".") for part in path.relative_to(source).parts)
    )


def _read_parts(path: Path, before: tuple[Part, ...]) -> Iterator[tuple[Part, bytes]]:
    """The parts of a file as it is now; those that were uploaded before have no data.

    Of JSON lines only complete lines are read.
    """
    with path.open("rb") as file:
        at = 0
        for part in before:
            if hashlib.sha256(file.read(part.size)).hexdigest() != part.sha256:
                file.seek(at)
                break
            at += part.size
            yield part, b""
        while data := file.read(PART_BYTES):
            if path.suffix == ".jsonl" and len(data) < PART_BYTES:
                data = data[: data.rfind(b"\n") + 1]
            if not data:
                return
            yield Part(sha256=hashlib.sha256(data).hexdigest(), size=len(data)), data


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    unsafe = path.is_absolute() or ".." in path.parts or not path.parts
    return not unsafe and not any(mark in name for mark in ("\\", "\0", ":"))


def _index_name(number: int) -> str:
    return f"index-{number:05d}.json"


def _part_name(part: Part) -> str:
    return f"parts/{part.sha256}"
