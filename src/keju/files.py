"""File functions: atomic writes, locks, names, hashes, JSON, JSON lines and TOML.

Functions that read or write a user's path raise `UsageError` where it is an address, and
`DataError`, with the file and the line, where the file cannot be read or written.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
from filelock import FileLock, Timeout

from keju.errors import DataError, UsageError, error_text
from keju.local_paths import check_local
from keju.texts import Text, _, in_english

T = TypeVar("T")

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The characters at the beginning of a text that a spreadsheet reads as a formula."""

MOST_JSON = 512 << 20
"""Default maximum size of a JSON file in bytes."""

MOST_TOML = 4_000_000
"""Maximum size of a TOML file in bytes."""

MOST_KEY_PARTS = 40
"""Maximum parts of a dotted key. The time to parse one grows with the square of its parts."""

_BUSY = frozenset({5, 32})
"""Errors of Windows while another program has the file open (access denied, sharing violation)."""

_WAITS = (0.01, 0.03, 0.1, 0.3, 0.6, 1.0)
"""Seconds to wait before each further try."""

_NO_LOCKS = frozenset(
    {
        *(errno.EROFS, errno.EACCES, errno.EPERM),
        *(errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EIO),
    }
)
"""Errors of places that a user cannot write to, and of file systems, such as some network mounts,
on which files cannot be locked."""

_DEVICES = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\..*)?",
    re.IGNORECASE | re.DOTALL,
)
_SLUG_BYTES = 80

_NUMBERS = re.compile(rb'"(?:[^"\\]|\\.)*+"|NaN|-?Infinity', re.DOTALL)
"""Texts of a JSON file, and the numbers of Python's json that JSON does not have."""

_BYTE = re.compile(r"\(byte (\d+)\)")

_TOML_TEXT = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|\'\'\'.*?(?:\'\'\'|\Z)'''
    r"""|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*\'?|\#[^\n]*""",
    re.DOTALL,
)
"""A string, which may be part of a key, or a comment."""

_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_KEY_PARTS}}}")


def write_atomic(path: Path, data: bytes | str | Iterable[bytes]) -> None:
    """Write a whole file so that a reader sees the old content or the new one, never a part.

    Data may come in pieces, which are written as they come. A directory, a device and a pipe are
    not replaced.
    """
    check_local(path)
    data = data.encode() if isinstance(data, str) else data
    unfinished: Path | None = None
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EEXIST, "the path exists and is not a file")  # noqa: TRY301
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        unfinished = Path(name)
        with os.fdopen(handle, "wb") as stream:
            stream.writelines([data] if isinstance(data, bytes) else data)
            stream.flush()
            os.fsync(stream.fileno())
        os.umask(mask := os.umask(0))
        unfinished.chmod(0o666 & ~mask)
        replace_file(unfinished, path)
    except OSError as error:
        raise DataError(
            "cannot be written: {}", error.strerror or error, file=path, hint="Choose another place"
        ) from None
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)


def replace_file(unfinished: Path, path: Path) -> None:
    """Give a complete file its name, in place of an older file; raises `OSError`.

    Windows refuses this while another program has the older file open, as virus scanners and
    readers do for a moment, so it is tried for about two seconds there.
    """
    for wait in _WAITS:
        try:
            unfinished.replace(path)
        except OSError as error:
            if getattr(error, "winerror", None) not in _BUSY:
                raise
            time.sleep(wait)
        else:
            return
    unfinished.replace(path)


def locked_file(path: Path, *values: object, busy: str) -> FileLock:
    """Lock a file until the caller releases it.

    `busy` is the `UsageError` if another process has it, with the values of its fields.
    """
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(busy, *values) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        raise UsageError(
            "{}: cannot be locked ({}). Use a folder on a local disk that you can write to",
            path,
            error.strerror,
        ) from None
    return lock


def read_at(stream: IO[bytes], size: int, start: int) -> bytes:
    """Up to `size` bytes of an open file from byte `start`; its position does not change.

    What was written must have been flushed. Where the system has no `os.pread` (Windows), one
    thread at a time may read.
    """
    if hasattr(os, "pread"):
        return os.pread(stream.fileno(), size, start)
    position = stream.seek(0, os.SEEK_CUR)
    try:
        stream.seek(start)
        return stream.read(size)
    finally:
        stream.seek(position)


def bounded_bytes(path: Path, most: int = MOST_JSON) -> bytes:
    """The bytes of a user's file, which must be a regular file of at most `most` bytes."""
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


