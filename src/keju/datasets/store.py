"""A DATASET directory on disk: its manifest, its items, its images.

::

    DATASET/  dataset.json       `DatasetManifest`, with the hash of items and images
              items.parquet      or items/part-00000.parquet and so on: the same items in parts
              images/<sha256>.<ext>, or images-00000.parquet and so on (`packed`) in a release
              benchmark.toml     the definition of its only benchmark, or
              benchmarks/NAME.toml, those of several; bundled benchmarks are not stored

Images are stored byte for byte, because those bytes are what models are sent. dataset.json is
written last: a directory without it is not a dataset.

What is missing, damaged or altered raises `DataError` when it is read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

import msgspec
from filelock import FileLock
from msgspec import field
from msgspec.structs import replace

from keju.datasets.import_log import count
from keju.datasets.packed import TABLES, Packed, table_name
from keju.datasets.table import (
    BATCH_ROWS,
    TableWriter,
    arrow_table,
    as_stored,
    iter_items,
)
from keju.definitions import UnitCounter, Units, definition_texts, register_definition
from keju.definitions.registry import FILE
from keju.errors import DataError, UsageError
from keju.files import (
    locked_file,
    read_json,
    replace_file,
    sha256_bytes,
    sha256_file,
    toml_text,
    write_atomic,
    write_json,
)
from keju.images import probe_image
from keju.items import ImageRef, Item, Record
from keju.local_paths import check_local, shell_quoted
from keju.notebook import block, facts, folded, table
from keju.object_stores import (
    FileCache,
    MissingObjectError,
    ObjectFolder,
    cache_folder,
    is_address,
    parse_address,
)
from keju.texts import Text, _

if TYPE_CHECKING:
    import polars as pl

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
PLUGINS = "plugins"
"""The key of `DatasetManifest.made` with the plug-ins that were used."""

HASHED_HEAD = f"{FORMAT}\n".encode()
"""The bytes that the hash of a dataset's items covers before the first item."""

_MOST_DEFINITIONS = 100
_PART_ITEMS: ContextVar[int] = ContextVar("items of a part", default=0)


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

    @property
    def plugins(self) -> list[str]:
        """The plug-ins that were used to make the dataset, as text."""
        return list(filter(None, self.made.get(PLUGINS, "").split(", ")))


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


def hashed_line(item: Item) -> bytes:
    """The bytes of an item, as it is stored, that the hash of the items covers."""
    return msgspec.json.encode(item, order="deterministic") + b"\n"


def know_stored(folder: Path) -> None:
    """Load and register the definitions in a directory, at most 100."""
    for path in _definition_files(folder):
        register_definition(toml_text(path, "not a benchmark definition"), str(path))


def write_definitions(folder: Path, benchmarks: Iterable[str]) -> None:
    """Store the definitions of the benchmarks of these names, except bundled ones."""
    for path in _definition_files(folder):
        path.unlink()
    texts = definition_texts(benchmarks)
    for name, text in texts.items():
        write_atomic(folder / (FILE if len(texts) == 1 else f"{DEFINITIONS}/{name}.toml"), text)


def _definition_files(folder: Path) -> list[Path]:
    files = sorted(islice((folder / DEFINITIONS).glob("*.toml"), _MOST_DEFINITIONS + 1))
    if len(files) > _MOST_DEFINITIONS:
        raise DataError("more than {} definitions", _MOST_DEFINITIONS, file=folder / DEFINITIONS)
    return [*([folder / FILE] if (folder / FILE).exists() else []), *files]


