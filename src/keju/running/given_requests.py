"""`send_requests`: send requests that exist already, such as those to a judge or to a drafter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from keju.console import Console
from keju.datasets.store import Dataset
from keju.items import Request, Response
from keju.models import Model
from keju.running.budget import BudgetTracker
from keju.running.cache_key import request_key
from keju.running.interruption import Interruption
from keju.running.outcomes import Job, job_of
from keju.running.policy import Policy
from keju.running.request_queue import (
    PlannedRequest,
    PreparedQueue,
    closing_models,
    prepare_queue,
    remaining_budget,
    run_summary,
    send_queues,
)
from keju.running.request_runner import RequestRunner
from keju.running.run_summary import RunSummary
from keju.running.store import RequestId, ResponseStore, StoredResponse
from keju.runs import RunFolder
from keju.runs.record_list import RecordList

RequestsOfModel = Callable[[Model], Iterable[Request]]
"""The requests to a model; called several times, with the same requests in the same order."""


class GivenRequests:
    """The source of requests that exist already; the handle of a request is its position.

    A stored response to another prompt, or of a model with other settings, is outdated.

    Args:
        model: the model.
        requests: returns the requests to it.
    """

    def __init__(self, model: Model, requests: Callable[[], Iterable[Request]]) -> None:
        self.model = model
        self._requests = requests

    def planned(self) -> Iterator[PlannedRequest[int]]:
        """All requests."""
        for position, request in enumerate(self._requests()):
            yield PlannedRequest(position, request)

    def is_outdated(self, stored: StoredResponse, planned: PlannedRequest[int]) -> bool:
        """Whether a stored response is to another prompt or of other settings."""
        return stored.key != job_of(self.model, planned.request).key

    def build_jobs(self, handles: Sequence[int]) -> Iterator[Job]:
        """The requests at these positions."""
        wanted = frozenset(handles)
        for position, request in enumerate(self._requests()):
            if position in wanted:
                yield job_of(self.model, request)

    def notes(self) -> Iterable[str]:
        """None: responses to other prompts are replaced without a note."""
        return ()


class Replies:
    """A model's stored responses where they belong to the requests made now.

    Args:
        model: the name of the model.
        responses: responses, of which a long list is on disk.
        places: the position of each that belongs to a request, by request id.
    """

    def __init__(
        self, model: str, responses: Sequence[Response], places: dict[RequestId, int]
    ) -> None:
        self.model = model
        self._responses = responses
        self._places = places

    def __iter__(self) -> Iterator[Response]:
        """The responses, in the order of the requests."""
        return map(self._responses.__getitem__, self._places.values())

    def reply_to(self, request: Request) -> Response | None:
        """The response to a request, or None."""
        place = self._places.get(RequestId.of(request))
        return None if place is None else self._responses[place]


def send_requests(
    store: ResponseStore,
    models: Sequence[Model],
    requests: RequestsOfModel,
    *,
    policy: Policy,
    dataset: Dataset | None = None,
    identities: Mapping[str, Mapping[str, str]] | None = None,
    before: Callable[[Sequence[Model]], None] | None = None,
    console: Console | None = None,
) -> RunSummary:
    """Send the requests that have no response yet; stored ones are not sent again.

    A stored response to another prompt, or of a model with other settings, is requested again.

    Args:
        store: where responses are kept; open.
        models: the models; they are closed afterwards.
        requests: the requests to a model; called several times.
        policy: concurrency, timeouts, retries and limits.
        dataset: where the images of the requests are stored, if they have any.
        identities: of all models whose paid responses are stored there; these models' if None.
        before: is called with the models that get requests, before the first one is sent; it may
            raise an error (`SendingCheck.check`).
        console: where progress is shown; None shows none.

    Raises:
        UsageError: a limit or the budget is not valid; or as `before`.
        DataError: a stored response is damaged, or the disk is full.
    """
    policy.limits.check()
    policy.budget.check()
    queues = [
        prepare_queue(GivenRequests(model, partial(requests, model)), store, policy)
        for model in models
    ]
    now = {model.name: model.identity for model in models}
    tracker = remaining_budget(store.folder, now, identities or {}, policy.budget)
    if before:
        before([each.queue.model for each in queues if each.queue.total])
    items = sum(each.queue.total for each in queues)
    interruption = Interruption()
    asyncio.run(_send(store, queues, policy, tracker, dataset, console, interruption))
    return run_summary(str(store.folder.path), queues, tracker, interruption, items=items)


async def _send(
    store: ResponseStore,
    queues: Sequence[PreparedQueue],
    policy: Policy,
    tracker: BudgetTracker,
    dataset: Dataset | None,
    console: Console | None,
    interruption: Interruption,
) -> None:
    model_queues = [each.queue for each in queues]
    async with closing_models(queue.model for queue in model_queues):
        runner = RequestRunner(dataset, model_queues, store.append, policy.retry, tracker)
        await send_queues(runner, console, interruption)


def replies_of(
    folder: RunFolder, model: str, identity: Mapping[str, str], requests: Iterable[Request]
) -> Replies:
    """A model's stored responses to these requests; responses to other prompts are skipped."""
    responses, stored = RecordList(Response), dict[RequestId, tuple[int, str, str]]()
    for place, each in enumerate(folder.responses(model)):
        responses.append(each)
        stored[RequestId.of(each)] = place, each.key, each.source_sha256
    found = {}
    for request in requests:
        request_id = RequestId.of(request)
        place, key, source = stored.get(request_id, (0, "", ""))
        if key and key == request_key(request, identity, source):
            found[request_id] = place
    return Replies(model, responses, found)