def sha256_bytes(data: bytes) -> str:
    """SHA-256 of `data`, as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def cell_text(text: str) -> str:
    """A text for a CSV file, with an apostrophe before it if a spreadsheet would read a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def slug(name: str) -> str:
    """A name, as of a benchmark or table, as part of a file's name: its letters and digits.

    Of a name with more than 80 bytes the beginning is kept, and a hash distinguishes it from others
    with the same beginning. A name without letters and digits is its hash.
    """
    plain = re.sub(r"[\W_]+", "-", name.lower()).strip("-")
    if plain and len(plain.encode()) <= _SLUG_BYTES:
        return plain
    start = plain.encode()[: _SLUG_BYTES - 9].decode(errors="ignore").strip("-")
    digest = sha256_bytes(name.encode(errors="replace"))[:8]
    return f"{start}-{digest}" if start else digest


def relative_path(path: Path, folder: Path) -> str:
    """The path from a directory to `path`, with ``/`` on all systems.

    It is absolute if both are on different drives of Windows.
    """
    path = path.resolve()
    try:
        return Path(os.path.relpath(path, folder.resolve())).as_posix()
    except ValueError:
        return path.as_posix()


def is_reserved(name: str) -> bool:
    """Whether Windows reserves a file name for a device, as ``CON``, ``nul.txt`` and ``COM1``.

    Source: Microsoft, "Naming Files, Paths, and Namespaces".
    """
    return bool(_DEVICES.fullmatch(name))


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
    """Read a JSON file of at most `most` bytes as `shape`."""
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
    """The English text of a message, for encoders, which know only plain texts."""
    if isinstance(value, str):
        return in_english(value)
    raise NotImplementedError(f"Encoding objects of type {type(value).__name__} is unsupported")


def read_jsonl(path: Path, shape: type[T], *, appended: bool = False) -> Iterator[T]:
    """Yield the records of a JSON-lines file, each of type `shape`; blank lines are skipped.

    keju appends to an `appended` file, so a last line without newline is incomplete and is skipped;
    otherwise it is a normal record.
    """
    for record, __ in read_jsonl_lines(path, shape, appended=appended):
        yield record


def read_jsonl_lines(
    path: Path, shape: type[T], *, appended: bool = False
) -> Iterator[tuple[T, bytes]]:
    """Yield the records that `read_jsonl` yields, each with the bytes of its line."""
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


def read_toml(path: Path, shape: type[T], *, what: str = "", hint: str | None = None) -> T:
    """Read a TOML file as `shape`.

    `what` is the kind of file for errors, such as "a price file", and `hint` their hint.
    """
    check_local(path)
    problem = f"not {what}" if what else "not readable as TOML"
    table = parse_toml(toml_text(path, problem), file=path, problem=problem, hint=hint)
    try:
        return msgspec.convert(table, type=shape)
    except (msgspec.ValidationError, RecursionError) as error:
        problem = f"not {what}" if what else "not readable"
        raise DataError("{}: {}", problem, error_text(error), file=path, hint=hint) from None


def shipped_toml(package: str, name: str, shape: type[T]) -> T:
    """Read a TOML file that a package such as ``keju.models`` contains, by its path with ``/``."""
    file = resources.files(package).joinpath(*name.split("/"))
    return msgspec.toml.decode(file.read_bytes(), type=shape)


def toml_text(path: Path, problem: str) -> str:
    """The text of a TOML file; `problem` is the beginning of errors about its encoding."""
    try:
        return bounded_bytes(path, MOST_TOML).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("{}: not UTF-8", problem, file=path, hint="Save it as UTF-8") from None


def parse_toml(
    text: str, *, file: Path | str, problem: str, hint: str | None = None
) -> dict[str, Any]:
    """The table in a TOML text of at most `MOST_TOML` letters and `MOST_KEY_PARTS` parts of a key.

    `problem` is the beginning of errors.
    """
    if len(text) > MOST_TOML:
        raise DataError("larger than {:,} bytes", MOST_TOML, file=file, hint="Split the file")
    bare = _TOML_TEXT.sub(lambda token: "" if token[0][0] == "#" else "s", text)
    if _LONG_KEY.search(bare):
        raise DataError(
            "{}: a key has more than {} parts",
            problem,
            MOST_KEY_PARTS,
            file=file,
            hint="Shorten it",
        )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        slash = (
            _("Write / in paths, or put them into single quotes") if "\\" in str(error) else hint
        )
        raise DataError("{}: {}", problem, error_text(error), file=file, hint=slash) from None
