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
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from keju.datasets.manifest import (
    FORMAT,
    HASHED_HEAD,
    IMAGES,
    MANIFEST,
    UNFINISHED,
    DatasetManifest,
    altered,
    find_items,
    hashed_line,
    items_hash,
    know_stored,
)
from keju.datasets.packed import TABLES, Packed
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
from keju.errors import DataError, UsageError
from keju.files import read_json, sha256_bytes
from keju.items import ImageRef, Item
from keju.local_paths import check_local, shell_quoted
from keju.notebook import block, facts, folded, table
from keju.object_stores import is_address
from keju.texts import Text, _

if TYPE_CHECKING:
    import polars as pl

    from keju.datasets.remote import RemoteDataset

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
        self, path: Path, manifest: DatasetManifest, remote: RemoteDataset | None = None
    ) -> None:
        self.path = path
        self.manifest = manifest
        self._remote = remote
        self._folder = remote.path if remote else path
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
        remote = None
        if is_address(path):
            from keju.datasets.remote import RemoteDataset  # noqa: PLC0415 - of an extra

            remote = RemoteDataset(path)
        folder = remote.path if remote else path
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
        return cls(path, manifest, remote)

    def with_manifest(self, manifest: DatasetManifest) -> Dataset:
        """The same items and images with another manifest."""
        return Dataset(self.path, manifest, self._remote)

    @property
    def address(self) -> str:
        """The address of the dataset; empty if it is a local directory."""
        return str(self._remote.folder) if self._remote else ""

    @property
    def items_path(self) -> Path:
        """The path of the items: items.parquet, or the directory of its parts."""
        if self._remote:
            self._remote.fetch_items()
        return find_items(self._folder)

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
        """The images in tables; empty where they are separate files."""
        if self._remote:
            return self._remote.packed()
        return Packed(self._folder) if any(self._folder.glob(TABLES)) else ()

    def image_path(self, ref: ImageRef) -> Path:
        """The path of an image that is a separate file, at an address fetched into the cache.

        Raises:
            DataError: see `check_image_path`; or the image cannot be fetched.
        """
        self.check_image_path(ref)
        return self._remote.image_path(ref) if self._remote else self.path / ref.path

    def check_image_path(self, ref: ImageRef) -> None:
        """Raise `DataError` if a path leaves the dataset: by ``..``, a link or as an absolute path.

        Nothing is fetched.
        """
        plain = PurePosixPath(ref.path)
        unsafe = plain.is_absolute() or not plain.parts or ".." in plain.parts
        unsafe = unsafe or any(mark in ref.path for mark in ("\\", "\0", ":"))
        if not unsafe and not self._remote:
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
        path = self.path / ref.path
        if self.packed and ref.path in self.packed:
            data = self.packed.image_bytes(ref.path)
        else:
            self.check_image_path(ref)
            if self._remote:
                return self._remote.image_bytes(ref)
            try:
                data = path.read_bytes() if path.stat().st_size == ref.size else b""
            except OSError as error:
                problem = _("image not readable: {}", error.strerror or error)
                if isinstance(error, FileNotFoundError):
                    problem = _("the image is missing")
                raise DataError(problem, file=path, hint="Import the dataset again") from None
        if sha256_bytes(data) != ref.sha256:
            raise altered(path)
        return data
