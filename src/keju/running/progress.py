"""Progress display of a run: a bar for each model on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from time import monotonic

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from keju.console import Console
from keju.errors import printable, shortened
from keju.models import MISSING, REPLAYED
from keju.running.sending import ModelQueue
from keju.texts import _, in_terminal

_TICK = 0.25
_LINE_EVERY = 10.0
_WINDOW = 30.0
_WORTH_SAYING = 5.0


class Pace:
    """Requests per second over the last half minute, not counting the time before the first answer.

    Before its first answer an engine loads its models, which has nothing to do with its speed.

    Args:
        queue: the model queue.
    """

    def __init__(self, queue: ModelQueue) -> None:
        self.queue = queue
        self._seen: deque[tuple[float, int]] = deque()

    def tick(self) -> None:
        """Record the current state of the queue."""
        if self.queue.first_done is None:
            return
        if not self._seen:
            self._seen.append(self.queue.first_done)
        now = monotonic()
        self._seen.append((now, self.queue.done))
        while len(self._seen) > 2 and self._seen[1][0] < now - _WINDOW:
            self._seen.popleft()

    @property
    def name(self) -> str:
        """The name of the model, and what it does if that is not answering."""
        name, doing = printable(self.queue.model.name), in_terminal(self.queue.doing)
        return f"{name} {doing}" if doing else name

    @property
    def done(self) -> int:
        """Requests with a response, including those of earlier calls."""
        return self.queue.kept.total() + self.queue.done

    @property
    def total(self) -> int:
        """All requests of the model, including those with a stored response."""
        return self.queue.kept.total() + self.queue.total

    @property
    def rate(self) -> float:
        """Requests per second; 0 until there are two answers."""
        if not self._seen:
            return 0.0
        (since, before), (now, done) = self._seen[0], self._seen[-1]
        return (done - before) / (now - since) if now > since else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until nothing is left; None while that is not known."""
        if self.queue.left == 0:
            return 0.0
        return self.queue.left / self.rate if self.rate > 0 else None

    def line(self) -> str:
        """Rate, failures and remaining time, in the language of the terminal."""
        if self.queue.waiting:
            return in_terminal(_("waiting for the engine before it"))
        if self.queue.left and not self.queue.done and not self.queue.slots.seconds_closed:
            return in_terminal(_("given up") if self.queue.halted else _("starting"))
        # Reading files says nothing about the speed of what made them.
        timed = self.queue.model.identity.get("kind") not in REPLAYED
        parts: list[str] = [_speed(self.rate)] if self.rate and timed else []
        missing = self.queue.failures[MISSING]
        if missing:
            parts.append(_("{} without a result", missing))
        if failed := self.queue.statuses["failed"] - missing:
            parts.append(_("{} failed", failed))
        slots = self.queue.slots
        if slots.slowed:
            parts.append(_("slowed to {} at once", slots.limit))
        if self.queue.halted:
            parts.append(_("given up"))
        elif slots.seconds_closed > _WORTH_SAYING:
            clock = datetime.now().astimezone() + timedelta(seconds=slots.seconds_closed)
            why = printable(shortened(self.queue.closed_by))
            until = f"{clock:%H:%M:%S}"
            parts.append(_("paused until {} by the server ({})", until, why))
        elif self.queue.left:
            parts.append(_("{} left", duration(self.seconds_left)))
        return " · ".join(map(in_terminal, parts))


def _speed(rate: float) -> str:
    if rate >= 1:
        return _("{:.1f}/s", rate)
    return _("{:.1f} s each", 1 / rate)


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
    """Show the progress of the queues until the task is cancelled, and once more then."""
    paces = [Pace(queue) for queue in queues if queue.total]
    if console.is_terminal:
        await _bars(paces, console)
    else:
        await _lines(paces, console)


async def _bars(paces: Sequence[Pace], console: Console) -> None:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[line]}", markup=False),
    )
    with Progress(*columns, console=console, auto_refresh=False) as bars:
        tasks = [bars.add_task(pace.name, total=pace.total, line="") for pace in paces]
        try:
            while True:
                _draw(bars, tasks, paces)
                await asyncio.sleep(_TICK)
        finally:
            _draw(bars, tasks, paces)


def _draw(bars: Progress, tasks: Sequence[TaskID], paces: Sequence[Pace]) -> None:
    for task, pace in zip(tasks, paces, strict=True):
        pace.tick()
        bars.update(task, completed=pace.done, line=pace.line())
    bars.refresh()


async def _lines(paces: Sequence[Pace], console: Console) -> None:
    said: set[str] = set()
    try:
        while True:
            await asyncio.sleep(_LINE_EVERY)
            _print(paces, console, said)
    finally:
        _print(paces, console, said)


def _print(paces: Sequence[Pace], console: Console, said: set[str]) -> None:
    """Print a line for each model that is not done, and a last one for each that is."""
    for pace in paces:
        pace.tick()
        queue = pace.queue
        if pace.name in said or queue.waiting:
            continue
        if not queue.left:
            said.add(pace.name)
        console.print(
            " · ".join(filter(None, (f"{pace.name}: {pace.done}/{pace.total}", pace.line()))),
            markup=False, emoji=False, highlight=False, soft_wrap=True,
        )  # fmt: skip
