"""`Listing`: the files of a source and the first records of its tables, for detection."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path, PurePosixPath

import polars as pl

from keju.csv_files import FilledLines
from keju.datasets.readers.encodings import codec_of
from keju.datasets.readers.import_log import import_log
from keju.datasets.readers.links import leads_out
from keju.datasets.readers.workbooks import MOST_BYTES, Workbook
from keju.errors import DataError, KejuError
from keju.images import EXTENSIONS

MOST_FILES = 20_000
"""Maximum number of files in a listing. If there are more, `Listing.complete` is false."""

HEAD = 1 << 20
"""Bytes that are read from the beginning of a file."""

MOST_READ = 1 << 27
"""Maximum number of bytes that one listing reads in all. After that every file counts as empty."""

Record = dict[str, object]

_LITTER = frozenset({"__macosx", "thumbs.db", "desktop.ini", "@eadir"})


class Listing:
    """The files of a source, without system files; links to directories are not followed.

    Attributes:
        root: the directory that `files` are relative to.
        files: their paths, sorted, at most `MOST_FILES`.
        complete: whether there are no others.
    """

    def __init__(self, src: Path) -> None:
        self.src = src
        self.root = src if src.is_dir() else src.parent
        found: list[PurePosixPath] = []
        for path in _walk(src):
            if len(found) == MOST_FILES:
                self.complete = False
                break
            found.append(PurePosixPath(path.relative_to(self.root).as_posix()))
        else:
            self.complete = True
        self.files = tuple(sorted(found))
        self._left = MOST_READ
        self._texts: dict[PurePosixPath, str] = {}
        self._records: dict[tuple[PurePosixPath, int], list[Record]] = {}

    @cached_property
    def images(self) -> tuple[PurePosixPath, ...]:
        """The files with the name of an image."""
        return self.ending(*EXTENSIONS)

    def ending(self, *suffixes: str) -> tuple[PurePosixPath, ...]:
        """The files with one of these suffixes, in lower case without the point."""
        return tuple(path for path in self.files if path.suffix.casefold().lstrip(".") in suffixes)

    def named(self, *names: str) -> tuple[PurePosixPath, ...]:
        """The files with one of these names, ignoring case."""
        wanted = {name.casefold() for name in names}
        return tuple(path for path in self.files if path.name.casefold() in wanted)

    def head(self, path: PurePosixPath, size: int = HEAD) -> bytes:
        """The first bytes of a file; empty if it cannot be read, or is a link to outside."""
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

    def path(self, path: PurePosixPath) -> Path | None:
        """The path of a file on disk; None if it is a pipe, broken, or a link to outside."""
        full = self.root / path
        try:
            sound = full.is_file() and not (full.is_symlink() and leads_out(full, self.root))
        except OSError:
            return None
        return full if sound else None

    def text(self, path: PurePosixPath) -> str:
        """The beginning of a text file, its encoding detected; empty if it is not text."""
        if path not in self._texts:
            self._texts[path] = _decoded(self.head(path), self.root / path)
        return self._texts[path]

    def records(self, path: PurePosixPath, most: int = 20) -> list[Record]:
        """The first records of a JSON, JSON lines, CSV, TSV, parquet or XLSX file; else empty.

        Of a JSON object these are the records of the first list of objects in it.
        """
        if (path, most) not in self._records:
            self._records[path, most] = self._read_records(path, most)
        return list(self._records[path, most])

    def _read_records(self, path: PurePosixPath, most: int) -> list[Record]:
        suffix = path.suffix.casefold()
        if suffix == ".parquet":
            return self._parquet(path, most)
        if suffix == ".xlsx":
            return self._workbook(path, most)
        if suffix not in {".csv", ".tsv", ".json", ".jsonl", ".ndjson"}:
            return []
        text = self.text(path)
        if suffix in {".csv", ".tsv"}:
            return _cells(text, most)
        return _objects(text, most)

    def _parquet(self, path: PurePosixPath, most: int) -> list[Record]:
        full = self.path(path)
        try:
            return pl.read_parquet(full, n_rows=most).to_dicts() if full else []
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, TypeError):
            # polars raises a TypeError at a name that is not UTF-8.
            return []

    def _workbook(self, path: PurePosixPath, most: int) -> list[Record]:
        data = self.head(path, MOST_BYTES)
        try:
            sheets = Workbook(self.root / path, data).sheets(most + 1)
        except DataError:
            return []
        rows = [row.cells for row in sheets[0].rows] if sheets else []
        return [
            dict(zip_longest(rows[0], cells[: len(rows[0])], fillvalue="")) for cells in rows[1:]
        ]


def is_litter(name: str) -> bool:
    """Whether a file or directory was created by a desktop or archive program."""
    return name.startswith(".") or name.casefold() in _LITTER


def _walk(src: Path) -> Iterator[Path]:
    if not src.is_dir():
        yield src
        return
    for place, folders, files in os.walk(src):
        folders[:] = sorted(name for name in folders if not is_litter(name))
        yield from (Path(place, name) for name in sorted(files) if not is_litter(name))


def _decoded(data: bytes, file: Path) -> str:
    try:
        codec = codec_of(data, file, import_log().encoding)
        return codecs.getincrementaldecoder(codec)("ignore").decode(data)
    except (KejuError, UnicodeError):
        return ""


def _cells(text: str, most: int) -> list[Record]:
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    head = text.partition("\n")[0]
    separator = max(",\t;", key=head.count)
    found: list[Record] = []
    try:
        heads, *rows = islice(
            FilledLines(io.StringIO(text, newline=""), separator, strict=False), most + 1
        )
        found.extend(dict(zip(heads, cells, strict=False)) for cells in rows)
    except (csv.Error, ValueError):
        return []
    return found


def _objects(text: str, most: int) -> list[Record]:
    """First objects of a list, of a list in an object, or of lines; truncated text is accepted."""
    decoder = json.JSONDecoder()
    start = text.find("[", 0, 200) if text.lstrip().startswith(("[", "{")) else -1
    lines = text.lstrip().startswith("{")
    if lines:
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            whole = None
        if isinstance(whole, dict):
            inner = next((each for each in whole.values() if _is_records(each)), [whole])
            return [each for each in inner[:most] if isinstance(each, dict)]
    found: list[Record] = []
    place = 0 if lines and not _wrapped(text) else start + 1
    while len(found) < most:
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
        try:
            record, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        if not isinstance(record, dict):
            break
        found.append(record)
    return found


def _wrapped(text: str) -> bool:
    """Whether a truncated object begins with a key whose value is a list."""
    head = text[:200].replace(" ", "").replace("\n", "")
    return head.partition(":")[2].startswith("[{")


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)
