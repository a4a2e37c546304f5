"""The image that an item is about, and whether its question is specific without that image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from keju.building.dedup.canonical import Canonical
from keju.items import Item

CLUSTER = "image_cluster"
"""Key of an item's metadata: for each of its images 16 hexadecimal digits of the SHA-256 of its
representative, where step ``dedup-images`` found copies."""

SameImage = Literal["templated", "always", "never"]

REPEATED = 3
"""Number of images of one task with the same question, from which the question is a template."""

_DIGITS = 16


def shorten_hash(sha256: str) -> str:
    """Shorten a hash to the digits by which an image is named in metadata and tables."""
    return sha256[:_DIGITS]


def get_image_key(item: Item) -> str:
    """Return a key of the item's images: equal for the same or copied images; empty without any."""
    return item.metadata.get(CLUSTER) or " ".join(shorten_hash(ref.sha256) for ref in item.images)


def needs_image(
    items: Sequence[Item], forms: Sequence[Canonical], rule: SameImage, own_words: int
) -> list[bool]:
    """Return for each item whether it is a duplicate only of items about the same image.

    ``always`` and ``never`` apply to all items with an image. By ``templated`` it holds for items
    whose question has fewer than `own_words` characters of its own, since the author, script or
    text of *this* image is another question for each image, and for those whose question occurs
    with three or more images in the task.
    """
    if rule != "templated":
        return [bool(item.images) and rule == "always" for item in items]
    pictures: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for item, form in zip(items, forms, strict=True):
        pictures[item.task, item.query, form.asked].add(get_image_key(item))
    return [
        bool(item.images)
        and (
            len(form.asked) < own_words
            or len(pictures[item.task, item.query, form.asked]) >= REPEATED
        )
        for item, form in zip(items, forms, strict=True)
    ]
