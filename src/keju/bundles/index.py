"""`iter_bundled_items`: the items of a run without references, questions and transcriptions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from keju.bundles.manifest import FILTERS, BundledItem, domain_of
from keju.datasets.table import as_stored
from keju.datasets.values import value_label
from keju.items import Item, get_group

_LONGEST_ANSWER = 30
"""Characters of a reference in which a value of metadata is looked for; in a page it is chance."""


class Hidden(NamedTuple):
    """The metadata that a bundle does not have, because it answers questions.

    `tasks` are task, query and kind of metadata of which some value is an answer. `images` are the
    kind and an image of an item of such a task: other items of this image have the same value.
    """

    tasks: set[tuple[str, str, str]]
    images: set[tuple[str, str]]

    def covers(self, item: Item, kind: str) -> bool:
        """Whether a kind of metadata of an item is hidden."""
        return (item.task, item.query, kind) in self.tasks or any(
            (kind, name) in self.images for name in _names(item)
        )


def _names(item: Item) -> Iterator[str]:
    """The names by which items with the same picture are recognised: images and group."""
    yield from (ref.sha256 for ref in item.images)
    if item.group:
        yield f"group {item.group}"


def item_hash(item: Item) -> str:
    """The SHA-256 of an item as canonical JSON, in 64 hexadecimal digits.

    Raises:
        DataError: the item contains something that cannot be stored.
    """
    data = msgspec.json.encode(as_stored(item), order="deterministic")
    return hashlib.sha256(data).hexdigest()


def find_hidden(items: Callable[[], Iterable[Item]]) -> Hidden:
    """Find the metadata that answers questions, such as the dynasty where it is asked for.

    Args:
        items: gives the items of the run; they are read twice.
    """
    found = Hidden(set(), set())
    for item in items():
        for kind in FILTERS:
            place = (item.task, item.query, kind)
            if place not in found.tasks and _answers(item, kind):
                found.tasks.add(place)
    for item in items() if found.tasks else ():
        for kind in FILTERS:
            if (item.task, item.query, kind) in found.tasks:
                found.images.update((kind, name) for name in _names(item))
    return found


def number_groups(names: Iterable[str]) -> dict[str, str]:
    """A number for each unit of independence (`get_group`), because its name can be an answer.

    The numbers have the order of the names and equal lengths. Resampling depends on nothing but
    this order, so intervals, p and ranks of a bundle are those of its run. Fewer groups numbered
    again keep their order too.
    """
    groups = sorted(set(names))
    digits = max(4, len(str(len(groups))))
    return {name: f"group-{number:0{digits}}" for number, name in enumerate(groups, start=1)}


def _answers(item: Item, kind: str) -> bool:
    value = item.metadata.get(kind, "").strip()
    if not value:
        return False
    references = [item.answer, item.answer_simplified, *item.also_accepted]
    index = ord(item.answer) - ord("A") if len(item.answer) == 1 else -1
    if 0 <= index < len(item.options):
        references.append(item.options[index])
    label = value_label(kind, value).casefold()
    for each in references:
        text = each.strip()
        if not text or len(text) > _LONGEST_ANSWER:
            continue
        same = value_label(kind, text).casefold() == label
        if same or (len(text) > 1 and text in value) or (value in text):
            return True
    return False


def iter_bundled_items(
    items: Iterable[Item], hidden: Hidden, groups: Mapping[str, str]
) -> Iterator[BundledItem]:
    """The items as a bundle stores them, one after the other.

    Args:
        items: the items of the run.
        hidden: the metadata that is dropped (`find_hidden`).
        groups: the number of each group (`number_groups`).
    """
    for item in items:
        kept: dict[str, Any] = {
            kind: item.metadata.get(kind, "") for kind in FILTERS if not hidden.covers(item, kind)
        }
        yield BundledItem(
            id=item.id,
            benchmark=item.benchmark,
            task=item.task,
            query=item.query,
            domain=domain_of(item),
            group=groups[get_group(item)],
            hash=item_hash(item),
            images=tuple(ref.sha256 for ref in item.images),
            **kept,
        )
