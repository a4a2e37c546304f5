"""`import_display`: progress of an import, as a bar on a terminal and as lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from keju.console import Console
from keju.datasets.import_log import ImportLog, showing_progress
from keju.datasets.readers.listing import Listing
from keju.texts import _, in_terminal, n_

LINE_EVERY = 10.0
"""Seconds between two lines where standard error is not a terminal."""


@contextmanager
def import_display(src: Path, console: Console, every: float = LINE_EVERY) -> Iterator[None]:
    """Show what the imports in this block have read and written.

    Args:
        src: the source; the bar ends at its number of files, where that is known.
        console: where it is shown.
        every: seconds between two lines where the console is not a terminal.
    """
    with _bar(src, console) if console.is_terminal else _lines(console, every):
        yield


@contextmanager
def _bar(src: Path, console: Console) -> Iterator[None]:
    columns = (
        TextColumn(in_terminal(_("importing"))), BarColumn(),
        TextColumn("{task.fields[line]}", markup=False), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=None, line="")
        bars.update(task, total=_files(src))

        def show(progress: ImportLog) -> None:
            bars.update(task, completed=progress.files, line=in_terminal(in_words(progress)))

        with showing_progress(show):
            yield


@contextmanager
def _lines(console: Console, every: float) -> Iterator[None]:
    said = time.monotonic()

    def show(progress: ImportLog) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= every:
            said = now
            counts = in_words(progress)
            console.print(_("importing: {}", counts), markup=False, soft_wrap=True)

    with showing_progress(show):
        yield


def in_words(progress: ImportLog) -> str:
    """The counts, e.g. ``2,501 files read, 2,500 images, 2,500 items``."""
    return _(
        "{} read, {}, {}",
        n_("{n:,} file", "{n:,} files", progress.files),
        n_("{n:,} image", "{n:,} images", progress.images),
        n_("{n:,} item", "{n:,} items", progress.items),
    )


def _files(src: Path) -> int | None:
    """The number of files of a directory; None where it is unknown, or the source is a file."""
    if not src.is_dir():
        return None
    listing = Listing(src)
    return len(listing.files) if listing.complete else None
