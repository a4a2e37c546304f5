"""``keju run --batch``: submit the remaining requests as batches, and collect results later.

Each submitted batch is recorded in ``RUN/batches/<model>/<tag>.json`` before it is sent to the
server and until every answer is stored, so that an interruption at any moment neither loses a batch
nor pays for it twice: a batch whose id at the server is not known yet is looked up by its tag. The
first request of a model is sent directly, so that a wrong key or parameter is found at once and not
after a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.files import read_json, sha256_bytes, write_json
from keju.items import Record, Response
from keju.models import Answer, AskError
from keju.models.decoding import Parameters
from keju.running.contents import LazyImages, RunContents
from keju.running.limits import NO_USAGE, Policy, RetryPolicy, may_be_paid
from keju.running.sending import Job, ModelQueue, Sender, response_of
from keju.running.store import ResponseStore
from keju.texts import _

if TYPE_CHECKING:
    from keju.models.openai_batches import Batches, BatchResults

MOST_LINES, MOST_BYTES = 50_000, 190_000_000
"""The limits of one file: 50,000 requests, and a little less than 200 MB."""

_NO_BATCHES = re.compile(r"HTTP (?:404|405|501)\b|files_settings")
_ENDPOINTS = _(
    ". The server has no batch endpoints, or its gateway is not set up for them (LiteLLM needs "
    "files_settings). Run the same command without --batch; what is stored is kept"
)


class SubmittedBatch(Record, frozen=True, kw_only=True):
    """A batch that was submitted and is not finished.

    `tag` is assigned by keju, `id` by the server (empty if not known yet). `requests` are the names
    of the requests, and `parameters` those that they were sent with.
    """

    tag: str
    id: str = ""
    requests: tuple[str, ...] = ()
    parameters: Parameters


def check_batchable(contents: RunContents, policy: Policy) -> None:
    """Check that batches support the models, that nothing is limited or transcribed first.

    Raises:
        UsageError: a model has no batch endpoints, a limit is set, or a setting needs a
            transcription.
    """
    if policy.per_minute or policy.max_cost is not None:
        raise UsageError(
            "--batch: budgets and limits per minute do not apply to batches. Use --limit"
        )
    for model in contents.models:
        if model.batches() is None:
            raise UsageError("--batch: {} has no batch endpoints; openai: models have", model.name)
    if contents.readers:
        raise UsageError(
            "--batch does not support settings in which the images are transcribed first. Use "
            "--setting image"
        )


async def send_in_batches(
    queues: Iterable[ModelQueue], dataset: Dataset, store: ResponseStore, policy: Policy
) -> int:
    """Collect the results of earlier batches, and submit the requests that are in none.

    Returns:
        The number of requests in unfinished batches.

    Raises:
        DataError: a response cannot be stored, or the server rejected a batch.
        UsageError: the batch endpoints do not answer.
    """
    waiting = 0
    for queue in queues:
        server = queue.model.batches()
        if server is None:
            continue
        sender = _BatchSender(queue, server, dataset, store, policy.retry)
        try:
            await sender.run()
        except AskError as error:
            hint = _ENDPOINTS if _NO_BATCHES.search(str(error)) else ""
            raise UsageError("{}: {}{}", queue.model.name, error, hint) from None
        finally:
            for results in sender.results:
                results.close()
        waiting += sender.waiting
    return waiting


class _BatchSender:
    """Sends one model's queue in batches; `retry` is for the first request, sent directly."""

    def __init__(
        self,
        queue: ModelQueue,
        server: Batches,
        dataset: Dataset,
        store: ResponseStore,
        retry: RetryPolicy,
    ) -> None:
        self.results: list[BatchResults] = []
        self.waiting = 0
        self._queue, self._server, self._dataset = queue, server, dataset
        self._store, self._retry = store, retry
        self._folder = store.folder.batches_dir(queue.model.name)
        self._file = self._folder / "next.jsonl"
        self._names: list[str] = []
        """The names of the requests in the file."""
        self._unfinished: set[str] = set()
        self._collected: dict[str, BatchResults] = {}
        self._ended: list[Path] = []
        """The records of batches whose results are collected."""

    async def run(self) -> None:
        """Store the results that are ready, and submit the requests that are in no batch."""
        await self._collect()
        is_first = not (self._unfinished or self._ended)
        for job in self._queue.jobs:
            name = _name(job)
            outcome = self._collected[name][name] if name in self._collected else None
            if job.failure is not None:
                self._keep(job, AskError(job.failure.kind, job.failure.message), attempts=0)
            elif outcome is not None:
                self._keep(job, outcome)
            elif name in self._unfinished:
                self.waiting += 1
            elif is_first:
                is_first = False
                if not await self._send_directly(job):
                    return
            else:
                await self._add(name, job)
        if self._names:
            await self._submit()
        for path in self._ended:
            path.unlink()

    async def _collect(self) -> None:
        """Fetch the results of the recorded batches; those that never arrived are forgotten."""
        for path in sorted(self._folder.glob("*.json")):
            batch = read_json(path, SubmittedBatch)
            state = await self._server.poll(batch.tag, batch.id)
            if state is None:
                path.unlink()
                continue
            if not batch.id:
                write_json(path, replace(batch, id=state.id))
            # Parameters that the server refused in an earlier session are not sent again.
            model = self._server.model
            model.parameters = replace(batch.parameters, fields=model.parameters.fields)
            if not state.ended:
                self._unfinished.update(batch.requests)
                continue
            results = await self._server.results(state, batch.parameters, self._folder)
            self.results.append(results)
            if state.status == "failed" and not results:
                path.unlink()
                errors = msgspec.json.encode(state.errors).decode()[:300]
                raise DataError("the server rejected batch {}: {}", state.id, errors)
            self._collected |= dict.fromkeys(results, results)
            self._ended.append(path)

    def _keep(self, job: Job, outcome: Answer | AskError, *, attempts: int = 1) -> None:
        estimated_tokens = NO_USAGE
        if isinstance(outcome, Answer):
            estimated_tokens = self._queue.cost.uncounted(job.request, outcome.usage)
        self._store_response(
            response_of(self._queue.model, job, outcome, 0.0, attempts, estimated_tokens)
        )

    def _store_response(self, response: Response) -> None:
        self._store.append(response)
        self._queue.note(response, self._retry.dead_after)

    async def _send_directly(self, job: Job) -> bool:
        """Whether a request that is sent directly gets a response that is not a failure."""
        alone = ModelQueue(self._queue.model, iter([job]), total=1, policy=Policy(concurrency=1))
        await Sender(self._dataset, [alone], self._store_response, self._retry).run()
        return alone.summary.answered

    async def _add(self, name: str, job: Job) -> None:
        """Add a request to the file; a full one is submitted before."""
        images = LazyImages(self._dataset, job.request.images)
        try:
            line = await self._server.line(name, job.request, images)
        except AskError as error:
            self._keep(job, error)
            return
        if self._names:
            size = self._file.stat().st_size + len(line)
            if len(self._names) == MOST_LINES or size > MOST_BYTES:
                await self._submit()
        self._folder.mkdir(parents=True, exist_ok=True)
        # A file of an interrupted session begins again.
        with self._file.open("ab" if self._names else "wb") as stream:
            stream.write(line)
        self._names.append(name)

    async def _submit(self) -> None:
        """Record the file as a batch, and submit it."""
        tag = sha256_bytes("".join(self._names).encode())[:32]
        parameters = self._server.model.parameters
        batch = SubmittedBatch(tag=tag, requests=tuple(self._names), parameters=parameters)
        write_json(self._path(tag), batch)
        try:
            state = await self._server.submit(self._file, tag)
        except AskError as error:
            if not may_be_paid(error.kind):
                # The server reported that it has no batch of that tag.
                self._path(tag).unlink()
            raise
        write_json(self._path(tag), replace(batch, id=state.id))
        self._file.unlink()
        self.waiting += len(self._names)
        self._names = []

    def _path(self, tag: str) -> Path:
        return self._folder / f"{tag}.json"


def _name(job: Job) -> str:
    """The name of a request in a batch file, different even for two items with the same request."""
    request = job.request
    place = (job.key, request.item, request.query, request.round, request.candidate)
    return sha256_bytes(msgspec.json.encode(place))[:40]
