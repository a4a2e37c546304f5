"""`ImportProgress`: counts of files, images and items of an import, for a progress display."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

EVERY = 0.25
"""Seconds between two calls of the display."""


class ImportProgress:
    """Source files read (again for a second reading), images stored and items added by one import.

    `show` is called from time to time.
    """

    def __init__(self, show: Callable[[ImportProgress], None]) -> None:
        self.files = 0
        self.images = 0
        self.items = 0
        self.show = show
        self.due = time.monotonic() + EVERY


_CURRENT: ContextVar[ImportProgress | None] = ContextVar("progress of the import", default=None)


@contextmanager
def showing_progress(show: Callable[[ImportProgress], None]) -> Iterator[ImportProgress]:
    """Count what the block reads and writes, and call `show` from time to time."""
    progress = ImportProgress(show)
    token = _CURRENT.set(progress)
    try:
        yield progress
    finally:
        _CURRENT.reset(token)


def count(*, files: int = 0, images: int = 0, items: int = 0) -> None:
    """Add to the counts of the import around this call; without one, nothing happens."""
    if progress := _CURRENT.get():
        progress.files += files
        progress.images += images
        progress.items += items
        if time.monotonic() >= progress.due:
            progress.due = time.monotonic() + EVERY
            progress.show(progress)
