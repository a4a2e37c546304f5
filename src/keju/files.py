"""File functions: atomic writes, hashes, locks, crash-safe JSON lines, JSON and TOML."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from filelock import FileLock, Timeout

from keju.errors import DataError, UsageError
from keju.local_paths import check_local
from keju.messages import in_english, message

_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""Errors of places that a user cannot write to."""

_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EIO})
"""Errors of file systems, such as some network mounts, on which files cannot be locked."""

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

T = TypeVar("T")

_CHUNK = 1 << 20
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""A JSON escape, a surrogate pair as one; the group is a lone surrogate."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The characters at the beginning of a text that a spreadsheet reads as a formula."""


def cell_text(text: str) -> str:
    """A text for a CSV file, with an apostrophe before it if a spreadsheet would read a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def slug(name: str) -> str:
    """A name, as of a benchmark or table, as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


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
    """Write a whole file so that a reader sees the old content or the new one, never a part.

    Data may come in pieces, which are written as they come.

    Raises:
        UsageError: the path is an address.
        DataError: the path is a directory, a device or a pipe, or the file cannot be written.
    """
    check_local(path)
    try:
        _write_atomic(path, data)
    except OSError as error:
        raise DataError(
            message("files.not-writable", reason=error.strerror or error), file=path
        ) from None


def _write_atomic(path: Path, data: bytes | str | Iterable[bytes]) -> None:
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "the path exists and is not a file")
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


def locked_file(path: Path, *, busy: str) -> FileLock:
    """Lock a file, so that one process at a time writes to its directory; the caller releases it.

    Args:
        path: the file, which is created.
        busy: the error message if another process has locked it.

    Raises:
        UsageError: another process has locked it, its folder cannot be written to, or the file
            system does not support locks.
    """
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(busy) from None
    except OSError as error:
        if error.errno in _READ_ONLY:
            raise UsageError(
                message("files.folder-not-writable", path=path, reason=error.strerror)
            ) from None
        if error.errno not in _NO_LOCKS:
            raise
        raise UsageError(message("files.no-locks", path=path, reason=error.strerror)) from None
    return lock


MOST_JSON = 512 << 20
"""Default maximum size of a JSON file in bytes."""


def read_json(path: Path, shape: type[T], most: int = MOST_JSON) -> T:
    """Read a JSON file as `shape`.

    Raises:
        DataError: the file is missing, has more than `most` bytes, is not JSON, or does not have
            the shape.
        UsageError: the path is an address.
    """
    check_local(path)
    if path.exists() and not path.is_file():
        # A pipe would block.
        raise DataError(message("files.not-a-regular-file"), file=path)
    try:
        if (size := path.stat().st_size) > most:
            raise DataError(
                message("files.too-large-in-mb", size=size >> 20, most=most >> 20), file=path
            )
        data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError:
        raise DataError(message("files.missing"), file=path) from None
    except OSError as error:
        raise DataError(
            message("files.not-readable", reason=error.strerror or error), file=path
        ) from None
    try:
        return msgspec.json.decode(data, type=shape)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        lone = next((found for found in _ESCAPE.finditer(data) if found[1]), None)
        if lone:
            raise DataError(
                message(
                    "files.half-a-character",
                    lone=lone[0].decode("ascii", "replace"),
                    position=lone.start(),
                ),
                file=path,
            ) from None
        if isinstance(error, msgspec.ValidationError):
            raise DataError(message("files.other-structure", error=error), file=path) from None
        raise DataError(message("files.not-json", error=error), file=path) from None


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
    for record, _ in read_jsonl_lines(path, shape, appended=appended):
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
                record = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise DataError(
                    message("files.line-not-readable", error=error),
                    file=path,
                    item=f"line {number}",
                ) from None
            yield record, line


def repair_torn_line(path: Path) -> int:
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


MOST_TOML = 4_000_000
"""Maximum size of a TOML file in bytes."""

MOST_KEY_PARTS = 40
"""Maximum parts of a dotted key. The time to parse one grows with the square of its parts."""

