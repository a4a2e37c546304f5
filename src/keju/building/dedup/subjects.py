"""Which picture an item is about, and whether its question can be told without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from keju.building.dedup.canonical import Canonical
from keju.items import Item

CLUSTER = "image_cluster"
"""Key of an item's metadata: for each of its images 16 hexadecimal digits of the SHA-256 of the
picture that stands for it, where step ``dedup-images`` found that some stand for others."""

SameImage = Literal["templated", "always", "never"]

REPEATED = 3
"""Pictures of one task about which a question is asked, from which it is a template."""

_DIGITS = 16


def short(sha256: str) -> str:
    """The digits of a hash by which a picture is named in metadata and tables."""
    return sha256[:_DIGITS]


def picture_of(item: Item) -> str:
    """The picture that an item is about: equal for items whose images fall together; or empty."""
    return item.metadata.get(CLUSTER) or " ".join(short(ref.sha256) for ref in item.images)


def needs_picture(
    items: Sequence[Item], forms: Sequence[Canonical], rule: SameImage, own_words: int
) -> list[bool]:
    """Whether each item is a duplicate only of items about the same picture.

    ``always`` and ``never`` say it for all that show one. By ``templated`` they are those whose
    question has fewer than `own_words` characters of its own, since what author, script or text
    *this* picture has is another question for each picture, and those whose question is asked of
    three or more pictures in the task.
    """
    if rule != "templated":
        return [bool(item.images) and rule == "always" for item in items]
    pictures: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for item, form in zip(items, forms, strict=True):
        pictures[item.task, item.query, form.asked].add(picture_of(item))
    return [
        bool(item.images)
        and (
            len(form.asked) < own_words
            or len(pictures[item.task, item.query, form.asked]) >= REPEATED
        )
        for item, form in zip(items, forms, strict=True)
    ]
