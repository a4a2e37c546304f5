"""`Writer`: the declaration of a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from keju.datasets.store import Dataset
from keju.errors import DataError
from keju.files import write_atomic
from keju.items import ImageRef

Write = Callable[[Dataset, Path], Iterable[str]]
"""Writes the items of a dataset into a directory; returns notes for the user, one line each."""


class Writer(NamedTuple):
    """An export format; `layout` describes the written files."""

    name: str
    what: str
    layout: str
    write: Write


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
