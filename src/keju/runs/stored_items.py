"""`StoredItems`: the items of a run, by place and by key, without all of them in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from keju.items import Item, Response, Score
from keju.runs.record_list import RecordList


class StoredItems(Sequence[Item]):
    """Items in their order, and the place of each by task, query and id.

    A long list is on disk (`RecordList`); in memory are the ids, about 200 bytes each. Where an id
    is repeated in a query, the last item counts.

    Args:
        items: the items.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._items: RecordList[Item] = RecordList(Item)
        self._places: dict[tuple[str, str], dict[str, int]] = {}
        for place, item in enumerate(items):
            self._items.append(item)
            self._places.setdefault((item.task, item.query), {})[item.id] = place

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

    def place_of(self, record: Response | Score) -> int | None:
        """The place of the item of a response or score; None where there is none."""
        return self._places.get((record.task, record.query), {}).get(record.item)

    def item_of(self, record: Response | Score) -> Item | None:
        """The item of a response or score; None where there is none."""
        place = self.place_of(record)
        return None if place is None else self._items[place]
