"""``keju merge``: join the shards of one run, made on several machines, into one run.

The runs must have the same dataset, settings and keju version, and each response must belong to its
shard and to the request that this keju makes for its request id. Each request must have one
response.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from keju.errors import UsageError
from keju.files import relative_path
from keju.items import Item, Record
from keju.local_paths import check_local
from keju.object_stores import is_address
from keju.running.box_conventions import OF_MODEL
from keju.running.dataset_items import items_at
from keju.running.item_places import shard_places
from keju.running.merged_requests import check_requests, variants_of
from keju.running.requests import candidates_of
from keju.running.store import RequestId, ResponseStore
from keju.running.timing import add_timings, read_timings
from keju.runs import RunFolder, RunManifest
from keju.runs.record_list import RecordList
from keju.texts import _, join_clauses


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


def merge(runs: Sequence[Path], out: Path, *, partial: bool = False) -> MergeResult:
    """Merge the responses of several runs of the same dataset and settings into a new run.

    Args:
        runs: the run directories: the shards of one run, or runs of different models.
        out: the new run directory.
        partial: merge although something is missing.

    Raises:
        UsageError: the runs differ, a shard is missing or given twice, a request has two responses
            or, unless `partial`, none; a response does not belong to a request that this keju
            makes; or `out` exists.
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
    identities: dict[str, Mapping[str, str]] = {}
    for part in parts:
        where = f"{part.folder.path}: "
        if part.manifest.dataset_hash != first.manifest.dataset_hash:
            raise UsageError(
                "{}uses the dataset {} {}, but {} uses {} {}. Repeat the command of one of the "
                "runs with the dataset of the other",
                where,
                part.manifest.dataset,
                part.manifest.dataset_hash[:8],
                first.folder.path,
                first.manifest.dataset,
                first.manifest.dataset_hash[:8],
            )
        if part.manifest.keju != first.manifest.keju:
            raise UsageError(
                "{}was made by keju {}, but {} by keju {}. Run one of them again with the "
                "other's version",
                where,
                part.manifest.keju,
                first.folder.path,
                first.manifest.keju,
            )
        _check_settings(part, first)
        _check_items(part, first)
        _check_identities(part, identities)


def _check_settings(part: _Part, first: _Part) -> None:
    where = f"{part.folder.path}: "
    ours, theirs = (each.manifest.settings for each in (part, first))
    for name in sorted({*ours, *theirs} - {"shard"} - _of_one(part.manifest, first.manifest)):
        if ours.get(name) != theirs.get(name):
            raise UsageError(
                "{}was made with {} {}, but {} with {}. Merge only runs with the same settings",
                where,
                name,
                ours.get(name, "unset"),
                first.folder.path,
                theirs.get(name, "unset"),
            )


def _check_identities(part: _Part, identities: dict[str, Mapping[str, str]]) -> None:
    """Check that a model has the same identity in all runs; `identities` has those seen so far."""
    where = f"{part.folder.path}: "
    for name, identity in part.manifest.models.items():
        was = identities.setdefault(name, identity)
        for each in sorted({*was, *identity}):
            if was.get(each) != identity.get(each):
                raise UsageError(
                    "{}{} of {} is {}, but {} in an earlier run. Run the model of one of them "
                    "again in a new --out",
                    where,
                    each,
                    name,
                    identity.get(each, "unset"),
                    was.get(each, "unset"),
                )


def _check_items(part: _Part, first: _Part) -> None:
    where = f"{part.folder.path}: "
    if not _are_equal(part.folder.iter_item_ids(), first.folder.iter_item_ids()):
        raise UsageError(
            "{}does not have the same items as {}. Repeat one of the runs in a new --out, with "
            "the dataset and selection of the other",
            where,
            first.folder.path,
        )
    if _are_equal(part.folder.iter_items(), first.folder.iter_items()):
        return
    if first.manifest.pairs:
        raise UsageError(
            "{}has other pairs than {}, although both were made with --pairs {}: which pairs a "
            "reduced form has depends on the selected items. Repeat one of the runs in a new "
            "--out, with the dataset and selection of the other",
            where,
            first.folder.path,
            first.manifest.pairs,
        )
    raise UsageError(
        "{}does not have the same items as {}: items with the same id differ. Repeat one of the "
        "runs in a new --out, with the dataset and selection of the other",
        where,
        first.folder.path,
    )


def _are_equal(ours: Iterable[object], theirs: Iterable[object]) -> bool:
    return all(one == other for one, other in zip_longest(ours, theirs))


