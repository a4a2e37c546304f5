"""`page_bar`: progress of an export of pages, as a bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from keju.messages import message


@contextmanager
def page_bar(console: Console) -> Iterator[Callable[[int, int], None] | None]:
    """Give the function to call with the items done and all items; None without a terminal."""
    if not console.is_terminal:
        yield None
        return
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(message("terminal.writing-pages"), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
