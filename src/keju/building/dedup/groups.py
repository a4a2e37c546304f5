"""Groups of items that say the same: which one stays, and the table of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from keju.building.dedup.subjects import CLUSTER
from keju.items import Item

Kind = Literal["exact", "canonical", "near"]


class Duplicate(Struct, frozen=True):
    """An item that was left out, and the one that stands for it.

    `kind` is a `Kind`: ``exact`` (question, options, answer and picture are alike as they stand),
    ``canonical`` (alike in canonical form) or ``near``. `similarity` is the exact Jaccard with the
    kept item; where a chain joined them it may lie below the threshold, and `through` is the item
    that it was joined by, with `link` their Jaccard.
    """

    kept: str
    dropped: str
    task: str
    kind: str
    similarity: float
    through: str
    link: float


def keeper(places: Iterable[int], items: Sequence[Item]) -> int:
    """The one of a group that stays.

    Reviewed before draft; whose own picture stands, before one whose picture is another's copy; the
    longest answer; the first.
    """

    def rank(at: int) -> tuple[bool, bool, int, int]:
        item = items[at]
        return item.draft, CLUSTER in item.metadata, -len(item.answer), at

    return min(places, key=rank)


class Links:
    """The pairs by which a group hangs together, for saying through whom a member is in it."""

    def __init__(self) -> None:
        self._beside: dict[int, dict[int, float]] = {}

    def add(self, left: int, right: int, similarity: float) -> None:
        """Note a pair that was compared and belongs together."""
        self._beside.setdefault(left, {})[right] = similarity
        self._beside.setdefault(right, {})[left] = similarity

    def towards(self, start: int) -> Mapping[int, tuple[int, float]]:
        """What hangs together with `start`: for each its next on the way there, and how alike."""
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
