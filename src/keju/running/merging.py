"""``keju merge``: join the shards of one run, made on several machines, into one run.

The runs must have the same dataset, items and settings. The same `keju run` on the result finds
whatever is missing or outdated.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from keju.errors import UsageError
from keju.files import relative_path
from keju.items import Item, Record
from keju.local_paths import check_local
from keju.object_stores import is_address
from keju.running.dataset_items import items_at
from keju.running.item_places import shard_places
from keju.running.key import Slot
from keju.running.recording import list_differences
from keju.running.requests import request_count
from keju.running.store import ResponseStore
from keju.running.timing import add_timings, read_timings
from keju.runs import RunFolder, RunManifest
from keju.runs.record_list import RecordList
from keju.texts import _, join_clauses

T = TypeVar("T")


class MergeResult(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The result of a merge; `missing` lists, by run, the requests without a response."""

    out: str
    responses: int
    models: tuple[str, ...]
    missing: tuple[str, ...] = ()


class _Part(NamedTuple):
    folder: RunFolder
    store: ResponseStore
    manifest: RunManifest

    @property
    def shard(self) -> str:
        return self.manifest.settings.get("shard", "")

    @property
    def undivided(self) -> RunManifest:
        """The manifest without the number of the shard."""
        settings = {n: value for n, value in self.manifest.settings.items() if n != "shard"}
        return replace(self.manifest, settings=settings)


