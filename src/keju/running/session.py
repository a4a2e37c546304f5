"""A run: send the items of a dataset to models, and store their responses.

The path of a run, and of one item in it::

    run ─▶ open ─▶ prepare ─▶ check_resumed ─▶ record_run ─▶ Sender.run ─▶ run_summary

    Item ─RunContents.requests─▶ Request ─request_key─▶ Slot ─ResponseStore.known─▶ kept | missing
    missing ─▶ Slots.enter ─▶ Model.answer ─▶ response_of ─▶ ResponseStore.append ─▶ ModelQueue.note

Where a price is known, `Budget.reserve` precedes the model's answer and `Budget.settle` follows it.

`RunContents.requests` makes the requests of an item, which never contain its reference. `prepare`
compares their keys with those of the stored responses: a key covers everything that determines an
answer, so it alone decides what is kept, missing or outdated. `Sender` (sending.py) sends what is
missing. Judges and drafts, which have their requests already, use the same two (`send_requests`).
"""

from __future__ import annotations

import asyncio
import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager, suppress
from contextvars import copy_context
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TypedDict, Unpack

from msgspec.structs import replace

from keju.console import Console
from keju.datasets.store import Dataset
from keju.definitions.pair_forms import reduced_form
from keju.errors import UsageError
from keju.items import TRUE_READING, Item, Request, Response
from keju.models import Model, ModelOptions, open_models
from keju.running.batching import check_batchable, send_in_batches
from keju.running.contents import Element, Later, RunContents, Skipped, Unread
from keju.running.examples import Examples, has_examples
from keju.running.key import Slot, request_key
from keju.running.limits import Budget, Policy, remaining_budget
from keju.running.model_options import access_of, check_models, with_own_prompts
from keju.running.pair_reducing import reduce_pairs_for_run
from keju.running.plan import Plan, estimate, item_to_count
from keju.running.progress import show
from keju.running.readings import Reader, readers_of
from keju.running.recording import check_resumed, record_run
from keju.running.requests import item_to_send
from keju.running.restricted_data import FILE as SENDING
from keju.running.restricted_data import SendingCheck, SentData
from keju.running.run_summary import RunSummary, run_summary
from keju.running.selection import Selection, read_selected
from keju.running.sending import Interruption, Job, ModelQueue, Sender
from keju.running.store import Head, ResponseStore
from keju.running.timing import add_timings
from keju.runs import RunFolder
from keju.runs.record_list import RecordList
from keju.texts import _

Requests = Callable[[], Iterable[Element]]
"""The requests to a model; called twice, with the same requests in the same order."""

_OURS = frozenset(
    {
        "run.lock", "items.parquet", "examples.parquet", "readings", "responses", "scores",
        "batches", "people", "timings.json", SENDING,
    }
)  # fmt: skip
_DIAGNOSED = frozenset({"bad-request", "bad-response", "connection"})


class RunSettings(TypedDict, total=False):
    """The settings of a run.

    `selection`: which items, in which setting, how often. `options`: for all the models; data of
    the dataset that they may use is added. `policy`: concurrency, timeouts, retries and limits.
    `console`: where progress is shown; None shows none.
    """

    selection: Selection | None
    options: ModelOptions | None
    policy: Policy | None
    console: Console | None


def run(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path,
    *,
    interruption: Interruption | None = None,
    **settings: Unpack[RunSettings],
) -> RunSummary:
    """Run models on a dataset, or resume a run.

    Requests with a stored response are never sent again, except failures where the policy asks for
    it. The first Ctrl-C or SIGTERM stops sending and waits for requests in flight, the second does
    not wait.

    Args:
        dataset_path: the dataset.
        models: the models, as model strings or opened.
        out: the run directory; new, or one of the same dataset, settings and models.
        interruption: a handle that stops the run; by default only signals do.
        settings: see `RunSettings`; each is optional.

    Raises:
        UsageError: an argument is not valid, `out` is another run, or another process is writing to
            it.
        PrerequisiteError: a model needs something that is not installed.
        DataError: the dataset or the run is damaged, or the disk is full.
    """
    session = _Session(dataset_path, models, out, settings, interruption or Interruption())
    with session.open():
        return asyncio.run(session.send())


