"""``keju run --batch``: submit the remaining requests as batches, and collect results later.

Each submitted batch is recorded in ``RUN/batches/<model>/<tag>.json`` before it is sent to the
server and until every answer is stored, so that an interruption at any moment neither loses a batch
nor pays for it twice: a batch whose id at the server is not known yet is looked up by its tag. The
first request of a model is sent directly, so that a wrong key or parameter is found at once and not
after a day.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from keju.datasets.store import Dataset
from keju.errors import DataError, UsageError
from keju.files import read_json, write_json
from keju.items import Record, Response
from keju.models import AskError, Model, capabilities_of
from keju.models.batch_support import MOST_BYTES, MOST_LINES, BatchSubmitter, Result
from keju.models.decoding import Parameters
from keju.running.limits import Policy, RetryPolicy
from keju.running.model_options import LazyImages
from keju.running.readings import reader_of
from keju.running.selection import Selection
from keju.running.sending import Job, ModelQueue, Sender, response_of
from keju.running.store import ResponseStore
from keju.texts import _

if TYPE_CHECKING:
    from keju.models.openai_batches import BatchResults

_NO_BATCHES = re.compile(r"HTTP (?:404|405|501)\b|files_settings")


class SubmittedBatch(Record, frozen=True, kw_only=True):
    """A batch that was submitted and is not finished.

    `tag` is assigned by keju, `id` by the server (empty if not known yet). `requests` are the names
    of the requests, and `parameters` those that they were sent with.
    """

    tag: str
    id: str = ""
    requests: tuple[str, ...] = ()
    parameters: Parameters


class _Returned(NamedTuple):
    """The results of a batch, and the batch."""

    results: BatchResults
    batch: SubmittedBatch


class _File(NamedTuple):
    path: Path
    names: list[str]


def check_batchable(models: Iterable[Model], selection: Selection, policy: Policy) -> None:
    """Check that batches support the models, that nothing is limited or transcribed first.

    Raises:
        UsageError: a model has no batch endpoints, a limit is set, or a setting needs a
            transcription.
    """
    if policy.per_minute or policy.tokens_per_minute or policy.max_cost is not None:
        raise UsageError(
            "--batch: budgets and limits per minute do not apply to batches. Use --limit"
        )
    for model in models:
        if capabilities_of(model).submitter is None:
            raise UsageError("--batch: {} has no batch endpoints; openai: models have", model.name)
        if any(reader_of(model, variant.setting) for variant in selection.variants):
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
        submitter = capabilities_of(queue.model).submitter
        if submitter is not None:
            runner = _BatchRunner(queue, submitter, dataset, store, policy.retry)
            await runner.run()
            waiting += runner.waiting
    return waiting


class _BatchRunner:
    """Process one model's queue by batches.

    Args:
        queue: the model queue.
        submitter: the model's batches.
        dataset: where the images are stored.
        store: where responses are stored.
        retry: for the first request, which is sent directly.
    """

    def __init__(
        self,
        queue: ModelQueue,
        submitter: BatchSubmitter,
        dataset: Dataset,
        store: ResponseStore,
        retry: RetryPolicy,
    ) -> None:
        self.queue = queue
        self.waiting = 0
        self._model = queue.model
        self._dataset = dataset
        self._folder = store.folder.batches_dir(queue.model.name)
        self._store_response = store.append
        self._retry = retry
        self._submitter = submitter
        self._returned: list[_Returned] = []
        self._server = submitter.batches()

    async def run(self) -> None:
        """Collect the results that are ready, and submit what was not submitted yet.

        Raises:
            DataError: a response cannot be stored, or the server rejected a batch.
            UsageError: the batch endpoints do not answer.
        """
        try:
            await self._run()
        except AskError as error:
            hint = (
                _(
                    ". The server has no batch endpoints, or its gateway is not set up for them "
                    "(LiteLLM needs files_settings). Run the same command without --batch; what is "
                    "stored is kept"
                )
                if _NO_BATCHES.search(str(error))
                else ""
            )
            raise UsageError("{}: {}{}", self._model.name, error, hint) from None
        finally:
            for returned in self._returned:
                returned.results.close()
            await self._server.close()

    async def _run(self) -> None:
        known = [each for each in [await self._named(one) for one in self._submitted()] if each]
        for each in known:
            self._submitter.parameters = each.parameters
        under_way: set[str] = set()
        names: dict[str, _Returned] = {}
        for each in known:
            batch = await self._server.look(each.id)
            if not batch.ended:
                under_way.update(each.requests)
                continue
            returned = _Returned(await self._server.results(batch, self._folder), each)
            self._returned.append(returned)
            if batch.status == "failed" and not returned.results:
                self._path(each.tag).unlink()
                said = msgspec.json.encode(batch.errors).decode()[:300]
                raise DataError("the server rejected batch {}: {}", each.id, said)
            names |= dict.fromkeys(returned.results, returned)
        await self._sort(names, under_way, first=not known)
        for returned in self._returned:
            self._path(returned.batch.tag).unlink()

    async def _sort(self, names: dict[str, _Returned], under_way: set[str], *, first: bool) -> None:
        """Store the results, leave unfinished batches alone, submit the remaining requests."""
        file: _File | None = None
        for job in self.queue.jobs:
            name = _name(job)
            returned = names.pop(name, None)
            result = returned and returned.results[name]
            if job.failure is not None:
                self._store(job, AskError(job.failure.kind, job.failure.message))
            elif returned and result and not result.unasked:
                self._collect(job, result, returned.batch)
            elif name in under_way:
                self.waiting += 1
            elif first:
                first = False
                if not await self._send_directly(job):
                    return
            else:
                file = await self._add(file, name, job)
        if file:
            await self._submit(file)

    def _collect(self, job: Job, result: Result, batch: SubmittedBatch) -> None:
        try:
            outcome = self._submitter.batch_answer(result, batch.parameters)
        except AskError as error:
            self._store(job, error)
        else:
            uncounted = self.queue.cost.uncounted(job.request, outcome.usage)
            if outcome.ignored_usage:
                self.queue.ignored_usage.append(outcome.ignored_usage)
            self._keep(response_of(self._model, job, outcome, 0.0, 1, uncounted))

    def _store(self, job: Job, error: AskError) -> None:
        self._keep(response_of(self._model, job, error, 0.0, 0 if job.failure else 1))

    def _keep(self, response: Response) -> None:
        self._store_response(response)
        self.queue.note(response, self._retry.dead_after)

    async def _send_directly(self, job: Job) -> bool:
        """Whether a request that is sent directly gets a response that is not a failure."""
        responses: list[Response] = []
        alone = ModelQueue(self._model, iter([job]), total=1, policy=Policy(concurrency=1))
        await Sender(self._dataset, [alone], responses.append, self._retry).run()
        for response in responses:
            self._keep(response)
        return bool(responses) and responses[0].status != "failed"

    async def _add(self, file: _File | None, name: str, job: Job) -> _File | None:
        images = LazyImages(self._dataset, job.request.all_images)
        try:
            line = await self._submitter.batch_line(name, job.request, images)
        except AskError as error:
            self._store(job, error)
            return file
        if file and (
            len(file.names) == MOST_LINES or file.path.stat().st_size + len(line) > MOST_BYTES
        ):
            await self._submit(file)
            file = None
        if file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = _File(self._folder / "next.jsonl", [])
            file.path.unlink(missing_ok=True)
        with file.path.open("ab") as stream:
            stream.write(line)
        file.names.append(name)
        return file

    async def _submit(self, file: _File) -> None:
        tag = hashlib.sha256("".join(file.names).encode()).hexdigest()[:32]
        sent = self._submitter.parameters
        noted = SubmittedBatch(tag=tag, requests=tuple(file.names), parameters=sent)
        write_json(self._path(tag), noted)
        try:
            batch = await self._server.submit(file.path, tag)
        except AskError as error:
            if error.kind not in {"timeout", "connection", "bad-response"}:
                # The server reported that it has no batch of that tag.
                self._path(tag).unlink()
            raise
        write_json(self._path(tag), msgspec.structs.replace(noted, id=batch.id))
        file.path.unlink()
        self.waiting += len(file.names)

    def _submitted(self) -> list[SubmittedBatch]:
        return [read_json(path, SubmittedBatch) for path in sorted(self._folder.glob("*.json"))]

    async def _named(self, one: SubmittedBatch) -> SubmittedBatch | None:
        """Batch with its id at the server; None, and its record removed, if it never arrived."""
        if one.id:
            return one
        batch = await self._server.tagged(one.tag)
        if batch is None:
            self._path(one.tag).unlink()
            return None
        named = msgspec.structs.replace(one, id=batch.id)
        write_json(self._path(one.tag), named)
        return named

    def _path(self, tag: str) -> Path:
        return self._folder / f"{tag}.json"


def _name(job: Job) -> str:
    """The name of a request in a batch file, different even for two items with the same request."""
    request = job.request
    place = (job.key, request.item, request.query, request.round, request.candidate)
    return hashlib.sha256(msgspec.json.encode(place)).hexdigest()[:40]
