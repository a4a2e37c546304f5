from __future__ import annotations

import asyncio
import io
from contextlib import suppress

import pytest
from rich.console import Console

from keju.items import Failure, Response
from keju.models import ModelOptions, open_model
from keju.running import Policy, progress, sending
from keju.running.progress import Pace, duration, show
from keju.running.sending import ModelQueue
from keju.running.timing import Stopwatch


def response(*, failed: bool = False) -> Response:
    return Response(
        key="k", item="i", model="m", benchmark="b", task="t",
        status="failed" if failed else "answered",
        error=Failure(kind="server") if failed else None,
    )  # fmt: skip


def queue(total: int = 100, ceiling: int = 8, *, started: bool = True) -> ModelQueue:
    model = open_model("baseline:copy", ModelOptions())
    variant = ModelQueue(model, iter(()), total=total, policy=Policy(concurrency=ceiling))
    if started:
        variant.stopwatch = Stopwatch()
    return variant


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", clock)
    monkeypatch.setattr(sending, "monotonic", clock)
    return clock


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "?"), (0, "0 s"), (89.4, "89 s"), (90, "2 min"), (120, "2 min"), (7500, "2 h 05 min")],
)  # fmt: skip
def test_durations_as_people_say_them(seconds: float | None, words: str):
    assert duration(seconds) == words


def test_rate_and_time_left_follow_the_last_half_minute(clock: Clock):
    variant = queue()
    pace = Pace(variant)
    assert pace.line() == "starting"
    clock.now += 40
    variant.note(response(), dead_after=10)
    pace.tick()
    assert (pace.rate, pace.line()) == (0.0, "? left")
    for _ in range(10):
        clock.now += 1
        variant.note(response(), dead_after=10)
        variant.note(response(), dead_after=10)
        pace.tick()
    assert pace.rate == pytest.approx(2.0)
    assert pace.line() == "2.0/s · 40 s left"
    for _ in range(40):
        clock.now += 1
        pace.tick()
    assert pace.rate == 0


def test_failures_slowing_and_giving_up_are_said(clock: Clock):
    variant = queue(total=4)
    pace = Pace(variant)
    variant.slots.succeeded()
    variant.slots.overloaded(1e18, None)
    clock.now += 1
    variant.note(response(failed=True), dead_after=2)
    pace.tick()
    assert pace.line() == "1 failed · slowed to 4 at once · ? left"
    variant.note(response(failed=True), dead_after=2)
    assert pace.line().endswith("given up")
    assert variant.halted


def test_an_engine_waits_for_the_one_before_it_and_then_starts():
    variant = queue(total=3, started=False)
    pace = Pace(variant)
    assert pace.line() == "waiting for the engine before it"
    variant.stopwatch = Stopwatch()
    assert (pace.line(), variant.slots.limit) == ("starting", 1)
    variant.note(response(), dead_after=9)
    assert variant.slots.limit == 8


def said(*, terminal: bool) -> str:
    async def body() -> str:
        variant = queue(total=2)
        console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
        showing = asyncio.create_task(show([variant, queue(total=0)], console))
        await asyncio.sleep(0.01)
        variant.note(response(), dead_after=9)
        variant.note(response(), dead_after=9)
        showing.cancel()
        with suppress(asyncio.CancelledError):
            await showing
        return console.file.getvalue()

    return asyncio.run(body())


def test_a_terminal_gets_a_bar_and_a_file_gets_plain_lines():
    assert "baseline:copy" in said(terminal=True)
    assert "2/2" in said(terminal=True)
    assert "\x1b" in said(terminal=True)
    plain = said(terminal=False)
    assert plain.startswith("baseline:copy: 2/2 · ")
    assert plain.count("\n") == 1
