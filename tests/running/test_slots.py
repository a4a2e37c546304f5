from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable
from time import monotonic

import pytest

from keju.running.limits import Slots


def run(body: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(body(), 10))


def test_no_more_than_the_ceiling_are_in_flight():
    async def body() -> None:
        slots = Slots(3)
        most = 0

        async def one() -> None:
            nonlocal most
            assert await slots.enter()
            most = max(most, slots.in_flight)
            await asyncio.sleep(0.001)
            slots.leave()

        await asyncio.gather(*(one() for _ in range(50)))
        assert most == 3
        assert slots.in_flight == 0

    run(body)


def test_too_much_halves_once_for_all_that_were_in_flight():
    async def body() -> None:
        slots = Slots(64)
        asked_at = monotonic()
        for _ in range(20):
            slots.overloaded(asked_at, None)
        assert slots.limit == 32
        slots.overloaded(monotonic(), None)
        assert slots.limit == 16

    run(body)


def test_it_never_falls_below_one():
    async def body() -> None:
        slots = Slots(2)
        for _ in range(10):
            slots.overloaded(monotonic(), None)
        assert slots.limit == 1
        assert await slots.enter()

    run(body)


def test_as_many_successes_as_slots_add_one_up_to_the_ceiling():
    async def body() -> None:
        slots = Slots(16)
        slots.overloaded(monotonic(), None)
        assert slots.limit == 8
        for _ in range(9):
            slots.succeeded()
        assert slots.limit == 9
        for _ in range(1000):
            slots.succeeded()
        assert slots.limit == 16

    run(body)


def test_retry_after_holds_back_all_requests():
    async def body() -> None:
        slots = Slots(4)
        slots.overloaded(monotonic(), 0.1)
        started = monotonic()
        entered = await asyncio.gather(slots.enter(), slots.enter())
        assert entered == [True, True]
        assert monotonic() - started >= 0.1

    run(body)


def test_a_later_retry_after_prolongs_the_wait():
    async def body() -> None:
        slots = Slots(4)
        slots.overloaded(monotonic(), 0.05)
        waiting = asyncio.create_task(slots.enter())
        await asyncio.sleep(0.02)
        slots.overloaded(monotonic(), 0.1)
        started = monotonic()
        assert await waiting
        assert monotonic() - started >= 0.099

    run(body)


def test_stop_ends_every_wait_at_once():
    async def body() -> None:
        slots = Slots(1)
        assert await slots.enter()
        waiting = [asyncio.create_task(slots.enter()) for _ in range(3)]
        resting = asyncio.create_task(slots.rest(60))
        await asyncio.sleep(0)
        slots.stop()
        assert await asyncio.gather(*waiting, resting) == [False] * 4
        assert not await slots.rest(60)
        assert not await slots.enter()

    run(body)


def test_rest_lasts_as_long_as_it_is_asked_to():
    async def body() -> None:
        started = monotonic()
        assert await Slots(1).rest(0.05)
        assert monotonic() - started >= 0.049

    run(body)


def times_of(slots: Slots, count: int, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When so many go out one after the other, each as soon as it may."""
    times: list[float] = []

    async def body() -> None:
        for _ in range(count):
            now = max(times[-1] if times else 1000.0, slots.opens_at)
            monkeypatch.setattr("keju.running.limits.monotonic", lambda now=now: now)
            assert await slots.enter()
            slots.leave()
            times.append(now)

    asyncio.run(body())
    return times


@pytest.mark.parametrize("per_minute", [10, 600, 6000])
def test_no_minute_holds_more_than_its_rate_lets_out(
    per_minute: float, monkeypatch: pytest.MonkeyPatch
):
    times = times_of(Slots(1, per_minute=per_minute), int(3 * per_minute), monkeypatch)
    for place, first in enumerate(times):
        within = bisect_left(times, first + 59.999) - place
        assert within <= per_minute
    assert times[-1] - times[0] < 3.2 * 60


def test_requests_a_minute_are_spread_and_all_come_through():
    async def body() -> None:
        slots = Slots(50, per_minute=3000)
        times: list[float] = []

        async def one() -> None:
            assert await slots.enter()
            times.append(monotonic())
            slots.leave()

        await asyncio.gather(*(one() for _ in range(100)))
        # 50 a second, of which a second's worth may go at once.
        assert len([each for each in times if each < times[0] + 0.5]) <= 50 + 25 + 1
        assert times[-1] - times[0] > 0.9

    run(body)


def test_stop_ends_a_wait_for_the_next_minute():
    async def body() -> None:
        slots = Slots(4, per_minute=1)
        assert await slots.enter()
        waiting = asyncio.create_task(slots.enter())
        await asyncio.sleep(0.01)
        slots.stop()
        assert not await waiting

    run(body)
