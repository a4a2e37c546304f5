"""`record_run` writes run.json and items.parquet; `check_resumed` compares a command with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain, zip_longest

from msgspec.structs import replace

from keju import __version__
from keju.datasets.table import copy_items
from keju.definitions import definition_texts
from keju.definitions.wordings import own_wordings
from keju.errors import UsageError
from keju.files import relative_path, sha256_file, write_atomic
from keju.models import REPLAYED, role_of
from keju.running.contents import RunContents
from keju.running.limits import Policy
from keju.running.sending import ModelQueue
from keju.running.store import ResponseStore
from keju.runs import RunFolder, RunManifest
from keju.texts import Text, _, join_clauses

_OPTIONS = {
    "tasks": "--task", "settings": "--setting", "scripts": "--script", "wordings": "--wording",
}  # fmt: skip
_CHANGED = _(
    "The dataset has changed since the last session. Responses to the same requests are kept, also "
    "where a reference was corrected: score the run again"
)


def manifest_of(contents: RunContents, folder: RunFolder) -> RunManifest:
    """The manifest of a run as it is started now, without the hashes of its items."""
    about, selection = contents.dataset.manifest, contents.selection
    readers = [model.reader for model in contents.models if model.reader]
    provided = [model for model in (*contents.models, *readers) if model.plugins]
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
        settings=selection.manifest_settings,
        benchmarks=definition_texts({item.benchmark for item in contents.items}),
        prompts=own_wordings(selection.wordings),
        plugins=tuple(dict.fromkeys(plugin for model in provided for plugin in model.plugins)),
        roles={model.name: role_of(model.name) or "model" for model in provided},
    )


def check_resumed(
    contents: RunContents, store: ResponseStore, queues: Sequence[ModelQueue], policy: Policy
) -> Iterator[Text]:
    """Check that a command may resume a run: nothing that cost money is dropped or paid for twice.

    Of the models of the command, the keys of the requests decide. Failures are dropped, so that a
    corrected command just works, and so are answers that are read from files again. Any other
    outdated response needs `--replace`. Of the other models of the run, the command keeps what the
    run has, and so it must have the same dataset and settings.

    Yields notes for the user: what has changed, and what is replaced.

    Raises:
        UsageError: a stored response would belong to no request of the run, or a server is still
            working on batches of it.
    """
    folder = store.folder
    earlier, now = folder.manifest(), manifest_of(contents, folder)
    has_other_items = earlier.dataset_hash != now.dataset_hash
    is_same = earlier.settings == now.settings and not has_other_items
    if has_other_items:
        yield _CHANGED
    for name, identity in earlier.models.items():
        may_collect = policy.batch and is_same and now.models.get(name, identity) == identity
        if any(folder.batches_dir(name).glob("*.json")) and not may_collect:
            raise UsageError(
                "{0}: a server is working on batches of this run. Sending the same requests again "
                "would cost money twice. Use the same settings and add --batch to collect the "
                "batches, or remove {0}/batches to abandon them",
                folder.path,
            )
    for name in () if is_same else sorted(earlier.models.keys() - now.models.keys()):
        heads = chain(store.known(name).values(), store.known(name, readings=True).values())
        if count := sum(head.status != "failed" for head in heads):
            raise _outdated(folder, name, count, now)
    for queue in queues:
        name, is_file = queue.model.name, queue.model.identity.get("kind") in REPLAYED
        count = sum(head.status != "failed" for head in queue.outdated.values())
        if count and not (policy.replace or is_file):
            raise _outdated(folder, name, count, now)
        if count:
            yield _("{}: outdated responses that are replaced: {:,}", name, count)


def _outdated(folder: RunFolder, model: str, count: int, now: RunManifest) -> UsageError:
    differences = list_differences(folder.manifest(), now, [model])
    return UsageError(
        "{}: stored responses of {} are outdated, {:,} in number: their requests are not made now. "
        "What differs: {}. Use the same settings or another --out, or name the model and replace "
        "the responses with --replace",
        folder.path,
        model,
        count,
        join_clauses(differences) or _("the prompts or the images"),
    )


def list_differences(
    earlier: RunManifest, now: RunManifest, models: Iterable[str]
) -> list[Text | str]:
    """The differences between a run and a command: its dataset, settings and models' identities.

    Of the models, only those that both have are compared.
    """
    compared_models = [name for name in models if name in earlier.models and name in now.models]

    def fields_of(manifest: RunManifest) -> dict[str, str]:
        fields: dict[str, str] = {
            _("the dataset"): f"{manifest.dataset} {manifest.dataset_hash[:8]}"
        }
        for name, value in manifest.settings.items():
            fields[_OPTIONS.get(name, f"--{name}")] = value
        for model in compared_models:
            for name, value in manifest.models[model].items():
                fields[_("{} of {}", name, model)] = value
        return fields

    before, after, unset = fields_of(earlier), fields_of(now), _("unset")
    texts: list[Text | str] = [
        _("{} ({}, now {})", name, before.get(name, unset), after.get(name, unset))
        for name in before | after
        if before.get(name) != after.get(name)
    ]
    if not texts and earlier.keju != now.keju:
        texts.append(_("{} ({}, now {})", "keju", earlier.keju, now.keju))
    return texts


def record_run(
    contents: RunContents,
    folder: RunFolder,
    not_asked: Mapping[str, Mapping[str, int]] | None = None,
) -> None:
    """Write the manifest and the items of a run, or those that it has now if it is resumed.

    The caller has the lock of the run. `not_asked` is the number of requests that each model does
    not get, by reason.
    """
    manifest = manifest_of(contents, folder)
    all_not_asked, items_sha256 = {**(not_asked or {})}, ""
    if folder.exists():  # the present command's, with all models of the run
        earlier = folder.manifest()
        manifest = replace(
            manifest,
            created=earlier.created,
            keju=earlier.keju,
            models={**earlier.models, **manifest.models},
            plugins=tuple(dict.fromkeys((*earlier.plugins, *manifest.plugins))),
            roles={**earlier.roles, **manifest.roles},
        )
        all_not_asked = {**earlier.not_asked, **all_not_asked}
        ids = (item.id for item in contents.items)
        if (
            earlier.items_key == manifest.items_key
            and folder.has_its_items()
            and all(before == now for before, now in zip_longest(folder.iter_item_ids(), ids))
        ):
            items_sha256 = earlier.items_sha256
        else:
            # Without a hash in run.json, an interruption between the two files is not reported as
            # damage.
            folder.write_manifest(replace(earlier, items_sha256=""))
    if not items_sha256:
        dataset = contents.dataset
        if contents.stored_items is not None:
            folder.write_items(list(contents.stored_items))
        elif len(contents.items) == dataset.manifest.items and dataset.items_path.is_file():
            with dataset.items_path.open("rb") as stream:
                write_atomic(folder.items_path, iter(partial(stream.read, 1 << 20), b""))
        else:
            ids = (item.id for item in contents.items)
            copy_items(dataset.items_path, folder.items_path, ids)
        items_sha256 = sha256_file(folder.items_path)
    manifest = replace(
        manifest,
        items_sha256=items_sha256,
        not_asked={name: dict(counts) for name, counts in all_not_asked.items() if counts},
    )
    folder.write_manifest(manifest)
