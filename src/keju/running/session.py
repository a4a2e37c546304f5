"""A run: send the items of a dataset to models, and store their responses.

The path of a run, and of one item in it::

    run ─▶ _Session ─▶ prepare ─▶ check_resumed ─▶ record_run ─▶ Sender.run ─▶ run_summary

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
from contextlib import AsyncExitStack, suppress
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from typing import TypedDict, Unpack

from msgspec.structs import replace

from keju.console import Console
from keju.datasets.store import Dataset
from keju.definitions.pair_forms import reduced_form
from keju.definitions.wordings import Wording, own_wordings
from keju.errors import UsageError
from keju.items import TRUE_READING, Item, Request
from keju.models import DatasetAccess, Model, ModelOptions, open_models
from keju.running.batching import check_batchable, send_in_batches
from keju.running.contents import Planned, RunContents, access_of
from keju.running.limits import Budget, Policy, remaining_budget
from keju.running.pair_reducing import reduce_pairs_for_run
from keju.running.plan import Plan, estimate, item_to_count
from keju.running.progress import show
from keju.running.recording import check_resumed, record_run
from keju.running.requests import Slot, item_to_send, request_key
from keju.running.restricted_data import SentData, check_sending, sending_question
from keju.running.run_summary import RunSummary, failure_hint
from keju.running.selection import Selection, select
from keju.running.sending import Interruption, Job, ModelQueue, Sender
from keju.running.store import Head, ResponseStore
from keju.running.timing import add_timings
from keju.runs import RunFolder
from keju.runs.record_list import RecordList
from keju.texts import _, join_sentences

Requests = Callable[[], Iterable[Planned]]
"""The requests to a model; called twice, with the same requests in the same order."""

_OURS = frozenset(
    {
        "run.lock", "items.parquet", "readings", "responses", "scores",
        "batches", "people", "timings.json",
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
        models: as model strings or opened.
        out: the run directory; new, or one of the same dataset, settings and models.
        interruption: a handle that stops the run; by default only signals do.
        settings: see `RunSettings`; each is optional.

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

    Raises:
        KejuError: as `run`.
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

    Raises:
        KejuError: as `run`.
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
        options = settings.get("options") or ModelOptions()
        if planning:
            options = replace(options, asking=False)
        opened = self.open_models(models, options, selection, access_of(dataset, reference))
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

    def open_models(
        self,
        models: Sequence[str | Model],
        options: ModelOptions,
        selection: Selection,
        access: DatasetAccess,
    ) -> list[Model]:
        """The opened models, after checks of the options that concern them."""
        for name in ("temperature", "top_p"):
            value = getattr(options.decoding, name)
            if value is not None and not isfinite(value):
                raise UsageError("--{} must be a number, not {:g}", name.replace("_", "-"), value)
        if own := own_wordings(selection.wordings):
            options = _with_own_prompts(options, own)
        opened = open_models(models, options, access)
        for model in opened:
            # In another form of pairs, the same number means another candidate.
            forms = model.pair_forms
            if forms is not None and (forms or {""}) != {selection.pairs or ""}:
                raise UsageError(
                    "{}: its responses are of {}, but --pairs is {}. The candidates have other "
                    "numbers there. Use the form in which they were asked",
                    model.name,
                    ", ".join(form or "all pairs" for form in sorted(forms)) or _("no run"),
                    selection.pairs or _("not given"),
                )
            if model.notes:
                self.print(*model.notes)
        return opened

    async def send(self, interruption: Interruption) -> RunSummary:
        """Send the missing requests, and store their responses in the open store."""
        contents, folder, store, policy = self.contents, self.folder, self.store, self.policy
        budget, waiting = Budget(), 0
        if policy.prices:
            earlier = folder.manifest().models if folder.exists() else {}
            readers = [reader.model for reader in contents.readers.values()]
            budget = remaining_budget(
                folder, [*contents.models, *readers], earlier, policy.prices, policy.max_cost
            )
        queues = self.prepare_and_record()
        async with AsyncExitStack() as models:
            for model in contents.models:
                models.push_async_callback(model.close)
            if policy.batch:
                waiting = await send_in_batches(queues, contents.dataset, store, policy)
            else:
                timed = []
                if contents.readers:
                    timed += self.prepare_readings()
                    keep = partial(store.append, reading=True)
                    sender = Sender(contents.dataset, timed, keep, policy.retry, budget)
                    await send(sender, self.console, interruption)
                    queues = self.prepare_and_record()
                sender = Sender(contents.dataset, queues, store.append, policy.retry, budget)
                await send(sender, self.console, interruption)
                if timings := [queue.timing for queue in (*timed, *queues) if queue.timing]:
                    add_timings(folder, timings)
        return run_summary(
            str(folder.path), queues, budget, policy,
            items=len(contents.sent_items), waiting=waiting,
            interrupted=bool(interruption.count),
        )  # fmt: skip

    def prepare_and_record(self) -> list[ModelQueue]:
        """Check that the run may be resumed, drop what is outdated, and write the manifest.

        Returns:
            The queue of each model.
        """
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
            requests = partial(planned_all, partial(contents.reading_requests, reader))
            queue = prepare(reader.model, requests, store, self.policy, subset=True, readings=True)
            queue.doing = _("(reading)")
            store.drop(reader.model.name, queue.outdated, readings=True)
            queues.append(queue)
        return queues

    def print(self, *notes: str) -> None:
        if self.console:
            for note in notes:
                self.console.print(note, highlight=False, markup=False, soft_wrap=True)


def _with_own_prompts(options: ModelOptions, wordings: Mapping[str, Wording]) -> ModelOptions:
    """The model options, with the texts of the user's own wordings, which must not contain a key.

    Raises:
        UsageError: there are two system prompts.
    """
    stored = {}
    for name, own in wordings.items():
        systems = [own.system, *(prompt.system for prompt in own.prompts.values())]
        if options.system_prompt and any(systems):
            raise UsageError(
                "--system-prompt: wording {} has a system prompt too. Use only one of them", name
            )
        stored[f"--prompts ({name})"] = "\n".join(
            [own.what, *systems, *(prompt.ask for prompt in own.prompts.values())]
        )
    return replace(options, stored=stored)


def planned_all(requests: Callable[[], Iterable[Request]]) -> Iterator[Planned]:
    """Requests of which each is to be sent."""
    return map(Planned, requests())


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
        policy: whether failures are sent again, and the limits of the queue.
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
    for place, planned in enumerate(requests()):
        request = planned.request
        if request is None:
            not_asked[planned.skip_reason] += 1
            continue
        if planned.waits:
            waiting += 1
            continue
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
        for place, planned in enumerate(requests()):
            if number == len(places):
                return
            if place == places[number] and planned.request is not None:
                key = digests[32 * number : 32 * number + 32].hex()
                yield Job(planned.request, key, sources[number], planned.failure)
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
        store: the open store of the responses.
        models: closed afterwards.
        requests: returns the requests to a model; called twice, with the same result.
        policy: concurrency, timeouts, retries and limits.
        dataset: where the images of the requests are stored, if they have any.
        identities: of all models whose paid responses are stored there; these models' if None.
        before: is called with the models that get requests, before the first one is sent; it may
            raise an error (`check_sending`).
        console: where progress is shown; None shows none.

    Raises:
        UsageError: a limit or the budget is not valid; or as `before`.
        DataError: a stored response is damaged, or the disk is full.
    """
    policy.check()
    queues = [
        prepare(model, partial(planned_all, partial(requests, model)), store, policy, subset=True)
        for model in models
    ]
    budget = Budget()
    if policy.prices:
        budget = remaining_budget(
            store.folder, models, identities or {}, policy.prices, policy.max_cost
        )
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
            await send(sender, console, interruption)

    asyncio.run(send_all())
    return run_summary(
        str(store.folder.path), queues, budget, policy,
        items=sum(queue.total for queue in queues), interrupted=bool(interruption.count),
    )  # fmt: skip


