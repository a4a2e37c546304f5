"""Which items of a long list are selected, by their indices: 12 bytes of memory per item."""

from __future__ import annotations

import hashlib
import random
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from keju.errors import UsageError
from keju.files import sha256_bytes
from keju.items import Item, Script, get_group

_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")

_NOTHING: dict[str, str] = {}
_NO_WORDINGS: dict[Script, str] = {}
"""Shared by all heads, because they are never changed."""


class ItemKinds:
    """The kinds of the items of a list: items of a kind differ only in id, group and content.

    Args:
        items: the first items.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._heads: list[Item] = []
        self._of = array("i")
        for item in items:
            self.add(item)

    def add(self, item: Item) -> None:
        """Add the next item of the list."""
        kind = item.benchmark, item.task, item.query, item.verbatim, item.split
        number = self._numbers.setdefault(kind, len(self._heads))
        if number == len(self._heads):
            self._heads.append(_head(item))
        self._of.append(number)

    def head(self, place: int) -> Item:
        """An item of the kind of the item at an index, without id, group and content."""
        return self._heads[self._of[place]]

    def among(self, places: Iterable[int]) -> list[Item]:
        """A head of each kind of the items at these indices."""
        return [self._heads[number] for number in dict.fromkeys(map(self._of.__getitem__, places))]

    def places_where(
        self, takes: Callable[[Item], bool], places: Iterable[int] | None = None
    ) -> Sequence[int]:
        """The indices, all or of these, of the items of whose kind a function returns true."""
        taken = [takes(head) for head in self._heads]
        among = range(len(self._of)) if places is None else places
        return array("q", (place for place in among if taken[self._of[place]]))


def _head(item: Item) -> Item:
    return Item(
        id="",
        benchmark=item.benchmark,
        task=item.task,
        query=item.query,
        question_in=_NO_WORDINGS,
        verbatim=item.verbatim,
        fields=_NOTHING,
        split=item.split,
        metadata=_NOTHING,
    )


def limited_places(kinds: ItemKinds, places: Iterable[int], limit: int) -> Sequence[int]:
    """The first indices of each task, up to a number."""
    seen: Counter[str] = Counter()
    kept = array("q")
    for place in places:
        task = kinds.head(place).task
        seen[task] += 1
        if seen[task] <= limit:
            kept.append(place)
    return kept


def sampled_places(
    items: Sequence[Item], places: Sequence[int], size: int, seed: int
) -> Sequence[int]:
    """Some of the indices, drawn so that tasks take turns, and within a task its groups.

    The indices of each group are in memory.
    """
    tasks: dict[str, dict[str, array[int]]] = {}
    for place in places:
        item = items[place]
        tasks.setdefault(item.task, {}).setdefault(get_group(item), array("q")).append(place)
    turns = [
        _in_turn(_shuffled(list(groups.values()), f"{seed}:{name}"), f"{seed}:{name}")
        for name, groups in tasks.items()
    ]
    return sorted(_in_turn(_shuffled(turns, str(seed)), None)[:size])


def _shuffled(things: list[Sequence[int]], seed: str) -> list[Sequence[int]]:
    draw = random.Random(sha256_bytes(seed.encode()))  # noqa: S311
    return draw.sample(things, len(things))


def _in_turn(groups: list[Sequence[int]], seed: str | None) -> Sequence[int]:
    """One index of each group, then the next of each, and so on."""
    if seed is not None:
        draw = random.Random(sha256_bytes(seed.encode()))  # noqa: S311
        groups = [draw.sample(group, len(group)) for group in groups]
    longest = max(map(len, groups), default=0)
    return array(
        "q", (group[turn] for turn in range(longest) for group in groups if turn < len(group))
    )


def shard_places(items: Sequence[Item], shard: str | None) -> Sequence[int]:
    """The indices of the items of a shard, such as ``2/4``; of all where there are no shards.

    Items with the same images have the same turn, and turns are in the order of first use. While
    they are computed, about 50 bytes for each item are in memory.

    Raises:
        UsageError: `shard` has not the form of one.
    """
    number, count = _parse_shard(shard) if shard else (1, 1)
    if count == 1:
        return range(len(items))
    import numpy as np  # noqa: PLC0415 - slow to import

    keys = np.asarray(array("Q", map(_key, items)), np.uint64)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    turns = np.empty(len(first), np.int64)
    turns[np.argsort(first, kind="stable")] = np.arange(len(first))
    return array("q", np.flatnonzero(turns[which] % count == number - 1).tobytes())


def _parse_shard(shard: str) -> tuple[int, int]:
    spelled = _SHARD.fullmatch(shard)
    number, count = (int(spelled[1]), int(spelled[2])) if spelled else (0, 0)
    if not 1 <= number <= count:
        raise UsageError("--shard must be I/N, from 1/N to N/N, not {}", shard)
    return number, count


def _key(item: Item) -> int:
    """A number that items with the same images share, and practically no others.

    Where two do by chance, they are in the same shard.
    """
    same = msgspec.msgpack.encode(item.images) if item.images else item.id.encode()
    return int.from_bytes(hashlib.sha256(same).digest()[:8], "little")
