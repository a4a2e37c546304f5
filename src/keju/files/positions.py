"""Open files read at a position and appended to, on systems with and without `os.pread`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
# Windows would write two bytes for a newline without O_BINARY, and has no O_CLOEXEC: there no
# child process inherits a file.
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def open_append(path: Path, mode: int) -> int:
    """Open a file to append bytes to it; it is created with `mode`. Returns its descriptor.

    Raises:
        OSError: the file cannot be opened.
    """
    return os.open(path, _APPEND | _FLAGS, mode)


def create_private(path: Path) -> None:
    """Create a file that only its owner can read, if it does not exist.

    On Windows it has the rights of its folder.

    Raises:
        OSError: the file cannot be created.
    """
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | _FLAGS, 0o600))


def read_at(stream: IO[bytes], size: int, start: int) -> bytes:
    """Up to `size` bytes of an open file from byte `start`; its position does not change.

    What was written must have been flushed. Where the system has no `os.pread` (Windows), one
    thread at a time may read.
    """
    if hasattr(os, "pread"):
        return os.pread(stream.fileno(), size, start)
    place = stream.seek(0, os.SEEK_CUR)
    try:
        stream.seek(start)
        return stream.read(size)
    finally:
        stream.seek(place)
