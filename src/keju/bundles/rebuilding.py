"""`rebuild_items`: the items of a bundle from a dataset, each compared with its hash."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keju import __version__
from keju.bundles.data import image_member
from keju.bundles.index import find_hidden, iter_bundled_items, number_groups
from keju.bundles.manifest import BUNDLE_MANIFEST, FILTERS, INDEX, RUN_ITEMS, BundledItem
from keju.bundles.reading import Bundle
from keju.bundles.verification import Findings
from keju.datasets.store import Dataset
from keju.datasets.table import copy_items, iter_items, write_items
from keju.errors import DataError, UsageError, english_problem
from keju.items import ImageRef, Item, get_group
from keju.running.pair_reducing import reduce_pairs_for_run
from keju.texts import _

_CHECK = "items"
_IMAGES = "images"


class _Stored(NamedTuple):
    hash: str
    group: str
    images: tuple[str, ...]
    filters: tuple[str, ...]


def rebuild_items(
    bundle: Bundle, dataset: Dataset | None, target: Path, findings: Findings
) -> bool:
    """Write the items of a bundle from a dataset, or from its own data, and compare them.

    Args:
        bundle: the bundle.
        dataset: the data; None takes the data in the bundle.
        target: the new items.parquet.
        findings: gets the differences.

    Returns:
        Whether all items could be written. Scores can be computed only if they could.
    """
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    stored = {
        (item.task, item.query, item.id): _Stored(
            item.hash, item.group, item.images, shared.setdefault(_filters(item), _filters(item))
        )
        for item in bundle.items()
    }
    findings.add_compared(_CHECK, len(stored))
    _check_benchmarks(bundle, {each.filters[0] for each in stored.values()}, findings)
    if bundle.manifest.items != len(stored):
        findings.add_difference(
            _CHECK,
            BUNDLE_MANIFEST,
            "items",
            _("the field differs from bundle.json, or from the dataset"),
        )
    if not _write_items(bundle, dataset, target, findings):
        return False
    groups = number_groups(map(get_group, iter_items(target)))
    known: dict[str, str] = {}
    whole = True
    hidden = find_hidden(lambda: iter_items(target))
    listed = iter_bundled_items(iter_items(target), hidden, groups)
    same = bundle.manifest.keju == __version__
    for item, now in zip(iter_items(target), listed, strict=True):
        place = item.task, item.query, item.id
        expected = stored.pop(place, None)
        if expected is None:
            findings.add_difference(
                _CHECK, INDEX, item.id, _("the data contain an item that the bundle does not list")
            )
        elif expected.hash != now.hash:
            findings.add_difference(
                _CHECK, INDEX, item.id, _("the SHA-256 of the item is not the one in the bundle")
            )
        elif expected.group != now.group:
            findings.add_difference(
                _CHECK, INDEX, item.id, _("the group differs from the group of the item")
            )
        elif expected.images != now.images:
            findings.add_difference(
                _IMAGES,
                INDEX,
                item.id,
                _("the SHA-256 of an image of the item is not the one in the bundle"),
            )
        elif expected.filters != _filters(now):
            if same or not _is_part_of(expected.filters, item):
                findings.add_difference(
                    _CHECK,
                    INDEX,
                    item.id,
                    _(
                        "a value by which reports filter, such as the domain or the dynasty, "
                        "differs from the value of the item"
                    ),
                )
            else:
                version = bundle.manifest.keju
                reason = _("written by keju {}, and this is keju {}", version, __version__)
                part = _("domains, dynasties and other values by which reports filter")
                findings.add_not_verified(part, reason, count=1, needed=False)
        _check_images(bundle, dataset, item, known, findings)
    for __, __, name in stored:
        whole = False
        findings.add_difference(_CHECK, INDEX, name, _("the data do not contain this item"))
    return whole


def _check_benchmarks(bundle: Bundle, names: set[str], findings: Findings) -> None:
    """Check that bundle.json lists the benchmarks of the items."""
    if names != {each.name for each in bundle.manifest.benchmarks}:
        findings.add_difference(
            _CHECK,
            BUNDLE_MANIFEST,
            "benchmarks",
            _("the field differs from bundle.json, or from the dataset"),
        )


def _is_part_of(filters: tuple[str, ...], item: Item) -> bool:
    """Whether each value is that of the item or hidden; another version may hide other values."""
    benchmark, __, *kinds = filters
    pairs = zip(FILTERS, kinds, strict=True)
    return benchmark == item.benchmark and all(
        value in {"", item.metadata.get(kind, "")} for kind, value in pairs
    )


def _filters(item: BundledItem) -> tuple[str, ...]:
    """The values by which reports filter."""
    return (item.benchmark, item.domain, *(getattr(item, kind) for kind in FILTERS))


def _write_items(bundle: Bundle, dataset: Dataset | None, target: Path, findings: Findings) -> bool:
    if dataset is None:
        shutil.copyfile(bundle.table(RUN_ITEMS), target)
        return True
    ids = {item.id for item in bundle.items()}
    copy_items(dataset.items_path, target, ids)
    if form := bundle.run_manifest.pairs:
        try:
            chosen = list(iter_items(target))
            write_items(target, reduce_pairs_for_run(dataset, chosen, form))
        except (UsageError, DataError) as error:
            reason = _(
                "the items in the reduced form {} cannot be built from the dataset ({})",
                form,
                english_problem(error),
            )
            findings.add_not_verified(_("all scores"), reason)
            return False
    return True


def _check_images(
    bundle: Bundle,
    dataset: Dataset | None,
    item: Item,
    known: dict[str, str],
    findings: Findings,
) -> None:
    for ref in _new_images(item, known):
        findings.add_compared(_IMAGES)
        if dataset is None:
            member = image_member(ref)
            listed = bundle.manifest.members.get(member)
            if listed is None or listed.sha256 != ref.sha256:
                findings.add_difference(
                    _IMAGES,
                    member,
                    item.id,
                    _("the SHA-256 of an image of the item is not the one in the bundle"),
                )
            continue
        try:
            dataset.image_bytes(ref)
        except DataError as error:
            findings.add_difference(_IMAGES, INDEX, item.id, error.problem)


def _new_images(item: Item, known: dict[str, str]) -> Iterator[ImageRef]:
    for ref in item.images:
        if ref.sha256 not in known:
            known[ref.sha256] = ref.path
            yield ref
