"""`page_bar` and `stage_bar`: progress of an export of pages and of a report, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from keju.console import Console
from keju.reporting.stages import showing_stages
from keju.texts import _, in_terminal


@contextmanager
def page_bar(console: Console) -> Iterator[Callable[[int, int], None] | None]:
    """Give the function to call with the items done and all items; None without a terminal."""
    if not console.is_terminal:
        yield None
        return
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(in_terminal(_("writing pages")), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def stage_bar(console: Console) -> Iterator[None]:
    """Show the stages of the reports that are written in this block; nothing without a terminal."""
    if not console.is_terminal:
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)
                tasks[stage] = bar.add_task(in_terminal(stage), total=total or None)
            bar.update(tasks[stage], completed=done)

        with showing_stages(show):
            yield
