"""A run: models are asked the items of a dataset, and what they answer is stored."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import isfinite
from pathlib import Path

from rich.console import Console

from keju.benchmarks.pair_forms import pair_form, reduction_of
from keju.datasets.store import Dataset
from keju.errors import UsageError, number_of
from keju.items import TRUE_READING, Item, Record
from keju.models import ModelOptions, open_models, role_of
from keju.registry import check_installed
from keju.running.ask import Asker, Lane, Policy
from keju.running.box_conventions import check_models
from keju.running.budget import Purse
from keju.running.diagnosis import diagnose
from keju.running.failures import Hint, may_change
from keju.running.lending import lend
from keju.running.model_summary import ModelSummary
from keju.running.own_prompts import check_takes_prompts, prompt_notes, with_own_prompts
from keju.running.pair_reducing import check_replayed, reduced_for_run
from keju.running.progress import show
from keju.running.reading import reader_of
from keju.running.requests import to_ask
from keju.running.selecting import Selection, select
from keju.running.session import Session
from keju.running.store import ResponseStore
from keju.runs import RunFolder

_OURS = frozenset(
    {
        "run.lock",
        "items.parquet",
        "readings",
        "responses",
        "scores",
        "batches",
        "people",
        "timings.json",
    }
)


class RunSummary(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How a run went.

    `interrupted`: it was stopped by the user or the system. `used_up` says what of its budget was
    used up, if anything. `waiting` are requests that servers are working on in batches. `cost` is
    what all the answers in the run cost by the price file, in `currency`; None without one.
    """

    out: str
    items: int
    models: tuple[ModelSummary, ...]
    interrupted: bool = False
    used_up: str = ""
    waiting: int = 0
    cost: float | None = None
    currency: str = ""

    @property
    def failures(self) -> int:
        """Requests whose response is a failure."""
        return sum(model.statuses.get("failed", 0) for model in self.models)

    @property
    def left(self) -> int:
        """Requests that have no response yet."""
        return sum(model.left for model in self.models)

    @property
    def complete(self) -> bool:
        """Whether every request has a response that is no failure."""
        return not self.failures and not self.left

    @property
    def advice(self) -> str:
        """What to do about failures and about what is left, one line; empty if nothing."""
        hints = [
            f"{model.model}: {Hint(model.hint, model.then).whole}"
            for model in self.models
            if model.hint
        ]
        halted = sum(model.left for model in self.models if model.hint)
        if self.left > halted:
            more = " with --retry-failed added, to ask the failed ones again too"
            again = "Run the same command again to go on"
            if self.waiting:
                again = "Run the same command again later to collect what is ready"
            if self.used_up.startswith("--max-cost"):
                again = "Run it again with a higher --max-cost to go on"
            return ". ".join([*hints, f"{again}{more if self._may_change else ''}"])
        if hints:
            return ". ".join(hints)
        if self._may_change:
            return "Run the same command again with --retry-failed to ask only the failed ones"
        if self.failures:
            return "The same requests would fail again. Correct what the failures name first"
        return ""

    @property
    def _may_change(self) -> bool:
        """Whether some failure may be an answer when it is asked again."""
        return any(may_change(kind) for model in self.models for kind in model.failures)


