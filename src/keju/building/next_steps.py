"""The next commands after a build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keju.building.releasing import RELEASE
from keju.datasets.parts import frame_of
from keju.datasets.store import Dataset
from keju.errors import number_of


def describe_next_steps(out: Path) -> Iterator[str]:
    """Describe a finished build: the paths of its dataset and release, and the next commands."""
    made = out / "dataset"
    dataset, release = Dataset.open(made), out / RELEASE
    manifest = dataset.manifest
    yield f"{number_of(manifest.items, 'item')} in {made} (hash {manifest.hash[:12]})"
    if release.is_symlink():
        yield f"The release is in {release} ({release.resolve().relative_to(out.resolve())})"
    table = frame_of(dataset.items_path, columns=["draft", "answer", "boxes"])
    drafts = table.filter(table["draft"])
    waiting = int(((drafts["answer"] == "") & (drafts["boxes"].list.len() == 0)).sum())
    review = f"keju build review export {made} --out sheet.csv"
    if waiting:
        wait = number_of(waiting, "item has no answer yet", "items have no answer yet")
        yield f"Next: {wait}. Draft with a model: keju build draft {made} --out NEW --model MODEL"
        yield f"      Or let people write: {review}"
    elif drafts.height:
        count = number_of(drafts.height, "item is a draft", "items are drafts")
        yield f"Next: {count}. Have people review them: {review}"
    else:
        yield f"Next: keju data validate {release if release.is_symlink() else made}"
