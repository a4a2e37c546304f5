"""`DatasetWriter`: writes a DATASET directory, which counts as a dataset only when complete."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path

from filelock import FileLock
from msgspec.structs import replace

from keju.datasets.import_log import count
from keju.datasets.manifest import (
    FORMAT,
    HASHED_HEAD,
    IMAGES,
    ITEMS,
    MANIFEST,
    PARTITIONED,
    UNFINISHED,
    DatasetManifest,
    altered,
    hashed_line,
    write_definitions,
)
from keju.datasets.table import BATCH_ROWS, TableWriter
from keju.definitions import UnitCounter, Units
from keju.errors import DataError, UsageError
from keju.files import locked_file, replace_file, sha256_bytes, write_json
from keju.images import probe_image
from keju.items import ImageRef, Item
from keju.local_paths import check_local
from keju.texts import _

_PARTITION_ITEMS: ContextVar[int] = ContextVar("items of a part", default=0)

PLUGINS = "plugins"
"""The key of `DatasetManifest.made` with the plug-ins that were used."""


def plugins_in(manifest: DatasetManifest) -> list[str]:
    """The plug-ins that were used to make a dataset, as text."""
    return list(filter(None, manifest.made.get(PLUGINS, "").split(", ")))


@contextmanager
def partitioning(items: int) -> Iterator[None]:
    """Write the datasets of the block with parts of at most `items` items; 0 writes one table."""
    if items < 0:
        raise UsageError("--partition-items is {}, expected 0 (one table) or more", items)
    token = _PARTITION_ITEMS.set(items)
    try:
        yield
    finally:
        _PARTITION_ITEMS.reset(token)


class DatasetWriter(AbstractContextManager["DatasetWriter"]):
    """Writes a dataset into a directory, which is not a dataset until `close`.

    Used as a context manager it closes on success. After an error or a crash the directory contains
    an unfinished dataset, which the next writer replaces. `licence` and `source` may be `UNKNOWN`.
    `language` is a BCP 47 code such as ``lzh``, `script` an ISO 15924 code such as ``Hant``.

    Items and images that are not as a method needs them raise `DataError`.

    Raises:
        UsageError: name, version, licence or source is empty, the directory contains something
            else, or is an address.
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
        for word in ("name", "version", "licence", "source"):
            if not getattr(self._manifest, word).strip():
                raise UsageError("{0}: a dataset needs its {1}. Give it with --{1}", path, word)
        self.path = path
        self.licence, self.source = licence, source
        self._ids: set[str] = set()
        self._tasks: Counter[str] = Counter()
        self._benchmarks: set[str] = set()
        self._units = UnitCounter()
        self._used_images: set[str] = set()
        self._refs: dict[str, ImageRef] = {}
        self._made: dict[str, str] = {}
        self._lock = _take_folder(path)
        self._items = items_writer(path)
        self._digest = hashlib.sha256(HASHED_HEAD)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self.abandon() if kind else self.close()

    def add_image(self, data: bytes, name: str) -> ImageRef:
        """Store a valid image byte for byte, the same bytes once; `name` is for errors."""
        sha256 = sha256_bytes(data)
        if known := self._refs.get(sha256):
            return known
        facts = probe_image(data, name=name)
        inside = f"{IMAGES}/{sha256}.{facts.format}"
        _store(self.path / inside, data)
        ref = ImageRef(
            path=inside, sha256=sha256, width=facts.width, height=facts.height, size=len(data)
        )
        self._refs[sha256] = ref
        count(images=1)
        return ref

    def has_image(self, ref: ImageRef) -> bool:
        """Whether this image was added."""
        return self._refs.get(ref.sha256) == ref

    def link_image(self, path: Path, ref: ImageRef, *, copy: bool = False) -> None:
        """Add a valid image that exists elsewhere on this disk, without decoding it again.

        The file, which must have the size in `ref`, is linked where the disk supports it, so it
        must not be changed in place; files that others may change are copied.
        """
        target = self.path / ref.path
        try:
            if path.stat().st_size != ref.size:
                raise altered(path)
            target.parent.mkdir(exist_ok=True)
            target.unlink(missing_ok=True)
            if copy or not _linked(target, path):
                _store(target, path.read_bytes())
        except OSError as error:
            file, reason = path, error.strerror or error
            problem = _("image not readable: {}", reason, hint="Build it again")
            if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}:
                file, hint = target, _("Free disk space and build again: finished work is kept")
                problem = _("an image cannot be written: {}", reason, hint=hint)
            raise DataError(problem, file=file) from None
        self._refs[ref.sha256] = ref

    def add(self, item: Item) -> None:
        """Add an item with an id of its own; its images must have been added before.

        Only a batch of items is in memory; of the others, their ids.
        """
        if not item.id:
            raise DataError("an item without an id", hint="Give every item an id")
        if item.id in self._ids:
            raise DataError(
                "two items have this id", item=item.id, hint="Give every item its own id"
            )
        if not all(map(self.has_image, item.images)):
            raise DataError("an image that was not added", file=self.path, item=item.id)
        self._digest.update(hashed_line(self._items.add(item)))
        self._ids.add(item.id)
        self._tasks[item.task] += 1
        self._benchmarks.add(item.benchmark)
        self._units.add(item)
        self._used_images.update(ref.path for ref in item.images)
        count(items=1)

    def resemble(self, other: DatasetManifest) -> None:
        """Copy language, script and how another dataset was made, where they are not set."""
        self._manifest = replace(
            self._manifest,
            synthetic=self._manifest.synthetic or other.synthetic,
            language=self._manifest.language or other.language,
            script=self._manifest.script or other.script,
        )
        self._made = {**other.made, **self._made}

    def declare(self, **facts: str) -> None:
        """Record in dataset.json how the dataset is made."""
        self._made |= facts

    def declare_plugins(self, plugins: Iterable[object]) -> None:
        """Record plug-ins that were used to make the dataset, after those recorded before."""
        names = [*self._made.get(PLUGINS, "").split(", "), *map(str, plugins)]
        if any(names):
            self._made[PLUGINS] = ", ".join(dict.fromkeys(filter(None, names)))

    def units(self) -> Units:
        """The units of independence of the items that were added."""
        return self._units.units(self._made.get("unit", ""))

    def close(self) -> DatasetManifest:
        """Write the items, drop images that no item uses, and write dataset.json."""
        try:
            if not self._ids:
                raise DataError("no items: nothing to write", file=self.path)
            for path in (self.path / IMAGES).glob("*"):
                if f"{IMAGES}/{path.name}" not in self._used_images:
                    path.unlink()
            self._items.close()
            manifest = replace(
                self._manifest,
                hash=self._digest.hexdigest(),
                items=len(self._ids),
                images=len(self._used_images),
                tasks=dict(sorted(self._tasks.items())),
                made=dict(self._made),
            )
            write_definitions(self.path, self._benchmarks)
            write_json(self.path / MANIFEST, manifest)
        finally:
            self.abandon()
        (self.path / UNFINISHED).unlink(missing_ok=True)
        return manifest

    def abandon(self) -> None:
        """Stop writing; the directory remains an unfinished dataset."""
        self._items.abandon()
        self._lock.release()
        if not any(path.name != UNFINISHED for path in self.path.iterdir()):
            (self.path / UNFINISHED).unlink(missing_ok=True)


