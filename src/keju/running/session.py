"""What a run holds and what is left to ask: between the plan, the store and the manifest."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from msgspec import field
from msgspec.structs import asdict, replace

from keju import __version__
from keju.datasets.store import Dataset
from keju.errors import UsageError
from keju.items import Item, Record, Request
from keju.models import Model
from keju.running.ask import Job, Lane, Policy
from keju.running.keys import request_key
from keju.running.plan import Selection, refusal, requests_for
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
        todo: list[_Place] = []
        planned = 0
        for item in self.items:
            if why := refusal(item, self.selection.setting):
                asked = sum(1 for _ in requests_for(item, self.selection.setting))
                declined[why] += asked * self.selection.rounds
                continue
            for request in self._requests(item):
                if why := model.declines(request):
                    declined[why] += 1
                    continue
                planned += 1
                stored = known.get(_slot(request))
                self._check_prompt(stored, request, model)
                if stored is None or (policy.retry_failed and stored.status == "failed"):
                    todo.append(_Place(item, request.round, request.candidate))
                else:
                    standing.append(stored)
        self.planned[model.name] = planned
        ceiling = policy.concurrency or model.concurrency
        return Lane(model, self._jobs(model, todo), total=len(todo), ceiling=ceiling)

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
        )

    def _jobs(self, model: Model, todo: Sequence[_Place]) -> Iterator[Job]:
        """Requests are made when it is their turn, those of one item and round after each other."""
        for (_, round_), places in groupby(todo, key=lambda place: (id(place.item), place.round)):
            wanted = list(places)
            missing = {place.candidate for place in wanted}
            for request in requests_for(wanted[0].item, self.selection.setting, round_):
                if request.candidate in missing:
                    yield Job(request, request_key(request, model.identity))

    def _requests(self, item: Item) -> Iterator[Request]:
        for round_ in range(1, self.selection.rounds + 1):
            yield from requests_for(item, self.selection.setting, round_)

    def _check_prompt(self, stored: Stored | None, request: Request, model: Model) -> None:
        if stored is not None and stored.key != request_key(request, model.identity):
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


def _check_same(earlier: RunManifest, now: RunManifest, folder: RunFolder) -> None:
    """Refuse to go on with a run of another dataset, setting or model."""
    differing = []
    if earlier.dataset_hash != now.dataset_hash:
        differing.append(
            f"the dataset ({earlier.dataset} {earlier.dataset_hash[:8]}, "
            f"now {now.dataset} {now.dataset_hash[:8]})"
        )
    before, after = earlier.settings.get("setting"), now.settings.get("setting")
    if before != after:
        differing.append(f"--setting ({before}, now {after})")
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


def _slot(request: Request) -> Slot:
    return Slot(request.item, request.query, request.setting, request.round, request.candidate)


def _relative(dataset: Path, out: Path) -> str:
    try:
        return os.path.relpath(dataset.resolve(), out.resolve())
    except ValueError:
        return ""
