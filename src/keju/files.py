"""Files on disk: atomic writes, hashes, JSON and JSON-lines that survive a crash."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from keju.errors import DataError

T = TypeVar("T")

_CHUNK = 1 << 20
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""A JSON escape, a surrogate pair as one; the group is a surrogate that stands alone."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With one of these begins what spreadsheets take for a formula."""


def cell_text(text: str) -> str:
    """A text for a CSV file that no spreadsheet takes for a formula: an apostrophe before it."""
    return f"'{text}" if text.startswith(FORMULA) else text


def sha256_bytes(data: bytes) -> str:
    """SHA-256 of `data`, as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def write_atomic(path: Path, data: bytes | str | Iterable[bytes]) -> None:
    """Write a whole file so that a reader sees the old content or the new, never a part.

    Data may come in pieces, which are written as they come.

    Raises:
        DataError: the path is a folder, a device or a pipe, or the disk does not take the file.
    """
    try:
        _write_atomic(path, data)
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror or error}", file=path, mend="Choose another place"
        ) from None


def _write_atomic(path: Path, data: bytes | str | Iterable[bytes]) -> None:
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "there is something that is no file")
    if isinstance(data, str | bytes):
        data = [data.encode() if isinstance(data, str) else data]
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            for piece in data:
                stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        partial.chmod(0o666 & ~_umask())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


MOST_JSON = 512 << 20
"""Bytes of the largest JSON file that is read, unless the caller allows more."""


def read_json(path: Path, shape: type[T], most: int = MOST_JSON) -> T:
    """Read a JSON file as `shape`.

    Raises:
        DataError: the file is missing, has more than `most` bytes, is not JSON, or does not fit
            the shape.
    """
    if path.exists() and not path.is_file():
        # A pipe would never end.
        raise DataError("this is no file", file=path, mend="Put the file in its place")
    try:
        if (size := path.stat().st_size) > most:
            raise DataError(
                f"{size >> 20:,} MB, more than {most >> 20:,} MB", file=path, mend="Split the file"
            )
        data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError:
        raise DataError("no such file", file=path) from None
    except OSError as error:
        raise DataError(f"not readable: {error.strerror or error}", file=path) from None
    try:
        return msgspec.json.decode(data, type=shape)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        lone = next((found for found in _ESCAPE.finditer(data) if found[1]), None)
        if lone:
            raise DataError(
                f"half a character, {lone[0].decode('ascii', 'replace')}, at byte {lone.start()}",
                file=path,
                mend="Write \\ufffd in its place",
            ) from None
        raise DataError(f"not readable as JSON: {error}", file=path) from None


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, atomically."""
    write_atomic(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def read_jsonl(path: Path, shape: type[T], *, appended: bool = False) -> Iterator[T]:
    """Yield the records of a JSON-lines file; blank lines are passed over.

    Args:
        path: the file.
        shape: what each line must be.
        appended: keju appends to this file, so a last line without its newline is torn and left
            out; otherwise it is a record like any other.

    Raises:
        DataError: a line other than an unfinished last one is not a record of that shape.
    """
    for record, _ in read_jsonl_lines(path, shape, appended=appended):
        yield record


def read_jsonl_lines(
    path: Path, shape: type[T], *, appended: bool = False
) -> Iterator[tuple[T, bytes]]:
    """Yield the records that `read_jsonl` yields, each with the bytes of its line.

    Raises:
        DataError: see `read_jsonl`.
    """
    decoder = msgspec.json.Decoder(shape)
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if appended and not line.endswith(b"\n"):
                return
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise DataError(
                    f"not readable: {error}",
                    file=path,
                    item=f"line {number}",
                    mend="Delete that line to go on without it",
                ) from None
            yield record, line


def mend_torn_line(path: Path) -> int:
    """Cut an unfinished last line off a JSON-lines file; returns the number of bytes cut."""
    if not path.exists():
        return 0
    with path.open("rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(0, end - _CHUNK)
            stream.seek(start)
            newline = stream.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            stream.truncate(end)
        return size - end
