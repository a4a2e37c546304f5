from __future__ import annotations

import asyncio
import io
from contextlib import suppress

import pytest
from rich.console import Console

from keju.items import Failure, Response
from keju.models import ModelOptions, open_model
from keju.running import Policy
from keju.running.progress import duration, show, state_of
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


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "?"), (0, "0 s"), (89.4, "89 s"), (90, "2 min"), (120, "2 min"), (7500, "2 h 05 min")],
)  # fmt: skip
def test_durations_as_people_say_them(seconds: float | None, words: str):
    assert duration(seconds) == words


def test_rate_and_time_left_are_given_once_they_are_known():
    variant = queue()
    assert state_of(variant, None) == "starting"
    variant.note(response(), dead_after=10)
    assert state_of(variant, None) == "? left"
    for _ in range(20):
        variant.note(response(), dead_after=10)
    assert state_of(variant, 2.0) == "2.0/s · 40 s left"
    assert state_of(variant, 0.5) == "2.0 s each · 3 min left"


def test_failures_slowing_and_giving_up_are_said():
    variant = queue(total=4)
    variant.slots.succeeded()
    variant.slots.overloaded(1e18, None)
    variant.note(response(failed=True), dead_after=2)
    assert state_of(variant, None) == "1 failed · slowed to 4 at once · ? left"
    variant.note(response(failed=True), dead_after=2)
    assert state_of(variant, None).endswith("given up")
    assert variant.summary.halted


def test_an_engine_waits_for_the_one_before_it_and_then_starts():
    variant = queue(total=3, started=False)
    assert state_of(variant, None) == "waiting for the engine before it"
    variant.stopwatch = Stopwatch()
    assert (state_of(variant, None), variant.slots.limit) == ("starting", 1)
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
    assert plain == "baseline:copy: 2/2\n"
