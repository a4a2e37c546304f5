"""A run: send the items of a dataset to models, and store their responses.

The path of a run, and of one item in it::

    run ─▶ _Session ─▶ prepare ─▶ check_resumed ─▶ record_run ─▶ Sender.run ─▶ RunSummary

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack

from msgspec.structs import replace

from keju.console import Console
from keju.datasets.store import Dataset
from keju.definitions.pair_forms import reduced_form
from keju.definitions.wordings import own_wordings
from keju.errors import UsageError
from keju.items import TRUE_READING, Failure, Item, Request
from keju.models import Model, ModelOptions, open_models
from keju.running.batching import check_batchable, send_in_batches
from keju.running.contents import Planned, RunContents, access_of
from keju.running.limits import Budget, Policy, remaining_budget
from keju.running.pair_reducing import reduce_pairs_for_run
from keju.running.plan import Plan, estimate, item_to_count
from keju.running.progress import show
from keju.running.recording import check_resumed, record_run
from keju.running.requests import Slot, item_to_send, request_key
from keju.running.restricted_data import SentData, check_sending, sending_question
from keju.running.run_summary import ModelSummary, RunSummary, failure_hint
from keju.running.selection import Selection, select
from keju.running.sending import Interruption, Job, ModelQueue, Sender
from keju.running.store import Head, ResponseStore
from keju.running.timing import add_timings
from keju.runs import RunFolder
from keju.runs.record_list import RecordList
from keju.texts import _, join_sentences

T = TypeVar("T")

_STARTED = frozenset({"run.lock", "items.parquet"})
"""Files that an interruption before the first run.json leaves in a directory."""


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
    it. The first Ctrl-C or SIGTERM, or call of `interruption.interrupt`, stops sending and waits
    for requests in flight, the second does not wait. Models are given as strings or opened. `out`
    is new, or the directory of a run of the same dataset, settings and models.

    Raises:
        UsageError: an argument is not valid, or another process is writing to the run.
        PrerequisiteError: a model needs something that is not installed.
        DataError: the dataset or the run is damaged, or the disk is full.
    """
    session = _Session(dataset_path, models, out, settings)
    with session.store:
        return asyncio.run(session.send(interruption or Interruption()))


async def run_in_loop(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path,
    **settings: Unpack[RunSettings],
) -> RunSummary:
    """The same as `run` in the running event loop, where the requests are sent in it.

    Blocking work (reading the dataset, opening models) is done in a thread. Signals stay with the
    loop's owner: cancel the task to stop. Every response received before is stored.
    """
    session = await asyncio.to_thread(_Session, dataset_path, models, out, settings)
    with session.store:
        return await session.send(Interruption(signals=False))


def plan_run(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path | None = None,
    **settings: Unpack[RunSettings],
) -> Plan:
    """The requests that `run` would send with these arguments, and their estimated cost.

    Nothing is sent or written, and no key is needed. Responses that `out` has are not counted; it
    is None for a new run.
    """
    # The directory of a new run is a path that cannot exist.
    out = out or Path(os.devnull, "run")
    session = _Session(dataset_path, models, out, settings, planning=True)
    if question := sending_question(session.contents.models, session.sent_data):
        session.print(
            _(
                "Before the first request you will be asked: {}. In scripts: "
                "--send-restricted-data",
                question,
            )
        )
    return estimate(session.contents, session.folder, session.policy)


