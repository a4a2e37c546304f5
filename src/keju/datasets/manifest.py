"""The files of a DATASET beside its items and images: dataset.json, and the definitions.

::

    DATASET/  dataset.json               `DatasetManifest`, with the hash of items and images
              benchmark.toml             the definition of its only benchmark, or
              benchmarks/NAME.toml       those of several

Bundled benchmarks are not stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import field

from keju.datasets.table import as_stored
from keju.definitions import definition_texts, register_definition
from keju.definitions.registry import FILE
from keju.errors import DataError
from keju.files import toml_text, write_atomic
from keju.items import Item, Record

FORMAT = "keju-dataset-1"
MANIFEST = "dataset.json"
ITEMS = "items.parquet"
PARTITIONED = "items"
"""The directory of the parts of a partitioned table of items."""
IMAGES = "images"
UNFINISHED = ".unfinished"
"""A marker file in a dataset that is being written, or was not finished."""
DEFINITIONS = "benchmarks"
"""The directory of the definitions in a dataset with items of several benchmarks."""
_MOST = 100


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
    """The path of a dataset's items: the directory of its parts, or items.parquet."""
    parts = folder / PARTITIONED
    return parts if parts.is_dir() and not (folder / ITEMS).exists() else folder / ITEMS


def items_hash(items: Iterable[Item]) -> str:
    """SHA-256 over the items in their order, each as canonical JSON with its images' hashes."""
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


def know_stored(folder: Path) -> None:
    """Load and register the definitions in a directory, at most 100."""
    for path in _files(folder):
        register_definition(toml_text(path, "not a benchmark definition"), str(path))


def write_definitions(folder: Path, benchmarks: Iterable[str]) -> None:
    """Store the definitions of the benchmarks of these names, except bundled ones."""
    for path in _files(folder):
        path.unlink()
    texts = definition_texts(benchmarks)
    for name, text in texts.items():
        write_atomic(folder / (FILE if len(texts) == 1 else f"{DEFINITIONS}/{name}.toml"), text)


def _files(folder: Path) -> Iterator[Path]:
    if (folder / FILE).exists():
        yield folder / FILE
    files = sorted(islice((folder / DEFINITIONS).glob("*.toml"), _MOST + 1))
    if len(files) > _MOST:
        raise DataError("more than {} definitions", _MOST, file=folder / DEFINITIONS)
    yield from files
