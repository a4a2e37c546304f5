"""``keju merge``: join the shards of one run, made on several machines, into one run.

The runs must have the same dataset and settings. The same `keju run` on the result, without its
shard, finds whatever is missing or outdated.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from keju.errors import UsageError
from keju.files import relative_path
from keju.items import Record
from keju.local_paths import check_local
from keju.object_stores import is_address
from keju.running.recording import list_differences
from keju.running.requests import Slot
from keju.running.store import ResponseStore
from keju.running.timing import add_timings, read_timings
from keju.runs import RunFolder, RunManifest
from keju.texts import Text, _, join_clauses


class MergeResult(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The result of a merge; `missing` names the shards that were not given."""

    out: str
    responses: int
    models: tuple[str, ...]
    missing: tuple[str, ...] = ()


def merge(runs: Sequence[Path], out: Path) -> MergeResult:
    """Merge the responses of the shards of one run into the new run directory `out`.

    Shards and responses may be missing: the merged run is then incomplete, like one that was
    interrupted.

    Raises:
        UsageError: the runs differ, are not the shards of one run, or one is given twice; a request
            has two responses; or `out` exists.
        DataError: a run is damaged.
    """
    check_local(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("{} already exists. Choose another --out", out)
    folders, merged = [RunFolder.open(path) for path in runs], RunFolder(out)
    missing = _missing_shards(folders)
    with ExitStack() as stack:
        # The runs stay locked during the merge, so that no other process writes to them.
        for folder in folders:
            stack.enter_context(ResponseStore(folder))
            folder.check_items()
        manifest = _merged_manifest(folders, out)
        try:
            count = _join_responses(folders, merged)
            shutil.copyfile(folders[0].items_path, merged.items_path)
            add_timings(merged, [timing for folder in folders for timing in read_timings(folder)])
            merged.write_manifest(manifest)
        except BaseException:
            shutil.rmtree(out, ignore_errors=True)
            raise
    return MergeResult(
        out=str(out), responses=count, models=tuple(manifest.models), missing=tuple(missing)
    )


def _missing_shards(folders: Sequence[RunFolder]) -> list[Text]:
    """The shards that were not given, after a check that all are of one division.

    Raises:
        UsageError: they are not, or one is given twice.
    """
    shards = [folder.manifest().settings.get("shard", "") for folder in folders]
    totals = {shard.partition("/")[2] for shard in shards}
    if len(totals) > 1 or "" in totals:
        places = zip(folders, shards, strict=True)
        raise UsageError(
            "these are not the shards of one run: {}. Give the runs of all shards of one command",
            ", ".join(f"{folder.path} is {shard or 'whole'}" for folder, shard in places),
        )
    if repeated := [shard for shard, count in Counter(shards).items() if count > 1]:
        raise UsageError("the shard {} is given twice. Give each shard once", repeated[0])
    (total,) = totals
    numbered = [f"{number}/{total}" for number in range(1, int(total) + 1)]
    return [_("no run is the shard {}", shard) for shard in numbered if shard not in shards]


def _merged_manifest(folders: Sequence[RunFolder], out: Path) -> RunManifest:
    """The manifest of the merged run, which will be at `out`.

    Raises:
        UsageError: the runs differ in their dataset, settings or models.
    """
    first, merged = folders[0], folders[0].manifest()
    for folder in folders[1:]:
        part = folder.manifest()
        # The number of the shard is the only setting in which they differ.
        part = replace(part, settings={**part.settings, "shard": merged.settings["shard"]})
        if differences := list_differences(merged, part, part.models):
            raise UsageError(
                "{} differs from {}: {}. Merge only shards of one run",
                folder.path,
                first.path,
                join_clauses(differences),
            )
        not_asked = {
            model: dict(Counter(merged.not_asked.get(model)) + Counter(part.not_asked.get(model)))
            for model in merged.not_asked | part.not_asked
        }
        merged = replace(
            merged,
            created=min(merged.created, part.created),
            models=merged.models | part.models,
            plugins=tuple(dict.fromkeys((*merged.plugins, *part.plugins))),
            roles=merged.roles | part.roles,
            not_asked=not_asked,
        )
    settings = {name: value for name, value in merged.settings.items() if name != "shard"}
    dataset = merged.dataset_path
    if dataset and not is_address(dataset):
        dataset = relative_path(first.path / dataset, out)
    return replace(merged, settings=settings, dataset_path=dataset)


def _join_responses(folders: Sequence[RunFolder], merged: RunFolder) -> int:
    """Store the responses and transcriptions of all runs in one; the number of responses."""
    slots, reading_keys = set[tuple[str, Slot]](), set[str]()
    with ResponseStore(merged) as store:
        for folder in folders:
            for response in folder.responses():
                slot = response.model, Slot(response.key, response.item, response.candidate)
                if slot in slots:
                    raise UsageError(
                        "{}: {} has a response to {}, and another shard has one too. Merge shards "
                        "that were run apart",
                        folder.path,
                        response.model,
                        response.item,
                    )
                slots.add(slot)
                store.append(response)
            for reading in folder.readings():
                if reading.key not in reading_keys:
                    reading_keys.add(reading.key)
                    store.append(reading, reading=True)
    return len(slots)
