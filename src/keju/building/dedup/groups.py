"""Groups of duplicate items: the image that each is about, and which item is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct

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


Kind = Literal["exact", "canonical", "near"]


class Duplicate(Struct, frozen=True):
    """A dropped item, and the item that was kept instead.

    `kind` is a `Kind`: ``exact`` (question, options, answer and image are identical), ``canonical``
    (identical in canonical form) or ``near``. `similarity` is the exact Jaccard with the kept item;
    where a chain joined them it may be below the threshold, and `through` is the item that it was
    joined by, with `link` their Jaccard.
    """

    kept: str
    dropped: str
    task: str
    kind: str
    similarity: float
    through: str
    link: float


_LONGEST = 1 << 40


def rank_item(item: Item) -> int:
    """Rank an item among its duplicates; the one with the lowest rank is kept.

    A reviewed item comes before a draft, an item with a representative image before one with a
    copy, then the longest answer.
    """
    return (2 * item.draft + (CLUSTER in item.metadata)) * _LONGEST - len(item.answer)


def choose_kept(places: Iterable[int], rank: Callable[[int], int]) -> int:
    """Choose the item of a group that is kept: the first of those with the lowest rank."""
    return min(places, key=lambda at: (rank(at), at))


class Links:
    """The pairs that connect a group, to find how a member is connected with another."""

    def __init__(self) -> None:
        self._beside: dict[int, dict[int, float]] = {}

    def add(self, left: int, right: int, similarity: float) -> None:
        """Add a pair that was compared and found to be the same."""
        self._beside.setdefault(left, {})[right] = similarity
        self._beside.setdefault(right, {})[left] = similarity

    def find_paths(self, start: int) -> Mapping[int, tuple[int, float]]:
        """Map each item connected with `start` to the next item towards it and their similarity."""
        found: dict[int, tuple[int, float]] = {}
        edge = [start]
        while edge:
            further = []
            for at in edge:
                for beside, similarity in sorted(self._beside.get(at, {}).items()):
                    if beside != start and beside not in found:
                        found[beside] = (at, similarity)
                        further.append(beside)
            edge = further
        return found
