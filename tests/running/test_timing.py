"""What is timed of engines that compute on this machine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import pytest

from keju.datasets.store import Dataset
from keju.items import Request, Response
from keju.models import Answer, Model
from keju.running import Policy, RetryPolicy, Selection, merge, run
from keju.running.sending import Job, ModelQueue, Sender
from keju.running.timing import Stopwatch, read_timings, this_machine
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
    timing = variant.stopwatch.timing("ppocr")
    assert engine.most_before_first == 1
    assert (timing.pages, timing.answers) == (8, 8)
    # Eight pages, two at a time.
    assert 4 * PAGE <= timing.seconds < START_UP
    assert timing.machine == this_machine()


def test_an_engine_that_answered_nothing_has_no_timing(dataset):
    assert Stopwatch().timing("ppocr") is None
    server = queue(Engine("openai:m", []), dataset)
    ask(dataset, server)
    assert server.stopwatch is None


@pytest.mark.parametrize(
    ("answered", "failed", "is_timed"),
    [(3, 0, False), (4, 0, True), (11, 1, True), (1, 5, False)],
)
def test_too_few_pages_are_not_timed(answered, failed, is_timed):
    stopwatch = Stopwatch()
    for status in ["answered"] * answered + ["failed"] * failed:
        stopwatch.note(
            Response(key="k", item="i", model="m", benchmark="b", task="t", status=status), 1
        )
    assert (stopwatch.timing("m") is not None) == is_timed


def test_each_session_of_a_run_adds_its_timings(tmp_path):
    pages = make_dataset(tmp_path / "d", pages=5)
    out = tmp_path / "run"
    run(pages, ["baseline:copy"], out)
    run(pages, ["baseline:copy", "baseline:chance"], out)
    found = read_timings(RunFolder(out))
    assert [each.model for each in found][:1] == ["baseline:copy"]
    assert sum(each.model == "baseline:copy" for each in found) == 1


def test_a_merged_run_has_the_timings_of_its_shards(tmp_path):
    pages = make_dataset(tmp_path / "d", pages=12)
    shards = [tmp_path / "one", tmp_path / "two"]
    for number, out in enumerate(shards, start=1):
        run(pages, ["baseline:copy"], out, selection=Selection(shard=f"{number}/2"))
    merge(shards, tmp_path / "whole")
    timed = [read_timings(RunFolder(path)) for path in (*shards, tmp_path / "whole")]
    assert timed[2] == timed[0] + timed[1]
    # The first answer of each shard is not timed.
    assert sum(each.answers for each in timed[2]) == 10


def test_a_run_without_the_file_has_no_timings(tmp_path):
    assert read_timings(RunFolder(tmp_path)) == []


def test_the_machine_is_named():
    assert re.search(r", [1-9]\d* CPU, ", this_machine())
