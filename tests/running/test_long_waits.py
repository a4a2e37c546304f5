"""A server that asks for a long wait pauses a model or stops it, and never holds the run."""

from __future__ import annotations

import asyncio
import io
import time
from email.utils import formatdate
from pathlib import Path
from typing import ClassVar

import pytest
from rich.console import Console

from keju.models import Model, ModelOptions
from keju.running import Policy, RunSummary, run
from keju.running.progress import state_of
from keju.running.sending import ModelQueue
from keju.runs import RunFolder
from tests.support.making import make_dataset
from tests.support.policies import policy_of
from tests.support.serving import Chat

MODEL = "openai:served"
WEEK = 7 * 24 * 3600


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("waits") / "d", pages=12)


def go(dataset: Path, out: Path, chat: Chat, **policy: float) -> RunSummary:
    console = Console(file=io.StringIO())
    return run(
        dataset, [MODEL], out, options=ModelOptions(base_url=chat.url),
        policy=policy_of(**{"first_wait": 0.01, **policy}), console=console,
    )  # fmt: skip


@pytest.mark.parametrize("form", ["seconds", "epoch", "date"])
def test_a_wait_of_days_stops_the_model_and_the_run_resumes_later(
    chat: Chat, dataset: Path, tmp_path: Path, form: str
):
    then = time.time() + WEEK
    headers = {
        "seconds": {"Retry-After": str(WEEK)},
        "epoch": {"Retry-After": str(int(then))},
        "date": {"Retry-After": formatdate(then, usegmt=True)},
    }[form]
    chat.plan(modes=["429-headers"], times=-1, headers=headers)
    summary = go(dataset, tmp_path / "r", chat)
    model = summary.models[0]
    day = time.strftime("%Y-%m-%d", time.localtime(then - 60))
    assert f"asks to wait until {day}" in model.halted
    assert "at most 30 minutes: HTTP 429: slower, please" in model.halted
    assert (model.left, model.statuses, summary.complete) == (12, {}, False)
    assert summary.advice == "Run the same command again to continue"
    assert list(RunFolder.open(tmp_path / "r").responses()) == []
    chat.plan()
    assert go(dataset, tmp_path / "r", chat).complete
    assert chat.stats()["requests"] == 12


def test_answers_before_the_long_wait_are_kept(chat: Chat, dataset: Path, tmp_path: Path):
    chat.plan(modes=["429-headers"], times=-1, share=0.3, headers={"Retry-After": str(WEEK)})
    summary = go(dataset, tmp_path / "r", chat, concurrency=1)
    stored = list(RunFolder.open(tmp_path / "r").responses())
    assert {each.status for each in stored} <= {"answered"}
    assert summary.left == 12 - len(stored) > 0


def test_no_request_is_sent_before_the_time_that_the_server_named(
    chat: Chat, dataset: Path, tmp_path: Path
):
    chat.plan(modes=["429-headers"], headers={"retry-after-ms": "1000"}, images=True)
    assert go(dataset, tmp_path / "r", chat, concurrency=4).complete
    # Each item is refused once; none is sent again before its time.
    assert chat.stats()["requests"] == 24


def test_the_progress_reports_until_when_a_model_is_paused():
    class Asked(Model):
        name = MODEL
        identity: ClassVar[dict[str, str]] = {}

    queue = ModelQueue(Asked(), iter(()), total=3, policy=Policy(concurrency=2))
    queue.closed_by = "HTTP 429: slower, please"

    async def line() -> str:
        queue.slots.overloaded(time.monotonic(), 600)
        return state_of(queue, None)

    until = time.strftime("%H:", time.localtime(time.time() + 600))
    said = asyncio.run(line())
    assert f"paused until {until}" in said
    assert "HTTP 429: slower, please" in said
