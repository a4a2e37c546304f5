"""Atomic writes, locks, and reads of open files at a position."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from keju.errors import DataError, UsageError
from keju.local_paths import check_local

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


def write_atomic(path: Path, data: bytes | str | Iterable[bytes]) -> None:
    """Write a whole file so that a reader sees the old content or the new one, never a part.

    Data may come in pieces, which are written as they come.

    Raises:
        UsageError: the path is an address.
        DataError: the path is a directory, a device or a pipe, or the file cannot be written.
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
    """Give a complete file its name, in place of an older file.

    Windows refuses this while another program has the older file open, as virus scanners and
    readers do for a moment, so it is tried for about two seconds there.

    Raises:
        OSError: it cannot be renamed.
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

    `busy` is the error if another process has it, with the values of its fields.

    Raises:
        UsageError: another process has locked it, or it cannot be locked in this place.
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
