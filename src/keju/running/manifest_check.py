"""Compare the manifest of a stored run with the one of the present command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keju.errors import UsageError
from keju.models import RESULTS
from keju.running.box_conventions import changed_conventions
from keju.running.store import ResponseStore
from keju.runs import RunFolder, RunManifest

_OPTIONS = {"shard": "--shard", "items": "--items", "pairs": "--pairs"}
"""Settings with one value per run, and the options that set them."""


def unanswered(store: ResponseStore, earlier: RunManifest, now: RunManifest) -> frozenset[str]:
    """Return the models whose identity changed and of which the run has no answer.

    Such a model may be corrected (address, name of the weights, parameters): only failures depend
    on its identity. A model that transcribed an image, or whose batch is not finished, is not among
    them.
    """
    return frozenset(
        name
        for name, identity in now.models.items()
        if earlier.models.get(name, identity) != identity and not _has_answer(store, name)
    )


def _has_answer(store: ResponseStore, name: str) -> bool:
    folder = store.folder
    return (
        any(each.status != "failed" for each in store.known(name).values())
        or any(reading.status != "failed" for reading in folder.readings(name))
        or any(folder.batches_dir(name).glob("*.json"))
    )


def _other_results(now: Mapping[str, str], earlier: Mapping[str, str]) -> bool:
    """Whether a model consists of files with results, and these changed."""
    return now.get("kind") == RESULTS and now != earlier


def drop_failures(store: ResponseStore, models: frozenset[str]) -> None:
    """Remove the stored failures of models whose requests are sent again with another identity."""
    for name in models:
        store.replace(name, ())
        store.folder.readings_path(name).unlink(missing_ok=True)


def _changed_text(gone: Sequence[str], now: Sequence[str]) -> str:
    """A message that a user's own wording has another text under its name, or an empty string."""
    for each in gone:
        name, own, _ = each.partition("@")
        for other in now:
            if own and other.partition("@")[0] == name:
                return f"the text of wording {name} changed ({each}, now {other})"
    return ""


def check_same(earlier: RunManifest, now: RunManifest, folder: RunFolder) -> None:
    """Check that a resumed run has the same dataset, settings and models.

    Raises:
        UsageError: the run was started with different settings, which the error lists.
    """
    differing = []
    if earlier.dataset_hash != now.dataset_hash:
        differing.append(
            f"the dataset ({earlier.dataset} {earlier.dataset_hash[:8]}, "
            f"now {now.dataset} {now.dataset_hash[:8]})"
        )
    for name, option in _OPTIONS.items():
        before, after = earlier.settings.get(name, ""), now.settings.get(name, "")
        if before != after:
            differing.append(f"{option} ({before or 'none'}, now {after or 'none'})")
    shared = [name for name in now.models if name in earlier.models]
    differing += changed_conventions(earlier.settings, now.settings, shared)
    for option, before_all, now_all in (
        ("--setting", earlier.shown, now.shown),
        ("--script", earlier.scripts, now.scripts),
        ("--wording", earlier.wordings, now.wordings),
    ):
        gone = [each for each in before_all if each not in now_all]
        if gone and not (changed := _changed_text(gone, now_all)):
            differing.append(f"{option} ({', '.join(gone)} is not asked now)")
        elif gone:
            differing.append(changed)
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
        reason = ""
        if any(now.models[name] != earlier.models[name] for name in shared):
            reason = ": the run has answers of the model as it was, and one identity for each model"
        if any(_other_results(now.models[name], earlier.models[name]) for name in shared):
            reason += (
                "; or give files that changed another name, as in replay:NAME2=FOLDER, so that "
                "other models are not asked again"
            )
        raise UsageError(
            f"{folder.path} was started with different settings: {'; '.join(differing)}. Use the "
            f"same settings, or another --out{reason}"
        )
