"""`RecordList`, `StoredItems`: lists in a temporary file once they are long; `LazyList`."""

from __future__ import annotations

import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TypeVar, overload

import msgspec
import numpy as np

from keju.files import read_at
from keju.items import Item, Response, Score

T = TypeVar("T")

MOST_IN_MEMORY = 10_000
"""Records up to which a list is kept in memory."""

_BUFFER = 1 << 20
"""Bytes that are collected before they are written, and that are read at a time."""


class RecordList(Sequence[T]):
    """A list of records of the type `shape` to which records are only appended.

    Up to `most` records (default `MOST_IN_MEMORY`) are in memory as they are. A longer list is
    encoded in a temporary file in the directory of `tempfile`, which the system removes with the
    process, and each access decodes a new record; 8 bytes of memory are used per record. What is
    read back has the field types of `shape` (an int in a float field is a float).
    """

    def __init__(
        self, shape: type[T], records: Iterable[T] = (), *, most: int | None = None
    ) -> None:
        self._most = MOST_IN_MEMORY if most is None else most
        iterator = iter(records)
        self._records = list(islice(iterator, self._most))
        self._file: IO[bytes] | None = None
        self._ends = array("q")
        self._decoder: msgspec.msgpack.Decoder[T] = msgspec.msgpack.Decoder(shape)
        for record in iterator:
            self.append(record)

    def append(self, record: T) -> None:
        """Add a record at the end."""
        if self._file is None:
            self._records.append(record)
            if len(self._records) <= self._most:
                return
            self._file = tempfile.TemporaryFile(buffering=_BUFFER)  # noqa: SIM115 - ends with it
            moved, self._records = self._records, []
        else:
            moved = [record]
        for moving in moved:
            size = self._file.write(msgspec.msgpack.encode(moving))
            self._ends.append(self._start(len(self._ends)) + size)

    def __len__(self) -> int:
        return len(self._records) or len(self._ends)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if self._file is None:
            return self._records[place]
        places = range(len(self._ends))[place]
        if not isinstance(places, int):
            return [self[index] for index in places]
        data = self._read(self._start(places), self._ends[places])
        return self._decoder.decode(data)

    def __iter__(self) -> Iterator[T]:
        if self._file is None:
            yield from self._records
            return
        total, first = len(self), 0
        while first < total:
            start = self._start(first)
            last = min(total, max(first + 1, bisect_right(self._ends, start + _BUFFER, first)))
            data = memoryview(self._read(start, self._ends[last - 1]))
            for place in range(first, last):
                end = self._ends[place]
                yield self._decoder.decode(data[self._start(place) - start : end - start])
            first = last

    def _start(self, place: int) -> int:
        return self._ends[place - 1] if place else 0

    def _read(self, start: int, end: int) -> bytes:
        assert self._file is not None
        # A read at a position does not see what is still in the buffer.
        self._file.flush()
        return read_at(self._file, end - start, start)


class StoredItems(RecordList[Item]):
    """Items in their order, found by task, query and id.

    A long list is on disk (`RecordList`); 20 bytes of memory are used per item. Where an id is
    repeated in a query, the last item counts.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self.tasks: set[str] = set()
        """The tasks of the items."""
        # Python's hashes of (task, query, id) take a tenth of the memory of a dictionary of ids.
        hashes = array("q")
        super().__init__(Item)
        for item in items:
            self.tasks.add(item.task)
            hashes.append(hash((item.task, item.query, item.id)))
            self.append(item)
        ordered = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(ordered, kind="stable")
        self._hashes = array("q", ordered[order].tobytes())
        self._places = array("I", order.astype(np.uint32).tobytes())

    def place_of(self, record: Response | Score) -> int | None:
        """The place of the item of a response or score; None where there is none."""
        return self._find(record)[0]

    def item_of(self, record: Response | Score) -> Item | None:
        """The item of a response or score; None where there is none."""
        return self._find(record)[1]

    def _find(self, record: Response | Score) -> tuple[int, Item] | tuple[None, None]:
        name = record.task, record.query, record.item
        index = bisect_right(self._hashes, hash(name)) - 1
        while index >= 0 and self._hashes[index] == hash(name):
            item = self[place := self._places[index]]
            # Two names can have one hash.
            if (item.task, item.query, item.id) == name:
                return place, item
            index -= 1
        return None, None


class LazyList(Sequence[T]):
    """A list of `length` elements, each of which `make` makes from its index at each access."""

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
        places = range(self._length)[place]
        return self._make(places) if isinstance(places, int) else [*map(self._make, places)]
