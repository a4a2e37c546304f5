"""A DATASET folder on disk: its manifest, its items, its images.

::

    DATASET/  dataset.json · items.parquet · images/<sha256>.<ext>

A released dataset has its images in tables instead, ``images-00000.parquet`` and so on (`packed`).
Images are stored byte for byte as they came, because those bytes are what models are sent.
dataset.json is written last: a folder without it is not a dataset.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import TracebackType

import msgspec
from filelock import FileLock, Timeout
from msgspec import field

from keju.datasets.packed import Packed
from keju.datasets.table import (
    ItemTable,
    as_stored,
    copy_items,
    iter_items,
    read_ids,
    read_items,
    write_items,
)
from keju.errors import DataError, UsageError
from keju.files import read_json, sha256_bytes, write_json
from keju.images import probe_image
from keju.items import ImageRef, Item, Record

FORMAT = "keju-dataset-1"

_MANIFEST = "dataset.json"
_ITEMS = "items.parquet"
_IMAGES = "images"
_UNFINISHED = ".unfinished"

__all__ = [
    "FORMAT",
    "Dataset",
    "DatasetManifest",
    "DatasetWriter",
    "copy_items",
    "items_hash",
    "read_ids",
    "read_items",
    "write_items",
]


class DatasetManifest(Record, frozen=True, kw_only=True, omit_defaults=False):
    """What dataset.json says.

    `hash` is `items_hash` of the items, which also pins every image they show. `licence` and
    `source` are mandatory. `synthetic` marks material made by a program. `language` and `script`
    are BCP 47 and ISO 15924 codes where they are known, e.g. ``lzh`` and ``Hant``. `items`,
    `images` and `tasks` are counts, the last by task. `made` says how the dataset was made: the
    format that it was read from, and what was drawn, with which seed.
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


def items_hash(items: Iterable[Item]) -> str:
    """SHA-256 over the items in their order, each as canonical JSON with its images' hashes.

    Raises:
        DataError: an item holds something that cannot be stored.
    """
    digest = _Digest()
    for item in items:
        digest.add(as_stored(item))
    return digest.hash