def run(
    dataset_path: Path,
    models: Sequence[str],
    out: Path,
    *,
    selection: Selection | None = None,
    options: ModelOptions | None = None,
    policy: Policy | None = None,
    console: Console | None = None,
) -> RunSummary:
    """Ask models, or resume a run.

    What is stored is never asked again, except failures where the policy says so. The first
    Ctrl-C or SIGTERM sends nothing more and waits for what is in flight, the second does not wait.

    Args:
        dataset_path: the dataset.
        models: the models as they are spelled.
        out: the run folder; new, or one of the same dataset, settings and models.
        selection: which items, in which setting, how often.
        options: for all the models; what the dataset lends is filled in.
        policy: how many at once, how long and how often.
        console: where progress is shown; None shows none.

    Raises:
        UsageError: something was asked for that makes no sense, `out` is another run or is being
            written by another process.
        PrerequisiteError: a model needs something that is not installed.
        DataError: the dataset or the run is damaged, or the disk is full.
    """
    selection, policy = selection or Selection(), policy or Policy()
    options = options or ModelOptions()
    _check(options, policy)
    dataset = Dataset.open(dataset_path)
    whole = bool(TRUE_READING.intersection(selection.settings))
    everything = dataset.items(partial(to_ask, transcription=whole))
    items = select(everything, selection, dataset.path)
    options = with_own_prompts(options, selection)
    try:
        asked = open_models(models, lend(dataset, everything, options))
    except UsageError:
        if any(role_of(each) is None for each in models):
            _check_plugins(out)
        raise
    check_takes_prompts(asked, selection)
    if console:
        notes = [note for model in asked for note in getattr(model, "notes", ())]
        for note in [*notes, *prompt_notes(asked, options, selection)]:
            console.print(note, highlight=False, markup=False, soft_wrap=True)
    check_models(selection.boxes_of, [model.name for model in asked])
    check_replayed(asked, selection.pairs)
    with ResponseStore(_folder(out)) as store:
        whole_items = _reduced(dataset, items, selection, store.folder, console)
        if whole_items is not None:
            fewer = {item.id: item for item in whole_items if reduction_of(item)}
            items = [
                to_ask(fewer[item.id], transcription=whole) if item.id in fewer else item
                for item in items
            ]
        session = Session(dataset, asked, items, selection, store, whole_items)
        purse = session.purse(policy.budget)
        waiting = 0
        if policy.batch:
            waiting, interrupted, lanes = _by_batches(session, policy, console)
        else:
            _check_no_batches(store.folder)
            session.begin()
            interrupted, lanes = asyncio.run(_go(session, policy, purse, console))
        summaries = tuple(session.summary(lane) for lane in lanes)
    prices = policy.budget.prices
    return RunSummary(
        out=str(out),
        items=len(session.asked),
        models=summaries,
        interrupted=interrupted,
        used_up=purse.used_up,
        waiting=waiting,
        cost=purse.spent if prices else None,
        currency=prices.currency if prices else "",
    )


