"""`RemoteDataset`: the files of a dataset in an object store, fetched when they are needed.

dataset.json, the definitions and the items are copied into the cache; images are fetched one by
one, and tables of images are read in place. What is missing, damaged or altered, and a store that
answers with an error, raises `DataError`.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from keju.datasets.manifest import DEFINITIONS, ITEMS, MANIFEST, PARTITIONED, altered
from keju.datasets.packed import TABLES, Packed
from keju.definitions.registry import FILE
from keju.errors import UsageError
from keju.files import sha256_file, write_atomic
from keju.items import ImageRef
from keju.object_stores import (
    FileCache,
    MissingObjectError,
    ObjectFolder,
    cache_folder,
    parse_address,
)


class RemoteDataset:
    """The files of a dataset at an address such as ``s3://BUCKET/PREFIX``.

    Attributes:
        folder: the objects at the address.
        path: the folder of the cache with dataset.json, definitions and items.

    Raises:
        UsageError: the address is not valid, or there is no dataset.
    """

    def __init__(self, address: Path | str) -> None:
        self.folder = ObjectFolder(parse_address(address))
        self._cache = FileCache()
        try:
            manifest = self.folder.read(MANIFEST)
        except MissingObjectError:
            raise UsageError(
                "{}: there is no dataset (no object {})", self.folder, MANIFEST
            ) from None
        mark = hashlib.sha256(f"{self.folder}\n".encode() + manifest).hexdigest()
        self.path = cache_folder() / "datasets" / mark
        table = self.folder.find(ITEMS)
        parts = [table] if table else self.folder.list(PARTITIONED)
        self._items = {part.name: part.size for part in parts}
        self._tables: list[str] = []
        while self.folder.find(name := TABLES.replace("*", f"{len(self._tables):05d}")):
            self._tables.append(name)
        names = [FILE] if self.folder.find(FILE) else []
        names += [file.name for file in self.folder.list(DEFINITIONS)]
        for name in names:
            if ".." not in name.split("/"):
                self.folder.download(name, self.path / name)
        write_atomic(self.path / MANIFEST, manifest)

    def fetch_items(self) -> None:
        """Copy the items into the cache, unless they are there."""
        for name, size in self._items.items():
            path = self.path / name
            try:
                os.utime(path)  # The time of its last use.
                is_whole = path.stat().st_size == size
            except OSError:
                is_whole = False
            if not is_whole and ".." not in name.split("/"):
                self.folder.download(name, path)

    def image_path(self, ref: ImageRef) -> Path:
        """The file of an image in the cache, fetched if it is not there."""

        def fetch(path: Path) -> None:
            self.folder.download(ref.path, path)
            if path.stat().st_size != ref.size or sha256_file(path) != ref.sha256:
                path.unlink(missing_ok=True)
                raise altered(f"{self.folder}/{ref.path}")

        return self._cache.get(f"sha256:{ref.sha256}", fetch)

    def image_bytes(self, ref: ImageRef) -> bytes:
        """The bytes of an image."""
        for _ in range(2):
            path = self.image_path(ref)
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue  # Another process removed it from the cache.
            if hashlib.sha256(data).hexdigest() == ref.sha256:
                return data
            path.unlink(missing_ok=True)
        raise altered(f"{self.folder}/{ref.path}")

    def packed(self) -> Packed | tuple[()]:
        """The tables of images, read in place; empty where images are separate objects."""
        if not self._tables:
            return ()
        names = [f"{self.folder}/{name}" for name in self._tables]
        files = [self.folder.open(name) for name in self._tables]
        return Packed(self.path, list(zip(names, files, strict=True)))
