"""How many requests are in flight to one model: fewer when it is too much, more when it copes."""

from __future__ import annotations

import asyncio
from collections import deque
from time import monotonic


class Throttle:
    """Slots for requests in flight, whose number follows what the server can bear.

    The rule is TCP's (additive increase, multiplicative decrease): a reply of 429 or 503 halves
    the number, but those that were already in flight at the last halving do not halve it again; as
    many successes as there are slots add one. The first limit is the ceiling, because most servers
    bear what their users set.

    Args:
        ceiling: the most slots there ever are.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self._limit = float(ceiling)
        self._halved = 0.0
        self._closed_until = 0.0
        self._stopped = False
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._resting: set[asyncio.Future[None]] = set()

    @property
    def limit(self) -> int:
        """Slots at present, from 1 to the ceiling."""
        return int(self._limit)

    @property
    def stopped(self) -> bool:
        """Whether no more slots are given out."""
        return self._stopped

    async def enter(self) -> bool:
        """Wait for a slot and take it; false if there will be none any more."""
        while not self._stopped:
            if self.in_flight < self.limit and monotonic() >= self._closed_until:
                self.in_flight += 1
                return True
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        return False

    def leave(self) -> None:
        """Give a slot back."""
        self.in_flight -= 1
        self._wake()

    def succeeded(self) -> None:
        """An answer came: creep up."""
        self._limit = min(float(self.ceiling), self._limit + 1 / self._limit)

    def overloaded(self, asked_at: float, wait: float | None) -> None:
        """The server said that it is too much.

        Args:
            asked_at: when the request was sent, by `time.monotonic`.
            wait: seconds for which the server wants no requests, if it said so.
        """
        if asked_at >= self._halved:
            self._limit = max(1.0, self._limit / 2)
            self._halved = monotonic()
        if wait:
            self._closed_until = max(self._closed_until, monotonic() + wait)
            self._wake()

    async def rest(self, seconds: float) -> bool:
        """Wait that long, or until the throttle stops; false if it has stopped."""
        loop = asyncio.get_running_loop()
        until = loop.create_future()
        timer = loop.call_later(seconds, _finish, until)
        self._resting.add(until)
        try:
            if not self._stopped:
                await until
        finally:
            timer.cancel()
            self._resting.discard(until)
        return not self._stopped

    def stop(self) -> None:
        """Give out no more slots; all who wait for one, or rest, return at once."""
        self._stopped = True
        for waiter in (*self._waiters, *self._resting):
            _finish(waiter)
        self._waiters.clear()

    def _wake(self) -> None:
        if (closed := self._closed_until - monotonic()) > 0:
            # A millisecond more, because the loop's timers may fire a moment early.
            asyncio.get_running_loop().call_later(closed + 0.001, self._wake)
            return
        free = self.limit - self.in_flight
        while free > 0 and self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