def _check_plugins(out: Path) -> None:
    """Report the plug-in that is missing where the run, so far, used one.

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
    """The chosen items in a reduced pair form, as the run has stored them or will store them."""
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


async def _go(
    session: Session, policy: Policy, purse: Purse, console: Console | None
) -> tuple[bool, list[Lane]]:
    """Have the images read where that comes first, then have the items answered.

    Returns:
        Whether it was interrupted, and how it went with each model.
    """
    dataset, store = session.dataset, session.store
    try:
        reading = session.reading_lanes(policy)
        asker = Asker(dataset, reading, store.append_reading, policy, purse)
        interrupted = bool(reading) and await ask_all(asker, console)
        session.note_timings(reading)
        lanes = [session.lane(model, policy) for model in session.models]
        session.note_declined()
        if not interrupted and not purse.used_up:
            asker = Asker(dataset, lanes, store.append, policy, purse)
            interrupted = await ask_all(asker, console)
            session.note_timings(lanes)
        for lane in lanes:
            await diagnose(lane)
    finally:
        for model in session.models:
            await model.close()
    return interrupted, lanes


def _by_batches(
    session: Session, policy: Policy, console: Console | None
) -> tuple[int, bool, list[Lane]]:
    """Collect from the vendors' batches and submit to them, or wait for those of Inspect's.

    Returns:
        How many requests are waited for, whether it was interrupted, and how it went with each
        model.

    Raises:
        UsageError: a model has no batches, or images are to be read first.
    """
    # Imported only now: this brings the HTTP client.
    from keju.models.inspect_provider import InspectModel  # noqa: PLC0415
    from keju.running.batching import (  # noqa: PLC0415
        BatchLane,
        HeldLane,
        check_batchable,
        held,
    )

    check_batchable(session.models, policy)
    if any(reader_of(m, way.setting) for m in session.models for way in session.selection.ways):
        raise UsageError("--batch: images cannot be read first in batches. Use --setting image")
    session.begin()
    lanes = [
        session.lane(model, held(policy) if isinstance(model, InspectModel) else policy)
        for model in session.models
    ]
    session.note_declined()
    dataset, store = session.dataset, session.store

    async def go() -> tuple[int, bool]:
        waiting, interrupted = 0, False
        try:
            for lane in lanes:
                if isinstance(lane.model, InspectModel):
                    waited = HeldLane(lane, dataset, store.append, policy)
                    interrupted |= await waited.run(lambda asker: ask_all(asker, console))
                    continue
                batched = BatchLane(lane, dataset, store.folder, store.append, policy)
                await batched.run()
                waiting += batched.waiting
        finally:
            for model in session.models:
                await model.close()
        return waiting, interrupted

    return *asyncio.run(go()), lanes


def _check_no_batches(folder: RunFolder) -> None:
    if folder.has_batches():
        raise UsageError(
            f"{folder.path}: a server is working on batches of this run, which would be paid for "
            f"twice. Add --batch, or give them up by removing {folder.path}/batches"
        )


async def ask_all(asker: Asker, console: Console | None) -> bool:
    """Run the asker, with progress and signals; whether it was interrupted by one."""
    shown = asyncio.create_task(show(asker.lanes, console)) if console else None
    task = asyncio.create_task(asker.run())
    interrupted = False
    try:
        with _signals(asker, task, console) as signals:
            try:
                await task
            except asyncio.CancelledError:
                if not signals:
                    raise
            interrupted = bool(signals)
    finally:
        if shown:
            shown.cancel()
            with suppress(asyncio.CancelledError):
                await shown
    return interrupted


@contextmanager
def _signals(
    asker: Asker, task: asyncio.Task[None], console: Console | None
) -> Iterator[list[int]]:
    """Let the first signal stop the asker and the second cancel it; yields those that came."""
    loop = asyncio.get_running_loop()
    came: list[int] = []
    installed: list[signal.Signals] = []

    def on_signal(number: int) -> None:
        came.append(number)
        if len(came) > 1:
            task.cancel()
            return
        asker.stop()
        if console and asker.in_flight:
            console.print(
                f"Stopping. Waiting for {number_of(asker.in_flight, 'answer')} under way; "
                "Ctrl-C again leaves them.",
                highlight=False,
                soft_wrap=True,
            )

    for each in (signal.SIGINT, signal.SIGTERM):
        # Not to be had outside the main thread and on Windows; there Ctrl-C cancels at once.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(each, on_signal, each)
            installed.append(each)
    try:
        yield came
    finally:
        for each in installed:
            loop.remove_signal_handler(each)


def _check(options: ModelOptions, policy: Policy) -> None:
    if policy.concurrency is not None and policy.concurrency < 1:
        raise UsageError(f"--concurrency must be 1 or more, not {policy.concurrency}")
    if not policy.timeout > 0:
        raise UsageError(f"--timeout must be more than 0 seconds, not {policy.timeout:g}")
    policy.limits.check()
    policy.budget.check()
    for name in ("temperature", "top_p"):
        number = getattr(options.decoding, name)
        if number is not None and not isfinite(number):
            raise UsageError(f"--{name.replace('_', '-')} must be a number, not {number:g}")


def _folder(out: Path) -> RunFolder:
    # What is looked at must be what is written: making X/new/.. would make X/new and write to X.
    if ".." in out.parts:
        out = out.resolve()
    folder = RunFolder(out)
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: not a folder. Choose another --out")
    if out.is_dir() and not folder.exists():
        strangers = [path.name for path in out.iterdir() if path.name not in _OURS]
        if strangers:
            raise UsageError(
                f"{out}: holds something that is no run ({strangers[0]}). Choose another --out"
            )
    return folder
