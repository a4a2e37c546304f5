"""`RecordList`, `StoredItems`: lists in a temporary file once they are long; `LazyList`."""

from __future__ import annotations

import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import msgspec

from keju.files import read_at
from keju.items import Item, Response, Score

T = TypeVar("T")

MOST_IN_MEMORY = 10_000
"""Records up to which a list is kept in memory."""

_BUFFER = 1 << 20
"""Bytes that are collected before they are written, and that are read at a time."""


class RecordList(Sequence[T], Generic[T]):
    """A list of records to which records are only appended.

    Up to `most` records are in memory as they are. A longer list is encoded in a temporary file in
    the directory of `tempfile`, which the system removes with the process, and each access decodes
    a new record; 8 bytes of memory are used per record. Records must be of the type `shape`:
    what is read back has its field types (an int in a float field is a float).

    Args:
        shape: the type of the records.
        records: the first records.
        most: the number of records up to which the list is in memory (default `MOST_IN_MEMORY`).
    """

    def __init__(
        self, shape: type[T], records: Iterable[T] = (), *, most: int | None = None
    ) -> None:
        self._most = MOST_IN_MEMORY if most is None else most
        self._records: list[T] = []
        self._ends = array("q")
        self._waiting = bytearray()
        self._written = 0
        self._file: Any = None
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[T] = msgspec.msgpack.Decoder(shape)
        for record in records:
            self.append(record)

    def append(self, record: T) -> None:
        """Add a record at the end."""
        if self._file is None and len(self._records) < self._most:
            self._records.append(record)
            return
        moved = [record]
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the list
            moved, self._records = [*self._records, record], []
        for moving in moved:
            self._waiting += self._encoder.encode(moving)
            self._ends.append(self._written + len(self._waiting))
            if len(self._waiting) >= _BUFFER:
                self._flush()

    def extend(self, records: Iterable[T]) -> None:
        """Add records at the end."""
        for record in records:
            self.append(record)

    def __len__(self) -> int:
        return len(self._records) if self._file is None else len(self._ends)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if self._file is None:
            return self._records[place]
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        start, end = self._start(place), self._ends[place]
        if end > self._written:
            self._flush()
        return self._decoder.decode(read_at(self._file, end - start, start))

    def __iter__(self) -> Iterator[T]:
        return iter(self._records) if self._file is None else self._read()

    def _read(self) -> Iterator[T]:
        self._flush()
        total, place = len(self), 0
        while place < total:
            start = self._start(place)
            last = min(total, max(place + 1, bisect_right(self._ends, start + _BUFFER, place)))
            data = memoryview(read_at(self._file, self._ends[last - 1] - start, start))
            for at in range(place, last):
                yield self._decoder.decode(data[self._start(at) - start : self._ends[at] - start])
            place = last

    def _start(self, place: int) -> int:
        return self._ends[place - 1] if place else 0

    def _flush(self) -> None:
        while self._waiting:
            # The system may take only a part, as of a disk that is nearly full.
            written = self._file.write(self._waiting)
            self._written += written
            del self._waiting[:written]


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

    @property
    def tasks(self) -> set[str]:
        """The tasks of the items."""
        return {task for task, _ in self._places}

    def place_of(self, record: Response | Score) -> int | None:
        """The place of the item of a response or score; None where there is none."""
        return self._places.get((record.task, record.query), {}).get(record.item)

    def item_of(self, record: Response | Score) -> Item | None:
        """The item of a response or score; None where there is none."""
        place = self.place_of(record)
        return None if place is None else self[place]


class LazyList(Sequence[T]):
    """A list of which an element is made at each access."""

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        found = range(self._length)[place]
        return self._make(found) if isinstance(found, int) else [self._make(each) for each in found]