def _of_one(one: RunManifest, other: RunManifest) -> set[str]:
    """The settings of models that are in only one of two runs."""
    return {OF_MODEL + name for name in one.models.keys() ^ other.models.keys()}


def _absent_shards(parts: Sequence[_Part]) -> list[str]:
    """The shards that were not given.

    Raises:
        UsageError: a shard is given twice, or they are not of one division.
    """
    shards = [part.shard for part in parts if part.shard]
    counts = {shard.partition("/")[2] for shard in shards}
    if len(counts) > 1 or (shards and len(shards) < len(parts)):
        said = ", ".join(f"{part.folder.path} is {part.shard or 'whole'}" for part in parts)
        raise UsageError(
            "these are not the shards of one run: {}. Give the runs of all shards of one command",
            said,
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
        UsageError: a response is not of its run's shard or belongs to another request, or a request
            has two.
    """
    items = RecordList(Item, parts[0].folder.iter_items())
    taken: dict[str, dict[RequestId, Path]] = {}
    missing: list[str] = []
    for part in parts:
        path, manifest = part.folder.path, part.manifest
        asked = items_at(items, shard_places(items, part.shard))
        planned = _request_ids(asked, manifest)
        for model in manifest.models:
            stored = part.store.known(model)
            check_requests(part.folder, model, asked, stored)
            _take_responses(part, model, stored, planned, taken.setdefault(model, {}))
            absent = sum(request_id not in stored for request_id in planned)
            count = absent - sum(manifest.not_asked.get(model, {}).values())
            if count > 0:
                missing.append(
                    _(
                        "{}: {} of {} requests to {} have no response",
                        path,
                        count,
                        len(planned),
                        model,
                    )
                )
    return missing


def _take_responses(
    part: _Part,
    model: str,
    stored: Iterable[RequestId],
    planned: Container[RequestId],
    taken: dict[RequestId, Path],
) -> None:
    """Add the responses of a model in one run to `taken`, which has the run of each request.

    Raises:
        UsageError: a response is of another shard, or another run has one to the same request.
    """
    path = part.folder.path
    for request_id in stored:
        if request_id not in planned:
            raise UsageError(
                "{}: the response of {} to {} does not belong to its shard {}. Merge without "
                "this run, or repeat its shard in a new --out",
                path,
                model,
                request_id.item,
                part.shard or _("(the run is not divided)"),
            )
        if request_id in taken:
            raise UsageError(
                "{}: {} has a response to {} (round {}), and {} has one too. Merge without one "
                "of the two runs",
                path,
                model,
                request_id.item,
                request_id.round,
                taken[request_id],
            )
        taken[request_id] = path


def _request_ids(items: Iterable[Item], manifest: RunManifest) -> dict[RequestId, None]:
    """The ids of all requests about these items, including those that a model does not support."""
    variants = variants_of(manifest)
    return dict.fromkeys(
        RequestId(
            item.id,
            item.query,
            variant.setting,
            variant.script,
            variant.round,
            candidate,
            variant.wording,
        )
        for item in items
        for variant in variants
        for candidate in candidates_of(item)
    )


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
            for response in part.folder.all_readings():
                if response.key not in readings:
                    readings.add(response.key)
                    store.append_reading(response)
    shutil.copyfile(parts[0].folder.items_path, folder.items_path)
    if parts[0].folder.examples():
        shutil.copyfile(parts[0].folder.examples_path, folder.examples_path)
    folder.write_manifest(_manifest(parts, out))
    add_timings(folder, [each for part in parts for each in read_timings(part.folder)])
    return count


def _manifest(parts: Sequence[_Part], out: Path) -> RunManifest:
    first = parts[0].manifest
    declined: dict[str, Counter[str]] = {}
    for part in parts:
        for model, reasons in part.manifest.not_asked.items():
            declined.setdefault(model, Counter()).update(reasons)
    dataset = first.dataset_path
    if dataset and not is_address(dataset):
        dataset = relative_path(parts[0].folder.path / dataset, out)
    return replace(
        first,
        dataset_path=dataset,
        created=min(part.manifest.created for part in parts),
        models={name: each for part in parts for name, each in part.manifest.models.items()},
        settings={
            name: value
            for part in parts
            for name, value in part.manifest.settings.items()
            if name != "shard"
        },
        not_asked={model: dict(reasons) for model, reasons in declined.items()},
        plugins=tuple(dict.fromkeys(each for part in parts for each in part.manifest.plugins)),
        roles={name: role for part in parts for name, role in part.manifest.roles.items()},
    )
