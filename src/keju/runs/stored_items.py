"""`StoredItems`: the items of a run, by place and by key, without all of them in memory."""

from __future__ import annotations

from collections.abc import Iterable

from keju.items import Item, Response, Score
from keju.runs.record_list import RecordList


class StoredItems(RecordList[Item]):
    """Items in their order, and the place of each by task, query and id.

    A long list is on disk (`RecordList`); in memory are the ids, about 200 bytes each. Where an id
    is repeated in a query, the last item counts.

    Args:
        items: the items.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._places: dict[tuple[str, str], dict[str, int]] = {}
        super().__init__(Item, items)

    def append(self, item: Item) -> None:
        """Add an item at the end."""
        self._places.setdefault((item.task, item.query), {})[item.id] = len(self)
        super().append(item)

    def place_of(self, record: Response | Score) -> int | None:
        """The place of the item of a response or score; None where there is none."""
        return self._places.get((record.task, record.query), {}).get(record.item)

    def item_of(self, record: Response | Score) -> Item | None:
        """The item of a response or score; None where there is none."""
        place = self.place_of(record)
        return None if place is None else self[place]