class _Digest:
    """The hash of items that are taken in one by one, each as it is stored."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256(f"{FORMAT}\n".encode())

    def add(self, item: Item) -> None:
        self._sha256.update(msgspec.json.encode(item, order="deterministic") + b"\n")

    @property
    def hash(self) -> str:
        return self._sha256.hexdigest()


class Dataset:
    """A finished dataset, open for reading."""

    def __init__(self, path: Path, manifest: DatasetManifest) -> None:
        self.path = path
        self.manifest = manifest
        self._root = path.resolve()

    @classmethod
    def open(cls, path: Path) -> Dataset:
        """Open the dataset in a folder.

        Raises:
            UsageError: there is no dataset at that path.
            DataError: dataset.json is damaged or of another format.
        """
        file = path / _MANIFEST
        if not file.is_file():
            why = "an import that did not finish" if (path / _UNFINISHED).exists() else "no dataset"
            raise UsageError(
                f"{path}: {why} (no {_MANIFEST}). "
                f"Make one with: keju data import FORMAT SRC --out {path}"
            )
        manifest = read_json(file, DatasetManifest)
        if manifest.format != FORMAT:
            raise DataError(
                f"format {manifest.format!r}, but this keju reads {FORMAT!r}",
                file=file,
                mend="Use the keju version that wrote it",
            )
        return cls(path, manifest)

    @property
    def items_path(self) -> Path:
        """Where the items lie."""
        return self.path / _ITEMS

    @property
    def images_dir(self) -> Path:
        """Where the images lie."""
        return self.path / _IMAGES

    def items(self, keep: Callable[[Item], Item] | None = None) -> list[Item]:
        """The items, in their order.

        Args:
            keep: makes of each item what is kept of it, so that whoever needs little of many holds
                no more.

        Raises:
            DataError: items.parquet is missing, damaged, or not the one dataset.json describes.
        """
        digest, items = _Digest(), list[Item]()
        for item in iter_items(self.items_path):
            digest.add(item)
            items.append(keep(item) if keep else item)
        if digest.hash != self.manifest.hash:
            raise DataError(
                f"the items are not those that {_MANIFEST} describes (their hash differs)",
                file=self.items_path,
                mend="Import the dataset again",
            )
        return items

    def item(self, name: str) -> Item:
        """One item, without reading the others; its hash is not checked.

        Raises:
            DataError: there is no such item, or the table is damaged.
        """
        return self._table.item(name)

    @cached_property
    def _table(self) -> ItemTable:
        return ItemTable(self.items_path)

    @cached_property
    def packed(self) -> Packed:
        """The images that lie in tables; false where they are files of their own.

        Raises:
            DataError: a table is damaged.
        """
        return Packed(self.path)

    def image_path(self, ref: ImageRef) -> Path:
        """Where an image lies that is a file of its own; never outside the dataset.

        Raises:
            DataError: the path leaves the dataset, by ``..``, as an absolute path or by a link.
        """
        plain = PurePosixPath(ref.path)
        unsafe = plain.is_absolute() or not plain.parts or ".." in plain.parts
        if not unsafe and not any(mark in ref.path for mark in ("\\", "\0", ":")):
            path = self.path / plain
            try:
                if path.resolve().is_relative_to(self._root):
                    return path
            except (OSError, RuntimeError):
                pass
        raise DataError(
            "the path of an image must stay inside the dataset",
            file=self.path,
            item=repr(ref.path),
            mend="Import the dataset again",
        )

    def image_bytes(self, ref: ImageRef) -> bytes:
        """The bytes of an image, which are those that were imported.

        Raises:
            DataError: the image is missing, or is not the one that the item was made with.
        """
        if ref.path in self.packed:
            data = self.packed.image_bytes(ref.path)
            if sha256_bytes(data) != ref.sha256:
                raise _altered(self.path / ref.path)
            return data
        path = self.image_path(ref)
        try:
            if path.stat().st_size != ref.size:
                raise _altered(path)
            data = path.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(
                f"image not readable: {reason}", file=path, mend="Import the dataset again"
            ) from None
        if sha256_bytes(data) != ref.sha256:
            raise _altered(path)
        return data


def _altered(path: Path) -> DataError:
    return DataError(
        "the image is not the one that was imported (size or SHA-256 differs)",
        file=path,
        mend="Put the original back, or import the dataset again",
    )


class DatasetWriter:
    """Writes a dataset into a folder; nothing there counts as a dataset until `close`.

    Used as a context manager it closes on success. After an error or a crash the folder holds an
    unfinished dataset, which the next writer takes over.

    Args:
        path: the folder; new, empty, or an unfinished dataset.
        name: the dataset's name.
        version: its version.
        licence: under which it may be used, e.g. ``CC0-1.0``; mandatory.
        source: where it comes from; mandatory.
        synthetic: made by a program.
        language: BCP 47 code, e.g. ``lzh``.
        script: ISO 15924 code, e.g. ``Hant``.

    Raises:
        UsageError: name, version, licence or source is empty, or the folder holds something else.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        version: str,
        licence: str,
        source: str,
        synthetic: bool = False,
        language: str = "",
        script: str = "",
    ) -> None:
        for word, value in {
            "name": name, "version": version, "licence": licence, "source": source,
        }.items():  # fmt: skip
            if not value.strip():
                raise UsageError(f"{path}: a dataset needs its {word}. Give it with --{word}")
        self.path = path
        self._manifest = DatasetManifest(
            format=FORMAT,
            name=name,
            version=version,
            licence=licence,
            source=source,
            hash="",
            synthetic=synthetic,
            language=language,
            script=script,
        )
        self._items: dict[str, Item] = {}
        self._refs: dict[str, ImageRef] = {}
        self._made: dict[str, str] = {}
        self._lock = _take_folder(path)

    def __enter__(self) -> DatasetWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def add_image(self, data: bytes, name: str) -> ImageRef:
        """Store an image byte for byte; the same bytes are stored once.

        Args:
            data: the bytes of the file.
            name: what an error calls it.

        Raises:
            DataError: it is not a sound image.
        """
        sha256 = sha256_bytes(data)
        if known := self._refs.get(sha256):
            return known
        facts = probe_image(data, name=name)
        inside = f"{_IMAGES}/{sha256}.{facts.format}"
        _store(self.path / inside, data)
        ref = ImageRef(
            path=inside, sha256=sha256, width=facts.width, height=facts.height, size=len(data)
        )
        self._refs[sha256] = ref
        return ref

    def has_image(self, ref: ImageRef) -> bool:
        """Whether this image was added."""
        return self._refs.get(ref.sha256) == ref

    def link_image(self, path: Path, ref: ImageRef, *, copy: bool = False) -> ImageRef:
        """Take over a sound image that lies elsewhere on this disk, without decoding it again.

        The file is linked where the disk can do so, so that nobody may change it in place; what
        others may change is copied.

        Raises:
            DataError: it is missing, or of another size than `ref` says.
        """
        target = self.path / ref.path
        try:
            found = path.stat().st_size
            if found != ref.size:
                raise _altered(path)
            target.parent.mkdir(exist_ok=True)
            target.unlink(missing_ok=True)
            try:
                if copy:
                    raise OSError
                target.hardlink_to(path)
            except OSError:
                _store(target, path.read_bytes())
        except OSError as error:
            raise DataError(
                f"image not readable: {error.strerror or error}", file=path, mend="Build it again"
            ) from None
        self._refs[ref.sha256] = ref
        return ref

    def add(self, item: Item) -> None:
        """Add an item; its images must have been added before.

        Raises:
            DataError: its id is empty or taken, or an image of it was not added.
        """
        if not item.id:
            raise DataError("an item without an id", mend="Give every item an id")
        if item.id in self._items:
            raise DataError("two items have this id", item=item.id, mend="Tell them apart")
        for ref in item.images:
            if self._refs.get(ref.sha256) != ref:
                raise DataError("an image that was not added", file=self.path, item=item.id)
        self._items[item.id] = item

    def resemble(self, other: DatasetManifest) -> None:
        """Say of this dataset what another says of itself, where nothing else was said.

        That is its language and script, whether a program made it, and how it was made.
        """
        self._manifest = msgspec.structs.replace(
            self._manifest,
            synthetic=self._manifest.synthetic or other.synthetic,
            language=self._manifest.language or other.language,
            script=self._manifest.script or other.script,
        )
        self._made = {**other.made, **self._made}

    def declare(self, **facts: str) -> None:
        """Say in dataset.json how the dataset is made."""
        self._made |= facts

    def close(self) -> DatasetManifest:
        """Write the items, drop images that no item shows, and write dataset.json.

        Raises:
            DataError: there are no items, or one of them cannot be written.
        """
        try:
            manifest = self._finish()
        finally:
            self.abandon()
        (self.path / _UNFINISHED).unlink(missing_ok=True)
        return manifest

    def abandon(self) -> None:
        """Stop writing; the folder stays an unfinished dataset."""
        self._lock.release()
        if not any(path.name != _UNFINISHED for path in self.path.iterdir()):
            (self.path / _UNFINISHED).unlink(missing_ok=True)

    def _finish(self) -> DatasetManifest:
        if not self._items:
            raise DataError("no items: nothing to write", file=self.path)
        items = list(self._items.values())
        shown = {ref.path for item in items for ref in item.images}
        for path in (self.path / _IMAGES).glob("*"):
            if f"{_IMAGES}/{path.name}" not in shown:
                path.unlink()
        write_items(self.path / _ITEMS, items)
        manifest = msgspec.structs.replace(
            self._manifest,
            hash=items_hash(items),
            items=len(items),
            images=len(shown),
            tasks=dict(sorted(Counter(item.task for item in items).items())),
            made=dict(self._made),
        )
        write_json(self.path / _MANIFEST, manifest)
        return manifest


def _take_folder(path: Path) -> FileLock:
    marker = path / _UNFINISHED
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: not a folder. Choose another --out")
    if (path / _MANIFEST).exists():
        raise UsageError(f"{path}: already holds a dataset. Choose another --out, or remove it")
    if path.is_dir() and not marker.exists() and any(path.iterdir()):
        raise UsageError(f"{path}: the folder is not empty. Choose another --out")
    path.mkdir(parents=True, exist_ok=True)
    lock = FileLock(marker, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(f"{path}: another import is writing there. Wait for it to end") from None
    return lock


def _store(path: Path, data: bytes) -> None:
    """Write an image under its final name only when it is whole; no fsync, the hash tells."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(path)
