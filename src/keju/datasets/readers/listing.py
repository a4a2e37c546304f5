"""`Listing`: the files of a source and the first records of its tables, to recognise its layout."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest
from pathlib import Path, PurePosixPath

import polars as pl

from keju.datasets.readers.workbooks import MOST_BYTES, workbook_sheets
from keju.errors import DataError
from keju.images import EXTENSIONS

MOST_FILES = 20_000
"""Files that a listing holds. More are not looked at, and `Listing.complete` is false."""

HEAD = 1 << 20
"""Bytes that are read from the beginning of a file."""

Record = dict[str, object]

_LITTER = frozenset({"__macosx", "thumbs.db", "desktop.ini", "@eadir"})


class Listing:
    """The files of a source, without what systems leave; links to folders are not followed.

    Args:
        src: the file or folder.

    Attributes:
        root: the folder that `files` start from.
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

    @cached_property
    def images(self) -> tuple[PurePosixPath, ...]:
        """The files that are named as images are."""
        return self.ending(*EXTENSIONS)

    def ending(self, *suffixes: str) -> tuple[PurePosixPath, ...]:
        """The files with one of these endings: small letters, without the point."""
        return tuple(path for path in self.files if path.suffix.casefold().lstrip(".") in suffixes)

    def named(self, *names: str) -> tuple[PurePosixPath, ...]:
        """The files with one of these names, small and capital letters aside."""
        wanted = {name.casefold() for name in names}
        return tuple(path for path in self.files if path.name.casefold() in wanted)

    def head(self, path: PurePosixPath, size: int = HEAD) -> bytes:
        """The first bytes of a file; empty if it cannot be read."""
        try:
            full = self.root / path
            if not full.is_file():
                return b""
            with full.open("rb") as file:
                return file.read(size)
        except OSError:
            return b""

    def text(self, path: PurePosixPath) -> str:
        """The beginning of a text file, in UTF-8, UTF-16 or GB18030; empty if it is none."""
        data = self.head(path)
        marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        for encoding in ("utf-16",) if marked else ("utf-8-sig", "gb18030", "big5"):
            for cut in range(4):  # The head may end within a character.
                try:
                    return data[: len(data) - cut].decode(encoding)
                except UnicodeDecodeError:
                    continue
        return ""

    def records(self, path: PurePosixPath, most: int = 20) -> list[Record]:
        """The first records of a JSON, JSON lines, CSV, TSV, parquet or XLSX file; else empty.

        Of a JSON object these are the records of the first list of objects in it.
        """
        suffix = path.suffix.casefold()
        if suffix == ".parquet":
            return self._parquet(path, most)
        if suffix == ".xlsx":
            return self._workbook(path, most)
        text = self.text(path)
        if suffix in {".csv", ".tsv"}:
            return _cells(text, most)
        if suffix in {".json", ".jsonl", ".ndjson"}:
            return _objects(text, most)
        return []

    def _parquet(self, path: PurePosixPath, most: int) -> list[Record]:
        try:
            return pl.read_parquet(self.root / path, n_rows=most).to_dicts()
        except (pl.exceptions.PolarsError, OSError):
            return []

    def _workbook(self, path: PurePosixPath, most: int) -> list[Record]:
        data = self.head(path, MOST_BYTES)
        try:
            sheets = workbook_sheets(self.root / path, data, most + 1)
        except DataError:
            return []
        rows = [row.cells for row in sheets[0].rows] if sheets else []
        return [
            dict(zip_longest(rows[0], cells[: len(rows[0])], fillvalue="")) for cells in rows[1:]
        ]


def is_litter(name: str) -> bool:
    """Whether a file or folder is one that desktops and archives create: no part of a source."""
    return name.startswith(".") or name.casefold() in _LITTER


def _walk(src: Path) -> Iterator[Path]:
    if not src.is_dir():
        yield src
        return
    for place, folders, files in os.walk(src):
        folders[:] = sorted(name for name in folders if not is_litter(name))
        yield from (Path(place, name) for name in sorted(files) if not is_litter(name))


def _cells(text: str, most: int) -> list[Record]:
    head = text.partition("\n")[0]
    separator = max(",\t;", key=head.count)
    found: list[Record] = []
    try:
        for cells in csv.DictReader(io.StringIO(text, newline=""), delimiter=separator):
            found.append({str(key): value for key, value in cells.items()})
            if len(found) == most:
                break
    except csv.Error:
        return []
    return found


def _objects(text: str, most: int) -> list[Record]:
    """The first objects of a list, of a list in an object, or of lines; cut text is no fault."""
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
            return inner[:most]
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
    """Whether an object that is cut off begins with a key whose value is a list."""
    head = text[:200].replace(" ", "").replace("\n", "")
    return head.partition(":")[2].startswith("[{")


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)