class _Session:
    """One call of `run`: its checked options, the selected items and the opened models.

    With `planning`, nothing is sent, and items keep what the length of an answer depends on.
    """

    def __init__(
        self,
        dataset_path: Path,
        models: Sequence[str | Model],
        out: Path,
        settings: RunSettings,
        *,
        planning: bool = False,
    ) -> None:
        selection = settings.get("selection") or Selection()
        self.policy = settings.get("policy") or Policy()
        self.console = settings.get("console")
        self.policy.check()
        # The path that is checked must be the path that is written: X/new/.. would create X/new and
        # write to X.
        self.folder = RunFolder(out.resolve() if ".." in out.parts else out)
        if self.folder.exists():
            self.folder.manifest()  # It may be damaged, and nothing is repaired before.
        elif self.folder.path.exists():
            _check_unused(self.folder.path)
        self.store = ResponseStore(self.folder)
        dataset = Dataset.open(dataset_path)
        sends_text = bool(TRUE_READING.intersection(selection.settings))
        keep = item_to_count if planning else partial(item_to_send, transcription=sends_text)
        reference: list[Item] = []
        items = select(dataset, selection, dataset.path, keep, reference)
        options = _checked_options(settings.get("options") or ModelOptions(), selection)
        if planning:
            options = replace(options, asking=False)
        opened = open_models(models, options, access_of(dataset, reference))
        for model in opened:
            if model.pair_forms is not None:
                _check_pair_form(model.name, model.pair_forms, selection.pairs)
            if model.notes:
                self.print(*model.notes)
        stored_items = None
        if selection.pairs is not None:
            stored_items = reduce_pairs_for_run(dataset, items, selection.pairs)
            reduced = {item.id: keep(item) for item in stored_items if reduced_form(item)}
            items = RecordList(Item, (reduced.get(item.id, item) for item in items))
        self.contents = RunContents(dataset, opened, items, selection, stored_items)
        if self.policy.batch:
            check_batchable(self.contents, self.policy)
        self.remote = [model for model in opened if model.destinations]
        if self.remote and not planning and not self.folder.exists():
            # Nothing is left of a run that is not permitted.
            check_sending(self.remote, self.sent_data)

    @cached_property
    def sent_data(self) -> SentData:
        return SentData.of(self.contents.dataset, self.contents.items)

    async def send(self, interruption: Interruption) -> RunSummary:
        """Send the missing requests, and store their responses in the open store."""
        contents, policy, store = self.contents, self.policy, self.store
        budget = Budget()
        if policy.prices:
            readers = [reader.model for reader in contents.readers.values()]
            earlier = self.folder.manifest().models if self.folder.exists() else {}
            budget = remaining_budget(self.folder, [*contents.models, *readers], earlier, policy)
        queues, readings, waiting = self.prepare_and_record(), [], 0
        async with AsyncExitStack() as stack:
            for model in contents.models:
                stack.push_async_callback(model.close)
            if policy.batch:
                waiting = await send_in_batches(queues, contents.dataset, store, policy)
            else:
                if contents.readers:
                    readings = self.prepare_readings()
                    keep = partial(store.append, reading=True)
                    sender = Sender(contents.dataset, readings, keep, policy.retry, budget)
                    await _send(sender, self.console, interruption)
                    queues = self.prepare_and_record()
                sender = Sender(contents.dataset, queues, store.append, policy.retry, budget)
                await _send(sender, self.console, interruption)
                if timings := [
                    queue.stopwatch.timing(queue.model.name)
                    for queue in (*readings, *queues)
                    if queue.stopwatch
                ]:
                    add_timings(self.folder, timings)
            items = len(contents.sent_items)
            return await _summary(
                store, queues, budget, policy, interruption, items=items, waiting=waiting
            )

    def prepare_and_record(self) -> list[ModelQueue]:
        """The queue of each model; drops what is outdated, and writes the manifest."""
        contents, folder, store, policy = self.contents, self.folder, self.store, self.policy
        queues = [
            prepare(model, partial(contents.requests, model, folder), store, policy)
            for model in contents.models
        ]
        if self.remote:
            check_sending([queue.model for queue in queues if queue.total], self.sent_data)
        if folder.exists():
            self.print(*check_resumed(contents, store, queues, policy))
        for queue in queues:
            if queue.outdated:
                store.drop(queue.model.name, queue.outdated)
        record_run(contents, folder, {each.model.name: each.summary.not_asked for each in queues})
        return queues

    def prepare_readings(self) -> list[ModelQueue]:
        """The queue of each reader: the images to transcribe where a setting needs it."""
        contents, store, queues = self.contents, self.store, []
        for reader in dict.fromkeys(contents.readers.values()):
            requests = partial(_planned_all, contents.reading_requests, reader)
            queue = prepare(reader.model, requests, store, self.policy, subset=True, readings=True)
            queue.doing = _("(reading)")
            store.drop(reader.model.name, queue.outdated, readings=True)
            queues.append(queue)
        return queues

    def print(self, *notes: str) -> None:
        if self.console:
            for note in notes:
                self.console.print(note, highlight=False, markup=False, soft_wrap=True)


