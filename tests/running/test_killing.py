"""kill −9 at random moments: nothing stored is lost, nothing stored is paid for again."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.children import started
from tests.support.commanding import keju
from tests.support.making import make_dataset
from tests.support.serving import Chat, run_command

ITEMS, AT_ONCE, KILLS = 150, 4, 10


def stored(out: Path) -> Counter[str]:
    """Items on whole lines of the files as they lie there."""
    lines = [
        line
        for path in out.glob("responses/*/*.jsonl")
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    return Counter(json.loads(line)["item"] for line in lines if line.endswith(b"\n"))


def wait_until_asked(chat: Chat, count: int) -> None:
    for _ in range(6000):
        if chat.stats()["requests"] >= count:
            return
        time.sleep(0.01)
    pytest.fail("the run asked nothing")


@pytest.mark.slow
def test_killed_ten_times_each_item_stands_once_and_no_answer_was_paid_for_twice(
    chat: Chat, tmp_path: Path
):
    draw = random.Random(3)
    dataset, out = make_dataset(tmp_path / "d", pages=ITEMS), tmp_path / "run"
    chat.plan(delay=0.02, modes=["429", "500", "drop-body"], share=0.3, times=1)

    def start() -> subprocess.Popen[bytes]:
        return started(
            run_command(dataset, out, chat, at_once=AT_ONCE),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    before: Counter[str] = Counter()
    asked_when_stored: dict[str, int] = {}
    for _ in range(KILLS):
        process = start()
        wait_until_asked(chat, chat.stats()["requests"] + draw.randint(1, 12))
        time.sleep(draw.uniform(0, 0.03))
        process.kill()
        process.communicate()
        now = stored(out)
        assert set(now.values()) <= {1}
        assert before <= now
        seen = chat.stats()["asked"]
        asked_when_stored |= {item: seen[item] for item in now if item not in before}
        before = now
    assert 0 < before.total() < ITEMS
    done = start()
    _, errors = done.communicate(timeout=180)
    assert done.returncode == 0, errors.decode()

    assert stored(out) == {f"i{n:04}": 1 for n in range(ITEMS)}
    seen = chat.stats()
    for item, count in asked_when_stored.items():
        assert seen["asked"][item] == count
    paid_twice = {item: n for item, n in seen["answered"].items() if n > 1}
    assert sum(n - 1 for n in paid_twice.values()) <= KILLS * AT_ONCE
    faults = sum(n for mode, n in seen["modes"].items() if mode != "fine")
    assert seen["requests"] <= ITEMS + faults + KILLS * AT_ONCE


@pytest.mark.slow
def test_killed_while_starting_the_run_can_still_be_finished(chat: Chat, tmp_path: Path):
    draw = random.Random(7)
    dataset, out = make_dataset(tmp_path / "d", pages=10), tmp_path / "run"
    chat.plan()
    arguments = run_command(dataset, out, chat, at_once=AT_ONCE)
    for _ in range(6):
        process = started(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.2, 1.0))
        process.kill()
        process.wait()
    assert keju(*arguments[3:]).returncode == 0
    assert stored(out) == {f"i{n:04}": 1 for n in range(10)}
