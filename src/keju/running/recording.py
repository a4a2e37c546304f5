"""`record_run` writes run.json and items.parquet of a run; `check_extends` compares them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from keju.running.contents import RunContents
from keju.running.store import ResponseStore
from keju.runs import RunFolder, RunManifest, file_name
from keju.texts import Text, _, join_clauses

_OPTIONS = {
    "tasks": "--task", "settings": "--setting", "scripts": "--script", "wordings": "--wording",
}  # fmt: skip
"""Options of a run whose settings have another name in run.json."""

_ONE_VALUE = ("shard", "pairs", "label", "boxes")
"""Settings of a run with one value."""


def manifest_of(contents: RunContents, folder: RunFolder) -> RunManifest:
    """The manifest of a run as it is started now, without the hashes of its items."""
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
        plugins=tuple(dict.fromkeys(plugin for found in plugins.values() for plugin in found)),
        roles={name: role_of(name) or "model" for name, found in plugins.items() if found},
    )


def check_extends(
    earlier: RunManifest, now: RunManifest, store: ResponseStore, ids: Iterable[str]
) -> None:
    """Check that a command keeps what a run has of models that the command does not name.

    Of a model that it names, the keys of the requests decide (`check_outdated`), unless a server is
    still working on batches of it.

    Args:
        earlier: the manifest of the run.
        now: that of the command.
        store: the responses of the run.
        ids: the ids of the items that are selected now.

    Raises:
        UsageError: a response of another model would belong to no request of the run.
    """
    folder = store.folder
    batched = [n for n in earlier.models if any(folder.batches_dir(n).glob("*.json"))]
    others = [n for n in earlier.models if n not in now.models and store.has_answers(n)]
    bound = list(dict.fromkeys([*others, *batched]))
    if not bound:
        return
    same_identity = all(now.models.get(n, earlier.models[n]) == earlier.models[n] for n in batched)
    same = same_identity and earlier.dataset_hash == now.dataset_hash
    if same and extends(earlier, now) and set(ids).issuperset(folder.iter_item_ids()):
        return
    named = bound[0]
    raise UsageError(
        "{}: the run has responses of {}, and this command has other settings: {}. Use the same "
        "settings, name the model too (--model {}), or choose another --out",
        folder.path,
        named,
        differences(earlier, now, batched),
        named,
    )


def extends(earlier: RunManifest, now: RunManifest) -> bool:
    """Whether the settings of a command include all prompt variants that a run had before."""
    return (
        all(earlier.settings.get(n, "") == now.settings.get(n, "") for n in _ONE_VALUE)
        and earlier.rounds <= now.rounds
        and set(earlier.input_settings) <= set(now.input_settings)
        and set(earlier.scripts) <= set(now.scripts)
        and set(earlier.wordings) <= set(now.wordings)
    )


def differences(earlier: RunManifest, now: RunManifest, models: Iterable[str]) -> Text | str:
    """The differences between a run and a command: its dataset, settings and models' identities."""
    return join_clauses(list_differences(earlier, now, models)) or _("the prompts or the images")


def list_differences(
    earlier: RunManifest, now: RunManifest, models: Iterable[str]
) -> list[Text | str]:
    """The same differences, one by one; empty if there are none."""
    compared: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = [
        ("", earlier.settings, now.settings)
    ]
    compared += [
        (name, earlier.models[name], now.models[name])
        for name in models
        if name in earlier.models and name in now.models
    ]
    texts: list[Text | str] = []
    if earlier.dataset_hash != now.dataset_hash:
        texts.append(
            _(
                "the dataset ({}, now {})",
                f"{earlier.dataset} {earlier.dataset_hash[:8]}",
                f"{now.dataset} {now.dataset_hash[:8]}",
            )
        )
    for model, before, after in compared:
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                label = _("{} of {}", name, model) if model else _OPTIONS.get(name, f"--{name}")
                unset = _("unset")
                texts.append(
                    _("{} ({}, now {})", label, before.get(name, unset), after.get(name, unset))
                )
    if not texts and earlier.keju != now.keju:
        texts.append(_("{} ({}, now {})", "keju", earlier.keju, now.keju))
    return texts


def record_run(
    contents: RunContents,
    folder: RunFolder,
    not_asked: Mapping[str, Mapping[str, int]] | None = None,
) -> None:
    """Write the manifest and the items of a run, or those that it has now if it is resumed.

    Args:
        contents: what the run sends.
        folder: the run, whose lock the caller has.
        not_asked: the number of requests that each model does not get, by reason.

    Raises:
        UsageError: two models or tasks differ only in case.
    """
    manifest = manifest_of(contents, folder)
    earlier = folder.manifest() if folder.exists() else None
    _check_case(manifest.models, earlier.models if earlier else ())
    if earlier is None:
        _check_case(contents.dataset.manifest.tasks)
        _store_items(contents, folder)
    elif not _has_items(folder, earlier, manifest, contents.items):
        # Without a hash in run.json, an interruption between the two files is not reported as
        # damage.
        folder.write_manifest(replace(earlier, items_sha256=""))
        _store_items(contents, folder)
    # The items that are examples are stored, so that the run does not need its dataset.
    if contents.examples:
        folder.write_examples(contents.examples.used(contents.items, contents.variants))
    counts = {name: dict(counter) for name, counter in (not_asked or {}).items()}
    manifest = replace(
        manifest,
        items_sha256=folder.items_hash(),
        examples_sha256=folder.examples_hash(),
        not_asked={name: counter for name, counter in counts.items() if counter},
    )
    folder.write_manifest(_resumed(earlier, manifest) if earlier else manifest)


def _has_items(
    folder: RunFolder, earlier: RunManifest, now: RunManifest, items: Iterable[Item]
) -> bool:
    """Whether a run has these items of this dataset."""
    if not earlier.items_sha256 or not folder.has_its_items():
        return False
    same = earlier.dataset_hash == now.dataset_hash and earlier.pairs == now.pairs
    pairs = zip_longest(folder.iter_item_ids(), (item.id for item in items))
    return same and all(one == other for one, other in pairs)


def _resumed(earlier: RunManifest, now: RunManifest) -> RunManifest:
    """The manifest of a resumed run: the present command's, with all models of the run."""
    others = {n: counts for n, counts in earlier.not_asked.items() if n not in now.models}
    return replace(
        now,
        created=earlier.created,
        keju=earlier.keju,
        models={**earlier.models, **now.models},
        not_asked={**others, **now.not_asked},
        plugins=tuple(dict.fromkeys((*earlier.plugins, *now.plugins))),
        roles={**earlier.roles, **now.roles},
    )


def _store_items(contents: RunContents, folder: RunFolder) -> None:
    if contents.stored_items is None:
        folder.copy_items_from(contents.dataset, contents.items)
    else:
        folder.write_items(list(contents.stored_items))


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