async def run_in_loop(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path,
    **settings: Unpack[RunSettings],
) -> RunSummary:
    """The same as `run` in the running event loop, where the requests are sent in it.

    Blocking work (reading the dataset, opening models) is done in a thread. Signals stay with the
    loop's owner: cancel the task to stop. Every response received before is stored.

    Raises:
        KejuError: as `run`.
    """
    session = _Session(dataset_path, models, out, settings, Interruption(signals=False))
    loop, opened = asyncio.get_running_loop(), session.open()
    in_context = copy_context().run  # `permitting` holds there too.
    # One thread for both, because the lock of the run belongs to a thread.
    with ThreadPoolExecutor(1) as thread:
        try:
            opening = loop.run_in_executor(thread, in_context, opened.__enter__)
            await asyncio.shield(opening)
            return await session.send()
        finally:
            await loop.run_in_executor(thread, opened.__exit__, None, None, None)


def plan_run(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path | None = None,
    **settings: Unpack[RunSettings],
) -> Plan:
    """The requests that `run` would send with these arguments, and their estimated cost.

    Nothing is sent or written, and no key is needed. Responses that `out` has are not counted; it
    is None for a new run.

    Raises:
        KejuError: as `run`.
    """
    # The directory of a new run is a path that cannot exist.
    out = out or Path(os.devnull, "run")
    session = _Session(dataset_path, models, out, settings, Interruption(signals=False))
    session.options = replace(session.options, asking=False)
    session.select(item_to_count)
    if question := session.sending.question(session.contents.models)[1]:
        session.print(
            _(
                "Before the first request you will be asked: {}. In scripts: "
                "--send-restricted-data",
                question,
            )
        )
    return estimate(session.contents, session.folder, session.policy)


