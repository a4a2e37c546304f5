"""The next commands after a build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keju.building.links import link_target
from keju.building.releasing import RELEASE
from keju.datasets.parts import frame_of
from keju.datasets.store import Dataset
from keju.messages import message


def describe_next_steps(out: Path) -> Iterator[str]:
    """Describe a finished build: the paths of its dataset and release, and the next commands."""
    made = out / "dataset"
    dataset, release = Dataset.open(made), out / RELEASE
    manifest = dataset.manifest
    yield message("steps.build-made", items=manifest.items, dataset=made, hash=manifest.hash[:12])
    released = link_target(release)
    if released:
        target = released.relative_to(out.resolve()).as_posix()
        yield message("steps.release-in", release=release, target=target)
    table = frame_of(dataset.items_path, columns=["draft", "answer", "boxes"])
    drafts = table.filter(table["draft"])
    waiting = int(((drafts["answer"] == "") & (drafts["boxes"].list.len() == 0)).sum())
    review = f"keju build review export {made} --out sheet.csv"
    if waiting:
        draft = f"keju build draft {made} --out NEW --model MODEL"
        yield message("steps.next-answers", count=waiting, command=draft)
        yield message("steps.next-or-write", command=review)
    elif drafts.height:
        yield message("steps.next-drafts", count=drafts.height, command=review)
    else:
        checked = release if released else made
        yield message("steps.next-command", command=f"keju data validate {checked}")
