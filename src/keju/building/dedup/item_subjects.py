"""The image that an item is about, and the rules by which it distinguishes questions."""

from __future__ import annotations

from typing import Literal

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
