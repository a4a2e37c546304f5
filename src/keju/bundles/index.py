"""`iter_bundled_items`: the items of a run without references, questions and transcriptions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from keju.bundles.manifest import FILTERS, BundledItem, domain_of
from keju.datasets.table import as_stored
from keju.datasets.values import value_label
from keju.items import Item

_LONGEST_ANSWER = 30
"""Characters of a reference in which a value of metadata is looked for; in a page it is chance."""

Answers = set[tuple[str, str, str]]
"""Task, query and kind of metadata of which some value is an answer."""


def item_hash(item: Item) -> str:
    """The SHA-256 of an item as canonical JSON, in 64 hexadecimal digits.

    Raises:
        DataError: the item contains something that cannot be stored.
    """
    data = msgspec.json.encode(as_stored(item), order="deterministic")
    return hashlib.sha256(data).hexdigest()


def find_answers(items: Iterable[Item]) -> Answers:
    """Find the metadata that answers questions, such as the dynasty where it is asked for."""
    found: Answers = set()
    for item in items:
        for kind in FILTERS:
            place = (item.task, item.query, kind)
            if place not in found and _answers(item, kind):
                found.add(place)
    return found


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


def iter_bundled_items(items: Iterable[Item], answers: Answers) -> Iterator[BundledItem]:
    """The items as a bundle stores them, one after the other.

    Args:
        items: the items of the run.
        answers: the metadata that is dropped (`find_answers`).
    """
    for item in items:
        kept: dict[str, Any] = {
            kind: item.metadata.get(kind, "")
            for kind in FILTERS
            if (item.task, item.query, kind) not in answers
        }
        yield BundledItem(
            id=item.id,
            benchmark=item.benchmark,
            task=item.task,
            query=item.query,
            domain=domain_of(item),
            group=item.group,
            hash=item_hash(item),
            images=tuple(ref.sha256 for ref in item.images),
            **kept,
        )
