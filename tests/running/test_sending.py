"""The asker alone, with models of a few lines in place of the wire."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

import pytest

from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.items import Request, Response
from keju.models import Answer, AskError, Model
from keju.running import ModelSummary, Policy, RetryPolicy
from keju.running.sending import FIRST, Job, ModelQueue, Sender
from tests.support.making import make_dataset

QUICK = RetryPolicy(first_wait=0.001, longest_wait=0.002)
Reply = Callable[[str, int], Answer]


class Scripted(Model):
    """Answers as a function of the item and of how often it was asked says."""

    concurrency = 4

    def __init__(self, reply: Reply, *, name: str = "scripted", seconds: float = 0.0) -> None:
        self.name = name
        self.identity: dict[str, str] = {}
        self.asked: Counter[str] = Counter()
        self.in_flight = self.most = 0
        self._reply = reply
        self._seconds = seconds
        self.watch: Callable[[], object] = lambda: None

    def unsupported_reason(self, request: Request) -> str:
        return ""

    async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
        self.asked[request.item] += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self._seconds)
            self.watch()
            return self._reply(request.item, self.asked[request.item])
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        pass


def fine(item: str, count: int) -> Answer:
    return Answer(text=f"{item} {count}")


def failing(error: AskError, times: int) -> Reply:
    def reply(item: str, count: int) -> Answer:
        if count <= times:
            raise error
        return fine(item, count)

    return reply


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return Dataset.open(make_dataset(tmp_path_factory.mktemp("ask") / "d", pages=2))


def queue(
    model: Scripted, dataset: Dataset, count: int, *, ceiling: int = 4, succeeded: bool = False
) -> ModelQueue:
    images = dataset.items()[0].images
    jobs = (
        Job(
            Request(
                item=f"i{n}", benchmark="b", task="t", form="text", prompt="?", images=images
            ),
            f"k{n}",
        )
        for n in range(count)
    )  # fmt: skip
    summary = ModelSummary(model=model.name, statuses=Counter(answered=int(succeeded)))
    policy = Policy(concurrency=ceiling)
    return ModelQueue(model, jobs, total=count, policy=policy, summary=summary)


def ask(dataset: Dataset, *queues: ModelQueue, retry: RetryPolicy = QUICK) -> list[Response]:
    kept: list[Response] = []
    sender = Sender(dataset, queues, kept.append, retry)
    asyncio.run(asyncio.wait_for(sender.run(), 30))
    return kept


def test_models_are_asked_side_by_side(dataset: Dataset):
    together: list[bool] = []
    one, two = (Scripted(fine, name=name, seconds=0.05) for name in ("one", "two"))
    for model, other in ((one, two), (two, one)):
        model.watch = lambda other=other: together.append(other.in_flight > 0)
    kept = ask(dataset, queue(one, dataset, 8), queue(two, dataset, 8))
    assert any(together)
    assert Counter(r.model for r in kept) == {"one": 8, "two": 8}
    assert (one.most, two.most) == (4, 4)


def test_jobs_are_taken_from_the_iterator_only_when_a_worker_is_free(dataset: Dataset):
    taken = 0
    model = Scripted(fine, seconds=0.01)

    def jobs():
        nonlocal taken
        for job in queue(model, dataset, 40).jobs:
            taken += 1
            assert taken - sum(model.asked.values()) <= 4
            yield job

    ask(dataset, ModelQueue(model, jobs(), total=40, policy=Policy(concurrency=4)))
    assert taken == 40


@pytest.mark.parametrize(
    ("error", "times", "status", "attempts"),
    [
        (AskError("server", "away", retryable=True), 2, "answered", 3),
        (AskError("bad-response", "junk", retryable=True), 99, "failed", 6),
        (AskError("bad-request", "no such thing"), 99, "failed", 1),
        (AskError("refused", "I may not"), 99, "filtered", 1),
    ],
    ids=str,
)
def test_only_what_may_pass_is_asked_again_and_attempts_end(
    dataset: Dataset, error: AskError, times: int, status: str, attempts: int
):
    model = Scripted(failing(error, times))
    kept = ask(dataset, queue(model, dataset, 3))
    assert set(model.asked.values()) == {attempts}
    assert {(r.status, r.attempts) for r in kept} == {(status, attempts)}
    for response in kept:
        told = (response.error.kind, response.error.message) if response.error else None
        assert told == (None if status == "answered" else (error.kind, str(error)))
        assert bool(response.text) == (status == "answered")


def test_a_storm_of_429_slows_and_never_fails(dataset: Dataset):
    error = AskError("rate", "slower", retryable=True, overloaded=True)
    model = Scripted(failing(error, 20))
    variant = queue(model, dataset, 8)
    kept = ask(dataset, variant)
    assert {(r.status, r.attempts) for r in kept} == {("answered", 21)}
    assert variant.slots.limit < 4


def test_refusals_by_policy_do_not_stop_a_model(dataset: Dataset):
    variant = queue(Scripted(failing(AskError("refused", "I may not"), 99)), dataset, 20)
    assert len(ask(dataset, variant)) == 20
    assert variant.summary.halted == ""
    assert not variant.summary.failures


@pytest.mark.parametrize(("succeeded", "attempts"), [(False, 3), (True, 6)])
def test_an_address_without_a_server_is_tried_less_before_the_first_answer(
    dataset: Dataset, succeeded: bool, attempts: int
):
    error = AskError("connection", "refused", retryable=True, unreachable=True)
    variant = queue(Scripted(failing(error, 99)), dataset, 30, succeeded=succeeded)
    kept = ask(dataset, variant)
    assert {(r.status, r.attempts) for r in kept} == {("failed", attempts)}
    assert variant.summary.halted
    assert variant.summary.left > 0, "the rest is asked when the address is corrected"


def test_the_deadline_ends_a_request_that_only_gets_429(dataset: Dataset):
    error = AskError("rate", "slower", retryable=True, overloaded=True)
    model = Scripted(failing(error, 10**9))
    retry = RetryPolicy(first_wait=0.01, longest_wait=0.02, deadline=0.2, dead_after=99)
    kept = ask(dataset, queue(model, dataset, 4), retry=retry)
    assert {(r.status, r.error.kind) for r in kept if r.error} == {("failed", "rate")}


def test_retry_after_is_honoured(dataset: Dataset):
    error = AskError("server", "soon", retryable=True, retry_after=0.2)
    started = monotonic()
    [response] = ask(dataset, queue(Scripted(failing(error, 1)), dataset, 1))
    elapsed = monotonic() - started
    assert elapsed >= 0.2
    assert response.attempts == 2
    assert response.seconds <= elapsed - 0.2, "the wait is not the model's time"


def test_an_attempt_that_takes_too_long_is_a_timeout(dataset: Dataset):
    retry = RetryPolicy(timeout=0.05, attempts=2, first_wait=0.001)
    [response] = ask(dataset, queue(Scripted(fine, seconds=5), dataset, 1), retry=retry)
    assert response.error is not None
    assert (response.error.kind, response.attempts) == ("timeout", 2)


def test_a_dead_server_is_given_up_and_what_was_not_asked_is_left(dataset: Dataset):
    def reply(item: str, count: int) -> Answer:
        if int(item[1:]) > 99:
            raise AskError("auth", "HTTP 401: who are you?")
        return fine(item, count)

    variant = queue(Scripted(reply), dataset, 1000)
    kept = ask(dataset, variant)
    assert 110 <= len(kept) < 120
    assert variant.summary.left == 1000 - len(kept)
    assert variant.summary.halted.startswith("10 requests in a row failed")
    assert variant.summary.halted.endswith("HTTP 401: who are you?")


def test_five_failures_alike_before_any_success_stop_a_model(dataset: Dataset):
    def reply(item: str, count: int) -> Answer:
        raise AskError("bad-request", f"HTTP 400: no such field (request id: {item}-{count})")

    variant = queue(Scripted(reply), dataset, 1000)
    kept = ask(dataset, variant)
    assert len(kept) == 5
    assert variant.summary.left == 995
    assert "no such field" in variant.summary.halted
    assert variant.halted_by is not None
    assert variant.halted_by.kind == "bad-request"


@pytest.mark.parametrize("kind", ["missing-answer", "failed-elsewhere"])
def test_answers_that_a_file_lacks_do_not_stop_it(dataset: Dataset, kind: str):
    variant = queue(Scripted(failing(AskError(kind, "no answer"), 10**9)), dataset, 200)
    assert len(ask(dataset, variant)) == 200
    assert variant.summary.halted == ""


def test_few_unlike_failures_or_an_earlier_answer_do_not_stop_a_model(dataset: Dataset):
    def unlike(item: str, count: int) -> Answer:
        raise AskError("bad-request", "HTTP 400: " + "x" * int(item[1:]))

    variant = queue(Scripted(unlike), dataset, 24)
    assert len(ask(dataset, variant)) == 24
    alike = failing(AskError("bad-request", "HTTP 400: too long"), 10**9)
    resumed = queue(Scripted(alike), dataset, 100, succeeded=True)
    assert len(ask(dataset, resumed)) == 100
    assert variant.summary.halted == resumed.summary.halted == ""


def test_few_requests_are_in_flight_until_the_first_answer(dataset: Dataset):
    model = Scripted(fine, seconds=0.02)
    seen: list[int] = []
    variant = queue(model, dataset, 60, ceiling=30)
    answer = model.answer

    async def watched(request: Request, images: Sequence[bytes]) -> Answer:
        seen.append(variant.slots.in_flight)
        return await answer(request, images)

    model.answer = watched
    ask(dataset, variant)
    assert max(seen[:FIRST]) == FIRST
    assert max(seen) == 30


def test_failures_among_successes_do_not_give_a_server_up(dataset: Dataset):
    def reply(item: str, count: int) -> Answer:
        if int(item[1:]) % 5:
            raise AskError("auth", "HTTP 403: not this one")
        return fine(item, count)

    variant = queue(Scripted(reply), dataset, 200)
    assert len(ask(dataset, variant)) == 200
    assert variant.summary.halted == ""


def test_a_model_given_up_leaves_the_others_alone(dataset: Dataset):
    dead = queue(Scripted(failing(AskError("auth", "who?"), 10**9), name="dead"), dataset, 100)
    alive = queue(Scripted(fine, name="alive", seconds=0.002), dataset, 100)
    kept = ask(dataset, dead, alive)
    assert Counter(r.status for r in kept if r.model == "alive") == {"answered": 100}


def test_an_engine_that_breaks_on_one_page_does_not_end_the_run(dataset: Dataset):
    def reply(item: str, count: int) -> Answer:
        if item == "i3":
            raise ZeroDivisionError("division\nby zero")
        return fine(item, count)

    kept = {r.item: r for r in ask(dataset, queue(Scripted(reply), dataset, 8))}
    error = kept["i3"].error
    assert error is not None
    assert (error.kind, error.message) == ("engine", "ZeroDivisionError: division by zero")
    assert sum(r.status == "answered" for r in kept.values()) == 7


def test_a_model_that_cannot_work_at_all_ends_the_run_with_its_line(dataset: Dataset):
    def reply(item: str, count: int) -> Answer:
        raise UsageError("no such language")

    with pytest.raises(UsageError, match="no such language"):
        ask(dataset, queue(Scripted(reply), dataset, 8))


def test_a_response_that_cannot_be_kept_ends_the_run_with_its_line(dataset: Dataset):
    def keep(response: Response) -> None:
        raise DataError("disk full")

    sender = Sender(dataset, [queue(Scripted(fine), dataset, 8)], keep, QUICK)
    with pytest.raises(DataError, match="disk full"):
        asyncio.run(sender.run())


def stopped_soon(sender: Sender) -> int:
    """Stop a sender that has just begun; gives what was in flight then."""

    async def body() -> int:
        running = asyncio.create_task(sender.run())
        await asyncio.sleep(0.02)
        in_flight = sum(each.slots.in_flight for each in sender.queues)
        sender.stop()
        await running
        return in_flight

    return asyncio.run(asyncio.wait_for(body(), 5))


def test_stop_waits_for_what_is_in_flight_and_sends_nothing_more(dataset: Dataset):
    model = Scripted(fine, seconds=0.1)
    kept: list[Response] = []
    sender = Sender(dataset, [queue(model, dataset, 100)], kept.append, QUICK)
    assert stopped_soon(sender) == 4
    assert len(kept) == sum(model.asked.values()) == 4


def test_stop_ends_the_wait_before_another_attempt(dataset: Dataset):
    error = AskError("server", "away", retryable=True, retry_after=500)
    kept: list[Response] = []
    waiting = queue(Scripted(failing(error, 99)), dataset, 10)
    stopped_soon(Sender(dataset, [waiting], kept.append, QUICK))
    assert kept == []


def test_images_are_read_when_they_are_looked_at_and_a_bad_one_is_a_failure(tmp_path: Path):
    dataset = Dataset.open(make_dataset(tmp_path / "d", pages=1))
    item = dataset.items()[0]
    dataset.image_path(item.images[0]).write_bytes(b"not the image")
    request = Request(
        item="x", benchmark="b", task="t", form="text", prompt="?", images=item.images
    )

    class Looking(Scripted):
        async def answer(self, request: Request, images: Sequence[bytes]) -> Answer:
            return Answer(text=str(len(images[0])))

    looking = ModelQueue(
        Looking(fine), iter([Job(request, "k")]), total=1, policy=Policy(concurrency=1)
    )
    [response] = ask(dataset, looking)
    assert response.error is not None
    assert response.error.kind == "unreadable-image"
    assert "not the one that was imported" in response.error.message
    blind = ModelQueue(
        Scripted(fine), iter([Job(request, "k")]), total=1, policy=Policy(concurrency=1)
    )
    assert ask(dataset, blind)[0].status == "answered"
