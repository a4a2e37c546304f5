"""`locked_file`: one process at a time writes to a directory."""

from __future__ import annotations

import errno
from pathlib import Path

from filelock import FileLock, Timeout

from keju.errors import UsageError

_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""Errors of places that a user cannot write to."""

_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EIO})
"""Errors of file systems, such as some network mounts, on which files cannot be locked."""


def locked_file(path: Path, *, busy: str) -> FileLock:
    """Lock a file until the caller releases it; `busy` is the error if another process has it.

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
                "{}: cannot be written ({}). Make the folder writable, or copy it to a disk that "
                "you can write to",
                path,
                error.strerror,
            ) from None
        if error.errno not in _NO_LOCKS:
            raise
        raise UsageError(
            "{}: the file system does not support locks ({}). Use an --out on a local disk, and "
            "copy it from there",
            path,
            error.strerror,
        ) from None
    return lock
