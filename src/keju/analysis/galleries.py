"""Galleries of pair tasks: their source, their size, and whether they are the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from keju.analysis.asked_items import item_name
from keju.analysis.run_set import RunSet
from keju.definitions.pair_forms import reduced_form
from keju.items import MIXED_GALLERY, Item
from keju.published import paper_galleries
from keju.scoring import ItemName
from keju.texts import Text, _, listed


class Gallery(NamedTuple):
    """The images with which a query is compared: their source `of` (or mixed), and their number."""

    of: str
    size: int


def galleries(run_set: RunSet) -> dict[ItemName, Gallery]:
    """The gallery of each item with one whose pairs were all compared."""
    asked = {
        item_name(item): item
        for item in run_set.iter_items()
        if item.relevant and not reduced_form(item)
    }
    sources: dict[tuple[str, ...], set[str]] = {}
    for item in asked.values():
        sources.setdefault(_images(item), set()).add(_source(item))
    return {
        place: Gallery(
            MIXED_GALLERY
            if item.metadata.get("gallery") == MIXED_GALLERY or len(sources[_images(item)]) > 1
            else _source(item),
            len(item.images) - 1,
        )
        for place, item in asked.items()
    }


def other_galleries(found: Mapping[ItemName, Gallery]) -> dict[ItemName, Gallery]:
    """The galleries that the paper's tables do not have: of another size, or mixed.

    The paper's sizes are those of its sources; for a user's own source any of them is accepted.
    """
    return {place: each for place, each in found.items() if not _as_in_paper(place[0], each)}


def reduced_forms(run_set: RunSet) -> dict[ItemName, str]:
    """The items with pairs that were not compared, each with its reduced form."""
    forms = ((item_name(item), reduced_form(item)) for item in run_set.iter_items())
    return {place: form for place, form in forms if form}


def reduced_notes(found: Mapping[ItemName, str]) -> Iterator[tuple[str, Text]]:
    """Each task with such items, and a sentence that states where they are shown instead."""
    by_task: dict[str, set[str]] = {}
    for (task, __, __), form in found.items():
        by_task.setdefault(task, set()).add(form)
    for task, forms in by_task.items():
        yield (
            task,
            _(
                "Queries of {} that were run in a reduced form (--pairs {}) do not reproduce the "
                "paper's experiment and are not in this table. They are in the leaderboard and "
                "in the scores by task.",
                task,
                listed(sorted(forms)),
            ),
        )


def gallery_notes(others: Mapping[ItemName, Gallery]) -> Iterator[tuple[str, Text]]:
    """Each task with such galleries, and a sentence that states where they are shown instead."""
    by_task: dict[str, set[Gallery]] = {}
    for (task, __, __), each in others.items():
        by_task.setdefault(task, set()).add(each)
    for task, these in by_task.items():
        counts = listed(map(_describe_size, sorted(these)))
        theirs = listed(f"{name} {size}" for name, size in paper_galleries(task).items())
        yield (
            task,
            _(
                "Queries of {} with other galleries than the paper's ({}; the paper: {}) are not "
                "in this table. They are in the leaderboard and in the scores by task.",
                task,
                counts,
                theirs,
            ),
        )


def _describe_size(gallery: Gallery) -> Text:
    if gallery.of:
        return _("{} images ({})", gallery.size, gallery.of)
    return _("{} images", gallery.size)


def _as_in_paper(task: str, gallery: Gallery) -> bool:
    sizes = paper_galleries(task)
    if not sizes:
        return True
    expected = {sizes[gallery.of]} if gallery.of in sizes else set(sizes.values())
    return gallery.of != MIXED_GALLERY and gallery.size in expected


def _images(item: Item) -> tuple[str, ...]:
    return tuple(image.sha256 for image in item.images[1:])


def _source(item: Item) -> str:
    return item.metadata.get("source", "")