def _check_unused(path: Path) -> None:
    """Check that a path that exists may become the directory of a new run."""
    if not path.is_dir():
        raise UsageError("{} is not a directory. Choose another --out", path)
    for file in path.iterdir():
        if file.name not in _STARTED:
            raise UsageError(
                "{} is not a keju run directory (found {}). Choose another --out", path, file.name
            )


def _checked_options(options: ModelOptions, selection: Selection) -> ModelOptions:
    """The model options, with the user's own wordings, which must not contain a key."""
    for name in ("temperature", "top_p"):
        value = getattr(options.decoding, name)
        if value is not None and not isfinite(value):
            raise UsageError("--{} must be a number, not {:g}", name.replace("_", "-"), value)
    stored = {}
    for name, own in own_wordings(selection.wordings).items():
        systems = [own.system, *(prompt.system for prompt in own.prompts.values())]
        if options.system_prompt and any(systems):
            raise UsageError(
                "--system-prompt: wording {} has a system prompt too. Use only one of them", name
            )
        asks = [prompt.ask for prompt in own.prompts.values()]
        stored[f"--prompts ({name})"] = "\n".join([own.what, *systems, *asks])
    return replace(options, stored=stored)


def _check_pair_form(model: str, forms: frozenset[str], pairs: str | None) -> None:
    """Check that a model repeats responses of the pair form of the run."""
    if (forms or {""}) != {pairs or ""}:
        raise UsageError(
            "{}: its responses are of {}, but --pairs is {}. The candidates have other numbers "
            "there. Use the form in which they were asked",
            model,
            ", ".join(form or "all pairs" for form in sorted(forms)) or _("no run"),
            pairs or _("not given"),
        )


def prepare(
    model: Model,
    requests: Callable[[], Iterable[Planned]],
    store: ResponseStore,
    policy: Policy,
    *,
    subset: bool = False,
    readings: bool = False,
) -> ModelQueue:
    """The queue of the requests that have no valid response yet.

    A response is kept if the same request is made now, which the key decides; a failure only if it
    is not to be sent again. All other responses are outdated, except with `subset`, where the
    requests are not all of the model's. `readings`: they are for transcriptions, which are stored
    apart. `requests` is called twice, so that no requests are in memory: a hundred thousand prompts
    with their transcriptions would take hundreds of megabytes.
    """
    heads = store.known(model.name, readings=readings)
    summary, failed = ModelSummary(model=model.name), dict[Slot, Head]()
    is_missing, waiting = bytearray(), 0
    for planned in requests():
        request = planned.request
        is_missing.append(request is not None and not planned.waits)
        if request is None:
            summary.not_asked[planned.skip_reason] += 1
        elif planned.waits:
            waiting += 1
        else:
            key = request_key(request, model.identity, model.source_of(request))
            slot = Slot(key, request.item, request.candidate)
            head = heads.pop(slot, None)
            if head and policy.retry_failed and head.status == "failed":
                failed[slot] = head
            elif head:
                is_missing[-1] = False
                summary.statuses[head.status] += 1
                if head.status == "failed":
                    summary.failures[head.kind] += 1

    def jobs() -> Iterator[Job]:
        for planned, is_sent in zip(requests(), is_missing, strict=True):
            if is_sent and planned.request is not None:
                source = model.source_of(planned.request)
                key = request_key(planned.request, model.identity, source)
                yield Job(planned.request, key, source, planned.failure)

    return ModelQueue(
        model,
        jobs(),
        total=sum(is_missing) + waiting,
        policy=policy,
        summary=summary,
        outdated=failed if subset else heads | failed,
    )