def merge(runs: Sequence[Path], out: Path, *, partial: bool = False) -> MergeResult:
    """Merge the responses of several runs of the same dataset and settings into a new run.

    Args:
        runs: the run directories: the shards of one run, or runs of different models.
        out: the new run directory.
        partial: merge although something is missing.

    Raises:
        UsageError: the runs differ, a shard is missing or given twice, a request has two responses
            or, unless `partial`, none; a response does not belong to its shard; or `out` exists.
        DataError: a run is damaged.
    """
    check_local(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("{} already exists. Choose another --out", out)
    if len({path.resolve() for path in runs}) < len(runs):
        raise UsageError("a run is given twice. Give each run once")
    with ExitStack() as stack:
        # The runs stay locked during the merge, so that no other process writes to them.
        parts = []
        for path in runs:
            folder = RunFolder.open(path)
            store = stack.enter_context(ResponseStore(folder))
            parts.append(_Part(folder, store, folder.manifest()))
        _check_alike(parts)
        missing = [*_absent_shards(parts), *_check_responses(parts)]
        if missing and not partial:
            raise UsageError(
                "{}. Complete the runs with keju run, or merge the existing responses with "
                "--partial",
                join_clauses(missing),
            )
        return _write(parts, out, missing)


def _check_alike(parts: Sequence[_Part]) -> None:
    first = parts[0]
    for place, part in enumerate(parts):
        for earlier in parts[:place]:
            differing = list_differences(earlier.undivided, part.undivided, part.manifest.models)
            if differing:
                raise UsageError(
                    "{} differs from {}: {}. Merge only shards of one run, or runs with the same "
                    "dataset and settings",
                    part.folder.path,
                    earlier.folder.path,
                    join_clauses(differing),
                )
        pairs = zip_longest(part.folder.iter_items(), first.folder.iter_items())
        if any(one != other for one, other in pairs):
            raise UsageError(
                "{} does not have the same items as {}. Repeat one of the runs in a new --out, "
                "with the dataset and selection of the other",
                part.folder.path,
                first.folder.path,
            )


def _absent_shards(parts: Sequence[_Part]) -> list[str]:
    """The shards that were not given.

    Raises:
        UsageError: a shard is given twice, or they are not of one division.
    """
    shards = [part.shard for part in parts if part.shard]
    counts = {shard.partition("/")[2] for shard in shards}
    if len(counts) > 1 or (shards and len(shards) < len(parts)):
        shard_names = ", ".join(f"{part.folder.path} is {part.shard or 'whole'}" for part in parts)
        raise UsageError(
            "these are not the shards of one run: {}. Give the runs of all shards of one command",
            shard_names,
        )
    if twice := [shard for shard, count in Counter(shards).items() if count > 1]:
        raise UsageError("the shard {} is given twice. Give each shard once", twice[0])
    total = int(counts.pop()) if counts else 0
    return [
        _("no run is the shard {}/{}", number, total)
        for number in range(1, total + 1)
        if f"{number}/{total}" not in shards
    ]


def _check_responses(parts: Sequence[_Part]) -> list[str]:
    """Check the responses of all runs; the missing ones of each run, as texts.

    Raises:
        UsageError: a response is not of its run's shard, or a request has two.
    """
    items = RecordList(Item, parts[0].folder.iter_items())
    runs: dict[tuple[str, Slot], Path] = {}
    missing: list[str] = []
    for part in parts:
        path, manifest = part.folder.path, part.manifest
        sent = items_at(items, shard_places(items, part.shard))
        ids = {item.id for item in sent}
        variants = len(manifest.input_settings) * len(manifest.scripts) * len(manifest.wordings)
        planned = variants * manifest.rounds * sum(map(request_count, sent))
        for model in manifest.models:
            stored = part.store.known(model)
            for slot in stored:
                if slot.item not in ids:
                    raise UsageError(
                        "{}: the response of {} to {} does not belong to its shard {}. Merge "
                        "without this run, or repeat its shard in a new --out",
                        path,
                        model,
                        slot.item,
                        part.shard or _("(the run is not divided)"),
                    )
                if (other := runs.setdefault((model, slot), path)) != path:
                    raise UsageError(
                        "{}: {} has a response to {}, and {} has one too. Merge without one of "
                        "the two runs",
                        path,
                        model,
                        slot.item,
                        other,
                    )
            count = planned - len(stored) - sum(manifest.not_asked.get(model, {}).values())
            if count > 0:
                missing.append(
                    _("{}: {} of {} requests to {} have no response", path, count, planned, model)
                )
    return missing


def _write(parts: Sequence[_Part], out: Path, missing: Sequence[str]) -> MergeResult:
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.with_name(f".{out.name}.merging")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        count = _write_parts(parts, RunFolder(unfinished), out)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    if out.exists():
        out.rmdir()
    unfinished.rename(out)
    models = dict.fromkeys(name for part in parts for name in part.manifest.models)
    return MergeResult(out=str(out), responses=count, models=tuple(models), missing=tuple(missing))


def _write_parts(parts: Sequence[_Part], folder: RunFolder, out: Path) -> int:
    """Write the merged run, which will be at `out`; the number of its responses."""
    count = 0
    readings: set[str] = set()
    with ResponseStore(folder) as store:
        for part in parts:
            for response in part.folder.responses():
                store.append(response)
                count += 1
            for response in part.folder.readings():
                if response.key not in readings:
                    readings.add(response.key)
                    store.append_reading(response)
    shutil.copyfile(parts[0].folder.items_path, folder.items_path)
    if parts[0].folder.examples():
        shutil.copyfile(parts[0].folder.examples_path, folder.examples_path)
    folder.write_manifest(_manifest(parts, out))
    add_timings(folder, [timing for part in parts for timing in read_timings(part.folder)])
    return count


def _manifest(parts: Sequence[_Part], out: Path) -> RunManifest:
    first = parts[0].undivided
    not_asked: dict[str, Counter[str]] = {}
    for part in parts:
        for model, reasons in part.manifest.not_asked.items():
            not_asked.setdefault(model, Counter()).update(reasons)
    dataset = first.dataset_path
    if dataset and not is_address(dataset):
        dataset = relative_path(parts[0].folder.path / dataset, out)
    return replace(
        first,
        dataset_path=dataset,
        created=min(part.manifest.created for part in parts),
        models=_joined(part.manifest.models for part in parts),
        not_asked={model: dict(reasons) for model, reasons in not_asked.items()},
        plugins=tuple(dict.fromkeys(plugin for part in parts for plugin in part.manifest.plugins)),
        roles=_joined(part.manifest.roles for part in parts),
    )


def _joined(tables: Iterable[dict[str, T]]) -> dict[str, T]:
    return {name: value for table in tables for name, value in table.items()}
