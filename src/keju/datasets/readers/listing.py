"""Detection of a source's format: `Listing` has its files, `find_best` the reader that fits best.

Nothing is read as a whole, and what cannot be read counts as empty.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from keju.datasets.readers.base import Detection, Reader, kept_inside, plain_file, source_head, walk
from keju.datasets.readers.records import JsonObject
from keju.datasets.readers.tables import SUFFIXES, lists_in
from keju.datasets.readers.words import detect_command, import_command, shell_word
from keju.errors import DataError, UsageError
from keju.images import EXTENSIONS
from keju.registry import list_returned
from keju.texts import _, n_

MOST_FILES = 20_000
"""Maximum number of files. If there are more, `Listing.complete` is false."""

HEAD = 1 << 20
"""Bytes that are read from the beginning of a file."""

MOST_READ = 1 << 27
"""Maximum number of bytes of beginnings in all. After that every file counts as empty."""

LOWEST = 0.5
"""The lowest fit with which a source is imported without naming its reader."""

APART = 0.04
"""Readers whose fits differ by less fit equally."""

_NOT_DATA = frozenset({".md", ".txt", ".pdf", ""})
"""Suffixes of files beside archives that are about the data."""

_TAR = re.compile(r"(?i)\.(?:tar|tar\.(?:gz|bz2|xz|zst)|tgz|tbz2|txz)$")


class Listing:
    """The files of a source, without system files; links to directories are not followed.

    Attributes:
        src: the file or directory.
        root: the directory that `files` are relative to.
        files: their paths, sorted, at most `MOST_FILES`.
        complete: whether there are no others.
    """

    def __init__(self, src: Path) -> None:
        self.src = src
        self.root = src if src.is_dir() else src.parent
        paths: Iterable[Path] = [src]
        if src.is_dir():
            paths = (place / name for place, __, files in walk(src) for name in files)
        names = [path.relative_to(self.root).as_posix() for path in islice(paths, MOST_FILES + 1)]
        self.complete = len(names) <= MOST_FILES
        self.files = tuple(sorted(map(PurePosixPath, names[:MOST_FILES])))
        self._left = MOST_READ
        self._records: dict[tuple[PurePosixPath, int], list[JsonObject]] = {}

    @cached_property
    def images(self) -> tuple[PurePosixPath, ...]:
        """The files with the name of an image."""
        return self.ending(*EXTENSIONS)

    @property
    def archives(self) -> tuple[PurePosixPath, ...]:
        """The archives, which are not unpacked."""
        return tuple(path for path in self.files if unpacking_command(Path(path)))

    def ending(self, *suffixes: str) -> tuple[PurePosixPath, ...]:
        """The files with one of these suffixes, in lower case without the point."""
        return tuple(path for path in self.files if path.suffix.casefold().lstrip(".") in suffixes)

    def path(self, path: PurePosixPath) -> Path | None:
        """The path of a file on disk; None if it is a pipe, broken, or a link to outside."""
        with suppress(DataError, OSError):
            return plain_file(kept_inside(self.root / path, self.root))
        return None

    def head(self, path: PurePosixPath, size: int = HEAD) -> bytes:
        """The first bytes of a file; empty if it cannot be read."""
        full, data = self.path(path), b""
        with suppress(DataError):
            data = source_head(full, min(size, self._left)) if full else b""
        self._left -= len(data)
        return data

    def text(self, path: PurePosixPath) -> str:
        """The beginning of a text file (`beginning_of_text`); empty if it cannot be read."""
        return _decoded(self.head(path))

    def records(self, path: PurePosixPath, most: int = 20) -> list[JsonObject]:
        """The first records of a table, or of the first list in it; empty if none can be read."""
        if (path, most) not in self._records:
            full, records = self.path(path), list[JsonObject]()
            if full and path.suffix.casefold() in SUFFIXES:
                with suppress(DataError, UnicodeError):  # pyarrow needs names in UTF-8.
                    records = [row.cells for row in lists_in(full, most)[0].rows]
            self._records[path, most] = records
        return list(self._records[path, most])

    def obstacle(self) -> DataError | None:
        """Why nothing in the source is readable yet, or None."""
        if not self.files:
            return DataError("The folder has no files", file=self.src, hint="Check the path")
        found = self.archives
        beside = _NOT_DATA.union(path.suffix.casefold() for path in found)
        if not found or any(path.suffix.casefold() not in beside for path in self.files):
            return None
        problem = n_(
            "{n:,} archive, which keju does not unpack",
            "{n:,} archives, which keju does not unpack",
            len(found),
        )
        run = _("Run: {}", unpacking_command(self.root / found[0]))
        return DataError(problem, file=self.src, hint=run)


def beginning_of_text(file: Path) -> str:
    """The beginning of a text, in which characters of other encodings than Unicode are wrong."""
    return _decoded(source_head(file, HEAD))


def _decoded(data: bytes) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8-sig", "replace").replace("\r\n", "\n")


def unpacking_command(archive: Path) -> str:
    """The command that unpacks an archive into a directory with its name; empty for other files."""
    word, folder = shell_word(str(archive)), shell_word(str(archive.with_suffix("")))
    if ending := _TAR.search(archive.name):
        folder = shell_word(str(archive.with_name(archive.name[: ending.start()] or "data")))
        return f"mkdir {folder} && tar -xf {word} -C {folder}"
    return {
        ".zip": _("{}   (names in Chinese: unzip -O GB18030)", f"unzip {word} -d {folder}"),
        ".7z": f"7z x {word} -o{folder}",
        ".rar": f"unrar x {word} {folder}/",
    }.get(archive.suffix.casefold(), "")


class Candidate(NamedTuple):
    """A reader that recognises a source, and what it recognises in it."""

    reader: Reader[Any]
    detection: Detection


def find_candidates(listing: Listing, readers: Iterable[Reader[Any]]) -> list[Candidate]:
    """The readers that recognise a source, the best first: complete ones, then by fit."""
    candidates = []
    for reader in readers:
        detection = None
        with suppress(DataError):
            detection = reader.detect(listing) if reader.detect else None
        if reader.detect and detection:
            list_returned(reader.detect, [detection], Detection)
            if detection.fit > 0:
                candidates.append(Candidate(reader, detection))
    return sorted(candidates, key=lambda candidate: -candidate.detection.fit)


def find_best(listing: Listing, readers: Iterable[Reader[Any]]) -> Candidate | None:
    """The reader that fits a source best; None if no one fits.

    Raises:
        DataError: the source has no data yet, or the best reader misses a part of it.
        UsageError: several fit equally; the error lists their commands.
    """
    if obstacle := listing.obstacle():
        raise obstacle
    ranked = find_candidates(listing, readers)
    if not ranked or ranked[0].detection.fit < LOWEST:
        return None
    reader, detection = ranked[0]
    equal = [candidate for candidate in ranked if candidate.detection.fit > detection.fit - APART]
    if len(equal) > 1:
        commands = "; ".join(
            import_command(candidate.reader.name, listing.src, candidate.detection.options)
            for candidate in equal
        )
        raise UsageError("{}: several formats fit equally. Choose one: {}", listing.src, commands)
    if detection.missing:
        problem = _("{} fits, but it needs {}", reader.name, detection.missing)
        raise DataError(problem, file=listing.src, hint=_("See: {}", detect_command(listing.src)))
    return ranked[0]
