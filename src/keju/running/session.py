"""What a run holds and what is left to ask: between the plan, the store and the manifest."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from msgspec import field
from msgspec.structs import asdict, replace

from keju import __version__
from keju.datasets.store import Dataset
from keju.errors import UsageError
from keju.items import Item, Record, Request, Response
from keju.models import Model
from keju.running.ask import Job, Lane, Policy
from keju.running.keys import request_key
from keju.running.reading import (
    NO_READING,
    Reader,
    Readings,
    failure_of,
    reader_of,
    reading_requests,
)
from keju.running.requests import request_count, request_for, requests_for
from keju.running.selecting import Selection, refusal
from keju.running.store import ResponseStore, Slot, Stored
from keju.runs import RunFolder, RunManifest


class _Place(NamedTuple):
    """A request that is still to be made."""

    item: Item
    round: int
    candidate: int


class ModelSummary(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How one model fared.

    `statuses` and `failures` (by kind) count what now stands in the run for the requests that were
    planned, `asked` those that got their response this time, `attempts` how often something was
    sent for them, `left` what has no response yet. `halted` says why the model was given up.
    `refused` are the decoding parameters that its server would not take.
    """

    model: str
    planned: int
    asked: int = 0
    attempts: int = 0
    left: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    not_asked: dict[str, int] = field(default_factory=dict)
    halted: str = ""
    refused: tuple[str, ...] = ()


class Session:
    """What one call of `run` knows.

    Args:
        dataset: what is asked.
        models: who is asked.
        items: the items that were chosen.
        selection: how they were chosen, and in which setting and how often they are asked.
        store: where the run lies; it must be open.
    """

    def __init__(
        self,
        dataset: Dataset,
        models: Sequence[Model],
        items: Sequence[Item],
        selection: Selection,
        store: ResponseStore,
    ) -> None:
        self.dataset = dataset
        self.models = models
        self.items = items
        self.selection = selection
        self.store = store
        self.declined: dict[str, Counter[str]] = {}
        self.planned: dict[str, int] = {}
        self.standing: dict[str, list[Stored]] = {}

    def begin(self) -> None:
        """Write the manifest and the items, or check them against those of the run so far."""
        folder, manifest = self.store.folder, self._manifest()
        items = list(self.items)
        if not folder.exists():
            folder.write_items(items)
            folder.write_manifest(manifest)
            return
        earlier = folder.manifest()
        _check_same(earlier, manifest, folder)
        before = [item.id for item in folder.items()]
        if gone := set(before).difference(item.id for item in items):
            raise UsageError(
                f"{folder.path}: the run holds {len(gone)} items that are not chosen now, such "
                f"as {min(gone)}. Choose at least the same items, or another --out"
            )
        if len(before) < len(items):
            folder.write_items(items)
        folder.write_manifest(
            replace(
                manifest,
                created=earlier.created,
                keju=earlier.keju,
                models={**earlier.models, **manifest.models},
                not_asked=earlier.not_asked,
            )
        )

    def lane(self, model: Model, policy: Policy) -> Lane:
        """What is to be asked of a model: all that is planned but not stored.

        Raises:
            UsageError: a stored response answers another prompt than the one planned.
        """
        known = self.store.known(model.name)
        declined = self.declined.setdefault(model.name, Counter())
        standing = self.standing.setdefault(model.name, [])
        readings = self._readings(model)
        todo: list[_Place] = []
        planned = unread = 0
        for item, round_ in self._turns():
            if why := refusal(item, self.selection.setting):
                declined[why] += request_count(item)
                continue
            reading = readings.of(item, round_) if readings else None
            asked = request_for(item, self.selection, round_) if readings else None
            for request in requests_for(item, self.selection, round_, _text(reading)):
                if why := model.declines(asked or request):
                    declined[why] += 1
                    continue
                planned += 1
                if readings and reading is None:
                    unread += 1
                    continue
                stored = known.get(_slot(request))
                self._check_prompt(stored, request, model)
                if stored is None or (policy.retry_failed and stored.status == "failed"):
                    todo.append(_Place(item, request.round, request.candidate))
                else:
                    standing.append(stored)
        self.planned[model.name] = planned
        return Lane(
            model,
            self._jobs(model, todo, readings),
            total=len(todo) + unread,
            ceiling=policy.concurrency or model.concurrency,
        )

    def reading_lanes(self, policy: Policy) -> list[Lane]:
        """What is to be read of the images before models are asked, one lane a reader."""
        items: dict[tuple[str, bool], dict[str, Item]] = {}
        readers: dict[tuple[str, bool], Reader] = {}
        for model in self.models:
            if reader := reader_of(model, self.selection.setting):
                place = (reader.model.name, reader.every_round)
                readers.setdefault(place, reader)
                wanted = items.setdefault(place, {})
                wanted.update({item.id: item for item in self.items if self._is_asked(model, item)})
        lanes = [
            self._reading_lane(reader, items[place].values(), policy)
            for place, reader in readers.items()
        ]
        return [lane for lane in lanes if lane.total]

    def _reading_lane(self, reader: Reader, items: Iterable[Item], policy: Policy) -> Lane:
        model = reader.model
        stored = {each.key: each.status for each in self.store.folder.readings(model.name)}
        again = {"failed"} if policy.retry_failed else set()
        jobs = [
            Job(request, key)
            for request in reading_requests(reader, items, self.selection.rounds)
            for key in [request_key(request, model.identity)]
            if key not in stored or stored[key] in again
        ]
        ceiling = policy.concurrency or model.concurrency
        return Lane(model, iter(jobs), total=len(jobs), ceiling=ceiling, doing="(reading)")

    def _is_asked(self, model: Model, item: Item) -> bool:
        if refusal(item, self.selection.setting):
            return False
        return not model.declines(request_for(item, self.selection))

    def _readings(self, model: Model) -> Readings | None:
        reader = reader_of(model, self.selection.setting)
        if reader is None:
            return None
        return Readings(reader, self.store.folder.readings(reader.model.name))

    def note_declined(self) -> None:
        """Write what the models declined into the manifest."""
        folder = self.store.folder
        manifest = folder.manifest()
        counts = {name: dict(counter) for name, counter in self.declined.items() if counter}
        others = {name: c for name, c in manifest.not_asked.items() if name not in self.declined}
        folder.write_manifest(replace(manifest, not_asked={**others, **counts}))

    def summary(self, lane: Lane) -> ModelSummary:
        """How a model fared, what was stored before included."""
        name = lane.model.name
        standing = self.standing[name]
        statuses = Counter(stored.status for stored in standing)
        kinds = Counter(stored.kind for stored in standing if stored.status == "failed")
        return ModelSummary(
            model=name,
            planned=self.planned[name],
            asked=lane.done,
            attempts=lane.attempts,
            left=lane.left,
            statuses=dict(sorted((statuses + lane.statuses).items())),
            failures=dict(sorted((kinds + lane.failures).items())),
            not_asked=dict(self.declined[name]),
            halted=lane.halted,
            refused=tuple(sorted(lane.refused)),
        )

    def _jobs(
        self, model: Model, todo: Sequence[_Place], readings: Readings | None
    ) -> Iterator[Job]:
        """Requests are made when it is their turn, those of one item and round after each other."""
        for (_, round_), places in groupby(todo, key=lambda place: (id(place.item), place.round)):
            wanted = list(places)
            item, missing = wanted[0].item, {place.candidate for place in wanted}
            reading = readings.of(item, round_) if readings else None
            failure = failure_of(reading) if reading else None
            for request in requests_for(item, self.selection, round_, _text(reading)):
                if request.candidate in missing:
                    yield Job(request, request_key(request, model.identity), failure)

    def _turns(self) -> Iterator[tuple[Item, int]]:
        for item in self.items:
            for round_ in range(1, self.selection.rounds + 1):
                yield item, round_

    def _check_prompt(self, stored: Stored | None, request: Request, model: Model) -> None:
        if stored is None or stored.kind == NO_READING:
            return
        if stored.key != request_key(request, model.identity):
            raise UsageError(
                f"{self.store.folder.path}: the stored answer of {model.name} to {request.item} "
                "answers another prompt than this keju asks. Choose another --out"
            )

    def _manifest(self) -> RunManifest:
        about = self.dataset.manifest
        chosen = {
            name: ",".join(value) if isinstance(value, tuple) else str(value)
            for name, value in asdict(self.selection).items()
            if value is not None
        }
        return RunManifest(
            keju=__version__,
            dataset=about.name,
            dataset_version=about.version,
            dataset_hash=about.hash,
            dataset_path=_relative(self.dataset.path, self.store.folder.path),
            synthetic=about.synthetic,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            models={model.name: model.identity for model in self.models},
            settings=chosen,
        )


