"""A run: send the items of a dataset to models, and store their responses.

The path of one item::

    Item ─requests─▶ Request ─request_key─▶ Slot ─store.known─▶ kept | missing
    missing ─▶ Slots.enter ─▶ Budget.reserve ─▶ Model.answer ─▶ Budget.settle ─▶ store.append

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
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.console import Console
from keju.datasets.store import Dataset
from keju.definitions.pair_forms import reduced_form
from keju.errors import UsageError, shortened
from keju.items import TRUE_READING, Item, Request, Response
from keju.models import (
    REPLAYED,
    Model,
    ModelOptions,
    capabilities_of,
    open_models,
    role_of,
    source_of,
)
from keju.registry import check_installed
from keju.running.batching import check_batchable, send_in_batches
from keju.running.contents import Element, Later, RunContents, Skipped, Unread
from keju.running.examples import Examples, has_examples
from keju.running.interruption import Interruption
from keju.running.key import Slot, request_key
from keju.running.limits import Budget, Policy
from keju.running.model_options import (
    attach_dataset,
    check_takes_prompts,
    prompt_notes,
    with_own_prompts,
)
from keju.running.pair_reducing import check_replayed, reduce_pairs_for_run
from keju.running.plan import estimate, item_to_count
from keju.running.plan_records import Plan
from keju.running.prices import check_priced, spent_so_far
from keju.running.progress import show
from keju.running.readings import readers_of
from keju.running.recording import check_extends, differences, extends, manifest_of, record_run
from keju.running.requests import item_to_send
from keju.running.restricted_data import FILE as SENDING
from keju.running.restricted_data import Permission, SendingCheck, SentData, permission_now
from keju.running.run_summary import RunSummary, run_summary
from keju.running.selection import Selection, read_selected
from keju.running.sending import Job, ModelQueue, Sender
from keju.running.store import Head, ResponseStore
from keju.running.timing import add_timings
from keju.runs import RunFolder, RunManifest
from keju.runs.record_list import RecordList
from keju.texts import _, n_

Requests = Callable[[], Iterable[Element]]
"""The requests to a model; called twice, with the same requests in the same order."""

_OURS = frozenset(
    {
        "run.lock", "items.parquet", "examples.parquet", "readings", "responses", "scores",
        "batches", "people", "timings.json", SENDING,
    }
)  # fmt: skip
_NO_RUN = Path(os.devnull, "run")
"""The directory of a plan without one: a path that cannot exist."""

_CHANGED = _(
    "The dataset has changed since the last session. Responses to the same requests are kept, also "
    "where a reference was corrected: score the run again"
)
_DIAGNOSED = frozenset({"bad-request", "bad-response", "connection"})


def run(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path,
    *,
    selection: Selection | None = None,
    options: ModelOptions | None = None,
    policy: Policy | None = None,
    console: Console | None = None,
    interruption: Interruption | None = None,
) -> RunSummary:
    """Run models on a dataset, or resume a run.

    Requests with a stored response are never sent again, except failures where the policy asks for
    it. The first Ctrl-C or SIGTERM stops sending and waits for requests in flight, the second does
    not wait.

    Args:
        dataset_path: the dataset.
        models: the models, as model strings or opened.
        out: the run directory; new, or one of the same dataset, settings and models.
        selection: which items, in which setting, how often.
        options: for all the models; data of the dataset that they may use is added.
        policy: concurrency, timeouts, retries and limits.
        console: where progress is shown; None shows none.
        interruption: a handle that stops the run; by default only signals do.

    Raises:
        UsageError: an argument is not valid, `out` is another run, or another process is writing to
            it.
        PrerequisiteError: a model needs something that is not installed.
        DataError: the dataset or the run is damaged, or the disk is full.
    """
    opening = _Opening(
        dataset_path, models, out, selection or Selection(), options or ModelOptions(),
        policy or Policy(), console, interruption or Interruption(), permission_now(),
    )  # fmt: skip
    with opening.open() as session:
        return asyncio.run(session.send())


async def run_in_loop(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path,
    *,
    selection: Selection | None = None,
    options: ModelOptions | None = None,
    policy: Policy | None = None,
    console: Console | None = None,
) -> RunSummary:
    """The same as `run` in the running event loop, where the requests are sent in it.

    Blocking work (reading the dataset, opening models) is done in a thread. Signals stay with the
    loop's owner: cancel the task to stop. Every response received before is stored.

    Raises:
        KejuError: as `run`.
    """
    opening = _Opening(
        dataset_path, models, out, selection or Selection(), options or ModelOptions(),
        policy or Policy(), console, Interruption(signals=False), permission_now(),
    )  # fmt: skip
    loop, opened = asyncio.get_running_loop(), opening.open()
    # One thread for both, because the lock of the run belongs to a thread.
    with ThreadPoolExecutor(1) as thread:
        try:
            session = await asyncio.shield(loop.run_in_executor(thread, opened.__enter__))
            return await session.send()
        finally:
            await loop.run_in_executor(thread, opened.__exit__, None, None, None)


def plan_run(
    dataset_path: Path,
    models: Sequence[str | Model],
    out: Path | None = None,
    *,
    selection: Selection | None = None,
    options: ModelOptions | None = None,
    policy: Policy | None = None,
    console: Console | None = None,
) -> Plan:
    """The requests that `run` would send with these arguments, and their estimated cost.

    Nothing is sent or written, and no key is needed. Responses that `out` has are not counted; it
    is None for a new run.

    Raises:
        KejuError: as `run`.
    """
    opening = _Opening(
        dataset_path, models, out or _NO_RUN, selection or Selection(),
        replace(options or ModelOptions(), asking=False), policy or Policy(), console,
        Interruption(signals=False), permission_now(),
    )  # fmt: skip
    folder = _folder(opening.out)
    contents = opening.contents(folder, item_to_count)
    if restricted := opening.sending(contents, folder).describe(contents.models):
        question = _(
            "Before the first request you will be asked: {}. In scripts: --send-restricted-data",
            restricted,
        )
        _print(console, [question])
    policy = opening.policy
    return estimate(contents, folder, prices=policy.prices, per_minute=policy.per_minute)


def prepare(
    model: Model,
    requests: Requests,
    store: ResponseStore,
    policy: Policy,
    *,
    some: bool = False,
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
        some: the requests are not all of the model's, so that other responses are not outdated.
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
        source = source_of(model, request)
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
        outdated=failed if some else heads | failed,
    )


def check_outdated(
    queues: Iterable[ModelQueue],
    folder: RunFolder,
    now: RunManifest,
    policy: Policy,
    items: Sequence[Item],
) -> Iterator[str]:
    """Check that no answer that may have cost money is dropped without `--replace`.

    Failures are dropped, so that a corrected command just works, and so are answers that are read
    from files again: those to items that are still selected, in settings that are still selected.

    Yields:
        What is replaced, a line for each model.

    Raises:
        UsageError: a stored response belongs to a request that is not made now.
    """
    for queue in queues:
        name = queue.model.name
        answers = [slot for slot, head in queue.outdated.items() if head.status != "failed"]
        if not answers:
            continue
        first = shortened(min(slot.item for slot in answers))
        read_again = (
            queue.model.identity.get("kind") in REPLAYED
            and extends(folder.manifest(), now)
            and {item.id for item in items}.issuperset(slot.item for slot in answers)
        )
        if not policy.replace and not read_again:
            raise UsageError(
                n_(
                    "{}: {n:,} stored response of {} is outdated, such as the one to {}, because "
                    "its request is not made now. What differs: {}. Use the same settings or "
                    "another --out, or replace such responses with --replace",
                    "{}: {n:,} stored responses of {} are outdated, such as the one to {}, "
                    "because their requests are not made now. What differs: {}. Use the same "
                    "settings or another --out, or replace such responses with --replace",
                    len(answers),
                    folder.path,
                    name,
                    first,
                    differences(folder.manifest(), now, [name]),
                )
            )
        yield n_(
            "{}: {n:,} outdated response is replaced, such as the one to {}",
            "{}: {n:,} outdated responses are replaced, such as the one to {}",
            len(answers),
            name,
            first,
        )


class _Opening(NamedTuple):
    """The arguments of a call of `run`."""

    dataset: Path
    models: Sequence[str | Model]
    out: Path
    selection: Selection
    options: ModelOptions
    policy: Policy
    console: Console | None
    interruption: Interruption
    permission: Permission

    @contextmanager
    def open(self) -> Iterator[_Session]:
        """The session, with the store of the run open for writing; no request is sent yet."""
        sends_text = bool(TRUE_READING.intersection(self.selection.settings))
        keep = partial(item_to_send, transcription=sends_text)
        folder = _folder(self.out)
        contents = self.contents(folder, keep)
        sending = self.sending(contents, folder)
        if not folder.exists():
            sending.check(contents.models)  # Nothing is left of a run that is not permitted.
        with ResponseStore(folder) as store:
            yield _Session(
                contents, store, sending, self.policy, self.console, self.interruption, self.out
            )

    def contents(self, folder: RunFolder, keep: Callable[[Item], Item]) -> RunContents:
        """The items and models of the run, after the checks of all options.

        Args:
            folder: the run.
            keep: reduces each item to what is needed.
        """
        selection = self.selection
        self.policy.check()
        _check_decoding(self.options)
        dataset = Dataset.open(self.dataset)
        items, reference = read_selected(dataset, selection, keep)
        models = self._models(dataset, reference)
        whole_items = _reduced(dataset, items, selection, folder)
        if whole_items is not None:
            fewer = {item.id: item for item in whole_items if reduced_form(item)}
            changed = (keep(fewer[item.id]) if item.id in fewer else item for item in items)
            items = RecordList(Item, changed)
        examples = Examples(reference) if has_examples(selection.wordings) else None
        return RunContents(dataset, models, items, selection, whole_items, examples)

    def sending(self, contents: RunContents, folder: RunFolder) -> SendingCheck:
        """The check whether the data may be sent."""
        data = SentData.of(contents.dataset, contents.items)
        return SendingCheck(folder, data, self.permission)

    def _models(self, dataset: Dataset, reference: Sequence[Item]) -> list[Model]:
        """The opened models, after checks of the options that concern them."""
        selection = self.selection
        options = with_own_prompts(self.options, selection)
        try:
            models = open_models(self.models, attach_dataset(dataset, options, reference))
        except UsageError:
            if any(isinstance(spec, str) and role_of(spec) is None for spec in self.models):
                _check_plugins(self.out)
            raise
        check_takes_prompts(models, selection)
        _print(self.console, (note for model in models for note in capabilities_of(model).notes))
        _print(self.console, prompt_notes(models, options, selection))
        check_replayed(models, selection.pairs)
        if self.policy.batch:
            check_batchable(models, selection, self.policy)
        return models


class _Session(NamedTuple):
    """One call of `run`, after its checks."""

    contents: RunContents
    store: ResponseStore
    sending: SendingCheck
    policy: Policy
    console: Console | None
    interruption: Interruption
    out: Path

    async def send(self) -> RunSummary:
        """Send the missing requests, store their responses, and summarise."""
        folder = self.store.folder
        earlier = folder.manifest().models if folder.exists() else {}
        budget = remaining_budget(folder, self.contents.identities, earlier, self.policy)
        queues = self._prepare()
        self._record(queues)
        waiting = 0
        async with closing_models(self.contents.models):
            if self.policy.batch:
                waiting = await send_in_batches(
                    queues, self.contents.dataset, self.store, self.policy
                )
            else:
                if await self._transcribe(budget):
                    queues = self._prepare()
                    self._record(queues)
                await self._send(queues, self.store.append, budget)
                await diagnose(queues)
        return run_summary(
            str(self.out), queues, budget, self.policy,
            items=len(self.contents.sent_items), waiting=waiting,
            interrupted=bool(self.interruption.count),
        )  # fmt: skip

    def _prepare(self) -> list[ModelQueue]:
        """The queue of each model."""
        folder = self.store.folder
        return [
            prepare(model, partial(self.contents.requests, model, folder), self.store, self.policy)
            for model in self.contents.models
        ]

    def _record(self, queues: Sequence[ModelQueue]) -> None:
        """Check that the run may be resumed in this way, write its manifest, drop what is outdated.

        Raises:
            UsageError: it may not be.
        """
        contents, folder = self.contents, self.store.folder
        if contents.examples:
            contents.examples.check(contents.items, contents.variants)
        self.sending.check(queue.model for queue in queues if queue.total)
        if folder.exists():
            earlier, now = folder.manifest(), manifest_of(contents, folder)
            check_extends(earlier, now, self.store, (item.id for item in contents.items))
            if earlier.dataset_hash != now.dataset_hash:
                _print(self.console, [_CHANGED])
            if not self.policy.batch and folder.has_batches():
                raise UsageError(
                    "{0}: a server is working on batches of this run. Sending the same requests "
                    "again would cost money twice. Add --batch to collect the batches, or remove "
                    "{0}/batches to abandon them",
                    folder.path,
                )
            outdated = check_outdated(queues, folder, now, self.policy, contents.items)
            _print(self.console, list(outdated))
        drop_outdated(queues, self.store)
        record_run(contents, folder, {queue.model.name: queue.not_asked for queue in queues})

    async def _transcribe(self, budget: Budget) -> bool:
        """Transcribe the images where a setting needs it; false where none does."""
        contents, store = self.contents, self.store
        queues = []
        for reader, models in readers_of(contents.models, contents.settings):
            requests = partial(contents.reading_requests, reader, models)
            queue = prepare(reader.model, requests, store, self.policy, some=True, readings=True)
            queue.doing = _("(reading)")
            queues.append(queue)
        if not queues:
            return False
        self.sending.check(queue.model for queue in queues if queue.total)
        drop_outdated(queues, store, readings=True)
        await self._send(queues, store.append_reading, budget)
        return True

    async def _send(
        self, queues: Sequence[ModelQueue], keep: Callable[[Response], None], budget: Budget
    ) -> None:
        """Send the requests of the queues, and store the times of engines of this machine."""
        if self.interruption.count or budget.used_up:
            return
        sender = Sender(self.contents.dataset, queues, keep, self.policy.retry, budget)
        await send(sender, self.console, self.interruption)
        alone = not any(queue.cost.paid for queue in queues)
        timings = [
            queue.stopwatch.timing(queue.model.name, queue.model.identity, alone=alone)
            for queue in queues
            if queue.stopwatch
        ]
        add_timings(self.store.folder, [timing for timing in timings if timing])


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
        prepare(model, partial(requests, model), store, policy, some=True) for model in models
    ]
    now = {model.name: model.identity for model in models}
    budget = remaining_budget(store.folder, now, identities or {}, policy)
    if before:
        before([queue.model for queue in queues if queue.total])
    drop_outdated(queues, store)
    interruption = Interruption()

    async def send_all() -> None:
        async with closing_models(models):
            sender = Sender(dataset, queues, store.append, policy.retry, budget)
            await send(sender, console, interruption)

    asyncio.run(send_all())
    return run_summary(
        str(store.folder.path), queues, budget, policy,
        items=sum(queue.total for queue in queues), interrupted=bool(interruption.count),
    )  # fmt: skip


def drop_outdated(
    queues: Iterable[ModelQueue], store: ResponseStore, *, readings: bool = False
) -> None:
    """Drop the outdated responses of the queues' models."""
    for queue in queues:
        if queue.outdated:
            store.drop(queue.model.name, queue.outdated.__contains__, readings=readings)


