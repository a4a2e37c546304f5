"""`examine`: the format of a file or directory, the readers that fit it, and its first items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from keju.datasets.import_log import ImportLog, TimeUpError, check_time, logging_import
from keju.datasets.readers import FORMATS
from keju.datasets.readers.base import (
    Detection,
    Options,
    Reader,
)
from keju.datasets.readers.draft import Drafted, mapping_text
from keju.datasets.readers.listing import LOWEST, Candidate, Listing, find_candidates
from keju.datasets.store import IMAGES, DatasetWriter
from keju.definitions import definition
from keju.errors import DataError, KejuError, UsageError
from keju.files import sha256_bytes, write_atomic
from keju.images import decoding, extension_of, open_header, upright_size
from keju.items import UNKNOWN, ImageRef, Item
from keju.texts import _, language

ITEMS_SHOWN = 3
"""The number of items of a preview."""

SECONDS = 10.0
"""Time limit of a preview. A reader that draws at random reads all images before the first item."""


class Preview(NamedTuple):
    """The first items of a source, and the uses of its fields.

    `error` is the reader's error about the source, `timed_out` whether the time limit was reached
    first.
    """

    items: tuple[Item, ...]
    log: ImportLog
    error: KejuError | None = None
    timed_out: bool = False


class Examination(NamedTuple):
    """The result of examining a source.

    `obstacle` is why it has no readable data yet. `candidates` are the readers that recognise it,
    the best first; `preview` has its first items as the best one imports them, and `draft` the
    mapping by which it does, or a draft where none fits; `problem` is why no mapping can be
    drafted.
    """

    listing: Listing
    obstacle: DataError | None = None
    candidates: tuple[Candidate, ...] = ()
    draft: Drafted | None = None
    problem: DataError | None = None
    preview: Preview | None = None

    @property
    def best(self) -> Candidate | None:
        """The reader with which the source would be imported, if any fits."""
        return _fitting(self.candidates)

    @property
    def benchmarks(self) -> tuple[Path, ...]:
        """The definition files, named by the user, of the benchmarks of its first items."""
        names = dict.fromkeys(item.benchmark for item in self.preview.items) if self.preview else {}
        entries = filter(None, map(definition, names))
        return tuple(entry.file for entry in entries if entry.file)


def examine(src: Path, *, mapping: Path | None = None, seconds: float = SECONDS) -> Examination:
    """Examine a source without writing anything, by a mapping file or with every reader.

    Raises:
        UsageError: it does not exist.
    """
    listing = _list_files(src)
    draft, problem = None, None
    if mapping is not None:
        what = _("records described by {}", mapping)
        ranked = [Candidate(FORMATS["mapped"], Detection(1, what, {"map": str(mapping)}))]
    elif obstacle := listing.obstacle():
        return Examination(listing, obstacle)
    else:
        ranked = find_candidates(listing, FORMATS.list_usable())
        best = _fitting(ranked)
        reader = best.reader if best else FORMATS["drafted"]
        try:
            draft = reader.draft(src) if reader.draft else None
        except DataError as error:
            problem = error.with_traceback(None)
        if draft and not draft.todos and not best:
            what = _("records with the usual names")
            ranked.insert(0, Candidate(FORMATS["drafted"], Detection(LOWEST, what)))
    best = _fitting(ranked)
    first = None
    if best and not best.detection.missing:
        first = preview(best.reader, src, best.detection.options, seconds=seconds)
    return Examination(listing, None, tuple(ranked), draft, problem, first)


def _list_files(src: Path) -> Listing:
    if not src.exists():
        if src.is_symlink():
            raise UsageError("{}: the link leads nowhere, or to itself", src)
        raise UsageError("{}: no such file or folder", src)
    return Listing(src)


def _fitting(ranked: Sequence[Candidate]) -> Candidate | None:
    return next((each for each in ranked if each.detection.fit >= LOWEST), None)


def preview(
    reader: Reader[Any], src: Path, options: Options, *, seconds: float = SECONDS
) -> Preview:
    """Read a source until its first items are known, or `seconds` have passed."""
    error: KejuError | None = None
    timed_out = False
    with (
        TemporaryDirectory() as folder,
        logging_import(options.get("encoding", ""), seconds=seconds) as log,
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
    return Preview(tuple(writer.items), log, error, timed_out)


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
        raise obstacle
    best = _fitting(find_candidates(listing, FORMATS.list_usable()))
    readers = (best.reader, FORMATS["drafted"]) if best else (FORMATS["drafted"],)
    drafts = (reader.draft(src) for reader in readers if reader.draft)
    draft: Drafted = next(drafts)
    write_atomic(file, mapping_text(draft, language()))
    return draft
