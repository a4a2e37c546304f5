"""`showing_stages` and `show_stage`: the progress of a report, for what shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ShowStage = Callable[[str, int, int], None]
"""Called with a stage of a report, its parts done and all its parts; 0 if they are not counted."""

_shown: ContextVar[ShowStage | None] = ContextVar("keju_report_stages", default=None)


@contextmanager
def showing_stages(show: ShowStage) -> Iterator[None]:
    """Call a function with each stage of the reports that are written in this block."""
    token = _shown.set(show)
    try:
        yield
    finally:
        _shown.reset(token)


def show_stage(stage: str, done: int = 0, total: int = 0) -> None:
    """Show a stage and its progress, if anything shows them."""
    if (show := _shown.get()) is not None:
        show(stage, done, total)
