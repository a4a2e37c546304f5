"""A DATASET directory on disk: its manifest, its items, its images.

::

    DATASET/  dataset.json · items.parquet · images/<sha256>.<ext> · benchmark.toml

A partitioned dataset has the same items in ``items/part-00000.parquet`` and so on (`parts`).
A released dataset has its images in tables instead, ``images-00000.parquet`` and so on (`packed`).
benchmark.toml (`definitions`) exists where the items are of a benchmark that is not bundled. Images
are stored byte for byte, because those bytes are what models are sent. dataset.json is written
last: a directory without it is not a dataset.

What is missing, damaged or altered raises `DataError` when it is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from keju.datasets.manifest import (
    DEFINITIONS,
    FORMAT,
    HASHED_HEAD,
    IMAGES,
    ITEMS,
    MANIFEST,
    PARTITIONED,
    UNFINISHED,
    DatasetManifest,
    altered,
    find_items,
    hashed_line,
    items_hash,
    know_stored,
)
from keju.datasets.packed import TABLES, Packed, table_name
from keju.datasets.table import (
    RowIndex,
    arrow_table,
    index_items,
    item_of,
    iter_items,
    read_items,
    write_items,
)
from keju.datasets.writing import DatasetWriter
from keju.definitions.registry import FILE
from keju.errors import DataError, UsageError
from keju.files import read_json, sha256_bytes, sha256_file, write_atomic
from keju.items import ImageRef, Item
from keju.local_paths import check_local, shell_quoted
from keju.notebook import block, facts, folded, table
from keju.object_stores import (
    FileCache,
    MissingObjectError,
    ObjectFolder,
    StoredObject,
    cache_folder,
    is_address,
    parse_address,
)
from keju.texts import Text, _

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Dataset",
    "DatasetManifest",
    "DatasetWriter",
    "items_hash",
    "read_items",
    "write_items",
]


def _describe_missing(path: Path) -> Text:
    """Why a path is not a dataset directory, and the command that creates one."""
    place = shell_quoted(str(path))
    if (path / "dataset" / MANIFEST).is_file():
        return _(
            "{}: this is the folder of a build, not a dataset. Its dataset is {}",
            path,
            path / "dataset",
        )
    if (path / UNFINISHED).exists():
        return _(
            "{}: the import into this directory did not finish. Run the same keju data import "
            "again, with --out {}",
            path,
            place,
        )
    if not path.exists():
        return _(
            "{}: no such dataset directory. Create the dataset with: keju data import auto SRC "
            "--out {}. The bundled set has the name mini",
            path,
            place,
        )
    return _(
        "{}: not a dataset directory (no dataset.json). Create a dataset from it with: keju data "
        "import auto {} --out {}",
        path,
        place,
        shell_quoted(f"{path.resolve().name}-dataset"),
    )


class Dataset:
    """A finished dataset, open for reading."""

    def __init__(
        self,
        path: Path,
        manifest: DatasetManifest,
        objects: ObjectFolder | None = None,
        folder: Path | None = None,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self._objects = objects
        # Of a dataset at an address the folder in the cache, with all but the images.
        self._folder = folder or path
        self._root = self._folder.resolve()

    @classmethod
    def open(cls, path: Path) -> Dataset:
        """Open the dataset in a directory, and register the benchmarks that it defines.

        `path` is the directory, or an address such as ``s3://BUCKET/PREFIX``. Of a dataset at an
        address the items are copied into the cache, and images are fetched when they are read.

        Raises:
            UsageError: there is no dataset at that path, it is another address, or another
                definition of its benchmark is registered.
            PluginError: a plug-in that a definition names is missing.
        """
        objects, folder = None, path
        if is_address(path):
            objects = ObjectFolder(parse_address(path))
            folder = _fetch_description(objects)
        check_local(folder)
        file = folder / MANIFEST
        if not file.is_file():
            raise UsageError(_describe_missing(path))
        manifest = read_json(file, DatasetManifest)
        if manifest.format != FORMAT:
            raise DataError(
                "format {!r}, but this version of keju reads {!r}",
                manifest.format,
                FORMAT,
                file=file,
                hint="Use the keju version that wrote it",
            )
        know_stored(folder)
        return cls(path, manifest, objects, folder)

    def with_manifest(self, manifest: DatasetManifest) -> Dataset:
        """The same items and images with another manifest."""
        return Dataset(self.path, manifest, self._objects, self._folder)

    @property
    def address(self) -> str:
        """The address of the dataset; empty if it is a local directory."""
        return str(self._objects or "")

    @property
    def items_path(self) -> Path:
        """The path of the items: items.parquet, or the directory of its parts."""
        if self._objects is not None:
            for part in self._item_objects:
                path = self._folder / part.name
                is_whole = path.is_file() and path.stat().st_size == part.size
                if not is_whole and ".." not in part.name.split("/"):
                    self._objects.download(part.name, path)
        return find_items(self._folder)

    @cached_property
    def _item_objects(self) -> list[StoredObject]:
        if self._objects is None:
            return []
        table = self._objects.find(ITEMS)
        return [table] if table else list(self._objects.list(PARTITIONED))

    @property
    def images_dir(self) -> Path:
        """The directory of the images."""
        return self._folder / IMAGES

    def items(self) -> list[Item]:
        """The items, in their order."""
        return list(self)

    def __iter__(self) -> Iterator[Item]:
        """The items in their order; only a batch of them is in memory.

        The hash is checked after the last item.
        """
        digest = hashlib.sha256(HASHED_HEAD)
        for item in iter_items(self.items_path):
            digest.update(hashed_line(item))
            yield item
        if digest.hexdigest() != self.manifest.hash:
            raise DataError(
                "the items are not those that {} describes (their hash differs)",
                MANIFEST,
                file=self.items_path,
                hint="Import the dataset again",
            )

    def __len__(self) -> int:
        return self.manifest.items

    def __repr__(self) -> str:
        version = self.manifest.version
        return f"Dataset({str(self.path)!r}, {self.manifest.name} {version}, {len(self)} items)"

    def _repr_html_(self) -> str:
        about = self.manifest
        shown = {name: getattr(about, name) for name in ("licence", "source", "hash")}
        counts = {"path": self.path, "items": about.items, "images": about.images}
        return block(
            f"{about.name} {about.version}",
            "Synthetic: drawn by a program." if about.synthetic else "",
            facts(counts | shown),
            folded("Items by task", table(("task", "items"), about.tasks.items())),
        )

    def to_frame(self) -> pl.DataFrame:
        """The items as a polars table, one row per item, with the columns of items.parquet."""
        import polars as pl  # noqa: PLC0415 - slow to import

        return pl.DataFrame(arrow_table(self.items()))

    def item(self, name: str) -> Item:
        """One item, without reading the others; its hash is not checked."""
        if name not in self._rows:
            raise DataError("no item has this id", file=self.items_path, item=name)
        return item_of(self._rows.row(name)[1], self.items_path, "row")

    @cached_property
    def _rows(self) -> RowIndex:
        return index_items(self.items_path)

    @cached_property
    def packed(self) -> Packed | tuple[()]:
        """The images in tables, at an address read in place; empty where they are separate."""
        if self._objects is None:
            return Packed(self._folder) if any(self._folder.glob(TABLES)) else ()
        files: list[tuple[str, IO[bytes]]] = []
        while self._objects.find(name := table_name(len(files))):
            files.append((f"{self._objects}/{name}", self._objects.open(name)))
        return Packed(self._folder, files) if files else ()

    @cached_property
    def _cache(self) -> FileCache:
        return FileCache()

    def image_path(self, ref: ImageRef) -> Path:
        """The path of an image that is a separate file, at an address fetched into the cache."""
        self.check_image_path(ref)
        if self._objects is None:
            return self.path / ref.path
        return self._cache.get(f"sha256:{ref.sha256}", partial(_fetch_image, self._objects, ref))

    def check_image_path(self, ref: ImageRef) -> None:
        """Raise `DataError` if a path leaves the dataset: by ``..``, a link or as an absolute path.

        Nothing is fetched.
        """
        plain = PurePosixPath(ref.path)
        unsafe = plain.is_absolute() or not plain.parts or ".." in plain.parts
        unsafe = unsafe or any(mark in ref.path for mark in ("\\", "\0", ":"))
        if not unsafe and self._objects is None:
            try:
                unsafe = not (self.path / plain).resolve().is_relative_to(self._root)
            except (OSError, RuntimeError):
                unsafe = True
        if unsafe:
            raise DataError(
                "the path of an image must be inside the dataset",
                file=self.path,
                item=repr(ref.path),
                hint="Import the dataset again",
            )

    def image_bytes(self, ref: ImageRef) -> bytes:
        """The bytes of an image, as they were imported."""
        if self.packed and ref.path in self.packed:
            data = self.packed.image_bytes(ref.path)
        elif self._objects:
            data = self._fetched_bytes(ref)
        else:
            self.check_image_path(ref)
            path = self.path / ref.path
            try:
                data = path.read_bytes() if path.stat().st_size == ref.size else b""
            except OSError as error:
                problem = _("image not readable: {}", error.strerror or error)
                if isinstance(error, FileNotFoundError):
                    problem = _("the image is missing")
                raise DataError(problem, file=path, hint="Import the dataset again") from None
        if sha256_bytes(data) != ref.sha256:
            raise altered(f"{self._objects or self.path}/{ref.path}")
        return data

    def _fetched_bytes(self, ref: ImageRef) -> bytes:
        for _attempt in range(2):
            path = self.image_path(ref)
            with suppress(FileNotFoundError):  # Another process removed it from the cache.
                data = path.read_bytes()
                if sha256_bytes(data) == ref.sha256:
                    return data
                path.unlink(missing_ok=True)
        return b""


def _fetch_description(objects: ObjectFolder) -> Path:
    """Copy dataset.json and the definitions of a dataset into a folder of the cache."""
    try:
        manifest = objects.read(MANIFEST)
    except MissingObjectError:
        raise UsageError("{}: there is no dataset (no object {})", objects, MANIFEST) from None
    folder = cache_folder() / "datasets" / sha256_bytes(f"{objects}\n".encode() + manifest)
    names = [FILE] if objects.find(FILE) else []
    names += [file.name for file in objects.list(DEFINITIONS)]
    for name in names:
        if ".." not in name.split("/"):
            objects.download(name, folder / name)
    write_atomic(folder / MANIFEST, manifest)
    return folder


def _fetch_image(objects: ObjectFolder, ref: ImageRef, path: Path) -> None:
    objects.download(ref.path, path)
    if path.stat().st_size != ref.size or sha256_file(path) != ref.sha256:
        path.unlink(missing_ok=True)
        raise altered(f"{objects}/{ref.path}")
