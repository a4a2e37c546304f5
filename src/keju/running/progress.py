"""Progress display of a run: a bar for each model on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from time import monotonic

from rich.progress import BarColumn, Progress, TextColumn

from keju.console import Console
from keju.errors import printable, shortened
from keju.models import MISSING, REPLAYED
from keju.running.sending import ModelQueue
from keju.texts import _, in_terminal

_TICK = 0.25
_LINE_EVERY = 10.0
_WINDOW = 30.0
_LONG_PAUSE = 5.0


class Pace:
    """Requests per second over the last half minute, not counting the time before the first answer.

    Before its first answer an engine loads its models, which has nothing to do with its speed.

    Args:
        queue: the model queue.

    Attributes:
        name: the name of the model, and what it does if that is not answering.
        total: all requests of the model, including those with a stored response.
        done: the requests with a response, when the state was last recorded.
    """

    def __init__(self, queue: ModelQueue) -> None:
        self.queue = queue
        name, doing = printable(queue.model.name), in_terminal(queue.doing)
        self.name = f"{name} {doing}" if doing else name
        self.total = queue.kept.total() + queue.total
        self.done = queue.kept.total()
        self._counts: deque[tuple[float, int]] = deque()
        """The number of answers at several times."""

    def tick(self) -> None:
        """Record the current state of the queue."""
        self.done = self.queue.kept.total() + self.queue.done
        if self.queue.first_done is None:
            return
        if not self._counts:
            self._counts.append(self.queue.first_done)
        now = monotonic()
        self._counts.append((now, self.queue.done))
        while len(self._counts) > 2 and self._counts[1][0] < now - _WINDOW:
            self._counts.popleft()

    @property
    def waiting(self) -> bool:
        """Whether the queue waits for other engines to finish first."""
        return self.queue.model.local and self.queue.stopwatch is None

    @property
    def rate(self) -> float:
        """Requests per second; 0 until there are two answers."""
        if not self._counts:
            return 0.0
        (since, before), (now, done) = self._counts[0], self._counts[-1]
        return (done - before) / (now - since) if now > since else 0.0

    def line(self) -> str:
        """Rate, failures and remaining time, in the language of the terminal."""
        queue, slots, rate = self.queue, self.queue.slots, self.rate
        if self.waiting:
            return in_terminal(_("waiting for the engine before it"))
        if queue.left and not queue.done and not slots.seconds_closed:
            return in_terminal(_("given up") if queue.halted else _("starting"))
        parts: list[str] = []
        # Reading files says nothing about the speed of what made them.
        if rate and queue.model.identity.get("kind") not in REPLAYED:
            parts.append(_("{:.1f}/s", rate) if rate >= 1 else _("{:.1f} s each", 1 / rate))
        missing = queue.failures[MISSING]
        if missing:
            parts.append(_("{} without a result", missing))
        if failed := queue.statuses["failed"] - missing:
            parts.append(_("{} failed", failed))
        if slots.slowed:
            parts.append(_("slowed to {} at once", slots.limit))
        if queue.halted:
            parts.append(_("given up"))
        elif slots.seconds_closed > _LONG_PAUSE:
            clock = datetime.now().astimezone() + timedelta(seconds=slots.seconds_closed)
            reason = printable(shortened(queue.closed_by))
            parts.append(_("paused until {} by the server ({})", f"{clock:%H:%M:%S}", reason))
        elif queue.left:
            parts.append(_("{} left", duration(queue.left / rate if rate else None)))
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
    last one when it is.
    """
    paces = [Pace(queue) for queue in queues if queue.total]
    has_bars, finished = console.is_terminal, set[str]()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[line]}", markup=False),
    )
    with Progress(*columns, console=console, auto_refresh=False, disable=not has_bars) as bars:
        tasks = [bars.add_task(pace.name, total=pace.total, line="") for pace in paces]

        def draw() -> None:
            for task, pace in zip(tasks, paces, strict=True):
                pace.tick()
                line = pace.line()
                bars.update(task, completed=pace.done, line=line)
                if has_bars or pace.name in finished or pace.waiting:
                    continue
                if not pace.queue.left:
                    finished.add(pace.name)
                line = " · ".join(filter(None, (f"{pace.name}: {pace.done}/{pace.total}", line)))
                console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)
            bars.refresh()

        try:
            while True:
                await asyncio.sleep(_TICK if has_bars else _LINE_EVERY)
                draw()
        finally:
            draw()
