"""`locked_file`: one process at a time writes to a directory."""

from __future__ import annotations

import errno
from pathlib import Path

from filelock import FileLock, Timeout

from keju.errors import UsageError
from keju.messages import message

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
                message("files.folder-not-writable", path=path, reason=error.strerror)
            ) from None
        if error.errno not in _NO_LOCKS:
            raise
        raise UsageError(message("files.no-locks", path=path, reason=error.strerror)) from None
    return lock