def _planned_all(requests: Callable[[T], Iterable[Request]], argument: T) -> Iterator[Planned]:
    """Requests of which each is to be sent."""
    return map(Planned, requests(argument))


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
    stays in the store: it may belong to requests of another call. The models are closed afterwards.
    `requests` is called twice, with the same result. `dataset` has the images, if there are any.
    `identities` are those of all models whose paid responses are stored there. `before` is called
    with the models that get requests, before the first one is sent (`check_sending`).

    Raises:
        UsageError: a limit or the budget is not valid; or as `before`.
        DataError: a stored response is damaged, or the disk is full.
    """
    policy.check()
    queues = [
        prepare(model, partial(_planned_all, requests, model), store, policy, subset=True)
        for model in models
    ]
    budget = remaining_budget(store.folder, models, identities or {}, policy)
    if before:
        before([queue.model for queue in queues if queue.total])
    for queue in queues:
        store.drop(queue.model.name, queue.outdated)
    interruption = Interruption()

    async def send_all() -> RunSummary:
        async with AsyncExitStack() as stack:
            for model in models:
                stack.push_async_callback(model.close)
            sender = Sender(dataset, queues, store.append, policy.retry, budget)
            await _send(sender, console, interruption)
            items = sum(queue.total for queue in queues)
            return await _summary(store, queues, budget, policy, interruption, items=items)

    return asyncio.run(send_all())


async def _send(sender: Sender, console: Console | None, interruption: Interruption) -> None:
    """Run the sender, with its progress on the console, until done or interrupted."""
    if interruption.count or sender.budget.used_up:
        return
    progress = asyncio.create_task(show(sender.queues, console)) if console else None
    task = asyncio.create_task(sender.run())
    try:
        with interruption.watching(sender, task, console):
            await task
    except asyncio.CancelledError:
        if not interruption.count:
            raise
    finally:
        if progress:
            progress.cancel()
            with suppress(asyncio.CancelledError):
                await progress


async def _summary(
    store: ResponseStore,
    queues: Sequence[ModelQueue],
    budget: Budget,
    policy: Policy,
    interruption: Interruption,
    *,
    items: int,
    waiting: int = 0,
) -> RunSummary:
    """The outcome of all queues, with hints; the models are still open."""
    for queue in queues:
        # Responses arrive in any order.
        queue.summary.refused.sort()
        queue.summary.not_sent.sort()
        if queue.halted_by:
            await _add_hint(queue, queue.halted_by)
    return RunSummary(
        out=str(store.folder.path),
        items=items,
        models=tuple(queue.summary for queue in queues),
        interrupted=bool(interruption.count),
        used_up=budget.used_up,
        waiting=waiting,
        cost=budget.spent if policy.prices else None,
        currency=budget.currency,
    )


async def _add_hint(queue: ModelQueue, failure: Failure) -> None:
    """Add a hint, which names the server's models if the queue's model never answered."""
    summary = queue.summary
    hint = failure_hint(failure, answered=summary.answered)
    summary.hint, summary.then = hint.what, hint.then
    # Without a status of HTTP nothing answers there, so that no list of models can be read.
    is_there = failure.kind == "connection" and failure.message.startswith("HTTP ")
    if not queue.succeeded and (is_there or failure.kind in {"bad-request", "bad-response"}):
        diagnosis = await queue.model.diagnosis()
        summary.hint = join_sentences(filter(None, (hint.what, diagnosis)))
