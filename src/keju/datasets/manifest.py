"""`DatasetManifest`: the content of dataset.json, with the hash of items and images."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import field

from keju.datasets.table import as_stored
from keju.errors import DataError
from keju.items import Item, Record

FORMAT = "keju-dataset-1"

MANIFEST = "dataset.json"
ITEMS = "items.parquet"
PARTITIONED = "items"
"""The directory of the parts of a partitioned table of items."""
IMAGES = "images"
UNFINISHED = ".unfinished"
"""A marker file in a dataset that is being written, or was not finished."""


class DatasetManifest(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The content of dataset.json.

    `hash` is `items_hash` of the items, which also covers their images. `licence` and `source` may
    be `UNKNOWN`, but then no release can be made. `synthetic` marks material made by a program.
    `language` and `script` are BCP 47 and ISO 15924 codes where they are known, e.g. ``lzh`` and
    ``Hant``. `items`, `images` and `tasks` are counts, the last by task. `made` says how the
    dataset was made: the source format, random draws with their seeds, and what its groups are.
    """

    format: str
    name: str
    version: str
    licence: str
    source: str
    hash: str
    synthetic: bool = False
    language: str = ""
    script: str = ""
    items: int = 0
    images: int = 0
    tasks: dict[str, int] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """The word for a group, e.g. a column of the source; empty where it is not recorded."""
        return self.made.get("unit", "")


def find_items(folder: Path) -> Path:
    """The path of a dataset's items: items.parquet, or the directory of its parts.

    It is items.parquet where there is neither.
    """
    parts = folder / PARTITIONED
    return parts if parts.is_dir() and not (folder / ITEMS).exists() else folder / ITEMS


def items_hash(items: Iterable[Item]) -> str:
    """SHA-256 over the items in their order, each as canonical JSON with its images' hashes.

    Raises:
        DataError: an item contains something that cannot be stored.
    """
    digest = hashlib.sha256(HASHED_HEAD)
    for item in items:
        digest.update(hashed_line(as_stored(item)))
    return digest.hexdigest()


HASHED_HEAD = f"{FORMAT}\n".encode()
"""The bytes that the hash of a dataset's items covers before the first item."""


def hashed_line(item: Item) -> bytes:
    """The bytes of an item, as it is stored, that the hash of the items covers."""
    return msgspec.json.encode(item, order="deterministic") + b"\n"


def altered(path: Path | str) -> DataError:
    """An error that an image is not the one that its dataset was made with."""
    return DataError(
        "the image is not the one that was imported (size or SHA-256 differs)",
        file=path,
        hint="Put the original back, or import the dataset again",
    )
