"""`Writer`: the declaration of a writer, and helpers for items, images and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import write_atomic
from keju.items import ImageRef, Item
from keju.texts import _, join_clauses, n_

Write = Callable[[Dataset, list[Item], Path], Iterable[str]]
"""Writes the items of a dataset into a directory; returns notes for the user, one line each."""


class Writer(NamedTuple):
    """An export format; `layout` describes the written files."""

    name: str
    what: str
    layout: str
    write: Write


class ItemFilter:
    """Separates the items that a format supports from the skipped ones, with reasons.

    `objection` returns why the format does not support an item, or an empty string.
    """

    def __init__(self, form: str, objection: Callable[[Item], str]) -> None:
        self._form = form
        self._objection = objection
        self._left: Counter[tuple[str, str]] = Counter()

    def supported(self, items: Sequence[Item]) -> list[Item]:
        """The items that the format supports.

        Raises:
            DataError: there are none.
        """
        found = []
        for item in items:
            if reason := self._objection(item):
                self._left[item.task, reason] += 1
            else:
                found.append(item)
        if not found:
            notes = list(self.notes())
            why = join_clauses(notes) if notes else _("there are no items")
            raise DataError(
                "no item can be exported as {}: {}",
                self._form,
                why,
                hint="Choose another format: parquet",
            )
        return found

    def notes(self) -> Iterator[str]:
        """The skipped items, task by task."""
        for (task, reason), count in sorted(self._left.items()):
            yield n_(
                "skipped {n:,} item of {}: {}", "skipped {n:,} items of {}: {}", count, task, reason
            )


def copy_image(dataset: Dataset, ref: ImageRef, path: Path) -> None:
    """Copy an image of a dataset, byte for byte, unless it exists already.

    Raises:
        DataError: it is missing or altered, or another one has that name.
    """
    data = dataset.image_bytes(ref)
    if not path.exists():
        write_atomic(path, data)
    elif path.read_bytes() != data:
        raise DataError("two images would have this name", file=path, hint="Rename one of them")
