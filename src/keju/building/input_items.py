"""`InputItems`: the items of a step's input, by position and by id, on disk if they are many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from keju.items import Item
from keju.runs.record_list import RecordList


class InputItems(Sequence[Item]):
    """Items in their order; those of a long list are in a temporary file (`RecordList`).

    Args:
        items: the items; they are read once.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = RecordList(Item, items)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        return self._items[place]

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """The items by their ids, in their order; the ids are in memory."""
        return _ItemsById(self._items)


class _ItemsById(Mapping[str, Item]):
    """Items by id; each access reads one from the list."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._places = {item.id: place for place, item in enumerate(items)}

    def __getitem__(self, name: str) -> Item:
        return self._items[self._places[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
