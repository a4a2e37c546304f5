"""`check_manifests`: the fields of bundle.json, run.json and the RO-Crate metadata.

Fields that other parts of the bundle or the dataset determine are compared with these parts. The
others, such as the time of the run, are listed as not verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from keju import __version__
from keju.bundles.crate import make_crate
from keju.bundles.manifest import BUNDLE_MANIFEST, CRATE, ENVIRONMENT, RUN_ITEMS, RUN_MANIFEST
from keju.bundles.reading import Bundle
from keju.bundles.verification import Findings
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.models import role_of
from keju.runs import FORMAT
from keju.texts import _

_CHECK = "manifest"
_SMALL_CRATE = 1 << 20
_STATED = ("created", "keju", "run_keju", "settings", ENVIRONMENT)
"""The statements of a bundle about its origin, with settings on which no request depends."""

_OF_DATASET = ("name", "version", "licence", "synthetic")
"""The fields of a dataset that its hash does not cover."""


def check_manifests(bundle: Bundle, dataset: Dataset | None, findings: Findings) -> None:
    """Compare the fields that other parts determine, and list the others as not verified.

    Args:
        bundle: the bundle.
        dataset: the data that were given; None for those in the bundle, or none.
        findings: gets the differences and the fields that are not verified.

    Raises:
        DataError: bundle.json, run.json or the metadata do not have the expected form.
    """
    if bundle.run_manifest.format != FORMAT:
        problem = _("the format is not {}", FORMAT, hint="Use the keju version that wrote it")
        raise DataError(problem, file=bundle.path, item=RUN_MANIFEST)
    _compare(RUN_MANIFEST, _repeated(bundle), findings)
    _compare(RUN_MANIFEST, _determined_of_run(bundle), findings)
    _compare(BUNDLE_MANIFEST, _determined(bundle), findings)
    if dataset is not None:
        _compare_dataset(bundle, dataset, findings)
    _compare_crate(bundle, findings)
    findings.add_not_verified(
        _(
            "the statements of the bundle about its origin ({}, times and tokens of responses)",
            ", ".join(_stated(bundle, dataset)),
        ),
        _("a file cannot prove these statements"),
        needed=False,
    )


def _compare(member: str, pairs: Mapping[str, tuple[object, object]], findings: Findings) -> None:
    findings.add_compared(_CHECK, len(pairs))
    for name, (one, other) in pairs.items():
        if one != other:
            findings.add_difference(
                _CHECK, member, name, _("the field differs from bundle.json, or from the dataset")
            )


def _repeated(bundle: Bundle) -> dict[str, tuple[object, object]]:
    """The fields of run.json that bundle.json repeats."""
    manifest, run = bundle.manifest, bundle.run_manifest
    return {
        "run_keju": (manifest.run_keju, run.keju),
        "created": (manifest.created, run.created),
        "label": (manifest.label, run.label),
        "dataset": (manifest.dataset.name, run.dataset),
        "dataset_version": (manifest.dataset.version, run.dataset_version),
        "dataset_hash": (manifest.dataset.hash, run.dataset_hash),
        "synthetic": (manifest.dataset.synthetic, run.synthetic),
        "settings": (manifest.settings, run.settings),
        "models": ({name: each.identity for name, each in manifest.models.items()}, run.models),
    }


def _determined_of_run(bundle: Bundle) -> dict[str, tuple[object, object]]:
    """The fields of run.json that follow from other parts of the bundle."""
    manifest, run = bundle.manifest, bundle.run_manifest
    names = {each.name for each in manifest.benchmarks}
    known = {name: role_of(name) or role for name, role in run.roles.items()}
    return {
        # A path must be empty, because a reader of the run would open it.
        "dataset_path": (run.dataset_path, ""),
        "benchmarks": (sorted(run.benchmarks.keys() - names), []),
        "roles": (run.roles, known),
    }


def _determined(bundle: Bundle) -> dict[str, tuple[object, object]]:
    """The fields of bundle.json that follow from its members."""
    manifest, run = bundle.manifest, bundle.run_manifest
    pairs: dict[str, tuple[object, object]] = {
        "dataset.included": (manifest.dataset.included, RUN_ITEMS in manifest.members)
    }
    for name, model in manifest.models.items():
        pairs[f"models.{name}.role"] = model.role, run.roles.get(name, "")
    return pairs


def _compare_dataset(bundle: Bundle, dataset: Dataset, findings: Findings) -> None:
    """Compare the dataset with the one that the run recorded.

    Another name, version or licence of the same items is listed as not verified: it does
    not prove a change, because another person may have imported them.
    """
    described, given = bundle.manifest.dataset, dataset.manifest
    if described.hash != given.hash:
        findings.add_difference(
            _CHECK,
            RUN_MANIFEST,
            "dataset",
            _("the field differs from bundle.json, or from the dataset"),
        )
        return
    findings.add_compared(_CHECK, len(_OF_DATASET))
    for name in _OF_DATASET:
        stored, now = getattr(described, name), getattr(given, name)
        # A bundle without a licence was made where the dataset was missing.
        if stored != now and (name, stored) != ("licence", ""):
            findings.add_not_verified(
                _("{} of bundle.json ({})", f"dataset.{name}", stored),
                _("the dataset that was given has the same items, but the value {}", now),
                needed=False,
            )


def _stated(bundle: Bundle, dataset: Dataset | None) -> Iterator[str]:
    """The fields that no other part of the bundle or the dataset determines."""
    run = bundle.run_manifest
    yield from _STATED
    for name in ("not_asked", "plugins", "roles", "unit"):
        if getattr(run, name):
            yield name
    if dataset is None:
        yield from (f"dataset.{name}" for name in _OF_DATASET)


def _compare_crate(bundle: Bundle, findings: Findings) -> None:
    """Compare the RO-Crate metadata with those that follow from bundle.json."""
    manifest = bundle.manifest
    made = make_crate(manifest, {n: each for n, each in manifest.members.items() if n != CRATE})
    encoded = msgspec.json.encode(made)
    # A much larger file would fill the memory.
    stored = bundle.read(CRATE, object, _SMALL_CRATE + 4 * len(encoded))
    findings.add_compared("crate")
    if stored == msgspec.json.decode(encoded):
        return
    if manifest.keju == __version__:
        problem = _("the metadata differ from those that keju makes from bundle.json")
        findings.add_difference("crate", CRATE, "", problem)
    else:
        reason = _("written by keju {}, and this is keju {}", manifest.keju, __version__)
        findings.add_not_verified(CRATE, reason, count=1, needed=False)
