"""Reduced forms of items of pair tasks: which candidates are compared, and in which order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.definitions import task, tasks
from keju.definitions.pair_forms import PairForm, mark_reduced, pair_form
from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Item


def reduce_pairs(items: Sequence[Item], form: PairForm) -> list[Item]:
    """The items; those of pair tasks are in a reduced form and marked (`reduced_form`).

    Images are in the order of their requests, unused images last; `relevant` is adapted. An item
    that the form does not make smaller stays as it is. `items` are whole, in the dataset's order.

    Raises:
        UsageError: the form makes no item smaller, or leaves an item with only relevant candidates.
    """
    pairs = [item for item in items if task(item.task).of_pairs]
    if form.kind == "gallery":
        reduced = {item.id: _gallery(item, form) for item in pairs}
    else:
        reduced = _once(pairs, form)
    if all(reduced.get(item.id, item) is item for item in items):
        raise UsageError(
            "--pairs {} reduces none of these items: it applies only to tasks of pairs ({}), and "
            "only to items with more candidates",
            form.name,
            ", ".join(sorted(known_task.id for known_task in tasks() if known_task.of_pairs)),
        )
    return [reduced.get(item.id, item) for item in items]


def reduce_pairs_for_run(dataset: Dataset, items: Iterable[Item], name: str) -> list[Item]:
    """The selected items of a run as whole items in a reduced form (see `reduce_pairs`).

    Raises:
        UsageError: the form does not exist, or it makes no item smaller.
    """
    ids = {item.id for item in items}
    return reduce_pairs([item for item in dataset if item.id in ids], pair_form(name))


def _gallery(item: Item, form: PairForm) -> Item:
    """An item with `size` candidates; the same for every question form of an image."""
    candidates = range(1, len(item.images))
    irrelevant = [candidate for candidate in candidates if candidate not in item.relevant]
    missing = form.size - len(item.relevant)
    if not irrelevant or missing >= len(irrelevant):
        return item
    if missing < 1:
        raise UsageError(
            "--pairs {}: {} has {} relevant candidates, so any ranking would be right. Use "
            "gallery={} or more",
            form.name,
            item.id,
            len(item.relevant),
            len(item.relevant) + 1,
        )
    seed = sha256_bytes(f"{form.seed}:{item.images[0].sha256}".encode())
    gallery = {*item.relevant, *random.Random(seed).sample(irrelevant, missing)}  # noqa: S311
    item = _in_order(item, sorted(gallery.intersection(candidates)))
    return mark_reduced(item, form, len(item.images) - 1)


def _once(items: Sequence[Item], form: PairForm) -> dict[str, Item]:
    """The items, without the pairs that an earlier item already compares in the other direction."""
    compared: set[tuple[str, str, str, str]] = set()
    candidates_of: dict[str, list[int]] = {}
    for item in items:
        first, *other_images = (ref.sha256 for ref in item.images)
        candidates_of[item.id] = []
        for candidate, image in enumerate(other_images, start=1):
            if (item.task, item.query, image, first) not in compared:
                candidates_of[item.id].append(candidate)
        compared |= {
            (item.task, item.query, first, other_images[n - 1]) for n in candidates_of[item.id]
        }
    smaller = {
        (item.task, item.query)
        for item in items
        if len(candidates_of[item.id]) < len(item.images) - 1
    }
    reduced = {}
    for item in items:
        if (item.task, item.query) in smaller:
            unsent = sorted({*range(1, len(item.images))}.difference(candidates_of[item.id]))
            ordered = _in_order(item, [*candidates_of[item.id], *unsent])
            reduced[item.id] = mark_reduced(ordered, form, len(candidates_of[item.id]))
    return reduced


def _in_order(item: Item, candidates: Sequence[int]) -> Item:
    """The item with only these candidates, in this order."""
    numbers = {candidate: number for number, candidate in enumerate(candidates, start=1)}
    relevant = sorted(numbers[place] for place in item.relevant if place in numbers)
    images = (item.images[0], *(item.images[candidate] for candidate in candidates))
    return replace(item, images=images, relevant=tuple(relevant))
