from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from keju.running.throttle import Throttle


def run(body: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(body(), 10))


def test_no_more_than_the_ceiling_are_in_flight():
    async def body() -> None:
        throttle = Throttle(3)
        most = 0

        async def one() -> None:
            nonlocal most
            assert await throttle.enter()
            most = max(most, throttle.in_flight)
            await asyncio.sleep(0.001)
            throttle.leave()

        await asyncio.gather(*(one() for _ in range(50)))
        assert most == 3
        assert throttle.in_flight == 0

    run(body)


def test_too_much_halves_once_for_all_that_were_in_flight():
    async def body() -> None:
        throttle = Throttle(64)
        asked_at = monotonic()
        for _ in range(20):
            throttle.overloaded(asked_at, None)
        assert throttle.limit == 32
        throttle.overloaded(monotonic(), None)
        assert throttle.limit == 16

    run(body)


def test_it_never_falls_below_one():
    async def body() -> None:
        throttle = Throttle(2)
        for _ in range(10):
            throttle.overloaded(monotonic(), None)
        assert throttle.limit == 1
        assert await throttle.enter()

    run(body)


def test_as_many_successes_as_slots_add_one_up_to_the_ceiling():
    async def body() -> None:
        throttle = Throttle(16)
        throttle.overloaded(monotonic(), None)
        assert throttle.limit == 8
        for _ in range(9):
            throttle.succeeded()
        assert throttle.limit == 9
        for _ in range(1000):
            throttle.succeeded()
        assert throttle.limit == 16

    run(body)


def test_retry_after_holds_back_all_requests():
    async def body() -> None:
        throttle = Throttle(4)
        throttle.overloaded(monotonic(), 0.1)
        started = monotonic()
        entered = await asyncio.gather(throttle.enter(), throttle.enter())
        assert entered == [True, True]
        assert monotonic() - started >= 0.1

    run(body)


def test_a_later_retry_after_prolongs_the_wait():
    async def body() -> None:
        throttle = Throttle(4)
        throttle.overloaded(monotonic(), 0.05)
        waiting = asyncio.create_task(throttle.enter())
        await asyncio.sleep(0.02)
        throttle.overloaded(monotonic(), 0.1)
        started = monotonic()
        assert await waiting
        assert monotonic() - started >= 0.099

    run(body)


def test_stop_ends_every_wait_at_once():
    async def body() -> None:
        throttle = Throttle(1)
        assert await throttle.enter()
        waiting = [asyncio.create_task(throttle.enter()) for _ in range(3)]
        resting = asyncio.create_task(throttle.rest(60))
        await asyncio.sleep(0)
        throttle.stop()
        assert await asyncio.gather(*waiting, resting) == [False] * 4
        assert not await throttle.rest(60)
        assert not await throttle.enter()

    run(body)


def test_rest_lasts_as_long_as_it_is_asked_to():
    async def body() -> None:
        started = monotonic()
        assert await Throttle(1).rest(0.05)
        assert monotonic() - started >= 0.049

    run(body)
