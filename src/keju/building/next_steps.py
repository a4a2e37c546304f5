"""The next commands after a build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from keju.building.links import link_target
from keju.building.releasing import RELEASE
from keju.datasets.store import Dataset
from keju.datasets.table import iter_rows
from keju.texts import _, n_


def describe_next_steps(out: Path) -> Iterator[str]:
    """Describe a finished build: the paths of its dataset and release, and the next commands."""
    made = out / "dataset"
    dataset, release = Dataset.open(made), out / RELEASE
    manifest = dataset.manifest
    yield n_(
        "{n:,} item in {} (hash {})",
        "{n:,} items in {} (hash {})",
        manifest.items,
        made,
        manifest.hash[:12],
    )
    released = link_target(release)
    if released:
        target = released.relative_to(out.resolve()).as_posix()
        yield _("The release is in {} ({})", release, target)
    drafts = waiting = 0
    for row in iter_rows(dataset.items_path, ["draft", "answer", "boxes"]):
        drafts += bool(row["draft"])
        waiting += bool(row["draft"] and not row["answer"] and not row["boxes"])
    review = f"keju build review export {made} --out sheet.csv"
    if waiting:
        draft = f"keju build draft {made} --out NEW --model MODEL"
        yield n_(
            "Next: {n:,} item has no answer yet. Draft with a model: {}",
            "Next: {n:,} items have no answer yet. Draft with a model: {}",
            waiting,
            draft,
        )
        yield _("      Or let people write: {}", review)
    elif drafts:
        yield n_(
            "Next: {n:,} item is a draft. Have people review them: {}",
            "Next: {n:,} items are drafts. Have people review them: {}",
            drafts,
            review,
        )
    else:
        checked = release if released else made
        yield _("Next: {}", f"keju data validate {checked}")
