"""`upload_run` and `download_run`: copies of a run in an object store, in immutable parts.

::

    s3://BUCKET/PREFIX/  index-00000.json · index-00001.json … · parts/<sha256>

A part is at most 64 MiB of a file and is named by its SHA-256. An index lists the parts of each
file. Nothing is ever replaced: a second upload adds the parts that are new and the next index, on
the condition that no other process has written it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from keju.errors import DataError, UsageError
from keju.files import sha256_bytes, write_atomic
from keju.items import Record
from keju.object_stores import ObjectFolder, parse_address
from keju.runs.folder import RunFolder

FORMAT = "keju-run-upload-1"

PART_BYTES = 64 << 20
"""The maximum size of a part, which is in memory while it is sent."""

_RUN = "run.json"
_INDEX = re.compile(r"index-[0-9]{5,}\.json")
_OUTSIDE = re.compile(r"(^|/)\.{0,2}(/|$)|[\\\0:]")
"""A name that is not a path inside of a directory on every system."""


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
    """The result of an upload: the index's number, and the parts and bytes that were sent."""

    number: int
    parts: int
    size: int


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
    files: dict[str, tuple[Part, ...]] = {}
    sent = size = 0
    for path in sorted(source.rglob("*")):
        place = path.relative_to(source)
        hidden = any(part.startswith(".") for part in place.parts)
        if not path.is_file() or hidden or path.suffix == ".lock":
            continue
        name, parts = place.as_posix(), []
        for part, data in _read_parts(path, last.files.get(name, ()) if last else ()):
            parts.append(part)
            if data and folder.create(f"parts/{part.sha256}", data):
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
    # A directory without run.json is not a run.
    for name in sorted(index.files, key=lambda name: (name == _RUN, name)):
        write_atomic(out / name, _fetch_parts(folder, index.files[name]))
    return out


def _fetch_parts(folder: ObjectFolder, parts: tuple[Part, ...]) -> Iterator[bytes]:
    for part in parts:
        data = folder.read(f"parts/{part.sha256}")
        if sha256_bytes(data) != part.sha256:
            raise DataError(
                "the content differs from the content that was uploaded",
                file=f"{folder}/parts/{part.sha256}",
                hint="Upload the run to another address",
            )
        yield data


def _read_last(folder: ObjectFolder) -> UploadIndex | None:
    """The last index; None where there is none.

    Raises:
        DataError: it is damaged, or the store answers with an error.
    """
    name = max(filter(_INDEX.fullmatch, (stored.name for stored in folder.list())), default=None)
    if name is None:
        return None
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        index = msgspec.json.decode(folder.read(name), type=UploadIndex)
        inside = _RUN in index.files and not any(map(_OUTSIDE.search, index.files))
        if inside and (index.format, _index_name(index.number)) == (FORMAT, name):
            return index
    raise DataError(
        "the index of an uploaded run is damaged or has another format",
        file=f"{folder}/{name}",
        hint="Upload the run to another address",
    )


def _read_parts(path: Path, before: tuple[Part, ...]) -> Iterator[tuple[Part, bytes]]:
    """The parts of a file as it is now; those that were uploaded before have no data.

    Of JSON lines only complete lines are read.
    """
    with path.open("rb") as file:
        start = 0
        for part in before:
            if sha256_bytes(file.read(part.size)) != part.sha256:
                file.seek(start)
                break
            start += part.size
            yield part, b""
        while data := file.read(PART_BYTES):
            if path.suffix == ".jsonl" and len(data) < PART_BYTES:
                data = data[: data.rfind(b"\n") + 1]
            if not data:
                return
            yield Part(sha256=sha256_bytes(data), size=len(data)), data


def _index_name(number: int) -> str:
    return f"index-{number:05d}.json"
