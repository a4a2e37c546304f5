"""`start_run`: write the manifest and the items of a run, or check them against the stored ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest

from msgspec.structs import replace

from keju import __version__
from keju.definitions import definition_texts
from keju.definitions.wordings import own_wordings
from keju.errors import UsageError
from keju.files import relative_path
from keju.items import Item
from keju.models import capabilities_of, plugins_of, role_of
from keju.running.changed_items import ChangedItems, changed_items, drop_stale, resume_obstacle
from keju.running.dataset_items import view_items
from keju.running.manifest_check import (
    check_same,
    drop_failures,
    models_without_answers,
    resumed_manifest,
)
from keju.running.run_contents import RunContents
from keju.running.store import ResponseStore
from keju.runs import RunFolder, RunManifest, file_name
from keju.texts import n_


def start_run(
    contents: RunContents, store: ResponseStore, *, drop_changed: bool = False
) -> list[str]:
    """Write the manifest and the items of a run, or check them against the stored ones.

    Args:
        contents: what the run sends.
        store: the store of the run; it must be open.
        drop_changed: drop the responses to items that changed or are gone. Otherwise such items
            are an error.

    Returns:
        What changed since the last session, a line each.

    Raises:
        UsageError: an item has fewer examples than requested, two models or tasks differ only in
            case, or the run was started with different settings.
    """
    contents.examples.check(contents.items, contents.selection.variants)
    folder, manifest = store.folder, _manifest(contents, store.folder)
    _check_case(manifest.models, folder.manifest().models if folder.exists() else ())
    chosen = view_items(contents.items, range(len(contents.items)), _id_of)
    if not folder.exists():
        _check_case(contents.dataset.manifest.tasks)
        _store_items(contents, folder, chosen)
        _store_examples(contents, folder)
        folder.write_manifest(_with_items(manifest, folder))
        return []
    notes: list[str] = []
    earlier = folder.manifest()
    corrected = models_without_answers(store, earlier, manifest)
    kept = {n: each for n, each in earlier.models.items() if n not in corrected}
    changed = None
    if earlier.dataset_hash != manifest.dataset_hash:
        variants = contents.selection.variants
        changed = changed_items(folder, contents.dataset, chosen, variants)
    obstacle = (
        resume_obstacle(contents.selection, changed, drop_changed=drop_changed) if changed else ""
    )
    check_same(replace(earlier, models=kept), manifest, folder, obstacle)
    _check_chosen(folder, chosen, changed, contents.selection.shard)
    stored = earlier.items_sha256 and folder.has_its_items()
    if changed or not stored or sum(1 for _ in folder.iter_item_ids()) < len(chosen):
        # Without a hash in run.json, an interruption between the two files is not reported as
        # damage.
        folder.write_manifest(replace(earlier, items_sha256=""))
        if changed:
            drop_stale(changed, store)
            notes += changed.lines()
        _store_items(contents, folder, chosen)
    drop_failures(store, corrected)
    _store_examples(contents, folder)
    folder.write_manifest(resumed_manifest(earlier, _with_items(manifest, folder)))
    return notes


def record_not_asked(folder: RunFolder, not_asked: Mapping[str, Mapping[str, int]]) -> None:
    """Store the number of requests that each model does not support, by reason, in the manifest."""
    manifest = folder.manifest()
    counts = {name: dict(counter) for name, counter in not_asked.items() if counter}
    others = {name: c for name, c in manifest.not_asked.items() if name not in not_asked}
    folder.write_manifest(replace(manifest, not_asked={**others, **counts}))


def _check_chosen(
    folder: RunFolder, chosen: Sequence[str], changed: ChangedItems | None, shard: str | None
) -> None:
    """Refuse to resume a run with fewer items, or a shard with more."""
    if all(one == other for one, other in zip_longest(folder.iter_item_ids(), chosen)):
        return
    path, before = folder.path, set(folder.iter_item_ids())
    before.difference_update(changed.gone if changed else ())
    if gone := before.difference(chosen):
        raise UsageError(
            n_(
                "{}: the run contains {n:,} item that are not selected now, such as {}. Select "
                "at least the same items, or use another --out",
                "{}: the run contains {n:,} items that are not selected now, such as {}. Select "
                "at least the same items, or use another --out",
                len(gone),
                path,
                min(gone),
            )
        )
    if len(before) < len(chosen) and shard:
        raise UsageError(
            "{}: more items are selected now, which would divide them into other shards. Select "
            "the same items, or use new run directories for all shards",
            path,
        )


def _check_case(names: Iterable[str], earlier: Iterable[str] = ()) -> None:
    """Refuse models or tasks whose file names differ only in case."""
    spelled = {file_name(name).casefold(): name for name in earlier}
    for name in names:
        other = spelled.setdefault(file_name(name).casefold(), name)
        if other != name:
            raise UsageError(
                "{} and {} differ only in case, so that macOS and Windows would store their "
                "responses in one file. Use another spelling, or a run for each",
                name,
                other,
            )


def _id_of(item: Item) -> str:
    return item.id


def _store_items(contents: RunContents, folder: RunFolder, chosen: Sequence[str]) -> None:
    if contents.stored_items is None:
        folder.copy_items_from(contents.dataset, chosen)
    else:
        folder.write_items(list(contents.stored_items))


def _store_examples(contents: RunContents, folder: RunFolder) -> None:
    """Store the items that are examples, so that the run does not need its dataset."""
    if used := contents.examples.used(contents.items, contents.selection.variants):
        folder.write_examples(used)


def _manifest(contents: RunContents, folder: RunFolder) -> RunManifest:
    about = contents.dataset.manifest
    names = [model.name for model in contents.models]
    names += [reader.name for model in contents.models if (reader := capabilities_of(model).reader)]
    plugins = {name: list(plugins_of(name)) for name in names}
    return RunManifest(
        keju=__version__,
        dataset=about.name,
        dataset_version=about.version,
        dataset_hash=about.hash,
        dataset_path=contents.dataset.address or relative_path(contents.dataset.path, folder.path),
        synthetic=about.synthetic,
        unit=about.unit,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        models={model.name: model.identity for model in contents.models},
        settings=contents.selection.manifest_settings,
        benchmarks=definition_texts({item.benchmark for item in contents.items}),
        prompts=own_wordings(contents.selection.wordings),
        plugins=tuple(dict.fromkeys(each for found in plugins.values() for each in found)),
        roles={name: role_of(name) or "model" for name, found in plugins.items() if found},
    )


def _with_items(manifest: RunManifest, folder: RunFolder) -> RunManifest:
    """The manifest with the hashes of the items and examples as they are stored."""
    return replace(
        manifest, items_sha256=folder.items_hash(), examples_sha256=folder.examples_hash()
    )