class _Session:
    """One call of `run`: its arguments, and what `open` makes of them."""

    contents: RunContents
    readers: list[tuple[Reader, list[Model]]]
    folder: RunFolder
    store: ResponseStore
    sending: SendingCheck

    def __init__(
        self,
        dataset_path: Path,
        models: Sequence[str | Model],
        out: Path,
        settings: RunSettings,
        interruption: Interruption,
    ) -> None:
        self.dataset_path, self.models, self.out = dataset_path, models, out
        self.selection = settings.get("selection") or Selection()
        self.options = settings.get("options") or ModelOptions()
        self.policy = settings.get("policy") or Policy()
        self.console = settings.get("console")
        self.interruption = interruption

    @contextmanager
    def open(self) -> Iterator[None]:
        """Select the items, open the models, and lock the run; no request is sent yet."""
        sends_text = bool(TRUE_READING.intersection(self.selection.settings))
        self.select(partial(item_to_send, transcription=sends_text))
        if not self.folder.exists():
            # Nothing is left of a run that is not permitted.
            self.sending.check(self.contents.models)
        with ResponseStore(self.folder) as self.store:
            yield

    async def send(self) -> RunSummary:
        """Send the missing requests, store their responses, and summarise."""
        contents, folder, policy = self.contents, self.folder, self.policy
        earlier = folder.manifest().models if folder.exists() else {}
        readers = [reader.model for reader, _served in self.readers]
        identities = {model.name: model.identity for model in (*contents.models, *readers)}
        budget = remaining_budget(folder, identities, earlier, policy)
        queues, waiting = self.prepare_and_record(), 0
        async with AsyncExitStack() as models:
            for model in contents.models:
                models.push_async_callback(model.close)
            if policy.batch:
                waiting = await send_in_batches(queues, contents.dataset, self.store, policy)
            else:
                if await self.transcribe(budget):
                    queues = self.prepare_and_record()
                await self.send_queues(queues, self.store.append, budget)
                for queue in queues:
                    if queue.halted_by and queue.done == queue.statuses["failed"]:
                        await _diagnose(queue)
        return run_summary(
            str(self.out), queues, budget, policy,
            items=len(contents.sent_items), waiting=waiting,
            interrupted=bool(self.interruption.count),
        )  # fmt: skip

    def select(self, keep: Callable[[Item], Item]) -> None:
        """Check all options, select the items and open the models.

        Args:
            keep: reduces each item to what is needed.
        """
        selection, decoding = self.selection, self.options.decoding
        self.policy.check()
        for name in ("temperature", "top_p"):
            value = getattr(decoding, name)
            if value is not None and not isfinite(value):
                raise UsageError("--{} must be a number, not {:g}", name.replace("_", "-"), value)
        self.folder = _run_folder(self.out)
        dataset = Dataset.open(self.dataset_path)
        items, reference = read_selected(dataset, selection, keep)
        models = self.open_models(dataset, reference)
        reduced_items = None
        if selection.pairs is not None:
            reduced_items = self.reduce_pairs(dataset, items, selection.pairs)
            reduced = {item.id: keep(item) for item in reduced_items if reduced_form(item)}
            items = RecordList(Item, (reduced.get(item.id, item) for item in items))
        examples = Examples(reference) if has_examples(selection.wordings) else None
        self.contents = RunContents(dataset, models, items, selection, reduced_items, examples)
        self.readers = readers_of(models, self.contents.settings)
        self.sending = SendingCheck(self.folder, SentData.of(dataset, items))

    def open_models(self, dataset: Dataset, reference: Sequence[Item]) -> list[Model]:
        """The opened models, after checks of the options that concern them."""
        selection = self.selection
        options = with_own_prompts(self.options, selection)
        models = open_models(self.models, options, access_of(dataset, reference))
        notes = check_models(models, options, selection)
        self.print(*(note for model in models for note in model.notes), *notes)
        if self.policy.batch:
            check_batchable(models, selection, self.policy)
        return models

    def reduce_pairs(self, dataset: Dataset, items: Sequence[Item], form: str) -> list[Item]:
        """The selected items in a reduced pair form, as the run has stored or will store them."""
        folder, stored = self.folder, dict[str, Item]()
        if folder.exists() and folder.manifest().pairs == form and folder.has_its_items():
            stored = {item.id: item for item in folder.items() if reduced_form(item)}
        return reduce_pairs_for_run(dataset, items, form, stored)

    def prepare_and_record(self) -> list[ModelQueue]:
        """The queue of each model.

        Checks that the run may be resumed in this way, writes its manifest, drops what is outdated.

        Raises:
            UsageError: it may not be.
        """
        contents, folder, store, policy = self.contents, self.folder, self.store, self.policy
        queues = [
            prepare(model, partial(contents.requests, model, folder), store, policy)
            for model in contents.models
        ]
        if contents.examples:
            contents.examples.check(contents.items, contents.variants)
        self.sending.check(queue.model for queue in queues if queue.total)
        if folder.exists():
            self.print(*check_resumed(contents, store, queues, policy))
        for queue in queues:
            store.drop(queue.model.name, queue.outdated)
        record_run(contents, folder, {queue.model.name: queue.not_asked for queue in queues})
        return queues

    async def transcribe(self, budget: Budget) -> bool:
        """Transcribe the images where a setting needs it; false where none does."""
        contents, store = self.contents, self.store
        queues = []
        for reader, models in self.readers:
            requests = partial(contents.reading_requests, reader, models)
            queue = prepare(reader.model, requests, store, self.policy, subset=True, readings=True)
            queue.doing = _("(reading)")
            queues.append(queue)
        if not queues:
            return False
        self.sending.check(queue.model for queue in queues if queue.total)
        for queue in queues:
            store.drop(queue.model.name, queue.outdated, readings=True)
        await self.send_queues(queues, partial(store.append, reading=True), budget)
        return True

    async def send_queues(
        self, queues: Sequence[ModelQueue], keep: Callable[[Response], None], budget: Budget
    ) -> None:
        """Send the requests of the queues, and store the times of engines of this machine."""
        if self.interruption.count or budget.used_up:
            return
        sender = Sender(self.contents.dataset, queues, keep, self.policy.retry, budget)
        await _send(sender, self.console, self.interruption)
        alone = not any(queue.cost.paid for queue in queues)
        timings = [
            queue.stopwatch.timing(queue.model.name, queue.model.identity, alone=alone)
            for queue in queues
            if queue.stopwatch
        ]
        if any(timings):
            add_timings(self.folder, [timing for timing in timings if timing])

    def print(self, *notes: str) -> None:
        """Print notes for the user."""
        if self.console:
            for note in notes:
                self.console.print(note, highlight=False, markup=False, soft_wrap=True)


