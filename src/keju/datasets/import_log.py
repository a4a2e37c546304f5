"""`ImportLog`: what one import has read, for its notes, its progress and its time limit."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from keju.texts import _, join_clauses, n_

EVERY = 0.25
"""Seconds between two calls of a display of the progress."""

_MOST = 5
"""The number of places of lost text that a note names."""

_FIRST, _LONGEST = 12, 60
"""The number of characters that a note shows of a text, and of the place of one."""


def beginning_of(text: str) -> str:
    """The first characters of a text from a file, in quotation marks, for a note."""
    return f"“{printable(text, _FIRST)}”"


def printable(text: str, most: int = _LONGEST) -> str:
    """The first characters of a name from a file, without control characters."""
    plain_text = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return f"{plain_text[:most]}…" if len(plain_text) > most else plain_text


class TimeUpError(Exception):
    """The time limit is reached. Not a `KejuError`, so that no reader treats it as damage."""


class ImportLog:
    """Record of one import: how files and images were found, and what became of each column.

    Attributes:
        encoding: that of all texts, where the user gave it; empty: detected.
        files: the number of source files read, again for a second reading.
        images: the number of images stored.
        items: the number of items added.
        dropped: the dropped records, each with the reason.
    """

    def __init__(self, encoding: str = "", *, seconds: float = math.inf) -> None:
        self.encoding = encoding
        self.files = 0
        self.images = 0
        self.items = 0
        self.dropped: list[tuple[str, str]] = []
        self._end = time.monotonic() + seconds
        self._due = time.monotonic() + EVERY
        # Hashes of paths, since a folder of a million files may be read.
        self._encodings: dict[str, tuple[Path, set[int]]] = {}
        self._matched: dict[str, dict[str, str]] = {}
        self._lost: Counter[int] = Counter()
        self._lost_at: list[str] = []
        self._lost_places = 0
        self._used: dict[str, dict[str, None]] = {}
        self._kept: dict[str, None] = {}
        self._ignored: dict[str, None] = {}

    def count(self, files: int, images: int, items: int) -> None:
        """Add to the counts, and show them from time to time."""
        self.files += files
        self.images += images
        self.items += items
        show = _SHOW.get()
        if show and time.monotonic() >= self._due:
            self._due = time.monotonic() + EVERY
            show(self)

    def check_time(self) -> None:
        """Raise `TimeUpError` once the time limit is reached."""
        if time.monotonic() > self._end:
            raise TimeUpError

    def decoded(self, file: Path, encoding: str) -> None:
        """Record the encoding that a text file was read in, where it is not UTF-8."""
        self._encodings.setdefault(encoding, (file, set()))[1].add(hash(file))

    def matched(self, way: str, name: str, path: str) -> None:
        """Record that an image was found by other means than its path: ``by their file name``."""
        self._matched.setdefault(way, {})[name] = path

    def lost(self, file: Path, place: str, text: str, count: int) -> None:
        """Record that the reader of a page file did not take `count` characters of its text.

        `place` names the element, and `text` is shown as far as its first characters.
        """
        self._lost[hash(file)] += count
        self._lost_places += 1
        if len(self._lost_at) < _MOST:
            where = f"{file.parent.name}/{file.name}, {printable(place)}"
            self._lost_at.append(f"{where}: {beginning_of(text)}")

    def used(self, role: str, field: str) -> None:
        """Record that a field was used as `role` (question, answer, image …)."""
        self._used.setdefault(role, {})[field] = None

    def kept(self, field: str) -> None:
        """Record that a field became metadata of the items."""
        self._kept[field] = None

    def ignored(self, field: str) -> None:
        """Record that a field was not imported."""
        self._ignored[field] = None

    def fields(self) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...], tuple[str, ...]]:
        """The fields of each role, those kept as metadata, and those ignored."""
        used = {role: tuple(fields) for role, fields in self._used.items()}
        in_roles = {field for fields in used.values() for field in fields}
        metadata = tuple(field for field in self._kept if field not in in_roles)
        in_items = in_roles.union(metadata)
        return used, metadata, tuple(field for field in self._ignored if field not in in_items)

    def columns(self, used: Mapping[str, str], fields: Iterable[str]) -> None:
        """Record the columns of a table: those used, by role, and of all of them the ignored."""
        for role, field in used.items():
            self.used(role, field)
        for field in fields:
            self.ignored(field)

    def notes(self) -> Iterator[str]:
        """One line for each kind of fact that was recorded."""
        for encoding, (first, files) in self._encodings.items():
            place: object = first
            if len(files) > 1:
                place = _("{} and {} more", first, len(files) - 1)
            yield _("read as {}: {}", encoding, place)
        first_name: dict[str, str] = {}
        doubtful: dict[str, str] = {}
        for way, names in self._matched.items():
            name, path = next(iter(names.items()))
            yield n_(
                "{n} image found {}: {} as {}", "{n} images found {}: {} as {}", len(names), way,
                name, path,
            )  # fmt: skip
            for name, path in names.items():
                if not _are_alike(first_name.setdefault(path, name), name):
                    doubtful.setdefault(path, name)
        if doubtful:
            path, name = next(iter(doubtful.items()))
            yield n_(
                "{n} image was found for different paths: {} for {} and {}. Check whether an "
                "image of the same name is missing",
                "{n} images were found for different paths: {} for {} and {}. Check whether an "
                "image of the same name is missing",
                len(doubtful),
                path,
                first_name[path],
                name,
            )
        if self._lost:
            places: str = join_clauses(self._lost_at)
            if (more := self._lost_places - _MOST) > 0:
                places = _("{} and {} more", places, more)
            yield _(
                "text not taken: {} in {}, at places that keju does not read: {}",
                n_("{n:,} character", "{n:,} characters", self._lost.total()),
                n_("{n:,} file", "{n:,} files", len(self._lost)),
                places,
            )
        if self.dropped:
            yield n_(
                "{n:,} record dropped; the first: {}: {}",
                "{n:,} records dropped; the first: {}: {}",
                len(self.dropped),
                *self.dropped[0],
            )
        yield from self.field_notes()

    def field_notes(self) -> Iterator[str]:
        """The uses of the fields, one line each: ``fields used: question, group (book)``."""
        used, metadata, ignored = self.fields()
        roles = (
            role
            if [role] == [name.casefold() for name in names]
            else f"{role} ({', '.join(names)})"
            for role, names in used.items()
        )
        if used:
            yield _("fields used: {}", ", ".join(roles))
        if metadata:
            yield _("fields kept as metadata: {}", ", ".join(metadata))
        if ignored:
            yield _("fields ignored: {}", ", ".join(ignored))


def _are_alike(first: str, second: str) -> bool:
    """Whether one of two paths is the end of the other."""
    first_path, second_path = (f"/{path}".replace("\\", "/").casefold() for path in (first, second))
    return first_path.endswith(second_path) or second_path.endswith(first_path)


_CURRENT: ContextVar[ImportLog | None] = ContextVar("import log", default=None)
_SHOW: ContextVar[Callable[[ImportLog], None] | None] = ContextVar("progress", default=None)


def import_log() -> ImportLog:
    """The log of the current import; outside of an import one that is not used."""
    return _CURRENT.get() or ImportLog()


@contextmanager
def logging_import(encoding: str = "", *, seconds: float = math.inf) -> Iterator[ImportLog]:
    """Make a new log the current one until the end of the block, which may last `seconds`."""
    log = ImportLog(encoding, seconds=seconds)
    token = _CURRENT.set(log)
    try:
        yield log
    finally:
        _CURRENT.reset(token)


@contextmanager
def showing_progress(show: Callable[[ImportLog], None]) -> Iterator[None]:
    """Call `show` from time to time with the log of each import in the block."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


def count(*, files: int = 0, images: int = 0, items: int = 0) -> None:
    """Add to the counts of the current import; outside of an import, nothing happens."""
    if log := _CURRENT.get():
        log.count(files, images, items)


def check_time() -> None:
    """Return at once while there is time; called for every file that readers read.

    Raises:
        TimeUpError: the time limit of the current import is reached.
    """
    if log := _CURRENT.get():
        log.check_time()
