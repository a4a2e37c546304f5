"""A run: send the items of a dataset to models, and store their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.console import Console
from keju.datasets.store import Dataset
from keju.definitions.pair_forms import reduced_form
from keju.errors import UsageError
from keju.items import TRUE_READING, Item, Response
from keju.models import Model, ModelOptions, capabilities_of, open_models, role_of
from keju.models.batch_support import BatchWaiter
from keju.registry import check_installed
from keju.running.batching import (
    BatchRunner,
    WaitingBatchRunner,
    check_batchable,
)
from keju.running.box_conventions import check_models
from keju.running.budget import BudgetTracker
from keju.running.dataset_access import attach_dataset
from keju.running.dataset_items import DatasetItems
from keju.running.examples import Examples, has_examples
from keju.running.interruption import Interruption
from keju.running.item_requests import ItemRequests, reading_queues
from keju.running.own_prompts import check_takes_prompts, prompt_notes, with_own_prompts
from keju.running.pair_reducing import check_replayed, reduce_pairs_for_run
from keju.running.policy import Policy, RetryPolicy
from keju.running.reading import reader_of
from keju.running.request_queue import (
    PreparedQueue,
    closing_models,
    diagnose,
    prepare_queue,
    remaining_budget,
    run_summary,
    send_queues,
)
from keju.running.request_runner import ModelQueue, RequestRunner
from keju.running.requests import item_to_send
from keju.running.restricted_data import FILE as SENDING
from keju.running.restricted_data import Permission, SendingCheck, SentData, permission_now
from keju.running.run_contents import RunContents
from keju.running.run_start import record_not_asked, start_run
from keju.running.run_summary import RunSummary
from keju.running.selecting import Selection
from keju.running.store import ResponseStore
from keju.running.timing import add_timings
from keju.runs import RunFolder
from keju.runs.record_list import RecordList

_OURS = frozenset(
    {
        "run.lock",
        "items.parquet",
        "examples.parquet",
        "readings",
        "responses",
        "scores",
        "batches",
        "people",
        "timings.json",
        SENDING,
    }
)


class _Call(NamedTuple):
    """The arguments of a call of `run`."""

    dataset: Path
    models: Sequence[str | Model]
    out: Path
    selection: Selection
    options: ModelOptions
    policy: Policy
    console: Console | None
    permission: Permission


class _Session(NamedTuple):
    """One call of `run`, after its checks."""

    contents: RunContents
    store: ResponseStore
    sending: SendingCheck
    tracker: BudgetTracker
    interruption: Interruption
    console: Console | None

    async def send(
        self,
        queues: Sequence[ModelQueue],
        keep: Callable[[Response], None],
        retry: RetryPolicy,
    ) -> None:
        """Send the requests of the queues, and store the times of engines of this machine."""
        runner = RequestRunner(self.contents.dataset, queues, keep, retry, self.tracker)
        await send_queues(runner, self.console, self.interruption)
        alone = not any(queue.estimator.paid for queue in queues)
        found = [
            queue.stopwatch.timing(queue.model.name, queue.model.identity, alone=alone)
            for queue in queues
            if queue.stopwatch
        ]
        add_timings(self.store.folder, [each for each in found if each])


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
    call = _Call(
        dataset_path, models, out, selection or Selection(), options or ModelOptions(),
        policy or Policy(), console, permission_now(),
    )  # fmt: skip
    with _opened(call) as opened:
        return asyncio.run(_send(*opened, call, interruption or Interruption()))


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
    call = _Call(
        dataset_path, models, out, selection or Selection(), options or ModelOptions(),
        policy or Policy(), console, permission_now(),
    )  # fmt: skip
    loop, opened = asyncio.get_running_loop(), _opened(call)
    # One thread for both, because the lock of the run belongs to a thread.
    with ThreadPoolExecutor(1) as thread:
        try:
            started = await asyncio.shield(loop.run_in_executor(thread, opened.__enter__))
            return await _send(*started, call, Interruption(signals=False))
        finally:
            await loop.run_in_executor(thread, opened.__exit__, None, None, None)


@contextmanager
def _opened(call: _Call) -> Iterator[tuple[RunContents, ResponseStore, SendingCheck]]:
    """The contents of the run, and its store, open for writing; no request is sent yet."""
    selection, policy, console = call.selection, call.policy, call.console
    _check(call.options, policy)
    dataset = Dataset.open(call.dataset)
    whole = bool(TRUE_READING.intersection(selection.settings))
    read = DatasetItems(dataset, partial(item_to_send, transcription=whole))
    everything, items = read.items, read.selected(selection)
    options = with_own_prompts(call.options, selection)
    try:
        models = open_models(call.models, attach_dataset(dataset, everything, options))
    except UsageError:
        if any(isinstance(each, str) and role_of(each) is None for each in call.models):
            _check_plugins(call.out)
        raise
    check_takes_prompts(models, selection)
    _print(console, (note for model in models for note in capabilities_of(model).notes))
    _print(console, prompt_notes(models, options, selection))
    check_models(selection.boxes_of, [model.name for model in models])
    check_replayed(models, selection.pairs)
    folder = _folder(call.out)
    sending = SendingCheck(folder, SentData.of(dataset, items), call.permission)
    if not folder.exists():
        sending.check(models)  # Nothing is left of a run that is not permitted.
    with ResponseStore(folder) as store:
        whole_items = _reduced(dataset, items, selection, store.folder)
        if whole_items is not None:
            fewer = {item.id: item for item in whole_items if reduced_form(item)}
            changed = (
                item_to_send(fewer[item.id], transcription=whole) if item.id in fewer else item
                for item in items
            )
            items = RecordList(Item, changed)
        examples = Examples(everything if has_examples(selection.wordings) else ())
        contents = RunContents(dataset, models, items, selection, whole_items, examples)
        if policy.batch:
            _check_batches(contents, policy)
        else:
            _check_no_batches(store.folder)
        yield contents, store, sending


async def _send(
    contents: RunContents,
    store: ResponseStore,
    sending: SendingCheck,
    call: _Call,
    interruption: Interruption,
) -> RunSummary:
    """Send the remaining requests, and summarise."""
    policy, folder = call.policy, store.folder
    earlier = folder.manifest().models if folder.exists() else {}
    tracker = remaining_budget(folder, contents.identities, earlier, policy.budget)
    _print(call.console, start_run(contents, store, drop_changed=policy.drop_changed))
    session = _Session(contents, store, sending, tracker, interruption, call.console)
    async with closing_models(contents.models):
        if policy.batch:
            queues, waiting = await _send_in_batches(session, policy)
        else:
            queues, waiting = await _send_directly(session, policy), 0
    items = len(contents.sent_items)
    return run_summary(str(call.out), queues, tracker, interruption, items=items, waiting=waiting)


def _check_plugins(out: Path) -> None:
    """Check that a plug-in that the run has used so far is installed.

    Raises:
        PluginError: it is missing.
    """
    folder = RunFolder(out)
    if folder.exists():
        check_installed(folder.manifest().plugins, f"the run {out}")


def _reduced(
    dataset: Dataset,
    items: Sequence[Item],
    selection: Selection,
    folder: RunFolder,
) -> list[Item] | None:
    """The selected items in a reduced pair form, as the run has stored them or will store them."""
    if selection.pairs is None:
        return None
    known: dict[str, Item] = {}
    if folder.exists() and folder.manifest().pairs == selection.pairs and folder.has_its_items():
        known = {item.id: item for item in folder.items() if reduced_form(item)}
    return reduce_pairs_for_run(dataset, items, selection.pairs, known)


def _prepared(session: _Session, policies: Sequence[Policy]) -> list[PreparedQueue]:
    """The queue of each model with its policy; the run records what is not sent."""
    contents, store = session.contents, session.store
    queues = [
        prepare_queue(ItemRequests(contents, store.folder, model), store, policy)
        for model, policy in zip(contents.models, policies, strict=True)
    ]
    session.sending.check(each.queue.model for each in queues if each.queue.total)
    record_not_asked(store.folder, {each.queue.model.name: each.not_asked for each in queues})
    _print(session.console, [note for each in queues for note in each.notes])
    return queues


async def _send_directly(session: _Session, policy: Policy) -> list[PreparedQueue]:
    """Transcribe the images where a setting needs it, then send the requests of the items."""
    contents, store = session.contents, session.store
    reading = reading_queues(contents, store.folder, policy)
    if reading:
        session.sending.check(queue.model for queue in reading)
        await session.send(reading, store.append_reading, policy.retry)
    prepared = _prepared(session, [policy] * len(contents.models))
    queues = [each.queue for each in prepared]
    if not session.interruption.count and not session.tracker.used_up:
        await session.send(queues, store.append, policy.retry)
    for queue in queues:
        await diagnose(queue)
    return prepared


def _check_batches(contents: RunContents, policy: Policy) -> None:
    check_batchable(contents.models, policy.limits, policy.budget)
    if any(
        reader_of(model, variant.setting)
        for model in contents.models
        for variant in contents.selection.variants
    ):
        raise UsageError(
            "--batch does not support settings in which the images are transcribed first. Use "
            "--setting image"
        )


async def _send_in_batches(session: _Session, policy: Policy) -> tuple[list[PreparedQueue], int]:
    """Collect from the vendors' batches and submit to them, or wait for those of a model.

    Returns:
        The model queues, and the number of requests in unfinished batches.
    """
    contents, store = session.contents, session.store
    can = [capabilities_of(model) for model in contents.models]
    prepared = _prepared(session, [_policy_of_batches(policy, each.waiter) for each in can])
    waiting = 0
    for (queue, *__), batching in zip(prepared, can, strict=True):
        if batching.waiter:
            waiter = WaitingBatchRunner(
                queue, batching.waiter, contents.dataset, store.append, policy.retry
            )
            await waiter.run(lambda each: send_queues(each, session.console, session.interruption))
        elif batching.submitter:
            submitter = BatchRunner(
                queue, batching.submitter, contents.dataset, store.folder, store.append,
                policy.retry,
            )  # fmt: skip
            await submitter.run()
            waiting += submitter.waiting
    return prepared, waiting


def _policy_of_batches(policy: Policy, waiter: BatchWaiter | None) -> Policy:
    if waiter is None:
        return policy
    return replace(policy, concurrency=policy.concurrency or waiter.batch_capacity)


def _check_no_batches(folder: RunFolder) -> None:
    if folder.has_batches():
        raise UsageError(
            "{0}: a server is working on batches of this run. Sending the same requests again "
            "would cost money twice. Add --batch to collect the batches, or remove {0}/batches "
            "to abandon them",
            folder.path,
        )


def _check(options: ModelOptions, policy: Policy) -> None:
    if policy.concurrency is not None and policy.concurrency < 1:
        raise UsageError("--concurrency must be 1 or more, not {}", policy.concurrency)
    if not policy.retry.timeout > 0:
        raise UsageError("--timeout must be more than 0 seconds, not {:g}", policy.retry.timeout)
    policy.limits.check()
    policy.budget.check()
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
