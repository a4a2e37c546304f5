"""Unique names of the runs and datasets of a report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from keju.items import Item
from keju.runs import RunManifest


def names_of_datasets(manifests: Sequence[RunManifest]) -> dict[str, str]:
    """A unique name for each dataset hash: the dataset's, with its version or hash where needed."""
    about = {each.items_key: each for each in manifests}
    tries = [
        {key: each.dataset for key, each in about.items()},
        {key: f"{each.dataset} {each.dataset_version}" for key, each in about.items()},
        {key: _add_pairs(each.dataset, each) for key, each in about.items()},
        {
            key: _add_pairs(f"{each.dataset} {each.dataset_version}", each)
            for key, each in about.items()
        },
    ]
    unique = (names for names in tries if len(set(names.values())) == len(about))
    hashes = {key: f"{each.dataset} {key[:8]}" for key, each in about.items()}
    return next(unique, {key: _add_pairs(hashes[key], each) for key, each in about.items()})


def _add_pairs(name: str, manifest: RunManifest) -> str:
    """A dataset's name with the reduced form of its pairs."""
    return f"{name} ({manifest.pairs})" if manifest.pairs else name


def shared_ids(runs: Sequence[tuple[RunManifest, Iterable[Item]]]) -> set[tuple[str, str, str]]:
    """The tasks, queries and ids that items of at least two datasets share."""
    if len({manifest.items_key for manifest, _ in runs}) < 2:
        return set()
    datasets: dict[tuple[str, str, str], set[str]] = {}
    for manifest, items in runs:
        for item in items:
            place = (item.task, item.query, item.id)
            datasets.setdefault(place, set()).add(manifest.items_key)
    return {place for place, hashes in datasets.items() if len(hashes) > 1}


def run_name(path: Path, taken: Collection[str]) -> str:
    """The directory's name, with as many parents as are needed to distinguish it."""
    parts = path.resolve().parts
    names = ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
    return next((name for name in names if name not in taken), f"run {len(taken) + 1}")
