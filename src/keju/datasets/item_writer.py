"""`ItemWriter`: writes the items of a dataset one by one, into one table or into parts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import polars as pl

from keju.datasets.frame_files import FrameWriter, write_frame
from keju.datasets.manifest import ITEMS, PARTITIONED, ItemsDigest
from keju.datasets.parts import BATCH_ROWS, part_name
from keju.datasets.table import as_stored, stored_frame
from keju.errors import UsageError
from keju.items import Item

_PARTITION_ITEMS: ContextVar[int] = ContextVar("items of a part", default=0)


@contextmanager
def partitioning(items: int) -> Iterator[None]:
    """Write the datasets of the block with ``items/part-*.parquet`` in place of items.parquet.

    Args:
        items: maximum items of a part; 0 writes one table.

    Raises:
        UsageError: the number is negative.
    """
    if items < 0:
        raise UsageError("--partition-items is {}, expected 0 (one table) or more", items)
    token = _PARTITION_ITEMS.set(items)
    try:
        yield
    finally:
        _PARTITION_ITEMS.reset(token)


class ItemWriter:
    """Writes the items of a dataset, in parts as `partitioning` says; only a batch is in memory.

    A table, or each of its parts, has its name only when it is complete. A row group
    has at most `rows` rows, or is a batch.

    Attributes:
        count: the number of items added.
    """

    def __init__(self, folder: Path, *, rows: int | None = None) -> None:
        self.count = 0
        self._folder = folder
        self._of_part = _PARTITION_ITEMS.get()
        self._rows = rows
        self._digest = ItemsDigest()
        self._waiting: list[Item] = []
        self._parts = 0
        self._closed = False
        self._file: FrameWriter | None = None

    @property
    def hash(self) -> str:
        """The hash of the items added so far (`items_hash`)."""
        return self._digest.hash

    def add(self, item: Item) -> Item:
        """Add the next item; returns it as it is stored.

        Raises:
            DataError: it contains something that cannot be stored, or the disk is full.
        """
        stored = as_stored(item)
        self._digest.add(stored)
        self._waiting.append(stored)
        self.count += 1
        if len(self._waiting) >= BATCH_ROWS or self._is_part_full():
            self._flush()
        return stored

    def close(self) -> None:
        """Write the rest, and remove the items of an earlier unfinished dataset; once.

        Raises:
            DataError: the files cannot be written.
        """
        if self._closed:
            return
        if self._of_part or self._file:
            self._flush()
            if self._file:
                self._end_file()
        else:
            write_frame(self._folder / ITEMS, self._frame(), self._rows)
        if self._of_part:
            (self._folder / ITEMS).unlink(missing_ok=True)
        else:
            shutil.rmtree(self._folder / PARTITIONED, ignore_errors=True)
        self._waiting = []
        self._closed = True

    def abandon(self) -> None:
        """Remove the incomplete file; finished parts stay until the next writer begins."""
        self._waiting = []
        if self._file:
            self._file.abandon()
            self._file = None

    def _is_part_full(self) -> bool:
        written = self._file.rows if self._file else 0
        return bool(self._of_part) and written + len(self._waiting) >= self._of_part

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._file is None:
            self._remove_leftovers()
            self._file = FrameWriter(self._next_path(), rows=self._rows)
        self._file.write(self._frame())
        self._waiting = []
        if self._is_part_full():
            self._end_file()

    def _frame(self) -> pl.DataFrame:
        return stored_frame(self._folder / ITEMS, self._waiting)

    def _next_path(self) -> Path:
        if not self._of_part:
            return self._folder / ITEMS
        self._parts += 1
        return self._folder / PARTITIONED / part_name(self._parts - 1)

    def _remove_leftovers(self) -> None:
        """Remove the files of an earlier writer, before the first of this one."""
        if not self._parts:
            shutil.rmtree(self._folder / PARTITIONED, ignore_errors=True)
            for partial in self._folder.glob(f".{ITEMS}.*"):
                partial.unlink(missing_ok=True)

    def _end_file(self) -> None:
        assert self._file
        self._file.close()
        self._file = None
