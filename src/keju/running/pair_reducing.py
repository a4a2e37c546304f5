"""Reduced forms of items of pair tasks: which candidates are compared, and in which order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from keju.datasets.store import Dataset
from keju.definitions import task, tasks
from keju.definitions.pair_forms import PairForm, mark_reduced, pair_form
from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Item
from keju.models import Model
from keju.texts import _

_Pair = tuple[str, str, str, str]
"""Task, query, and the two images in the order in which they are sent."""


def reduce_pairs(
    items: Sequence[Item], form: PairForm, known: Mapping[str, Item] | None = None
) -> list[Item]:
    """Return the items; those of pair tasks are in a reduced form and marked (`reduced_form`).

    Images are in the order of their requests, unused images last; `relevant` is adapted. An item
    that the form does not make smaller stays as it is.

    Args:
        items: whole items, in the order of the dataset.
        form: the reduced form.
        known: items that a run already has in this form, by id; they are kept.

    Raises:
        UsageError: the form makes no item smaller, or leaves an item with only relevant candidates.
    """
    known = known or {}
    fitting = [item for item in items if task(item.task).of_pairs]
    found = {item.id: known[item.id] for item in fitting if item.id in known}
    new = [item for item in fitting if item.id not in found]
    if form.kind == "gallery":
        found |= {item.id: _drawn(item, form) for item in new}
    else:
        found |= _once(new, form, found.values())
    if not any(found.get(item.id, item) is not item for item in items):
        raise UsageError(
            "--pairs {} reduces none of these items: it applies only to tasks of pairs ({}), and "
            "only to items with more candidates",
            form.name,
            ", ".join(sorted(each.id for each in tasks() if each.of_pairs)),
        )
    return [found.get(item.id, item) for item in items]


def reduce_pairs_for_run(
    dataset: Dataset, items: Sequence[Item], name: str, known: Mapping[str, Item]
) -> list[Item]:
    """The selected items of a run as whole items in a reduced form (see `reduce_pairs`).

    Raises:
        UsageError: the form does not exist, or it makes no item smaller.
    """
    form = pair_form(name)
    chosen = {item.id for item in items}
    whole = [item for item in dataset.items() if item.id in chosen]
    return reduce_pairs(whole, form, known)


def check_replayed(models: Iterable[Model], pairs: str | None) -> None:
    """Check that replayed answers to pairs have the form that is selected now.

    In another form the same number means another candidate.

    Raises:
        UsageError: they come from a run in another form, or not from a run while a reduced form is
            selected.
    """
    for model in models:
        stored = model.pair_forms
        if stored is not None and (stored or {""}) != {pairs or ""}:
            forms = ", ".join(form or "all pairs" for form in sorted(stored)) or _("no run")
            raise UsageError(
                "{}: its responses are of {}, but --pairs is {}. The candidates have other "
                "numbers there. Use the form in which they were asked",
                model.name,
                forms,
                pairs or _("not given"),
            )


def _drawn(item: Item, form: PairForm) -> Item:
    """A gallery of `size` candidates; the same for every question form of an image."""
    places = range(1, len(item.images))
    others = [place for place in places if place not in item.relevant]
    missing = form.size - len(item.relevant)
    if not others or missing >= len(others):
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
    chosen = {*item.relevant, *random.Random(seed).sample(others, missing)}  # noqa: S311
    kept = _in_order(item, [place for place in places if place in chosen])
    return mark_reduced(kept, form, len(kept.images) - 1)


def _once(items: Sequence[Item], form: PairForm, before: Iterable[Item]) -> dict[str, Item]:
    """The items, without the pairs that an earlier item already compares in the other direction."""
    asked: set[_Pair] = set()
    for item in before:
        asked |= {_pair(item, place) for place in range(1, len(item.images))}
    own: dict[str, list[int]] = {}
    smaller: set[tuple[str, str]] = set()
    for item in items:
        places = [p for p in range(1, len(item.images)) if _turned(_pair(item, p)) not in asked]
        asked |= {_pair(item, place) for place in places}
        own[item.id] = places
        if len(places) < len(item.images) - 1:
            smaller.add((item.task, item.query))
    found = {}
    for item in items:
        if (item.task, item.query) in smaller:
            rest = [p for p in range(1, len(item.images)) if p not in set(own[item.id])]
            turned = _in_order(item, [*own[item.id], *rest])
            found[item.id] = mark_reduced(turned, form, len(own[item.id]))
    return found


def _pair(item: Item, place: int) -> _Pair:
    return item.task, item.query, item.images[0].sha256, item.images[place].sha256


def _turned(pair: _Pair) -> _Pair:
    return *pair[:2], pair[3], pair[2]


def _in_order(item: Item, places: Sequence[int]) -> Item:
    """The item with only these candidates, in this order."""
    now = {place: number for number, place in enumerate(places, start=1)}
    return replace(
        item,
        images=(item.images[0], *(item.images[place] for place in places)),
        relevant=tuple(sorted(now[place] for place in item.relevant if place in now)),
    )