async def send(sender: Sender, console: Console | None, interruption: Interruption) -> None:
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


@asynccontextmanager
async def closing_models(models: Iterable[Model]) -> AsyncIterator[None]:
    """Close the models at the end."""
    try:
        yield
    finally:
        for model in models:
            await model.close()


def remaining_budget(
    folder: RunFolder,
    identities: Mapping[str, Mapping[str, str]],
    earlier: Mapping[str, Mapping[str, str]],
    policy: Policy,
) -> Budget:
    """The rest of a budget after the cost of all stored responses.

    Args:
        folder: where responses are stored.
        identities: those of the models that get requests now, by name.
        earlier: those of other models with stored responses.
        policy: the limit and the prices.

    Raises:
        UsageError: money is limited, and the price of a model is not known.
        DataError: a stored line is damaged.
    """
    if policy.prices is None:
        return Budget()
    if policy.max_cost is not None:
        check_priced(identities, policy.prices)
    spent = spent_so_far(folder, {**earlier, **identities}, policy.prices)
    return Budget(policy.max_cost, policy.prices.currency, spent)


async def diagnose(queues: Iterable[ModelQueue]) -> None:
    """Where a queue stopped before any answer, add the models of its server to the hint."""
    for queue in queues:
        failure = queue.halted_by
        if failure is None or failure.kind not in _DIAGNOSED or queue.answered:
            continue
        if failure.kind == "connection" and not failure.message.startswith("HTTP "):
            continue
        if diagnosis := capabilities_of(queue.model).diagnosis:
            queue.diagnosis = await diagnosis()


