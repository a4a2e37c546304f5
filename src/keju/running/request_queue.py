"""Send given requests, such as those to a judge or to a drafter.

A run makes its requests from a dataset's items; here they are given. The rest is the same:
responses are stored as they arrive, throttled, within a budget, and never requested twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.console import Console

from keju.datasets.store import Dataset
from keju.items import Request, Response
from keju.models import Model
from keju.running.budget import Budget, BudgetTracker, CostEstimator, check_priced, spent_so_far
from keju.running.cache_key import request_key
from keju.running.model_summary import summary_of
from keju.running.outcomes import Job, job_of
from keju.running.policy import Policy
from keju.running.request_runner import ModelQueue, RequestRunner
from keju.running.run import ask_all
from keju.running.run_summary import RunSummary
from keju.running.store import RequestId, ResponseStore, Stored
from keju.runs import RunFolder

Questions = Callable[[Model], Iterable[Request]]
"""The requests to a model; called several times."""


class Replies(NamedTuple):
    """A model's stored responses by request id, where they belong to the requests made now."""

    model: str
    of: dict[RequestId, Response]

    def to(self, request: Request) -> Response | None:
        """The response to a request, or None."""
        return self.of.get(RequestId.of(request))


def ask_questions(
    store: ResponseStore,
    models: Sequence[Model],
    questions: Questions,
    *,
    policy: Policy,
    dataset: Dataset | None = None,
    identities: Mapping[str, Mapping[str, str]] | None = None,
    console: Console | None = None,
) -> RunSummary:
    """Send the requests that have no response yet; stored ones are not sent again.

    A stored response to another prompt, or of a model with other settings, is requested again.

    Args:
        store: where responses are kept; open.
        models: the models; they are closed afterwards.
        questions: the requests to a model; called several times.
        policy: concurrency, timeouts, retries and limits.
        dataset: where the images of the requests are stored, if they have any.
        identities: of all models whose paid responses are stored there; these models' if None.
        console: where progress is shown; None shows none.

    Raises:
        UsageError: a limit or the budget is not valid.
        DataError: a stored response is damaged, or the disk is full.
    """
    policy.limits.check()
    policy.budget.check()
    queues: list[ModelQueue] = []
    standing: list[list[Stored]] = []
    for model in models:
        known = store.known(model.name)
        total, there, failed_before = 0, list[Stored](), dict[RequestId, Stored]()
        for job, stored in jobs_of(model, questions(model), known, policy):
            total += stored is None
            slot = RequestId.of(job.request)
            if stored is not None:
                there.append(stored)
            elif slot in known and known[slot].key == job.key:
                failed_before[slot] = known[slot]
        standing.append(there)
        queues.append(
            ModelQueue(
                model,
                _missing(model, questions(model), known, policy),
                total=total,
                ceiling=policy.concurrency or model.concurrency,
                policy=policy,
                succeeded=any(not stored.kind for stored in there),
                failed_before=failed_before,
            )
        )
    paid = identities or {model.name: model.identity for model in models}
    tracker = _tracker(store.folder, models, paid, policy.budget)
    interrupted = asyncio.run(_go(dataset, queues, store, policy, tracker, console))
    prices = policy.budget.prices
    return RunSummary(
        out=str(store.folder.path),
        items=sum(queue.total for queue in queues),
        models=tuple(
            summary_of(queue, there, queue.total + len(there))
            for queue, there in zip(queues, standing, strict=True)
        ),
        interrupted=interrupted,
        used_up=tracker.used_up,
        cost=tracker.spent if prices else None,
        currency=prices.currency if prices else "",
    )


def replies_of(
    folder: RunFolder, model: str, identity: Mapping[str, str], questions: Iterable[Request]
) -> Replies:
    """A model's stored responses to these requests; responses to other prompts are skipped."""
    stored = {RequestId.of(each): each for each in folder.responses(model)}
    found = {}
    for request in questions:
        reply = stored.get(RequestId.of(request))
        if reply is not None and reply.key == request_key(request, identity, reply.source_sha256):
            found[RequestId.of(request)] = reply
    return Replies(model, found)


def jobs_of(
    model: Model, requests: Iterable[Request], known: Mapping[RequestId, Stored], policy: Policy
) -> Iterator[tuple[Job, Stored | None]]:
    """Each request, with its stored response, unless that is to be requested again."""
    for request in requests:
        job = job_of(model, request)
        stored = known.get(RequestId.of(request))
        again = policy.retry_failed and stored is not None and stored.status == "failed"
        if stored is not None and (stored.key != job.key or again):
            stored = None
        yield job, stored


def _missing(
    model: Model, requests: Iterable[Request], known: Mapping[RequestId, Stored], policy: Policy
) -> Iterator[Job]:
    """The jobs that are still to be sent; each is made when it is its turn."""
    for job, stored in jobs_of(model, requests, known, policy):
        if stored is None:
            yield job


def _tracker(
    folder: RunFolder,
    models: Sequence[Model],
    identities: Mapping[str, Mapping[str, str]],
    budget: Budget,
) -> BudgetTracker:
    """The rest of a budget after the stored responses."""
    if budget.prices is None:
        return BudgetTracker(budget)
    meters = ((model.name, CostEstimator(model.identity, budget.prices)) for model in models)
    check_priced(meters, budget)
    return BudgetTracker(budget, spent_so_far(folder, identities, budget.prices))


async def _go(
    dataset: Dataset | None,
    queues: Sequence[ModelQueue],
    store: ResponseStore,
    policy: Policy,
    tracker: BudgetTracker,
    console: Console | None,
) -> bool:
    try:
        return await ask_all(RequestRunner(dataset, queues, store.append, policy, tracker), console)
    finally:
        for queue in queues:
            await queue.model.close()
