"""`Writer`: the declaration of a writer, and the items that a table of questions can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from keju.datasets.store import Dataset
from keju.definitions import task
from keju.errors import DataError
from keju.files import write_atomic
from keju.items import ImageRef, Item
from keju.texts import _, join_clauses, n_

Write = Callable[[Dataset, Path], Iterable[str]]
"""Writes the items of a dataset into a directory; returns notes for the user, one line each.

It raises `DataError` where nothing can be written, or an image is missing or altered."""


class Writer(NamedTuple):
    """An export format; `layout` describes the written files."""

    name: str
    what: str
    layout: str
    write: Write


class QuestionItems:
    """The items of a dataset that a format with one question in a row supports, read in batches.

    Items of tasks of pairs and items without an image are skipped; `notes` are the notes about
    them, task by task, when an iteration has ended. It raises `DataError` if no item is left.
    """

    def __init__(self, form: str, dataset: Dataset) -> None:
        self._form = form
        self._dataset = dataset
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[Item]:
        skipped: Counter[tuple[str, str]] = Counter()
        for item in self._dataset:
            if task(item.task).of_pairs:
                skipped[item.task, _("a task of pairs, but a row has one question")] += 1
            elif not item.images:
                skipped[item.task, _("without an image")] += 1
            else:
                yield item
        self.notes = [
            n_("skipped {n:,} item of {}: {}", "skipped {n:,} items of {}: {}", count, name, reason)
            for (name, reason), count in sorted(skipped.items())
        ]
        if skipped.total() == len(self._dataset):
            raise DataError(
                "no item can be exported as {}: {}",
                self._form,
                join_clauses(self.notes),
                hint="Choose another format: parquet",
            )


def copy_image(dataset: Dataset, ref: ImageRef, path: Path) -> None:
    """Copy an image of a dataset, byte for byte, unless it exists already."""
    data = dataset.image_bytes(ref)
    if not path.exists():
        write_atomic(path, data)
    elif path.read_bytes() != data:
        raise DataError("two images would have this name", file=path, hint="Rename one of them")
