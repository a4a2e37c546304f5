"""`Session`: compares the planned requests with the stored responses and the run manifest."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from rich.console import Console

from keju import __version__
from keju.datasets.store import Dataset
from keju.definitions import texts_of
from keju.definitions.wordings import own_wordings
from keju.errors import UsageError
from keju.items import Item, Request, Response, Setting
from keju.messages import message
from keju.models import Model, Pipeline, plugins_of, role_of
from keju.running.budget import Budget, BudgetTracker, CostEstimator, check_priced, spent_so_far
from keju.running.changed_items import (
    ChangedItems,
    changed_items,
    drop_stale,
    refusal_of,
)
from keju.running.examples import Examples
from keju.running.manifest_check import check_same, drop_failures, resumed, unanswered
from keju.running.model_summary import ModelSummary, summary_of
from keju.running.outcomes import Job, job_of
from keju.running.policy import Policy
from keju.running.reading import (
    Reader,
    Readings,
    declined_by,
    failure_of,
    reader_of,
    reading_requests,
)
from keju.running.renewing import Renewal
from keju.running.request_runner import ModelQueue
from keju.running.requests import request_count, request_for, requests_for
from keju.running.selecting import RequestVariant, Selection, in_shard, skip_reason
from keju.running.store import RequestId, ResponseStore, Stored
from keju.running.timing import add_timings
from keju.runs import RunFolder, RunManifest
from keju.text import answer_part


class _Place(NamedTuple):
    """A request that is still to be made."""

    item: Item
    variant: RequestVariant
    candidate: int


class Session:
    """The state of one call of `run`.

    Args:
        dataset: the dataset.
        models: the models.
        items: the items that were chosen.
        selection: how they were chosen, in which setting and how often they are sent.
        store: the store of the run; it must be open.
        whole: the items as the run is to store them, where they differ from the dataset's.
        examples: what may precede the questions.

    Raises:
        UsageError: an item has fewer examples than requested.
    """

    def __init__(
        self,
        dataset: Dataset,
        models: Sequence[Model],
        items: Sequence[Item],
        selection: Selection,
        store: ResponseStore,
        whole: Sequence[Item] | None = None,
        examples: Examples | None = None,
    ) -> None:
        self._examples = examples or Examples()
        self._examples.check(items, selection.variants)
        self.dataset = dataset
        self._whole = whole
        self.models = models
        self.items = items
        self.asked = in_shard(items, selection.shard)
        self.selection = selection
        self.store = store
        self.declined: dict[str, Counter[str]] = {}
        self.planned: dict[str, int] = {}
        self.standing: dict[str, list[Stored]] = {}
        self.notes: list[str] = []
        """What changed since the run was last asked, a line each."""

    def begin(self, *, follow: bool = False) -> None:
        """Write the manifest and the items, or check them against the stored ones.

        Args:
            follow: items of the run that changed or are gone lose their responses; without it
                they are an error.
        """
        folder, manifest = self.store.folder, self._manifest()
        chosen = [item.id for item in self.items]
        if not folder.exists():
            self._store_items(chosen)
            self._store_examples()
            folder.write_manifest(_with_items(manifest, folder))
            return
        earlier = folder.manifest()
        corrected = unanswered(self.store, earlier, manifest)
        kept = {n: each for n, each in earlier.models.items() if n not in corrected}
        changed = None
        if earlier.dataset_hash != manifest.dataset_hash:
            changed = changed_items(folder, self.dataset, chosen, self.selection.variants)
        refused = refusal_of(self.selection, changed, follow=follow) if changed else ""
        check_same(replace(earlier, models=kept), manifest, folder, refused)
        self._check_chosen(chosen, changed)
        if (
            changed
            or len(folder.item_ids()) < len(chosen)
            or not (earlier.items_sha256 and folder.has_its_items())
        ):
            # Without a hash in run.json, an interruption between the two files is not reported as
            # damage.
            folder.write_manifest(replace(earlier, items_sha256=""))
            if changed:
                drop_stale(changed, self.store)
                self.notes += changed.lines()
            self._store_items(chosen)
        drop_failures(self.store, corrected)
        self._store_examples()
        folder.write_manifest(resumed(earlier, _with_items(manifest, folder)))

    def _check_chosen(self, chosen: Sequence[str], changed: ChangedItems | None) -> None:
        """Refuse to resume a run with fewer items, or a shard with more."""
        path, before = self.store.folder.path, set(self.store.folder.item_ids())
        before.difference_update(changed.gone if changed else ())
        if gone := before.difference(chosen):
            raise UsageError(
                message("running.items-not-chosen-now", path=path, count=len(gone), name=min(gone))
            )
        if len(before) < len(chosen) and self.selection.shard:
            raise UsageError(message("running.shard-divided-otherwise", path=path))

    def show_notes(self, console: Console | None) -> None:
        """Print what changed since the run was last asked, each line once."""
        if console:
            for note in self.notes:
                console.print(note, highlight=False, markup=False, soft_wrap=True)
        self.notes.clear()

    def _store_items(self, chosen: Sequence[str]) -> None:
        folder = self.store.folder
        if self._whole is None:
            folder.take_items(self.dataset, chosen)
        else:
            folder.write_items(list(self._whole))

    def _store_examples(self) -> None:
        """Store the items that are examples, so that the run needs nothing else."""
        if used := self._examples.used(self.items, self.selection.variants):
            self.store.folder.write_examples(used)

    def queue(self, model: Model, policy: Policy) -> ModelQueue:
        """The queue of a model: all requests that are planned but not stored.

        Raises:
            UsageError: a stored response was produced by a different prompt than the planned one.
        """
        known = self.store.known(model.name)
        renewal = Renewal(model, str(self.store.folder.path))
        declined = self.declined.setdefault(model.name, Counter())
        standing = self.standing.setdefault(model.name, [])
        shown = dict.fromkeys(variant.setting for variant in self.selection.variants)
        readings = {setting: self._readings(model, setting) for setting in shown}
        todo: list[_Place] = []
        failed_before: dict[RequestId, Stored] = {}
        planned = unread = 0
        for item, variant in self._turns(model):
            if why := skip_reason(item, variant):
                declined[why] += request_count(item)
                continue
            read = readings[variant.setting]
            reading = read.of(item, variant) if read else None
            asked = (
                request_for(item, variant, examples=self._examples.of(item, variant))
                if read
                else None
            )
            for request in self._requests(item, variant, reading):
                if why := declined_by(model, asked or request):
                    declined[why] += 1
                    continue
                planned += 1
                if read and reading is None:
                    unread += 1
                    continue
                stored = known.get(RequestId.of(request))
                if stored is not None and not renewal.is_needed(
                    stored, job_of(model, request), reading
                ):
                    if not (policy.retry_failed and stored.status == "failed"):
                        standing.append(stored)
                        continue
                    failed_before[RequestId.of(request)] = stored
                todo.append(_Place(item, variant, request.candidate))
        self.planned[model.name] = planned
        self.notes += renewal.lines()
        return ModelQueue(
            model,
            self._jobs(model, todo, readings),
            total=len(todo) + unread,
            ceiling=policy.concurrency or model.concurrency,
            policy=policy,
            succeeded=any(not stored.kind for stored in standing),
            failed_before=failed_before,
        )

    def tracker(self, budget: Budget) -> BudgetTracker:
        """The rest of a budget after the cost of all that the run contains.

        Raises:
            UsageError: money is limited, and the price of a model is not known.
            DataError: a stored line is damaged.
        """
        if budget.prices is None:
            return BudgetTracker(budget)
        now = {model.name: model.identity for model in self.models}
        for model in self.models:
            for variant in self.selection.variants:
                if reader := reader_of(model, variant.setting):
                    now[reader.model.name] = reader.model.identity
        meters = {name: CostEstimator(identity, budget.prices) for name, identity in now.items()}
        check_priced(meters.items(), budget)
        folder = self.store.folder
        known = {**(folder.manifest().models if folder.exists() else {}), **now}
        return BudgetTracker(budget, spent_so_far(folder, known, budget.prices))

    def reading_queues(self, policy: Policy) -> list[ModelQueue]:
        """The transcriptions to make before models answer, one queue per reader."""
        readers: dict[tuple[str, bool], Reader] = {}
        turns: dict[tuple[str, bool], list[tuple[Item, RequestVariant]]] = {}
        for model in self.models:
            for item, variant in self._turns(model):
                reader = reader_of(model, variant.setting)
                if reader and self._is_asked(model, item, variant):
                    place = (reader.model.name, reader.every_round)
                    readers.setdefault(place, reader)
                    turns.setdefault(place, []).append((item, variant))
        queues = [
            self._reading_queue(reader, turns[place], policy) for place, reader in readers.items()
        ]
        return [queue for queue in queues if queue.total]

    def _reading_queue(
        self, reader: Reader, turns: Iterable[tuple[Item, RequestVariant]], policy: Policy
    ) -> ModelQueue:
        model = reader.model
        stored = {each.key: each.status for each in self.store.folder.readings(model.name)}
        again = {"failed"} if policy.retry_failed else set()
        jobs = [
            job
            for job in (job_of(model, request) for request in reading_requests(reader, turns))
            if job.key not in stored or stored[job.key] in again
        ]
        return ModelQueue(
            model,
            iter(jobs),
            total=len(jobs),
            ceiling=policy.concurrency or model.concurrency,
            doing="(reading)",
            policy=policy,
            succeeded=any(status != "failed" for status in stored.values()),
        )

    def _is_asked(self, model: Model, item: Item, variant: RequestVariant) -> bool:
        if skip_reason(item, variant):
            return False
        examples = self._examples.of(item, variant)
        return not declined_by(model, request_for(item, variant, examples=examples))

    def _requests(
        self, item: Item, variant: RequestVariant, reading: Response | None
    ) -> Iterator[Request]:
        return requests_for(item, variant, _text(reading), self._examples.of(item, variant))

    def _readings(self, model: Model, setting: Setting) -> Readings | None:
        reader = reader_of(model, setting)
        if reader is None:
            return None
        return Readings(reader, self.store.folder.readings(reader.model.name))

    def note_declined(self) -> None:
        """Write into the manifest which requests the models do not support."""
        folder = self.store.folder
        manifest = folder.manifest()
        counts = {name: dict(counter) for name, counter in self.declined.items() if counter}
        others = {name: c for name, c in manifest.not_asked.items() if name not in self.declined}
        folder.write_manifest(replace(manifest, not_asked={**others, **counts}))

    def note_timings(self, queues: Sequence[ModelQueue]) -> None:
        """Store the times of the engines of this machine."""
        alone = not any(queue.estimator.paid for queue in queues)
        found = [
            queue.stopwatch.timing(queue.model.name, queue.model.identity, alone=alone)
            for queue in queues
            if queue.stopwatch
        ]
        add_timings(self.store.folder, [each for each in found if each])

    def summary(self, queue: ModelQueue) -> ModelSummary:
        """The counts of a model, including what was stored before."""
        name = queue.model.name
        return summary_of(queue, self.standing[name], self.planned[name], self.declined[name])

    def _jobs(
        self, model: Model, todo: Sequence[_Place], readings: Mapping[Setting, Readings | None]
    ) -> Iterator[Job]:
        """Make each request when it is its turn, those of one item and variant after each other."""
        for _, places in groupby(todo, key=lambda place: (id(place.item), id(place.variant))):
            wanted = list(places)
            item, variant, missing = *wanted[0][:2], {place.candidate for place in wanted}
            read = readings[variant.setting]
            reading = read.of(item, variant) if read else None
            failure = failure_of(reading) if reading else None
            for request in self._requests(item, variant, reading):
                if request.candidate in missing:
                    yield job_of(model, request, failure)

    def _turns(self, model: Model) -> Iterator[tuple[Item, RequestVariant]]:
        variants = self.selection.variants_for(model.name)
        for item in self.asked:
            for variant in variants:
                yield item, variant

    def _manifest(self) -> RunManifest:
        about = self.dataset.manifest
        names = [model.name for model in self.models]
        names += [model.reader.name for model in self.models if isinstance(model, Pipeline)]
        plugins = {name: list(plugins_of(name)) for name in names}
        return RunManifest(
            keju=__version__,
            dataset=about.name,
            dataset_version=about.version,
            dataset_hash=about.hash,
            dataset_path=relative_path(self.dataset.path, self.store.folder.path),
            synthetic=about.synthetic,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            models={model.name: model.identity for model in self.models},
            settings=self.selection.said,
            benchmarks=texts_of(item.benchmark for item in self.items),
            prompts=own_wordings(self.selection.wordings),
            plugins=tuple(dict.fromkeys(each for found in plugins.values() for each in found)),
            roles={name: role_of(name) or "model" for name, found in plugins.items() if found},
        )


def _with_items(manifest: RunManifest, folder: RunFolder) -> RunManifest:
    """The manifest with the hashes of the items and examples as they are stored."""
    return replace(
        manifest, items_sha256=folder.items_hash(), examples_sha256=folder.examples_hash()
    )


def _text(reading: Response | None) -> str | None:
    """The transcription that goes into a prompt, without the reader's reasoning."""
    return None if reading is None else answer_part(reading.text)


def relative_path(dataset: Path, out: Path) -> str:
    """The path from a run directory to its dataset; empty where there is none."""
    try:
        return os.path.relpath(dataset.resolve(), out.resolve())
    except ValueError:
        return ""
