"""`examine`: the format of a file or directory, the readers that fit it, and its first items."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from keju.datasets.readers import FORMATS
from keju.datasets.readers.base import (
    Detection,
    Options,
    Reader,
    TimeUpError,
    check_time,
    is_litter,
    time_limit,
)
from keju.datasets.readers.detecting import LOWEST, Candidate, find_candidates
from keju.datasets.readers.draft import Drafted, mapping_text
from keju.datasets.readers.import_log import logging_import
from keju.datasets.readers.listing import Listing, Obstacle
from keju.datasets.store import IMAGES, ITEMS, MANIFEST, PARTITIONED, DatasetWriter
from keju.datasets.table import part_name
from keju.definitions import file_of
from keju.errors import DataError, KejuError, UsageError
from keju.files import sha256_bytes, write_atomic
from keju.images import decoding, extension_of, open_header, upright_size
from keju.items import UNKNOWN, ImageRef, Item
from keju.texts import _, language

ITEMS_SHOWN = 3
"""The number of items of a preview."""

SECONDS = 10.0
"""Time limit of a preview. A reader that draws at random reads all images before the first item."""

_SUFFIXES, _ARCHIVES, _FOLDERS = 12, 5, 20
_INNER_SECONDS = 10.0


class Preview(NamedTuple):
    """The first items of a source.

    `used` maps each role to the fields that were used for it; `kept` and `ignored` are the fields
    that became metadata and those that did not. `error` is the reader's error about the source,
    `timed_out` whether the time limit was reached first.
    """

    items: tuple[Item, ...]
    used: dict[str, tuple[str, ...]]
    kept: tuple[str, ...]
    ignored: tuple[str, ...]
    error: KejuError | None = None
    timed_out: bool = False


class SourceFiles(NamedTuple):
    """The files of a source: their numbers, also by suffix, and the first archives.

    `complete` is whether all were examined.
    """

    files: int
    complete: bool
    suffixes: dict[str, int]
    archives: tuple[str, ...]


class Examination(NamedTuple):
    """The result of examining a source.

    `candidates` are the readers that recognise it, the best first; `preview` has its first items as
    the best one imports them, and `draft` the mapping by which it does, or a draft where none fits;
    `problem` is why no mapping can be drafted. `obstacle` is why it has no readable data yet,
    `dataset` whether it is a keju dataset already. `inner` are directories in it that a reader
    recognises, if none recognises the whole.
    """

    src: Path
    candidates: tuple[Candidate, ...]
    preview: Preview | None
    obstacle: Obstacle | None
    files: SourceFiles
    dataset: bool
    inner: tuple[tuple[Path, Candidate], ...] = ()
    draft: Drafted | None = None
    problem: DataError | None = None

    @property
    def benchmarks(self) -> tuple[Path, ...]:
        """The definition files, named by the user, of the benchmarks of its first items."""
        names = dict.fromkeys(item.benchmark for item in self.preview.items) if self.preview else {}
        return tuple(filter(None, map(file_of, names)))


def examine(src: Path, *, mapping: Path | None = None, seconds: float = SECONDS) -> Examination:
    """Examine a source without writing anything, by a mapping file or with every reader.

    Raises:
        UsageError: it does not exist, or is a link to itself.
    """
    listing = _list_files(src)
    obstacle = None if mapping else listing.obstacle()
    ranked: list[Candidate] = []
    if mapping is not None:
        what = _("records described by {}", mapping)
        ranked = [Candidate(FORMATS["mapped"], Detection(1, what, {"map": str(mapping)}))]
    elif obstacle is None:
        ranked = find_candidates(listing, FORMATS.list_usable())
    fits = _fits(ranked)
    inner = () if fits or obstacle else tuple(_inner(src))
    draft, problem = None, None
    if mapping is None and obstacle is None and not inner:
        try:
            reader = ranked[0].reader if fits else FORMATS["drafted"]
            draft = reader.draft(src) if reader.draft else None
        except DataError as error:
            problem = error.with_traceback(None)
    if draft and not fits and not draft.todos:
        what = _("records with the usual names")
        ranked.insert(0, Candidate(FORMATS["drafted"], Detection(LOWEST, what)))
    first = None
    if _fits(ranked) and not ranked[0].detection.missing:
        reader, detection = ranked[0]
        first = preview(reader, src, detection.options, seconds=seconds)
    names = {path.as_posix() for path in listing.files}
    dataset = MANIFEST in names and not names.isdisjoint((ITEMS, f"{PARTITIONED}/{part_name(0)}"))
    suffixes = Counter(path.suffix.casefold() or "(none)" for path in listing.files)
    archives = tuple(path.as_posix() for path in listing.archives[:_ARCHIVES])
    files = SourceFiles(
        len(listing.files), listing.complete, dict(suffixes.most_common(_SUFFIXES)), archives
    )
    return Examination(src, tuple(ranked), first, obstacle, files, dataset, inner, draft, problem)


def _fits(ranked: list[Candidate]) -> bool:
    return bool(ranked) and ranked[0].detection.fit >= LOWEST


def _list_files(src: Path) -> Listing:
    try:
        exists = src.exists() or (src.is_symlink() and bool(src.resolve()))
    except (OSError, RuntimeError):  # In Python 3.11 and 3.12 a loop of links is a RuntimeError.
        raise UsageError("{}: the link points to itself", src) from None
    if not exists:
        raise UsageError("{}: no such file or folder", src)
    return Listing(src)


def _inner(src: Path) -> Iterator[tuple[Path, Candidate]]:
    """The folders directly inside a folder that a reader recognises."""
    end = time.monotonic() + _INNER_SECONDS
    folders = sorted(src.iterdir()) if src.is_dir() else []
    for folder in folders[:_FOLDERS]:
        sound = folder.is_dir() and not folder.is_symlink() and not is_litter(folder.name)
        if sound and time.monotonic() < end:
            ranked = find_candidates(Listing(folder), FORMATS.list_usable())
            if _fits(ranked):
                yield folder, ranked[0]


def preview(
    reader: Reader[Any], src: Path, options: Options, *, seconds: float = SECONDS
) -> Preview:
    """Read a source until its first items are known, or `seconds` have passed."""
    error: KejuError | None = None
    timed_out = False
    with (
        TemporaryDirectory() as folder,
        logging_import(options.get("encoding", "")) as log,
        time_limit(seconds),
    ):
        writer = _PreviewWriter(Path(folder) / "preview")
        try:
            for _note in reader.read(src, writer, reader.parse(options)):
                pass
        except _PreviewEndError:
            pass
        except TimeUpError:
            timed_out = True
        except KejuError as raised:
            error = raised.with_traceback(None)  # a traceback would keep the data in memory
        finally:
            writer.abandon()
    if not (writer.items or error or timed_out):
        error = DataError("the reader finds no items", file=src)
    return Preview(tuple(writer.items), *log.fields(), error, timed_out)


class _PreviewEndError(Exception):
    """The preview has its items. Not a `KejuError`, so that no reader treats it as damage."""


class _PreviewWriter(DatasetWriter):
    """Collects items, and stops the reader after some; images are not written."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, name="preview", version="1", licence=UNKNOWN, source=UNKNOWN)
        self.items: list[Item] = []

    def add_image(self, data: bytes, name: str) -> ImageRef:
        """The reference that a `DatasetWriter` would return; only its header is read."""
        check_time()
        sha256 = sha256_bytes(data)
        if sha256 not in self._refs:
            with decoding(data, name):
                image = open_header(data, name=name)
                width, height = upright_size(image)
            path = f"{IMAGES}/{sha256}.{extension_of(image)}"
            self._refs[sha256] = ImageRef(
                path=path, sha256=sha256, width=width, height=height, size=len(data)
            )
        return self._refs[sha256]

    def add(self, item: Item) -> None:
        """Keep an item, and end the preview after the last one."""
        check_time()
        self.items.append(item)
        if len(self.items) >= ITEMS_SHOWN:
            raise _PreviewEndError


def write_mapping(src: Path, file: Path) -> Drafted:
    """Write a draft of a mapping file for a source, in the language of the terminal.

    The source must have a readable table or image (`DataError`), and the file must not exist.
    """
    if file.exists():
        raise UsageError("{} exists. Choose another --write-map, or delete it", file)
    listing = _list_files(src)
    if obstacle := listing.obstacle():
        raise DataError(obstacle.problem, file=src, hint=obstacle.hint)
    ranked = find_candidates(listing, FORMATS.list_usable())
    readers = [ranked[0].reader] if _fits(ranked) else []
    drafts = (each.draft(src) for each in (*readers, FORMATS["drafted"]) if each.draft)
    draft: Drafted = next(drafts)
    write_atomic(file, mapping_text(draft, language()))
    return draft