def _check_plugins(out: Path) -> None:
    """Check that a plug-in that the run has used so far is installed.

    Raises:
        PluginError: it is missing.
    """
    folder = RunFolder(out)
    if folder.exists():
        check_installed(folder.manifest().plugins, f"the run {out}")


def _reduced(
    dataset: Dataset, items: Sequence[Item], selection: Selection, folder: RunFolder
) -> list[Item] | None:
    """The selected items in a reduced pair form, as the run has stored them or will store them."""
    if selection.pairs is None:
        return None
    stored: dict[str, Item] = {}
    if folder.exists() and folder.manifest().pairs == selection.pairs and folder.has_its_items():
        stored = {item.id: item for item in folder.items() if reduced_form(item)}
    return reduce_pairs_for_run(dataset, items, selection.pairs, stored)


def _check_decoding(options: ModelOptions) -> None:
    for name in ("temperature", "top_p"):
        number = getattr(options.decoding, name)
        if number is not None and not isfinite(number):
            raise UsageError("--{} must be a number, not {:g}", name.replace("_", "-"), number)


def _folder(out: Path) -> RunFolder:
    # The path that is checked must be the path that is written: X/new/.. would create X/new and
    # write to X.
    if ".." in out.parts:
        out = out.resolve()
    folder = RunFolder(out)
    if out.exists() and not out.is_dir():
        raise UsageError("{} is not a directory. Choose another --out", out)
    if out.is_dir() and not folder.exists():
        strangers = [path.name for path in out.iterdir() if path.name not in _OURS]
        if strangers:
            raise UsageError(
                "{} is not a keju run directory (found {}). Choose another --out", out, strangers[0]
            )
    # A damaged run, or one of another format, is refused before anything in it is repaired.
    return RunFolder.open(out) if folder.exists() else folder


def _print(console: Console | None, notes: Iterable[str]) -> None:
    if console:
        for note in notes:
            console.print(note, highlight=False, markup=False, soft_wrap=True)
