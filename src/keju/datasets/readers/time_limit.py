"""`time_limit`: limits the time for reading a source."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TimeUpError(Exception):
    """The time limit is reached. Not a `KejuError`, so that no reader treats it as damage."""


_END: ContextVar[float | None] = ContextVar("end of the time limit", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Make `check_time` raise once the block has run for `seconds` seconds."""
    token = _END.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _END.reset(token)


def check_time() -> None:
    """Return at once while there is time; called for every file that readers read.

    Raises:
        TimeUpError: the time limit around this call is reached.
    """
    end = _END.get()
    if end is not None and time.monotonic() > end:
        raise TimeUpError