def prepare(
    model: Model,
    requests: Requests,
    store: ResponseStore,
    policy: Policy,
    *,
    subset: bool = False,
    readings: bool = False,
) -> ModelQueue:
    """The queue of the requests that have no valid response yet.

    A response is kept if the same request is made now, which the key decides; a failure only if it
    is not to be sent again. All other responses are outdated. Each request that is sent is built
    twice, but hashed once: kept in between, a hundred thousand prompts with their transcriptions
    would take hundreds of megabytes.

    Args:
        model: the model.
        requests: the requests to it.
        store: the stored responses.
        policy: the limits, and whether failures are sent again.
        subset: the requests are not all of the model's, so that other responses are not outdated.
        readings: the requests are for transcriptions, which are stored apart.

    Raises:
        DataError: a stored response is damaged.
    """
    heads = store.known(model.name, readings=readings)
    counts: Counter[Head] = Counter()
    not_asked: Counter[str] = Counter()
    failed: dict[Slot, Head] = {}
    places, digests, sources, waiting = array("q"), bytearray(), list[str](), 0
    for place, element in enumerate(requests()):
        if isinstance(element, Skipped):
            not_asked[element.reason] += element.requests
            continue
        if isinstance(element, Later):
            waiting += 1
            continue
        request = element.request if isinstance(element, Unread) else element
        source = model.source_of(request)
        key = request_key(request, model.identity, source)
        slot = Slot(key, request.item, request.candidate)
        head = heads.pop(slot, None)
        if head is not None and not (policy.retry_failed and head.status == "failed"):
            counts[head] += 1
            continue
        if head is not None:
            failed[slot] = head
        places.append(place)
        digests += bytes.fromhex(key)
        sources.append(source)

    def jobs() -> Iterator[Job]:
        number = 0
        for place, element in enumerate(requests()):
            if number == len(places):
                return
            if place == places[number] and not isinstance(element, Skipped | Later):
                key = digests[32 * number : 32 * number + 32].hex()
                request = element.request if isinstance(element, Unread) else element
                failure = element.failure if isinstance(element, Unread) else None
                yield Job(request, key, sources[number], failure)
                number += 1

    return ModelQueue(
        model,
        jobs(),
        total=len(places) + waiting,
        policy=policy,
        kept=counts,
        not_asked=not_asked,
        outdated=failed if subset else heads | failed,
    )


def send_requests(
    store: ResponseStore,
    models: Sequence[Model],
    requests: Callable[[Model], Iterable[Request]],
    *,
    policy: Policy,
    dataset: Dataset | None = None,
    identities: Mapping[str, Mapping[str, str]] | None = None,
    before: Callable[[Sequence[Model]], None] | None = None,
    console: Console | None = None,
) -> RunSummary:
    """Send requests that exist already, such as those to a judge, where they have no response yet.

    A stored response to another prompt, or of a model with other settings, does not count, but
    stays in the store: it may belong to requests of another call.

    Args:
        store: where responses are kept; open.
        models: the models; they are closed afterwards.
        requests: returns the requests to a model; called twice, with the same result.
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
    policy.check()
    queues = [
        prepare(model, partial(requests, model), store, policy, subset=True) for model in models
    ]
    now = {model.name: model.identity for model in models}
    budget = remaining_budget(store.folder, now, identities or {}, policy)
    if before:
        before([queue.model for queue in queues if queue.total])
    for queue in queues:
        store.drop(queue.model.name, queue.outdated)
    interruption = Interruption()

    async def send_all() -> None:
        async with AsyncExitStack() as opened:
            for model in models:
                opened.push_async_callback(model.close)
            sender = Sender(dataset, queues, store.append, policy.retry, budget)
            await _send(sender, console, interruption)

    asyncio.run(send_all())
    return run_summary(
        str(store.folder.path), queues, budget, policy,
        items=sum(queue.total for queue in queues), interrupted=bool(interruption.count),
    )  # fmt: skip


async def _send(sender: Sender, console: Console | None, interruption: Interruption) -> None:
    """Run the sender, with its progress on the console, until done or interrupted."""
    progress = asyncio.create_task(show(sender.queues, console)) if console else None
    task = asyncio.create_task(sender.run())
    try:
        with interruption.watching(sender, task, console):
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


async def _diagnose(queue: ModelQueue) -> None:
    """Add the models of its server to the hint of a queue that stopped before any answer."""
    failure = queue.halted_by
    if failure is None or failure.kind not in _DIAGNOSED:
        return
    # Without a status of HTTP nothing answers there, so that no list of models can be read.
    if failure.kind != "connection" or failure.message.startswith("HTTP "):
        queue.diagnosis = await queue.model.diagnosis()


def _run_folder(out: Path) -> RunFolder:
    """The directory of a run, new or one that exists.

    Raises:
        UsageError: the path is something else.
        DataError: the run is damaged, or of another format; nothing in it is repaired before.
    """
    # The path that is checked must be the path that is written: X/new/.. would create X/new and
    # write to X.
    if ".." in out.parts:
        out = out.resolve()
    folder = RunFolder(out)
    if folder.exists():
        return RunFolder.open(out)
    if out.exists() and not out.is_dir():
        raise UsageError("{} is not a directory. Choose another --out", out)
    for path in out.iterdir() if out.exists() else ():
        if path.name not in _OURS:
            raise UsageError(
                "{} is not a keju run directory (found {}). Choose another --out", out, path.name
            )
    return folder
