"""`check_manifests`: the fields of bundle.json, run.json and the RO-Crate metadata.

Fields that repeat something are compared with it. Nothing shows the others, such as the time of the
run: they are listed as not verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from keju import __version__
from keju.bundles.crate import make_crate
from keju.bundles.manifest import ABOUT, CRATE, ENVIRONMENT, RUN_ITEMS, RUN_MANIFEST
from keju.bundles.reading import Bundle
from keju.bundles.verification import Findings
from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.messages import message
from keju.models import role_of
from keju.running.examples import has_examples
from keju.runs import FORMAT, FORMAT_1

_CHECK = "manifest"
_SMALL_CRATE = 1 << 20
_STATED = ("created", "keju", "run_keju", "settings", ENVIRONMENT)
"""The statements of a bundle about its origin, with settings on which no request depends."""

_OF_DATASET = ("name", "version", "licence", "synthetic")
"""The fields of a dataset that its hash does not cover."""


def check_manifests(bundle: Bundle, dataset: Dataset | None, findings: Findings) -> None:
    """Compare every field that something else determines, and list the others.

    Args:
        bundle: the bundle.
        dataset: the data that were given; None for those in the bundle, or none.
        findings: gets differences and what is not verified.

    Raises:
        DataError: bundle.json, run.json or the metadata cannot be read as what they must be.
    """
    if bundle.manifest_as_stored.format not in {FORMAT, FORMAT_1}:
        problem = message("bundles.other-format", known=FORMAT)
        raise DataError(problem, file=bundle.path, item=RUN_MANIFEST)
    _compare(RUN_MANIFEST, _repeated(bundle), findings)
    _compare(RUN_MANIFEST, _determined_of_run(bundle), findings)
    _compare(ABOUT, _determined(bundle), findings)
    if dataset is not None:
        _compare_dataset(bundle, dataset, findings)
    _compare_crate(bundle, findings)
    findings.not_verified(
        message("bundles.part-origin", fields=", ".join(_stated(bundle, dataset))),
        message("bundles.origin-stated"),
        needed=False,
    )


def _compare(member: str, pairs: Mapping[str, tuple[object, object]], findings: Findings) -> None:
    findings.compared(_CHECK, len(pairs))
    for name, (one, other) in pairs.items():
        if one != other:
            findings.differs(_CHECK, member, name, message("bundles.manifest-differs"))


def _repeated(bundle: Bundle) -> dict[str, tuple[object, object]]:
    """The fields of run.json that bundle.json repeats."""
    about, run = bundle.about, bundle.manifest
    return {
        "run_keju": (about.run_keju, run.keju),
        "created": (about.created, run.created),
        "label": (about.label, run.label),
        "dataset": (about.dataset.name, run.dataset),
        "dataset_version": (about.dataset.version, run.dataset_version),
        "dataset_hash": (about.dataset.hash, run.dataset_hash),
        "synthetic": (about.dataset.synthetic, run.synthetic),
        "settings": (about.settings, run.settings),
        "models": ({name: each.identity for name, each in about.models.items()}, run.models),
    }


def _determined_of_run(bundle: Bundle) -> dict[str, tuple[object, object]]:
    """The fields of run.json that follow from other parts of the bundle."""
    about, run = bundle.about, bundle.manifest
    names = {each.name for each in about.benchmarks}
    known = {name: role_of(name) or role for name, role in run.roles.items()}
    return {
        # A bundle has no path of a machine; a reader of the run would open it.
        "dataset_path": (run.dataset_path, ""),
        "examples_sha256": (bool(run.examples_sha256), has_examples(run.wordings)),
        "benchmarks": (sorted(run.benchmarks.keys() - names), []),
        "roles": (run.roles, known),
    }


def _determined(bundle: Bundle) -> dict[str, tuple[object, object]]:
    """The fields of bundle.json that follow from its members."""
    about, run = bundle.about, bundle.manifest
    pairs: dict[str, tuple[object, object]] = {
        "dataset.included": (about.dataset.included, RUN_ITEMS in about.members)
    }
    for name, model in about.models.items():
        pairs[f"models.{name}.role"] = model.role, run.roles.get(name, "")
    return pairs


def _compare_dataset(bundle: Bundle, dataset: Dataset, findings: Findings) -> None:
    """Compare the data with those of the run.

    Another importer may have given the same items another name, so that is not a difference.
    """
    about, given = bundle.about.dataset, dataset.manifest
    if about.hash != given.hash:
        findings.differs(_CHECK, RUN_MANIFEST, "dataset", message("bundles.manifest-differs"))
        return
    findings.compared(_CHECK, len(_OF_DATASET))
    for name in _OF_DATASET:
        stored, now = getattr(about, name), getattr(given, name)
        # The licence is empty where the dataset was not at its place.
        if stored != now and (name, stored) != ("licence", ""):
            findings.not_verified(
                message("bundles.part-dataset-field", field=f"dataset.{name}", stored=stored),
                message("bundles.dataset-states", value=now),
                needed=False,
            )


def _stated(bundle: Bundle, dataset: Dataset | None) -> Iterator[str]:
    """The fields that nothing shows."""
    run = bundle.manifest
    yield from _STATED
    for name in ("not_asked", "plugins", "roles", "examples_sha256"):
        if getattr(run, name):
            yield name
    if dataset is None:
        yield from (f"dataset.{name}" for name in _OF_DATASET)


def _compare_crate(bundle: Bundle, findings: Findings) -> None:
    """Compare the RO-Crate metadata with those that follow from bundle.json."""
    about = bundle.about
    made = make_crate(about, {n: each for n, each in about.members.items() if n != CRATE})
    encoded = msgspec.json.encode(made)
    now = _flat(msgspec.json.decode(encoded))
    # The places of a much larger file would fill the memory.
    stored = _flat(bundle.read(CRATE, object, _SMALL_CRATE + 4 * len(encoded)))
    findings.compared("crate", len(now))
    for place in dict.fromkeys((*now, *stored)):
        if stored.get(place) == now.get(place):
            continue
        if about.keju == __version__:
            problem = message("bundles.crate-differs")
            findings.differs("crate", CRATE, place or "@graph", problem)
        else:
            reason = message("bundles.other-version", version=about.keju, now=__version__)
            findings.not_verified(CRATE, reason, count=1, needed=False)


def _flat(value: object) -> dict[str, object]:
    """The simple values of JSON by their places; entities of ``@graph`` by their ``@id``.

    Nothing calls itself: the depth of a file is bounded by the decoder, not by this function.
    """
    found: dict[str, object] = {}
    left: list[tuple[str, object]] = [("", value)]
    while left:
        place, each = left.pop()
        rows: list[tuple[object, object]]
        if isinstance(each, dict):
            rows = list(each.items())
        elif isinstance(each, list):
            rows = [(_name(part, number), part) for number, part in enumerate(each)]
        else:
            found[place] = each
            continue
        found[place] = (type(each).__name__, len(rows))
        left += [(f"{place}.{name}" if place else str(name), part) for name, part in rows]
    return found


def _name(part: object, number: int) -> object:
    return part["@id"] if isinstance(part, dict) and len(part) > 1 and "@id" in part else number
