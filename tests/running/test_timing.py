"""What is timed of engines that compute on this machine, and when a timing may be trusted."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.items import Request, Response
from keju.models import Answer, Model
from keju.running import Policy, RetryPolicy, Selection, merge, run
from keju.running.sending import Job, ModelQueue, Sender
from keju.running.timing import Clocks, Machine, Stopwatch, Timing, read_timings, this_machine
from keju.runs import RunFolder
from tests.support.making import make_dataset

START_UP, PAGE = 0.3, 0.02


class Engine(Model):
    """Loads for a while before its first page, and then takes as long for each."""

    identity: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, name: str, log: list[tuple[str, str]]) -> None:
        self.name = name
        self.local = not name.startswith("openai:")
        self.concurrency = 2
        self._log = log
        self._loaded = False
        self.in_flight = self.most_before_first = 0

    def unsupported_reason(self, request: Request) -> str:
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        self._log.append((self.name, request.item))
        self.in_flight += 1
        if not self._loaded:
            self.most_before_first = max(self.most_before_first, self.in_flight)
            await asyncio.sleep(START_UP)
            self._loaded = True
        await asyncio.sleep(PAGE)
        self.in_flight -= 1
        return Answer(text="文")

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return Dataset.open(make_dataset(tmp_path_factory.mktemp("timing") / "d", pages=2))


def queue(engine: Engine, dataset: Dataset, count: int = 9) -> ModelQueue:
    images = dataset.items()[0].images
    jobs = (
        Job(
            Request(item=f"i{n}", benchmark="b", task="t", form="text", prompt="?", images=images),
            f"k{n}",
        )
        for n in range(count)
    )
    return ModelQueue(engine, jobs, total=count, policy=Policy())


def ask(dataset: Dataset, *queues: ModelQueue) -> list[Response]:
    kept: list[Response] = []
    asyncio.run(Sender(dataset, queues, kept.append, RetryPolicy()).run())
    return kept


def test_engines_of_this_machine_are_asked_one_after_another_and_servers_beside_them(dataset):
    log: list[tuple[str, str]] = []
    engines = [Engine(name, log) for name in ("ppocr", "openai:m", "tesseract")]
    kept = ask(dataset, *(queue(each, dataset) for each in engines))
    assert len(kept) == 27
    local = [name for name, _ in log if name != "openai:m"]
    assert local == ["ppocr"] * 9 + ["tesseract"] * 9
    assert log.index(("openai:m", "i0")) < 3


def test_the_start_up_is_not_in_the_time_of_the_pages(dataset):
    engine = Engine("ppocr", [])
    variant = queue(engine, dataset)
    ask(dataset, variant)
    timing = variant.timing
    assert engine.most_before_first == 1
    assert (timing.pages, timing.answers, timing.failed) == (8, 8, 0)
    assert timing.first >= START_UP + PAGE
    # Eight pages, two at a time.
    assert 4 * PAGE <= timing.wall < START_UP
    assert timing.cpu is not None
    assert timing.machine == this_machine()


def test_processor_time_is_not_known_where_servers_were_asked_beside(dataset):
    variant = queue(Engine("ppocr", []), dataset)
    ask(dataset, variant)
    assert variant.stopwatch.timing("ppocr", {}, alone=False).cpu is None
    assert variant.timing.cpu is not None


def test_an_engine_that_answered_nothing_has_no_timing(dataset):
    assert Stopwatch().timing("ppocr", {}, alone=True) is None
    server = queue(Engine("openai:m", []), dataset)
    ask(dataset, server)
    assert server.timing is None


MACHINE = Machine(processor="P", cores=4, memory=8.0, system="Linux")
QUIET = Timing(
    model="ppocr", ended="2026-01-01", machine=MACHINE, identity={}, pages=10, answers=10,
    wall=20.0, cpu=60.0, first=3.0, others=0.02,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "busy", "too_little"),
    [
        ({}, False, False),
        ({"others": 0.1}, False, False),
        ({"others": 0.11}, True, False),
        ({"others": None}, False, False),
        ({"pages": 2, "answers": 2}, False, True),
        ({"failed": 1}, False, False),
        ({"failed": 2}, False, True),
    ],
)
def test_a_busy_machine_and_too_few_pages_are_found(changed, busy, too_little):
    timing = replace(QUIET, **changed)
    assert (bool(timing.busy), bool(timing.too_little)) == (busy, too_little)


def test_each_session_of_a_run_adds_its_timings(tmp_path):
    pages = make_dataset(tmp_path / "d", pages=4)
    out = tmp_path / "run"
    run(pages, ["baseline:copy"], out)
    run(pages, ["baseline:copy", "baseline:chance"], out)
    found = read_timings(RunFolder(out))
    assert [each.model for each in found][:1] == ["baseline:copy"]
    assert sum(each.model == "baseline:copy" for each in found) == 1
    assert found[0].identity["baseline"] == "copy"


def test_a_merged_run_has_the_timings_of_its_shards(tmp_path):
    pages = make_dataset(tmp_path / "d", pages=8)
    shards = [tmp_path / "one", tmp_path / "two"]
    for number, out in enumerate(shards, start=1):
        run(pages, ["baseline:copy"], out, selection=Selection(shard=f"{number}/2"))
    merge(shards, tmp_path / "whole")
    timed = [read_timings(RunFolder(path)) for path in (*shards, tmp_path / "whole")]
    assert timed[2] == timed[0] + timed[1]
    # The first answer of each shard is not timed.
    assert sum(each.answers for each in timed[2]) == 6


def test_a_run_without_the_file_has_no_timings(tmp_path):
    assert read_timings(RunFolder(tmp_path)) == []


def test_clocks_see_this_process_and_the_machine_is_named():
    before, until = Clocks.now(), time.process_time() + 0.2
    while time.process_time() < until:
        pass
    after = Clocks.now()
    assert 0.1 < after.own - before.own < after.wall - before.wall + 0.1
    if Path("/proc/stat").is_file():
        assert after.system - before.system > 0.1
    machine = this_machine()
    assert machine.processor
    assert 1 <= machine.cores <= (os.cpu_count() or 1)