def _altered(path: Path | str) -> DataError:
    return DataError(
        "the image is not the one that was imported (size or SHA-256 differs)",
        file=path,
        hint="Put the original back, or import the dataset again",
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
        address all but the images is copied into the cache; images are fetched when they are read.

        Raises:
            UsageError: there is no dataset at that path, it is another address, or another
                definition of its benchmark is registered.
            PluginError: a plug-in that a definition names is missing.
        """
        objects, folder = None, path
        if is_address(path):
            objects = ObjectFolder(parse_address(path))
            folder = _fetch_all_but_images(objects)
        check_local(folder)
        file = folder / MANIFEST
        if not file.is_file():
            raise UsageError(_describe_missing(path))
        manifest = read_json(file, DatasetManifest)
        if manifest.format != FORMAT:
            formats = manifest.format, FORMAT
            problem = _("format {!r}, but this version of keju reads {!r}", *formats)
            raise DataError(problem, file=file, hint="Use the keju version that wrote it")
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
            problem = _("the items are not those that {} describes (their hash differs)", MANIFEST)
            raise DataError(problem, file=self.items_path, hint="Import the dataset again")

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
            problem = _("the path of an image must be inside the dataset")
            hint = _("Import the dataset again")
            raise DataError(problem, file=self.path, item=repr(ref.path), hint=hint)

    def image_bytes(self, ref: ImageRef) -> bytes:
        """The bytes of an image, as they were imported."""
        if self.packed and ref.path in self.packed:
            data = self.packed.image_bytes(ref.path)
        elif self._objects:
            data = self._fetched_bytes(ref)
        else:
            path = self.image_path(ref)
            try:
                data = path.read_bytes() if path.stat().st_size == ref.size else b""
            except OSError as error:
                problem = _("image not readable: {}", error.strerror or error)
                if isinstance(error, FileNotFoundError):
                    problem = _("the image is missing")
                raise DataError(problem, file=path, hint="Import the dataset again") from None
        if sha256_bytes(data) != ref.sha256:
            raise _altered(f"{self._objects or self.path}/{ref.path}")
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


def _describe_missing(path: Path) -> Text:
    """Why a path is not a dataset directory, and the command that creates one."""
    place = shell_quoted(str(path))
    build = path / "dataset"
    if (build / MANIFEST).is_file():
        return _("{}: this is the folder of a build, not a dataset. Its dataset is {}", path, build)
    if (path / UNFINISHED).exists():
        return _(
            "{}: the command that makes this dataset did not finish. Run it again, with --out {}",
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


def _fetch_all_but_images(objects: ObjectFolder) -> Path:
    """Copy dataset.json, the definitions and the items into a folder of the cache."""
    try:
        manifest = objects.read(MANIFEST)
    except MissingObjectError:
        raise UsageError("{}: there is no dataset (no object {})", objects, MANIFEST) from None
    folder = cache_folder() / "datasets" / sha256_bytes(f"{objects}\n".encode() + manifest)
    files = [file for name in (FILE, ITEMS) if (file := objects.find(name))]
    files += [file for within in (DEFINITIONS, PARTITIONED) for file in objects.list(within)]
    for file in files:
        path = folder / file.name
        is_stored = (
            path.suffix == ".parquet" and path.is_file() and path.stat().st_size == file.size
        )
        if not is_stored and ".." not in file.name.split("/"):
            objects.download(file.name, path)
    write_atomic(folder / MANIFEST, manifest)
    return folder


def _fetch_image(objects: ObjectFolder, ref: ImageRef, path: Path) -> None:
    objects.download(ref.path, path)
    if path.stat().st_size != ref.size or sha256_file(path) != ref.sha256:
        path.unlink(missing_ok=True)
        raise _altered(f"{objects}/{ref.path}")


@contextmanager
def partitioning(items: int) -> Iterator[None]:
    """Write the datasets of the block with parts of at most `items` items; 0 writes one table."""
    if items < 0:
        raise UsageError("--partition-items is {}, expected 0 (one table) or more", items)
    token = _PART_ITEMS.set(items)
    try:
        yield
    finally:
        _PART_ITEMS.reset(token)


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
                raise _altered(path)
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
            hint = _("Give every item its own id")
            raise DataError("two items have this id", item=item.id, hint=hint)
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
        own = self._manifest
        self._manifest = replace(
            own,
            synthetic=own.synthetic or other.synthetic,
            language=own.language or other.language,
            script=own.script or other.script,
            made={**other.made, **own.made},
        )

    def declare(self, **facts: str) -> None:
        """Record in dataset.json how the dataset is made."""
        self._manifest.made.update(facts)

    def declare_plugins(self, plugins: Iterable[object]) -> None:
        """Record plug-ins that were used to make the dataset, after those recorded before."""
        if names := dict.fromkeys((*self._manifest.plugins, *filter(None, map(str, plugins)))):
            self._manifest.made[PLUGINS] = ", ".join(names)

    def units(self) -> Units:
        """The units of independence of the items that were added."""
        return self._units.units(self._manifest.unit)

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
    part_rows = _PART_ITEMS.get()
    return TableWriter(
        folder / (PARTITIONED if part_rows else ITEMS), rows=rows, part_rows=part_rows
    )


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
    if (path / MANIFEST).exists():
        raise UsageError("{}: already contains a dataset. Choose another --out, or remove it", path)
    if path.exists() and not marker.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError("{}: not an empty folder. Choose another --out", path)
    path.mkdir(parents=True, exist_ok=True)
    return locked_file(
        marker, busy=_("{}: another import is writing there. Wait for it to end", path)
    )


def _store(path: Path, data: bytes) -> None:
    """Write an image; it gets its final name when complete. No fsync: the hash detects damage."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(exist_ok=True)
    partial_file = path.with_name(f".{path.name}.{os.getpid()}")
    partial_file.write_bytes(data)
    replace_file(partial_file, path)


def _linked(target: Path, path: Path) -> bool:
    try:
        target.hardlink_to(path)
    except OSError:  # The disk does not support it.
        return False
    return True
