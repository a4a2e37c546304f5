"""The request queue: which requests to a model have no response yet, and how they are sent.

Runs, judges and drafts use it alike. They differ in their `RequestSource`: a run makes its requests
from the items of a dataset (`ItemRequests`), the others have them already (`GivenRequests`).

Each request that is sent is built twice, but hashed once. The first pass decides which requests are
missing, the second builds each when it is its turn. If the requests were kept in between, a hundred
thousand prompts with their transcriptions would take hundreds of megabytes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Generic, NamedTuple, Protocol, TypeVar

from keju.console import Console
from keju.items import Request, Response
from keju.models import Model, capabilities_of
from keju.running.budget import Budget, BudgetTracker, CostEstimator, check_priced, spent_so_far
from keju.running.interruption import Interruption
from keju.running.model_summary import ModelSummary, summary_of
from keju.running.outcomes import Job
from keju.running.policy import Policy
from keju.running.progress import show
from keju.running.request_runner import ModelQueue, RequestRunner
from keju.running.run_summary import RunSummary
from keju.running.store import RequestId, ResponseStore, StoredResponse
from keju.runs import RunFolder

_Handle = TypeVar("_Handle")


class PlannedRequest(NamedTuple, Generic[_Handle]):
    """A request that a model is to answer.

    `handle` is what its source needs to build it again. `transcription` is the response to the
    request before it, if the prompt contains a transcription of the images. `waits` is true if that
    transcription is needed and missing.
    """

    handle: _Handle
    request: Request
    transcription: Response | None = None
    waits: bool = False


class NotAsked(NamedTuple):
    """Requests that are not sent, and why."""

    reason: str
    requests: int = 1


class RequestSource(Protocol[_Handle]):
    """The requests to one model."""

    @property
    def model(self) -> Model:
        """The model."""

    def planned(self) -> Iterable[PlannedRequest[_Handle] | NotAsked]:
        """All requests, whether they have a response or not."""

    def is_outdated(self, stored: StoredResponse, planned: PlannedRequest[_Handle]) -> bool:
        """Whether a stored response must be replaced.

        Raises:
            UsageError: the stored response answers another prompt and must not be replaced.
        """

    def build_jobs(self, handles: Sequence[_Handle]) -> Iterator[Job]:
        """The requests with these handles, each built when it is its turn."""

    def notes(self) -> Iterable[str]:
        """The outdated responses that were found, a line each."""


class PreparedQueue(NamedTuple):
    """A model queue, with the counts before its first request is sent.

    `planned` is the number of requests with and without a response, `kept` are the stored responses
    that remain valid, `not_asked` counts requests that are not sent, by reason.
    """

    queue: ModelQueue
    planned: int
    kept: list[StoredResponse]
    not_asked: Counter[str]
    notes: list[str]

    def summary(self) -> ModelSummary:
        """The counts of the model, including what was stored before."""
        return summary_of(self.queue, self.kept, self.planned, self.not_asked)


def prepare_queue(
    source: RequestSource[_Handle], store: ResponseStore, policy: Policy
) -> PreparedQueue:
    """The queue of the requests that have no valid response yet.

    Raises:
        UsageError: a stored response answers another prompt and must not be replaced.
        DataError: a stored response is damaged.
    """
    model = source.model
    known = store.known(model.name)
    missing: list[_Handle] = []
    kept: list[StoredResponse] = []
    failed_before: dict[RequestId, StoredResponse] = {}
    not_asked: Counter[str] = Counter()
    waiting = 0
    for each in source.planned():
        if isinstance(each, NotAsked):
            not_asked[each.reason] += each.requests
            continue
        if each.waits:
            waiting += 1
            continue
        request_id = RequestId.of(each.request)
        stored = known.get(request_id)
        if stored is not None and not source.is_outdated(stored, each):
            if not (policy.retry_failed and stored.status == "failed"):
                kept.append(stored)
                continue
            failed_before[request_id] = stored
        missing.append(each.handle)
    queue = ModelQueue(
        model,
        source.build_jobs(missing),
        total=len(missing) + waiting,
        ceiling=policy.concurrency or model.concurrency,
        limits=policy.limits,
        prices=policy.budget.prices,
        succeeded=any(not stored.kind for stored in kept),
    )
    queue.failed_before = failed_before
    queue.stored = len(kept)
    planned = len(kept) + queue.total
    return PreparedQueue(queue, planned, kept, not_asked, list(source.notes()))


def remaining_budget(
    folder: RunFolder,
    identities: Mapping[str, Mapping[str, str]],
    earlier: Mapping[str, Mapping[str, str]],
    budget: Budget,
) -> BudgetTracker:
    """The rest of a budget after the cost of all stored responses.

    Args:
        folder: where responses are stored.
        identities: those of the models that get requests now, by name.
        earlier: those of other models with stored responses.
        budget: the budget.

    Raises:
        UsageError: money is limited, and the price of a model is not known.
        DataError: a stored line is damaged.
    """
    if budget.prices is None:
        return BudgetTracker(budget)
    estimators = {name: CostEstimator(each, budget.prices) for name, each in identities.items()}
    check_priced(estimators.items(), budget)
    known = {**earlier, **identities}
    return BudgetTracker(budget, spent_so_far(folder, known, budget.prices))


async def send_queues(
    runner: RequestRunner, console: Console | None, interruption: Interruption
) -> None:
    """Run the request runner, with its progress on the console, until done or interrupted."""
    progress = asyncio.create_task(show(runner.queues, console)) if console else None
    task = asyncio.create_task(runner.run())
    try:
        with interruption.watching(runner, task, console):
            try:
                await task
            except asyncio.CancelledError:
                if not interruption.count:
                    raise
    finally:
        if progress:
            progress.cancel()
            with suppress(asyncio.CancelledError):
                await progress


@asynccontextmanager
async def closing_models(models: Iterable[Model]) -> AsyncIterator[None]:
    """Close the models at the end."""
    try:
        yield
    finally:
        for model in models:
            await model.close()


def run_summary(
    out: str,
    queues: Sequence[PreparedQueue],
    tracker: BudgetTracker,
    interruption: Interruption,
    *,
    items: int,
    waiting: int = 0,
) -> RunSummary:
    """The outcome of all queues.

    Args:
        out: the directory where responses are stored.
        queues: the queues.
        tracker: the rest of the budget.
        interruption: whether the user or the system stopped it.
        items: the number of items that the requests are about.
        waiting: the number of requests in unfinished batches.
    """
    prices = tracker.budget.prices
    return RunSummary(
        out=out,
        items=items,
        models=tuple(each.summary() for each in queues),
        interrupted=bool(interruption.count),
        used_up=tracker.used_up,
        waiting=waiting,
        cost=tracker.spent if prices else None,
        currency=prices.currency if prices else "",
    )


_KINDS = frozenset({"bad-request", "bad-response", "connection"})


async def diagnose(queue: ModelQueue) -> None:
    """If the queue stopped before any answer, add the models of its server to the hint."""
    failure = queue.halted_by
    if failure is None or failure.kind not in _KINDS or queue.answered:
        return
    if not failure.message.startswith("HTTP ") and failure.kind == "connection":
        return
    if diagnosis := capabilities_of(queue.model).diagnosis:
        queue.diagnosis = await diagnosis()
