"""`time_limit`: bounds the time that reading a source may take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TimeUpError(Exception):
    """The time limit is reached. Not a `KejuError`: no reader may take it for damage."""


_END: ContextVar[float | None] = ContextVar("end of the time limit", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let `check_time` raise once the block has run for so many seconds."""
    token = _END.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def check_time() -> None:
    """Return at once while there is time; readers reach this with every file they read.

    Raises:
        TimeUpError: the time limit around this call is reached.
    """
    end = _END.get()
    if end is not None and time.monotonic() > end:
        raise TimeUpError
