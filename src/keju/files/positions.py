"""Open files read at a position, on systems with and without `os.pread`."""

from __future__ import annotations

import os
from typing import IO


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