_TOML_TEXT = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)'''
    r"""|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*\'?|\#[^\n]*""",
    re.DOTALL,
)
"""A string, which may be part of a key, or a comment."""

_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_KEY_PARTS}}}")


def read_toml(path: Path, shape: type[T], *, what: str = "", hint: str | None = None) -> T:
    """Read a TOML file as `shape`.

    Args:
        path: the file.
        shape: the type of its table.
        what: the kind of file for errors, such as "a price file".
        hint: the hint of errors.

    Raises:
        DataError: the file is missing, not a file, larger than `MOST_TOML`, not UTF-8, not TOML,
            has a key of more than `MOST_KEY_PARTS` parts, or does not have the shape.
        UsageError: the path is an address.
    """
    check_local(path)
    table = _toml_table(path, f"not {what}" if what else "not readable as TOML", hint)
    try:
        return msgspec.convert(table, type=shape)
    except (msgspec.ValidationError, RecursionError) as error:
        problem = f"not {what}" if what else "not readable"
        raise DataError(f"{problem}: {error}", file=path, hint=hint) from None


def shipped_toml(package: str, name: str, shape: type[T]) -> T:
    """Read a TOML file that a package of keju contains as `shape`.

    Args:
        package: the package, e.g. ``keju.models``.
        name: the path in the package, with ``/``.
        shape: the type of its table.

    Raises:
        DataError: the file is not TOML or does not have the shape.
    """
    file = resources.files(package).joinpath(*name.split("/"))
    return shipped_file(file, shape, f"{package}: {name}")


def shipped_file(file: Traversable, shape: type[T], place: str = "") -> T:
    """Read a TOML file of keju as `shape`; `place` is its name in errors.

    Raises:
        DataError: the file is not TOML or does not have the shape.
    """
    try:
        return msgspec.convert(tomllib.loads(file.read_text("utf-8")), type=shape)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        where = place or str(file)
        raise DataError(message("files.not-valid", error=error), file=where) from None


def _toml_table(path: Path, problem: str, hint: str | None) -> dict[str, Any]:
    return parse_toml(toml_text(path, problem), file=path, problem=problem, hint=hint)


def toml_text(path: Path, problem: str) -> str:
    """The text of a TOML file.

    Raises:
        DataError: the file is missing, not a file, larger than `MOST_TOML` or not UTF-8; `problem`
            is the error message about a wrong encoding.
    """
    try:
        return bounded_bytes(path, MOST_TOML).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(message("files.not-utf8", problem=problem), file=path) from None


def parse_toml(
    text: str, *, file: Path | str, problem: str, hint: str | None = None
) -> dict[str, Any]:
    """The table in a TOML text.

    Raises:
        DataError: the text is larger than `MOST_TOML`, not TOML, or has a key of more than
            `MOST_KEY_PARTS` parts; `problem` is the beginning of the error message.
    """
    if len(text) > MOST_TOML:
        raise DataError(message("files.toml-too-large", most=MOST_TOML), file=file)
    bare = _TOML_TEXT.sub(lambda found: "" if found[0][0] == "#" else "s", text)
    if _LONG_KEY.search(bare):
        raise DataError(
            message("files.key-too-deep", problem=problem, most=MOST_KEY_PARTS), file=file
        )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        slash = message("files.slashes-in-paths") if "\\" in str(error) else hint
        raise DataError(f"{problem}: {error}", file=file, hint=slash) from None


def bounded_bytes(path: Path, most: int = MOST_JSON) -> bytes:
    """The bytes of a user's file.

    Raises:
        DataError: it is missing, not a file, has more than `most` bytes, or cannot be read.
    """
    # Reading a device or a pipe may never end.
    if path.exists() and not path.is_file():
        raise DataError(message("files.not-a-file"), file=path)
    try:
        if path.stat().st_size > most:
            raise DataError(message("files.too-large", most=most), file=path)
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(message("files.missing"), file=path) from None
    except OSError as error:
        raise DataError(
            message("files.not-readable", reason=error.strerror or error), file=path
        ) from None
