"""Reduced forms of items of pair tasks: which candidates are compared, and in which order."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.definitions import task, tasks
from keju.definitions.pair_forms import PairForm, mark_reduced, pair_form
from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Item

_Pair = tuple[str, str, str, str]
"""Task, query, and the two images in the order in which they are sent."""


def reduce_pairs(
    items: Sequence[Item], form: PairForm, stored: Mapping[str, Item] = MappingProxyType({})
) -> list[Item]:
    """The items; those of pair tasks are in a reduced form and marked (`reduced_form`).

    Images are in the order of their requests, unused images last; `relevant` is adapted. An item
    that the form does not make smaller stays as it is.

    Args:
        items: whole items, in the order of the dataset.
        form: the reduced form.
        stored: items that a run already has in this form, by id; they are kept.

    Raises:
        UsageError: the form makes no item smaller, or leaves an item with only relevant candidates.
    """
    pairs = [item for item in items if task(item.task).of_pairs]
    reduced = {item.id: stored[item.id] for item in pairs if item.id in stored}
    new = [item for item in pairs if item.id not in reduced]
    if form.kind == "gallery":
        reduced |= {item.id: _gallery(item, form) for item in new}
    else:
        reduced |= _once(new, form, list(reduced.values()))
    if all(reduced.get(item.id, item) is item for item in items):
        raise UsageError(
            "--pairs {} reduces none of these items: it applies only to tasks of pairs ({}), and "
            "only to items with more candidates",
            form.name,
            ", ".join(sorted(known_task.id for known_task in tasks() if known_task.of_pairs)),
        )
    return [reduced.get(item.id, item) for item in items]


def reduce_pairs_for_run(
    dataset: Dataset, items: Sequence[Item], name: str, stored: Mapping[str, Item]
) -> list[Item]:
    """The selected items of a run as whole items in a reduced form (see `reduce_pairs`).

    Raises:
        UsageError: the form does not exist, or it makes no item smaller.
    """
    ids = {item.id for item in items}
    return reduce_pairs([item for item in dataset if item.id in ids], pair_form(name), stored)


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


def _once(items: Sequence[Item], form: PairForm, earlier: Sequence[Item]) -> dict[str, Item]:
    """The items, without the pairs that an earlier item already compares in the other direction."""
    compared: set[_Pair] = set()
    for item in earlier:
        compared |= {_pair(item, candidate) for candidate in range(1, len(item.images))}
    own: dict[str, list[int]] = {}
    smaller: set[tuple[str, str]] = set()
    for item in items:
        candidates = range(1, len(item.images))
        own[item.id] = [
            candidate for candidate in candidates if _turned(_pair(item, candidate)) not in compared
        ]
        compared |= {_pair(item, candidate) for candidate in own[item.id]}
        if len(own[item.id]) < len(candidates):
            smaller.add((item.task, item.query))
    reduced = {}
    for item in items:
        if (item.task, item.query) in smaller:
            first = own[item.id]
            unsent = sorted({*range(1, len(item.images))}.difference(first))
            reduced[item.id] = mark_reduced(_in_order(item, [*first, *unsent]), form, len(first))
    return reduced


def _pair(item: Item, candidate: int) -> _Pair:
    return item.task, item.query, item.images[0].sha256, item.images[candidate].sha256


def _turned(pair: _Pair) -> _Pair:
    return *pair[:2], pair[3], pair[2]


def _in_order(item: Item, candidates: Sequence[int]) -> Item:
    """The item with only these candidates, in this order."""
    numbers = {candidate: number for number, candidate in enumerate(candidates, start=1)}
    relevant = sorted(numbers[place] for place in item.relevant if place in numbers)
    images = (item.images[0], *(item.images[candidate] for candidate in candidates))
    return replace(item, images=images, relevant=tuple(relevant))
