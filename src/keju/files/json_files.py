"""JSON and JSON-lines files: bounded, with errors that name the file and the line."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from keju.errors import DataError, error_text
from keju.files.atomic import write_atomic
from keju.local_paths import check_local
from keju.texts import Text, _, in_english

T = TypeVar("T")

MOST_JSON = 512 << 20
"""Default maximum size of a JSON file in bytes."""

_NUMBERS = re.compile(rb'"(?:[^"\\]|\\.)*+"|NaN|-?Infinity', re.DOTALL)
"""Texts of a JSON file, and the numbers of Python's json that JSON does not have."""

_BYTE = re.compile(r"\(byte (\d+)\)")


def decode_json(data: str | bytes, shape: type[T] | None = None) -> T:
    """Decode JSON as `shape`, by default anything. ``NaN`` is null.

    Python's json, and so pandas, write ``NaN`` where a cell has no value.

    Raises:
        msgspec.MsgspecError: it is not JSON, has ``Infinity``, or has another shape.
        UnicodeError: it is not UTF-8, or has half a character.
    """
    kind: type[T] = shape or Any  # type: ignore[assignment]
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        raw = data.encode() if isinstance(data, str) else data
        if b"NaN" not in raw and b"Infinity" not in raw:
            raise
    return msgspec.json.decode(_NUMBERS.sub(_null, raw), type=kind)


def _null(match: re.Match[bytes]) -> bytes:
    if match[0].startswith(b'"'):
        return match[0]
    if match[0] == b"NaN":
        return b"null"
    problem = _("{} is not a number of JSON; write null or a number", match[0].decode())
    if b"\n" in match.string:
        problem = _("line {}: {}", 1 + match.string.count(b"\n", 0, match.start()), problem)
    raise msgspec.DecodeError(problem)


def json_problem(error: Exception) -> Text | str:
    """The fault of a text that is not JSON, by the error that the parser raised."""
    if isinstance(error, RecursionError):
        return _("the JSON is nested too deeply")
    text = error_text(error)
    if text == "Input data was truncated":
        return _("the JSON ends too early, as if its end were cut off")
    if not isinstance(error, msgspec.ValidationError) and (place := _BYTE.search(text)):
        return _("not JSON from byte {} on", place[1])
    return text


def read_json(path: Path, shape: type[T], most: int = MOST_JSON) -> T:
    """Read a JSON file as `shape`.

    Raises:
        DataError: the file is missing, has more than `most` bytes, is not JSON, or does not have
            the shape.
        UsageError: the path is an address.
    """
    check_local(path)
    data = bounded_bytes(path, most).removeprefix(codecs.BOM_UTF8)
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError as error:
        raise DataError(
            "the JSON does not have the expected structure: {}", error, file=path
        ) from None
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        raise DataError("not readable as JSON: {}", json_problem(error), file=path) from None


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, atomically; messages in it are stored in English."""
    data = msgspec.json.encode(value, enc_hook=encode_stored)
    write_atomic(path, msgspec.json.format(data, indent=2) + b"\n")


def encode_stored(value: object) -> str:
    """The English text of a message, for encoders, which know only plain texts.

    Raises:
        NotImplementedError: it is not a message.
    """
    if isinstance(value, str):
        return in_english(value)
    raise NotImplementedError(f"Encoding objects of type {type(value).__name__} is unsupported")


def read_jsonl(path: Path, shape: type[T], *, appended: bool = False) -> Iterator[T]:
    """Yield the records of a JSON-lines file; blank lines are skipped.

    Args:
        path: the file.
        shape: the type of each line.
        appended: keju appends to this file, so a last line without newline is incomplete and is
            skipped; otherwise it is a normal record.

    Raises:
        DataError: a line other than an unfinished last one is not a record of that shape.
    """
    for record, __ in read_jsonl_lines(path, shape, appended=appended):
        yield record


def read_jsonl_lines(
    path: Path, shape: type[T], *, appended: bool = False
) -> Iterator[tuple[T, bytes]]:
    """Yield the records that `read_jsonl` yields, each with the bytes of its line.

    Raises:
        DataError: see `read_jsonl`.
        UsageError: the path is an address.
    """
    check_local(path)
    decoder = msgspec.json.Decoder(shape)
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if appended and not line.endswith(b"\n"):
                return
            if not line.strip():
                continue
            try:
                record = decoder.decode(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise DataError(
                    "not readable: {}",
                    json_problem(error),
                    file=path,
                    item=f"line {number}",
                    hint="Delete that line to continue without it",
                ) from None
            yield record, line


def bounded_bytes(path: Path, most: int = MOST_JSON) -> bytes:
    """The bytes of a user's file.

    Raises:
        DataError: it is missing, not a file, has more than `most` bytes, or cannot be read.
    """
    # Reading a device or a pipe may never end.
    if path.exists() and not path.is_file():
        raise DataError("not a regular file", file=path, hint="Replace it by the file itself")
    try:
        if (size := path.stat().st_size) > most:
            raise DataError(
                "larger than {:,} bytes (it has {:,})", most, size, file=path, hint="Split the file"
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError("no such file", file=path) from None
    except OSError as error:
        raise DataError("not readable: {}", error.strerror or error, file=path) from None