_UNSAID = {"setting": "image", "wording": "released", "boxes": ""}
"""What a run that says nothing of a setting was asked with."""


def _check_same(earlier: RunManifest, now: RunManifest, folder: RunFolder) -> None:
    """Refuse to go on with a run of another dataset, setting or model."""
    differing = []
    if earlier.dataset_hash != now.dataset_hash:
        differing.append(
            f"the dataset ({earlier.dataset} {earlier.dataset_hash[:8]}, "
            f"now {now.dataset} {now.dataset_hash[:8]})"
        )
    for name, option in (
        ("setting", "--setting"),
        ("wording", "--script"),
        ("boxes", "--boxes"),
    ):
        before, after = (each.settings.get(name, _UNSAID[name]) for each in (earlier, now))
        if before != after:
            differing.append(f"{option} ({before}, now {after})")
    if earlier.rounds > now.rounds:
        differing.append(f"--rounds ({earlier.rounds}, now {now.rounds})")
    for name, identity in now.models.items():
        was = earlier.models.get(name, identity)
        differing += [
            f"{part} of {name} ({was.get(part, 'unset')}, now {identity.get(part, 'unset')})"
            for part in sorted({*was, *identity})
            if was.get(part) != identity.get(part)
        ]
    if differing:
        raise UsageError(
            f"{folder.path}: was begun otherwise: {'; '.join(differing)}. "
            "Give the same, or choose another --out"
        )


def _text(reading: Response | None) -> str | None:
    return None if reading is None else reading.text


def _slot(request: Request) -> Slot:
    return Slot(request.item, request.query, request.setting, request.round, request.candidate)


def _relative(dataset: Path, out: Path) -> str:
    try:
        return os.path.relpath(dataset.resolve(), out.resolve())
    except ValueError:
        return ""
