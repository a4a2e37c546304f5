"""`ItemRequests`: the requests that a run makes from the items of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from keju.items import Item, Request, Response
from keju.models import Model
from keju.running.outcomes import Job, job_of
from keju.running.policy import Policy
from keju.running.reading import (
    Reader,
    Readings,
    failure_of,
    is_read_by,
    reader_of,
    readers_of,
    reading_requests,
    unsupported_reason,
)
from keju.running.renewal import Renewal
from keju.running.request_queue import NotAsked, PlannedRequest
from keju.running.request_runner import ModelQueue
from keju.running.requests import request_count, request_for, requests_for
from keju.running.run_contents import RunContents
from keju.running.selecting import RequestVariant, skip_reason
from keju.running.store import StoredResponse
from keju.runs import RunFolder
from keju.text import answer_part
from keju.texts import _


class RequestHandle(NamedTuple):
    """Which request of an item: its prompt variant and its candidate.

    `place` is the index of the item in `RunContents.sent_items`.
    """

    place: int
    variant: RequestVariant
    candidate: int


class ItemRequests:
    """The source of the requests to one model that a run makes from its items.

    Args:
        contents: what the run sends.
        folder: the run, which contains the transcriptions that precede the requests.
        model: the model.
    """

    def __init__(self, contents: RunContents, folder: RunFolder, model: Model) -> None:
        self.model = model
        self._contents = contents
        self._renewal = Renewal(model, str(folder.path))
        settings = dict.fromkeys(variant.setting for variant in contents.selection.variants)
        readers = {setting: reader_of(model, setting) for setting in settings}
        self._readings = {
            setting: Readings(reader, folder.readings(reader.model.name)) if reader else None
            for setting, reader in readers.items()
        }

    def planned(self) -> Iterator[PlannedRequest[RequestHandle] | NotAsked]:
        """All requests, and those that are not sent, with the reason."""
        for place, item, variant in self._contents.turns(self.model):
            if reason := skip_reason(item, variant):
                yield NotAsked(reason, request_count(item))
                continue
            readings = self._readings[variant.setting]
            transcription = readings.of(item, variant) if readings else None
            examples = self._contents.examples.of(item, variant)
            # A model that transcribes first must support the request with the images.
            with_images = request_for(item, variant, examples=examples) if readings else None
            for request in self._requests(item, variant, transcription):
                if reason := unsupported_reason(self.model, with_images or request):
                    yield NotAsked(reason)
                    continue
                handle = RequestHandle(place, variant, request.candidate)
                waits = readings is not None and transcription is None
                yield PlannedRequest(handle, request, transcription, waits)

    def is_outdated(self, stored: StoredResponse, planned: PlannedRequest[RequestHandle]) -> bool:
        """Whether a stored response must be replaced (`Renewal`).

        Raises:
            UsageError: it is to another prompt.
        """
        job = job_of(self.model, planned.request)
        return self._renewal.is_needed(stored, job, planned.transcription)

    def build_jobs(self, handles: Sequence[RequestHandle]) -> Iterator[Job]:
        """The requests with these handles, those of one item and variant after each other."""
        for __, group in groupby(handles, key=lambda each: (each.place, id(each.variant))):
            wanted = list(group)
            variant, candidates = wanted[0].variant, {each.candidate for each in wanted}
            item = self._contents.sent_items[wanted[0].place]
            readings = self._readings[variant.setting]
            transcription = readings.of(item, variant) if readings else None
            failure = failure_of(transcription) if transcription else None
            for request in self._requests(item, variant, transcription):
                if request.candidate in candidates:
                    yield job_of(self.model, request, failure)

    def notes(self) -> Iterable[str]:
        """The result files that changed since they were read, one line."""
        return self._renewal.lines()

    def _requests(
        self, item: Item, variant: RequestVariant, transcription: Response | None
    ) -> Iterator[Request]:
        # The reasoning of the reader is not part of the transcription.
        text = None if transcription is None else answer_part(transcription.text)
        return requests_for(item, variant, text, self._contents.examples.of(item, variant))


def reading_queues(contents: RunContents, folder: RunFolder, policy: Policy) -> list[ModelQueue]:
    """The transcriptions to make before models answer, one queue per reader."""
    settings = [variant.setting for variant in contents.selection.variants]
    queues = [
        _reading_queue(reader, partial(_reading_turns, contents, models, reader), folder, policy)
        for reader, models in readers_of(contents.models, settings)
    ]
    return [queue for queue in queues if queue.total]


def _reading_turns(
    contents: RunContents, models: Iterable[Model], reader: Reader
) -> Iterator[tuple[Item, RequestVariant]]:
    """The items that a reader reads for models."""
    for model in models:
        for __, item, variant in contents.turns(model):
            if is_read_by(reader, model, item, variant, contents.examples):
                yield item, variant


def _reading_queue(
    reader: Reader,
    turns: Callable[[], Iterable[tuple[Item, RequestVariant]]],
    folder: RunFolder,
    policy: Policy,
) -> ModelQueue:
    """The queue of a reader; its requests are made twice, because they are too large to keep."""
    model = reader.model
    stored = {each.key: each.status for each in folder.readings(model.name)}
    again = {"failed"} if policy.retry_failed else set()

    def jobs() -> Iterator[Job]:
        for job in (job_of(model, request) for request in reading_requests(reader, turns())):
            if job.key not in stored or stored[job.key] in again:
                yield job

    queue = ModelQueue(
        model,
        jobs(),
        total=sum(1 for _ in jobs()),
        ceiling=policy.concurrency or model.concurrency,
        limits=policy.limits,
        prices=policy.budget.prices,
        succeeded=any(status != "failed" for status in stored.values()),
    )
    queue.doing = _("(reading)")
    return queue