async def send(sender: Sender, console: Console | None, interruption: Interruption) -> None:
    """Run the sender, with its progress on the console, until done or interrupted.

    For a queue that stopped before any answer, the models of its server are added to the hint.
    """
    if interruption.count or sender.budget.used_up:
        return
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
    for queue in sender.queues:
        failure = queue.halted_by
        if failure is None or queue.succeeded or failure.kind not in _DIAGNOSED:
            continue
        # Without a status of HTTP nothing answers there, so that no list of models can be read.
        if failure.kind != "connection" or failure.message.startswith("HTTP "):
            queue.diagnosis = await queue.model.diagnosis()


def run_summary(
    out: str,
    queues: Sequence[ModelQueue],
    budget: Budget,
    policy: Policy,
    *,
    items: int,
    waiting: int = 0,
    interrupted: bool = False,
) -> RunSummary:
    """The outcome of all queues; `items` and the rest are as in `RunSummary`."""
    for queue in queues:
        summary = queue.summary
        # Responses arrive in any order.
        for name in ("refused", "not_sent"):
            setattr(summary, name, sorted(getattr(summary, name)))
        summary.waited = round(summary.waited, 3)
        if failure := queue.halted_by:
            hint = failure_hint(failure, answered=summary.answered)
            summary.hint, summary.then = hint.what, hint.then
            if queue.diagnosis:
                summary.hint = join_sentences(filter(None, (hint.what, queue.diagnosis)))
    return RunSummary(
        out=out,
        items=items,
        models=tuple(queue.summary for queue in queues),
        interrupted=interrupted,
        used_up=budget.used_up,
        waiting=waiting,
        cost=budget.spent if policy.prices else None,
        currency=policy.prices.currency if policy.prices else "",
    )


def _check_unused(out: Path) -> None:
    """Check that a path that exists may become the directory of a new run.

    Raises:
        UsageError: the path is something else.
    """
    if not out.is_dir():
        raise UsageError("{} is not a directory. Choose another --out", out)
    for path in out.iterdir():
        if path.name not in _OURS:
            raise UsageError(
                "{} is not a keju run directory (found {}). Choose another --out", out, path.name
            )
