"""Throttle: limit a model's concurrent requests, and its requests and tokens per minute."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from math import isfinite
from time import monotonic

from keju.errors import UsageError
from keju.items import Record

_MINUTE, _BURST = 60.0, 1.0


class RateLimits(Record, frozen=True, kw_only=True):
    """The limits of one model per minute; None sets no limit."""

    requests: float | None = None
    tokens: float | None = None
    images: float | None = None

    def check(self) -> None:
        """Check the limits.

        Raises:
            UsageError: a limit is not more than 0.
        """
        for name, option in _OPTIONS.items():
            number = getattr(self, name)
            if number is not None and not (isfinite(number) and number > 0):
                raise UsageError("{} must be more than 0, not {:g}", option, number)


_OPTIONS = {
    "requests": "--per-minute",
    "tokens": "--tokens-per-minute",
    "images": "--images-per-minute",
}


class Bucket:
    """A token bucket: spreads requests over the minute, and no minute exceeds the limit.

    Its capacity is the amount of one second. One request larger than its content may overdraw it;
    it is then closed until the amount is refilled.

    Args:
        per_minute: the limit of any 60 seconds.
    """

    def __init__(self, per_minute: float) -> None:
        # One second more than a minute, because a full bucket is emptied before its refill begins.
        self._seconds_each = (_MINUTE + _BURST) / per_minute
        self.opens_at = 0.0

    def take(self, amount: float, now: float) -> None:
        """Take this amount, or return it where it is below 0."""
        self.opens_at = max(self.opens_at, now - _BURST) + amount * self._seconds_each


class Throttle:
    """Slots for requests in flight, whose number follows the capacity of the server.

    The rule is TCP's (additive increase, multiplicative decrease): a response of 429 or 503 halves
    the number, but those that were already in flight at the last halving do not halve it again; as
    many successes as there are slots add one. After the first success the limit is the ceiling,
    because most servers support what their users set.

    Args:
        ceiling: the maximum number of slots.
        limits: the limits per minute.
        first: the maximum number of slots before the first success; by default the ceiling.
    """

    def __init__(
        self, ceiling: int, limits: RateLimits | None = None, *, first: int | None = None
    ) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self._limit = float(ceiling if first is None else min(first, ceiling))
        self._proven = first is None
        self._halved = 0.0
        self._closed_until = 0.0
        self._stopped = False
        self.limits = limits or RateLimits()
        self._requests, self._tokens, self._images = (
            Bucket(each) if each else None
            for each in (self.limits.requests, self.limits.tokens, self.limits.images)
        )
        self._timer: asyncio.TimerHandle | None = None
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._resting: set[asyncio.Future[None]] = set()

    @property
    def limit(self) -> int:
        """Slots at present, from 1 to the ceiling."""
        return int(self._limit)

    @property
    def slowed(self) -> bool:
        """Whether there are fewer slots than the ceiling because the server was overloaded."""
        return bool(self._halved) and self.limit < self.ceiling

    @property
    def seconds_closed(self) -> float:
        """Seconds for which the server accepts no more requests; 0 where it accepts them."""
        return max(0.0, self._closed_until - monotonic())

    @property
    def stopped(self) -> bool:
        """Whether no more slots are available, permanently."""
        return self._stopped

    async def enter(self, *, tokens: int = 0, images: int = 0) -> bool:
        """Wait for a slot and take it; false if there will be none.

        Args:
            tokens: the approximate number of tokens sent and requested.
            images: the number of images sent.
        """
        while not self._stopped:
            now = monotonic()
            if self.in_flight < self.limit and now >= self._opens_at:
                self.in_flight += 1
                for bucket, amount in self._buckets(1, tokens, images):
                    bucket.take(amount, now)
                self._wake()
                return True
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            self._wait_to_open(now)
            await waiter
        return False

    def counted(self, tokens: int) -> None:
        """Record how many tokens more than expected an answer took; below 0, fewer."""
        if self._tokens is not None:
            self._tokens.take(tokens, monotonic())
            self._wake()

    def leave(self) -> None:
        """Release a slot."""
        self.in_flight -= 1
        self._wake()

    def proven(self) -> None:
        """The model can answer: raise the limit to the ceiling, unless the server was slowed."""
        if not self._proven:
            self._proven = True
            if not self._halved:
                self._limit = float(self.ceiling)
                self._wake()

    def failed(self) -> None:
        """A request failed permanently: before the first success, its slot is not used again."""
        if not self._proven:
            self._limit = max(1.0, self._limit - 1)

    def succeeded(self) -> None:
        """An answer arrived: increase the limit slowly."""
        self.proven()
        self._limit = min(float(self.ceiling), self._limit + 1 / self._limit)

    def overloaded(self, asked_at: float, wait: float | None) -> None:
        """The server reported that it is overloaded.

        Args:
            asked_at: when the request was sent, by `time.monotonic`.
            wait: seconds for which the server accepts no requests, if it stated them.
        """
        if asked_at >= self._halved:
            self._limit = max(1.0, self._limit / 2)
            self._halved = monotonic()
        if wait:
            self._closed_until = max(self._closed_until, monotonic() + wait)
            self._wake()

    async def rest(self, seconds: float) -> bool:
        """Wait this many seconds, or until the throttle stops; false if it has stopped."""
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
        """Provide no more slots; all callers that wait for one, or rest, return at once."""
        self._stopped = True
        for waiter in (*self._waiters, *self._resting):
            _finish(waiter)
        self._waiters.clear()

    @property
    def _opens_at(self) -> float:
        return max(
            self._closed_until,
            *(bucket.opens_at for bucket, _ in self._buckets(1, 1, 1)),
            0.0,
        )

    def _buckets(self, requests: int, tokens: int, images: int) -> Iterator[tuple[Bucket, int]]:
        for bucket, amount in (
            (self._requests, requests), (self._tokens, tokens), (self._images, images),
        ):  # fmt: skip
            if bucket is not None:
                yield bucket, amount

    def _wake(self) -> None:
        """Wake the first waiting caller if there is a slot; it wakes the next after taking it."""
        now = monotonic()
        if self._opens_at > now:
            self._wait_to_open(now)
        elif self.in_flight < self.limit:
            while self._waiters:
                waiter = self._waiters.popleft()
                if not waiter.done():
                    waiter.set_result(None)
                    return

    def _wait_to_open(self, now: float) -> None:
        closed = self._opens_at - now
        if closed <= 0 or not self._waiters:
            return
        loop = asyncio.get_running_loop()
        # One millisecond more, because the loop's timers may fire slightly early.
        at = loop.time() + closed + 0.001
        if self._timer is None or self._timer.when() > at + 0.001:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(at, self._open)

    def _open(self) -> None:
        self._timer = None
        self._wake()


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
