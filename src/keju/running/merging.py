"""``keju merge``: join the shards of one run, made on several machines, into one run.

The runs must have the same dataset, items and settings. Responses are joined by their keys. The
same `keju run` on the result, without its shard, finds whatever is missing or outdated.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
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
from keju.texts import _, join_clauses


class MergeResult(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The result of a merge; `missing` names the shards that were not given."""

    out: str
    responses: int
    models: tuple[str, ...]
    missing: tuple[str, ...] = ()


def merge(runs: Sequence[Path], out: Path) -> MergeResult:
    """Merge the responses of several runs of the same dataset and settings into a new run.

    Shards and responses may be missing: the merged run is then incomplete, like one that was
    interrupted.

    Args:
        runs: the run directories: the shards of one run, or runs of different models.
        out: the new run directory.

    Raises:
        UsageError: the runs differ, are not the shards of one run, one is given twice, or two of
            them have a response to the same request; or `out` exists.
        DataError: a run is damaged.
    """
    check_local(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("{} already exists. Choose another --out", out)
    if len({path.resolve() for path in runs}) < len(runs):
        raise UsageError("a run is given twice. Give each run once")
    folders = [RunFolder.open(path) for path in runs]
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.with_name(f".{out.name}.merging")
    with ExitStack() as stack:
        # The runs stay locked during the merge, so that no other process writes to them.
        for folder in folders:
            stack.enter_context(ResponseStore(folder))
        _check_alike(folders)
        missing = tuple(_missing_shards(folders))
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            count = _join(folders, RunFolder(unfinished), out)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    if out.exists():
        out.rmdir()
    unfinished.rename(out)
    models = dict.fromkeys(name for folder in folders for name in folder.manifest().models)
    return MergeResult(out=str(out), responses=count, models=tuple(models), missing=missing)


def _shard(folder: RunFolder) -> str:
    return folder.manifest().settings.get("shard", "")


def _undivided(folder: RunFolder) -> RunManifest:
    """The manifest without the number of the shard."""
    manifest = folder.manifest()
    settings = {name: value for name, value in manifest.settings.items() if name != "shard"}
    return replace(manifest, settings=settings)


def _check_alike(folders: Sequence[RunFolder]) -> None:
    """Refuse runs that differ in their dataset, settings, items, or a model that both have."""
    manifests = [_undivided(folder) for folder in folders]
    for number, (folder, manifest) in enumerate(zip(folders, manifests, strict=True)):
        for earlier, earlier_manifest in zip(folders[:number], manifests, strict=False):
            if differing := list_differences(earlier_manifest, manifest, manifest.models):
                raise UsageError(
                    "{} differs from {}: {}. Merge only shards of one run, or runs with the same "
                    "dataset and settings",
                    folder.path,
                    earlier.path,
                    join_clauses(differing),
                )
        pairs = zip_longest(folder.iter_items(), folders[0].iter_items())
        if any(item != first_item for item, first_item in pairs):
            raise UsageError(
                "{} does not have the same items as {}. Repeat one of the runs in a new --out, "
                "with the dataset and selection of the other",
                folder.path,
                folders[0].path,
            )


def _missing_shards(folders: Sequence[RunFolder]) -> Iterator[str]:
    """The shards that were not given, after a check that all are of one division.

    Raises:
        UsageError: they are not, or one is given twice.
    """
    shards = [shard for shard in map(_shard, folders) if shard]
    divisions = {shard.partition("/")[2] for shard in shards}
    if len(divisions) > 1 or (shards and len(shards) < len(folders)):
        names = ", ".join(f"{folder.path} is {_shard(folder) or 'whole'}" for folder in folders)
        raise UsageError(
            "these are not the shards of one run: {}. Give the runs of all shards of one command",
            names,
        )
    if repeated := [shard for shard, count in Counter(shards).items() if count > 1]:
        raise UsageError("the shard {} is given twice. Give each shard once", repeated[0])
    total = int(divisions.pop()) if divisions else 0
    for number in range(1, total + 1):
        if f"{number}/{total}" not in shards:
            yield _("no run is the shard {}/{}", number, total)


def _join(folders: Sequence[RunFolder], merged: RunFolder, out: Path) -> int:
    """Write the merged run, which will be at `out`; the number of its responses.

    Raises:
        UsageError: a request has two responses.
    """
    paths: dict[tuple[str, Slot], Path] = {}
    reading_keys: set[str] = set()
    with ResponseStore(merged) as store:
        for folder in folders:
            for response in folder.responses():
                slot = Slot(response.key, response.item, response.candidate)
                path = paths.setdefault((response.model, slot), folder.path)
                if path != folder.path:
                    raise UsageError(
                        "{}: {} has a response to {}, and {} has one too. Merge without one of "
                        "the two runs",
                        folder.path,
                        response.model,
                        response.item,
                        path,
                    )
                store.append(response)
            for response in folder.readings():
                if response.key not in reading_keys:
                    reading_keys.add(response.key)
                    store.append(response, reading=True)
    first, manifests = folders[0], [folder.manifest() for folder in folders]
    shutil.copyfile(first.items_path, merged.items_path)
    if first.examples():
        shutil.copyfile(first.examples_path, merged.examples_path)
    manifest = _undivided(first)
    models, roles, not_asked = manifest.models, manifest.roles, dict[str, Counter[str]]()
    plugins = manifest.plugins
    for part in manifests:
        models, roles = {**models, **part.models}, {**roles, **part.roles}
        plugins = tuple(dict.fromkeys((*plugins, *part.plugins)))
        for model, reasons in part.not_asked.items():
            not_asked.setdefault(model, Counter()).update(reasons)
    dataset = manifest.dataset_path
    if dataset and not is_address(dataset):
        dataset = relative_path(first.path / dataset, out)
    merged.write_manifest(
        replace(
            manifest,
            dataset_path=dataset,
            created=min(part.created for part in manifests),
            models=models,
            not_asked={model: dict(reasons) for model, reasons in not_asked.items()},
            plugins=plugins,
            roles=roles,
        )
    )
    add_timings(merged, [timing for folder in folders for timing in read_timings(folder)])
    return len(paths)
