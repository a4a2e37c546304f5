"""A run: send the items of a dataset to models, and store their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from keju.datasets.store import Dataset
from keju.definitions.pair_forms import pair_form, reduction_of
from keju.errors import UsageError
from keju.items import TRUE_READING, Item
from keju.messages import message
from keju.models import Model, ModelOptions, open_models, role_of
from keju.registry import check_installed
from keju.running.box_conventions import check_models
from keju.running.budget import BudgetTracker
from keju.running.dataset_lending import lend
from keju.running.diagnosis import diagnose
from keju.running.examples import Examples, has_examples
from keju.running.interruption import Interruption
from keju.running.own_prompts import check_takes_prompts, prompt_notes, with_own_prompts
from keju.running.pair_reducing import check_replayed, reduced_for_run
from keju.running.policy import Policy
from keju.running.progress import show
from keju.running.reading import reader_of
from keju.running.request_runner import ModelQueue, RequestRunner
from keju.running.requests import to_ask
from keju.running.run_summary import RunSummary
from keju.running.selecting import Selection, select
from keju.running.session import Session
from keju.running.store import ResponseStore
from keju.runs import RunFolder

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
        policy or Policy(), console,
    )  # fmt: skip
    with _opened(call) as session:
        return asyncio.run(_go(session, call, interruption or Interruption()))


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
        policy or Policy(), console,
    )  # fmt: skip
    loop, opened = asyncio.get_running_loop(), _opened(call)
    # One thread for both, because the lock of the run belongs to a thread.
    with ThreadPoolExecutor(1) as thread:
        try:
            session = await asyncio.shield(loop.run_in_executor(thread, opened.__enter__))
            return await _go(session, call, Interruption(signals=False))
        finally:
            await loop.run_in_executor(thread, opened.__exit__, None, None, None)


@contextmanager
def _opened(call: _Call) -> Iterator[Session]:
    """The run, open for writing, with its models; no request is sent yet."""
    selection, policy, console = call.selection, call.policy, call.console
    _check(call.options, policy)
    dataset = Dataset.open(call.dataset)
    whole = bool(TRUE_READING.intersection(selection.settings))
    everything = dataset.items(partial(to_ask, transcription=whole))
    items = select(everything, selection, dataset.path)
    options = with_own_prompts(call.options, selection)
    try:
        asked = open_models(call.models, lend(dataset, everything, options))
    except UsageError:
        if any(isinstance(each, str) and role_of(each) is None for each in call.models):
            _check_plugins(call.out)
        raise
    check_takes_prompts(asked, selection)
    if console:
        notes = [note for model in asked for note in getattr(model, "notes", ())]
        for note in [*notes, *prompt_notes(asked, options, selection)]:
            console.print(note, highlight=False, markup=False, soft_wrap=True)
    check_models(selection.boxes_of, [model.name for model in asked])
    check_replayed(asked, selection.pairs)
    with ResponseStore(_folder(call.out)) as store:
        whole_items = _reduced(dataset, items, selection, store.folder, console)
        if whole_items is not None:
            fewer = {item.id: item for item in whole_items if reduction_of(item)}
            items = [
                to_ask(fewer[item.id], transcription=whole) if item.id in fewer else item
                for item in items
            ]
        examples = Examples(everything if has_examples(selection.wordings) else ())
        session = Session(dataset, asked, items, selection, store, whole_items, examples)
        if policy.batch:
            _check_batches(session, policy)
        else:
            _check_no_batches(store.folder)
        yield session


async def _go(session: Session, call: _Call, interruption: Interruption) -> RunSummary:
    """Send the remaining requests, and summarise."""
    policy = call.policy
    tracker = session.tracker(policy.budget)
    session.begin(follow=policy.follow)
    waiting = 0
    if policy.batch:
        waiting, queues = await _by_batches(session, policy, call.console, interruption)
    else:
        queues = await _ask(session, policy, tracker, call.console, interruption)
    prices = policy.budget.prices
    return RunSummary(
        out=str(call.out),
        items=len(session.asked),
        models=tuple(session.summary(queue) for queue in queues),
        interrupted=bool(interruption.count),
        used_up=tracker.used_up,
        waiting=waiting,
        cost=tracker.spent if prices else None,
        currency=prices.currency if prices else "",
    )


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
    console: Console | None,
) -> list[Item] | None:
    """The selected items in a reduced pair form, as the run has stored them or will store them."""
    if selection.pairs is None:
        return None
    known: dict[str, Item] = {}
    if folder.exists() and folder.manifest().pairs == selection.pairs and folder.has_its_items():
        known = {item.id: item for item in folder.items() if reduction_of(item)}
    form = pair_form(selection.pairs)
    if console and form.kind == "ranked" and len(known) < len(items):
        console.print(
            f"Ranking the candidates by baseline:{form.baseline}; nothing is asked until then",
            highlight=False,
        )
    return reduced_for_run(dataset, items, selection.pairs, known)


async def _ask(
    session: Session,
    policy: Policy,
    tracker: BudgetTracker,
    console: Console | None,
    interruption: Interruption,
) -> list[ModelQueue]:
    """Transcribe the images where a setting needs it, then send the items."""
    dataset, store = session.dataset, session.store
    try:
        session.show_notes(console)
        reading = session.reading_queues(policy)
        if reading:
            runner = RequestRunner(dataset, reading, store.append_reading, policy, tracker)
            await ask_all(runner, console, interruption)
        session.note_timings(reading)
        queues = [session.queue(model, policy) for model in session.models]
        session.note_declined()
        session.show_notes(console)
        if not interruption.count and not tracker.used_up:
            runner = RequestRunner(dataset, queues, store.append, policy, tracker)
            await ask_all(runner, console, interruption)
            session.note_timings(queues)
        for queue in queues:
            await diagnose(queue)
    finally:
        for model in session.models:
            await model.close()
    return queues


def _check_batches(session: Session, policy: Policy) -> None:
    # Imported only now: this brings the HTTP client.
    from keju.running.batching import check_batchable  # noqa: PLC0415

    check_batchable(session.models, policy)
    if any(
        reader_of(m, variant.setting)
        for m in session.models
        for variant in session.selection.variants
    ):
        raise UsageError(message("running.batch-reading-first"))


async def _by_batches(
    session: Session, policy: Policy, console: Console | None, interruption: Interruption
) -> tuple[int, list[ModelQueue]]:
    """Collect from the vendors' batches and submit to them, or wait for those of Inspect.

    Returns:
        The number of requests in unfinished batches, and the model queues.
    """
    # Imported only now: this brings the HTTP client.
    from keju.models.inspect_provider import InspectModel  # noqa: PLC0415
    from keju.running.batching import BatchRunner, InspectBatchRunner, held  # noqa: PLC0415

    queues = [
        session.queue(model, held(policy) if isinstance(model, InspectModel) else policy)
        for model in session.models
    ]
    session.note_declined()
    session.show_notes(console)
    dataset, store = session.dataset, session.store
    waiting = 0
    try:
        for queue in queues:
            if isinstance(queue.model, InspectModel):
                waited = InspectBatchRunner(queue, dataset, store.append, policy)
                await waited.run(lambda runner: ask_all(runner, console, interruption))
                continue
            batched = BatchRunner(queue, dataset, store.folder, store.append, policy)
            await batched.run()
            waiting += batched.waiting
    finally:
        for model in session.models:
            await model.close()
    return waiting, queues


def _check_no_batches(folder: RunFolder) -> None:
    if folder.has_batches():
        raise UsageError(message("running.batch-in-progress", path=folder.path))


async def ask_all(
    runner: RequestRunner, console: Console | None, interruption: Interruption | None = None
) -> bool:
    """Run the request runner with progress until done or interrupted; return the latter."""
    interruption = interruption or Interruption()
    shown = asyncio.create_task(show(runner.queues, console)) if console else None
    task = asyncio.create_task(runner.run())
    try:
        with interruption.watching(runner, task, console):
            try:
                await task
            except asyncio.CancelledError:
                if not interruption.count:
                    raise
    finally:
        if shown:
            shown.cancel()
            with suppress(asyncio.CancelledError):
                await shown
    return bool(interruption.count)


def _check(options: ModelOptions, policy: Policy) -> None:
    if policy.concurrency is not None and policy.concurrency < 1:
        raise UsageError(message("running.concurrency-too-small", concurrency=policy.concurrency))
    if not policy.timeout > 0:
        raise UsageError(message("running.timeout-too-small", timeout=policy.timeout))
    policy.limits.check()
    policy.budget.check()
    for name in ("temperature", "top_p"):
        number = getattr(options.decoding, name)
        if number is not None and not isfinite(number):
            raise UsageError(
                message("running.option-not-a-number", name=name.replace("_", "-"), number=number)
            )


def _folder(out: Path) -> RunFolder:
    # The path that is checked must be the path that is written: X/new/.. would create X/new and
    # write to X.
    if ".." in out.parts:
        out = out.resolve()
    folder = RunFolder(out)
    if out.exists() and not out.is_dir():
        raise UsageError(message("running.out-not-a-folder", out=out))
    if out.is_dir() and not folder.exists():
        strangers = [path.name for path in out.iterdir() if path.name not in _OURS]
        if strangers:
            raise UsageError(message("running.out-not-a-run", out=out, name=strangers[0]))
    return folder
