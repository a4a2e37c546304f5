"""`Listing`: the files of a source, the beginnings of its texts and tables, and what is in the way.

It is for detection: nothing is read as a whole, and what cannot be read counts as empty.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from keju.datasets.readers.base import leads_out, walk
from keju.datasets.readers.encodings import codec_of, encoding_of
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.records import JsonObject
from keju.datasets.readers.tables import SUFFIXES, lists_in
from keju.datasets.readers.words import shell_word
from keju.errors import DataError, KejuError
from keju.images import EXTENSIONS
from keju.texts import _, n_

MOST_FILES = 20_000
"""Maximum number of files. If there are more, `Listing.complete` is false."""

HEAD = 1 << 20
"""Bytes that are read from the beginning of a file."""

MOST_READ = 1 << 27
"""Maximum number of bytes of beginnings in all. After that every file counts as empty."""

_NOT_DATA = frozenset({".md", ".txt", ".pdf", ""})
"""Suffixes of files beside archives that are about the data."""

_TAR = re.compile(r"(?i)\.(?:tar|tar\.(?:gz|bz2|xz|zst)|tgz|tbz2|txz)$")


class Obstacle(NamedTuple):
    """Why a source cannot be read as it is, and what to do, each in one line."""

    problem: str
    hint: str


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
        self._texts: dict[PurePosixPath, str] = {}
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

    def named(self, *names: str) -> tuple[PurePosixPath, ...]:
        """The files with one of these names, ignoring case."""
        wanted = {name.casefold() for name in names}
        return tuple(path for path in self.files if path.name.casefold() in wanted)

    def path(self, path: PurePosixPath) -> Path | None:
        """The path of a file on disk; None if it is a pipe, broken, or a link to outside."""
        full = self.root / path
        try:
            sound = full.is_file() and not (full.is_symlink() and leads_out(full, self.root))
        except OSError:
            return None
        return full if sound else None

    def head(self, path: PurePosixPath, size: int = HEAD) -> bytes:
        """The first bytes of a file; empty if it cannot be read."""
        full = self.path(path)
        if full is None:
            return b""
        try:
            with full.open("rb") as file:
                data = file.read(min(size, self._left))
        except OSError:
            return b""
        self._left -= len(data)
        return data

    def text(self, path: PurePosixPath) -> str:
        """The beginning of a text file, its encoding detected; empty if it is not text."""
        if path not in self._texts:
            data, text = self.head(path), ""
            with suppress(KejuError, UnicodeError):
                codec = codec_of(import_log().encoding or encoding_of(data, self.root / path))
                text = codecs.getincrementaldecoder(codec)("ignore").decode(data)
            self._texts[path] = text
        return self._texts[path]

    def records(self, path: PurePosixPath, most: int = 20) -> list[JsonObject]:
        """The first records of a table, or of the first list in it; empty if none can be read."""
        if (path, most) not in self._records:
            full, records = self.path(path), list[JsonObject]()
            if full and path.suffix.casefold() in SUFFIXES:
                with suppress(DataError, UnicodeError):  # pyarrow needs names in UTF-8.
                    records = [row.cells for row in lists_in(full, most)[0].rows]
            self._records[path, most] = records
        return list(self._records[path, most])

    def obstacle(self) -> Obstacle | None:
        """Why nothing in the source is readable yet, or None."""
        if not self.files:
            return Obstacle(_("The folder has no files"), _("Check the path"))
        found = self.archives
        beside = _NOT_DATA.union(path.suffix.casefold() for path in found)
        if not found or any(path.suffix.casefold() not in beside for path in self.files):
            return None
        if self.src.is_file():
            run = _("Run: {}", unpacking_command(self.src))
            return Obstacle(_("This is an archive, which keju does not unpack"), run)
        problem = n_(
            "The folder has {n:,} archive, which keju does not unpack",
            "The folder has {n:,} archives, which keju does not unpack",
            len(found),
        )
        return Obstacle(problem, _("Run: {}", unpacking_command(self.root / found[0])))


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