def items_writer(folder: Path, *, rows: int = BATCH_ROWS) -> TableWriter:
    """A writer of the items of a dataset, in parts as `partitioning` says.

    The items of an earlier unfinished dataset are removed. A row group has at most `rows` rows.
    """
    shutil.rmtree(folder / PARTITIONED, ignore_errors=True)
    for path in (folder / ITEMS, *folder.glob(f".{ITEMS}.*")):
        path.unlink(missing_ok=True)
    part_rows = _PARTITION_ITEMS.get()
    table = folder / (PARTITIONED if part_rows else ITEMS)
    return TableWriter(table, rows=rows, part_rows=part_rows)


def begin_with_images(path: Path, earlier: Path) -> None:
    """Begin an unfinished dataset with the images of an earlier one, linked where possible.

    A `DatasetWriter` of this directory then writes only the other images, and drops those that no
    item shows. `path` must not exist yet; `earlier` is on the same disk, or nothing is linked.
    """
    images = path / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    (path / UNFINISHED).touch()
    for image in (earlier / IMAGES).glob("*"):
        if not _linked(images / image.name, image):
            return


def _take_folder(path: Path) -> FileLock:
    check_local(path)
    marker = path / UNFINISHED
    if path.exists() and not path.is_dir():
        raise UsageError("{}: not a folder. Choose another --out", path)
    if (path / MANIFEST).exists():
        raise UsageError("{}: already contains a dataset. Choose another --out, or remove it", path)
    if path.is_dir() and not marker.exists() and any(path.iterdir()):
        raise UsageError("{}: the folder is not empty. Choose another --out", path)
    path.mkdir(parents=True, exist_ok=True)
    return locked_file(
        marker, busy=_("{}: another import is writing there. Wait for it to end", path)
    )


def _store(path: Path, data: bytes) -> None:
    """Write an image; it gets its final name when complete. No fsync: the hash detects damage."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(data)
    replace_file(partial, path)


def _linked(target: Path, path: Path) -> bool:
    try:
        target.hardlink_to(path)
    except OSError:  # The disk does not support it.
        return False
    return True
