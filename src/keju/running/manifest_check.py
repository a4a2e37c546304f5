"""Compare the manifest of a stored run with the one of the present command."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from keju.errors import UsageError
from keju.models import RESULTS
from keju.running.box_conventions import OF_MODEL, changed_conventions
from keju.running.store import ResponseStore
from keju.runs import RunFolder, RunManifest
from keju.texts import _, join_clauses, listed

_OPTIONS = {"shard": "--shard", "items": "--items", "pairs": "--pairs", "label": "--label"}
"""Settings with one value per run, and the options that set them."""


def models_without_answers(
    store: ResponseStore, earlier: RunManifest, now: RunManifest
) -> frozenset[str]:
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


def drop_failures(store: ResponseStore, models: frozenset[str]) -> None:
    """Remove the stored failures of models whose requests are sent again with another identity."""
    for name in models:
        store.replace(name, ())
        store.folder.readings_path(name).unlink(missing_ok=True)


def _changed_text(gone: Sequence[str], now: Sequence[str]) -> str:
    """A message that a user's own wording has another text under its name, or an empty string."""
    for each in gone:
        name, own, __ = each.partition("@")
        for other in now:
            if own and other.partition("@")[0] == name:
                return _("the text of wording {} changed ({}, now {})", name, each, other)
    return ""


def _differing(what: str, before: object, after: object) -> str:
    return _("{} ({}, now {})", what, before, after)


def _none() -> str:
    return _("none")


def check_same(
    earlier: RunManifest, now: RunManifest, folder: RunFolder, changed: str = ""
) -> None:
    """Check that a resumed run has the same dataset, settings and models.

    Models whose answers are files are not compared: each response is bound to its own file.

    Args:
        earlier: the manifest of the run.
        now: the one of the present command.
        folder: the run.
        changed: why the run cannot resume with the dataset as it is now; empty if it can.

    Raises:
        UsageError: the run was started with different settings, which the error lists.
    """
    differing: list[str] = []
    if changed:
        differing.append(
            _(
                "the dataset ({}, now {}: {})",
                f"{earlier.dataset} {earlier.dataset_hash[:8]}",
                f"{now.dataset} {now.dataset_hash[:8]}",
                changed,
            )
        )
    for name, option in _OPTIONS.items():
        before, after = earlier.settings.get(name, ""), now.settings.get(name, "")
        if before != after:
            differing.append(_differing(option, before or _none(), after or _none()))
    shared = [name for name in now.models if name in earlier.models]
    differing += changed_conventions(earlier.settings, now.settings, shared)
    for option, before_all, now_all in (
        ("--setting", earlier.input_settings, now.input_settings),
        ("--script", earlier.scripts, now.scripts),
        ("--wording", earlier.wordings, now.wordings),
    ):
        gone = [each for each in before_all if each not in now_all]
        if gone and not (changed := _changed_text(gone, now_all)):
            differing.append(_("{} ({} is not selected now)", option, listed(gone)))
        elif gone:
            differing.append(changed)
    if earlier.rounds > now.rounds:
        differing.append(_differing("--rounds", earlier.rounds, now.rounds))
    asked = {n: each for n, each in now.models.items() if each.get("kind") != RESULTS}
    for name, identity in asked.items():
        was = earlier.models.get(name, identity)
        differing += [
            _differing(
                _("{} of {}", part, name),
                was.get(part, "unset"),
                identity.get(part, "unset"),
            )
            for part in sorted({*was, *identity})
            if was.get(part) != identity.get(part)
        ]
    if differing:
        reason = ""
        if any(asked[name] != earlier.models[name] for name in shared if name in asked):
            reason = _(
                ": the run already has answers of this model under its earlier identity, and a "
                "run allows one identity for each model"
            )
        raise UsageError(
            "{} was started with different settings: {}. Use the same settings, or another --out{}",
            folder.path,
            join_clauses(differing),
            reason,
        )


def resumed_manifest(earlier: RunManifest, now: RunManifest) -> RunManifest:
    """The manifest of a resumed run: the present command's, with all models of the run."""
    return replace(
        now,
        created=earlier.created,
        keju=earlier.keju,
        models={**earlier.models, **now.models},
        settings={**_of_others(earlier, now), **now.settings},
        not_asked=earlier.not_asked,
        plugins=tuple(dict.fromkeys((*earlier.plugins, *now.plugins))),
        roles={**earlier.roles, **now.roles},
    )


def _of_others(earlier: RunManifest, now: RunManifest) -> dict[str, str]:
    """The settings of single models in an earlier manifest that this session does not ask."""
    return {
        name: value
        for name, value in earlier.settings.items()
        if name.startswith(OF_MODEL) and name.removeprefix(OF_MODEL) not in now.models
    }
