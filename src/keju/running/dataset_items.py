"""`DatasetItems`: the items of a dataset for a run or a plan, on disk if they are many."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from keju.datasets.store import Dataset
from keju.items import TRUE_READING, Item
from keju.running.item_places import ItemKinds
from keju.running.selecting import Selection, select_places
from keju.running.transcriptions import transcription_filler
from keju.runs.record_list import LazyList, RecordList

T = TypeVar("T")


def view_items(
    items: Sequence[Item], places: Iterable[int], change: Callable[[Item], T]
) -> Sequence[T]:
    """The items with these indices in a list, each as `change` makes it at each access.

    Each takes 8 bytes of memory.
    """
    chosen = array("q", places)
    return LazyList(len(chosen), lambda place: change(items[chosen[place]]))


def items_at(items: Sequence[Item], places: Iterable[int]) -> Sequence[Item]:
    """The items with these indices in a list."""
    return view_items(items, places, lambda item: item)


class DatasetItems:
    """The items of a dataset, read once.

    A long list is on disk (`RecordList`); 12 bytes of memory are used per item.

    Args:
        dataset: the dataset.
        keep: reduces each item to what is needed. It keeps the fields by which items are selected
            (`select_places`).

    Raises:
        DataError: items.parquet is missing, damaged, or not the one dataset.json describes.
    """

    def __init__(self, dataset: Dataset, keep: Callable[[Item], Item]) -> None:
        self.items: RecordList[Item] = RecordList(Item)
        """All items, reduced, in the order of the dataset."""
        self._dataset = dataset
        self._kinds = ItemKinds()
        for item in dataset:
            self.items.append(keep(item))
            self._kinds.add(item)

    def selected(self, selection: Selection) -> Sequence[Item]:
        """The selected items in their order, as `select` returns them.

        Raises:
            UsageError: see `select`.
        """
        places = select_places(self.items, self._kinds, selection, self._dataset.path)
        # All of them are read one after the other, which is faster than one by one.
        view = self.items if len(places) == len(self.items) else items_at(self.items, places)
        if TRUE_READING.intersection(selection.settings):
            return view_items(self.items, places, transcription_filler(view, self.items))
        return view
