"""Progress display of a run: a bar for each model on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from rich.progress import BarColumn, Progress, TextColumn

from keju.console import Console
from keju.errors import printable, shortened
from keju.models import MISSING, REPLAYED
from keju.running.sending import ModelQueue
from keju.texts import _, in_terminal

_TICK = 0.25
_LINE_EVERY = 10.0
_LONG_PAUSE = 5.0


def state_of(queue: ModelQueue, rate: float | None) -> str:
    """Rate (requests per second, if known), failures and remaining time of a queue.

    The text is in the language of the terminal.
    """
    slots, summary = queue.slots, queue.summary
    if queue.is_waiting:
        return in_terminal(_("waiting for the engine before it"))
    if summary.left and not summary.asked and not slots.seconds_closed:
        return in_terminal(_("given up") if summary.halted else _("starting"))
    parts: list[str] = []
    # Reading files says nothing about the speed of what made them.
    if rate and queue.model.identity.get("kind") not in REPLAYED:
        parts.append(_("{:.1f}/s", rate) if rate >= 1 else _("{:.1f} s each", 1 / rate))
    missing = summary.failures.get(MISSING, 0)
    if missing:
        parts.append(_("{} without a result", missing))
    if failed := summary.statuses.get("failed", 0) - missing:
        parts.append(_("{} failed", failed))
    if slots.slowed:
        parts.append(_("slowed to {} at once", slots.limit))
    if summary.halted:
        parts.append(_("given up"))
    elif slots.seconds_closed > _LONG_PAUSE:
        clock = datetime.now().astimezone() + timedelta(seconds=slots.seconds_closed)
        reason = printable(shortened(queue.closed_by))
        parts.append(_("paused until {} by the server ({})", f"{clock:%H:%M:%S}", reason))
    elif summary.left:
        parts.append(_("{} left", duration(summary.left / rate if rate else None)))
    return " · ".join(map(in_terminal, parts))


def duration(seconds: float | None) -> str:
    """A duration as text: ``45 s``, ``12 min``, ``3 h 05 min``."""
    if seconds is None:
        return "?"
    if seconds < 90:
        return _("{:.0f} s", seconds)
    minutes = round(seconds / 60)
    if minutes < 60:
        return _("{} min", minutes)
    return _("{} h {:02d} min", minutes // 60, minutes % 60)


async def show(queues: Sequence[ModelQueue], console: Console) -> None:
    """Show the progress of the queues until the task is cancelled, and once more then.

    Where the console is not a terminal, a line is printed for each model that is not done, and a
    last one when it is. The speed is that of the last half minute; it does not count the time
    before the first answer, in which an engine loads its models.
    """
    has_bars, finished = console.is_terminal, set[str]()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[state]}", markup=False),
    )
    with Progress(*columns, console=console, auto_refresh=False, disable=not has_bars) as bars:
        tasks = {}
        for queue in queues:
            if queue.total:
                name = f"{printable(queue.model.name)} {in_terminal(queue.doing)}".strip()
                planned = queue.summary.planned
                bar = bars.add_task(name, total=planned, completed=planned - queue.total, state="")
                tasks[bar] = queue

        def draw() -> None:
            for task in bars.tasks:
                queue = tasks[task.id]
                completed = queue.summary.planned - queue.summary.left
                bars.update(task.id, completed=completed, state=state_of(queue, task.speed))
                name = task.description
                if has_bars or name in finished or queue.is_waiting:
                    continue
                if not queue.summary.left:
                    finished.add(name)
                counts = f"{name}: {task.completed:.0f}/{task.total:.0f}"
                line = " · ".join(filter(None, (counts, task.fields["state"])))
                console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)
            bars.refresh()

        try:
            while True:
                await asyncio.sleep(_TICK if has_bars else _LINE_EVERY)
                draw()
        finally:
            draw()
