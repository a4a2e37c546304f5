"""Cache of vectors on disk: numbers under hashes, never a text."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[np.floating]
T = TypeVar("T")

MATRIX_BYTES = 2 << 30
"""The maximum size of token matrices on disk; the oldest are dropped."""
MEMORY_MATRIX_BYTES = 512 << 20
"""The same for a cache in memory only."""

_AT_ONCE = 500
_LOCK_SECONDS = 60.0
_TABLES = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS matrices
    (age INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL);
"""
_log = logging.getLogger(__name__)


def default_cache_path() -> Path:
    """``keju/encoders-1.sqlite`` in the user cache (`XDG_CACHE_HOME`, or ``~/.cache``)."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(home) if Path(home).is_absolute() else Path.home() / ".cache"
    return base / "keju" / "encoders-1.sqlite"


def text_key(space: str, *texts: str) -> bytes:
    """The key of one text, or of a pair in its order; `space`: weights, reading, precision."""
    digest = hashlib.sha256(space.encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.digest()


class VectorCache:
    """Vectors, and token matrices up to a maximum size, in one SQLite file shared by processes.

    A crash loses at most the batch being written. The cache never stops the program: a file that is
    not a database is moved aside, and where nothing can be written the cache continues in memory,
    with one line in the log. An object must be used by one thread only.

    Args:
        path: the file, created on first use; None keeps everything in memory.
        matrix_bytes: the maximum size of the token matrices; by default `MATRIX_BYTES` or
            `MEMORY_MATRIX_BYTES`.
    """

    def __init__(self, path: Path | None, *, matrix_bytes: int | None = None) -> None:
        self.path = path
        default = MEMORY_MATRIX_BYTES if path is None else MATRIX_BYTES
        self.matrix_bytes = default if matrix_bytes is None else matrix_bytes
        self._connection: sqlite3.Connection | None = None
        self._matrix_total = 0

    def close(self) -> None:
        """Close the file, which is reopened at the next use; content in memory only is lost."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def vectors(
        self, keys: Sequence[bytes], *, size: int, dtype: DTypeLike = np.float32
    ) -> dict[bytes, Array]:
        """The cached ones of `keys`, as arrays [size]."""
        kind = np.dtype(dtype)
        return {
            key: np.frombuffer(raw, dtype=kind)
            for key, raw in self._read("vectors", keys)
            if len(raw) == size * kind.itemsize
        }

    def put_vectors(self, vectors: Mapping[bytes, Array]) -> None:
        """Store arrays unchanged; existing ones stay."""
        rows = [(key, np.ascontiguousarray(value).tobytes()) for key, value in vectors.items()]

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

        self._try(write)

    def matrices(self, keys: Sequence[bytes], *, size: int) -> dict[bytes, Array]:
        """The cached ones of `keys`, as float32 arrays [rows, size]."""
        width = size * np.dtype(np.float32).itemsize
        return {
            key: np.frombuffer(raw, dtype=np.float32).reshape(-1, size)
            for key, raw in self._read("matrices", keys)
            if raw and len(raw) % width == 0
        }

    def put_matrices(self, matrices: Mapping[bytes, Array]) -> None:
        """Store token matrices; beyond the maximum size, the oldest are dropped."""
        rows = [
            (key, np.ascontiguousarray(value, dtype=np.float32).tobytes())
            for key, value in matrices.items()
        ]

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                for row in rows:
                    done = connection.execute(
                        "INSERT OR IGNORE INTO matrices (key, value) VALUES (?, ?)", row
                    )
                    self._matrix_total += len(row[1]) * done.rowcount
                self._make_room(connection)

        self._try(write)

    def _make_room(self, connection: sqlite3.Connection) -> None:
        if self._matrix_total <= self.matrix_bytes:
            return
        oldest = connection.execute("SELECT age, length(value) FROM matrices ORDER BY age")
        for age, length in oldest.fetchall():
            if self._matrix_total <= self.matrix_bytes:
                return
            connection.execute("DELETE FROM matrices WHERE age = ?", (age,))
            self._matrix_total -= length

    def _read(self, table: str, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        for start in range(0, len(keys), _AT_ONCE):
            wanted = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(wanted))
            # Only the table's name and question marks are inserted; the keys are bound.
            query = f"SELECT key, value FROM {table} WHERE key IN ({marks})"  # noqa: S608
            yield from self._try(lambda db: db.execute(query, wanted).fetchall())  # noqa: B023

    def _try(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._open())
        except sqlite3.Error as error:
            if self.path is None:
                raise
            _log.warning("%s: the encoders' cache can't be used: %s", self.path, error)
        self.close()
        self.path = None
        self.matrix_bytes = min(self.matrix_bytes, MEMORY_MATRIX_BYTES)
        return work(self._open())

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _connect(self.path)
            with closing(self._connection.cursor()) as cursor:
                cursor.execute("SELECT coalesce(sum(length(value)), 0) FROM matrices")
                self._matrix_total = cursor.fetchone()[0]
        return self._connection


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return _with_tables(sqlite3.connect(":memory:"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise sqlite3.OperationalError(str(error)) from None
    try:
        return _with_tables(sqlite3.connect(path, timeout=_LOCK_SECONDS))
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        aside = path.with_name(f"{path.name}.broken")
        _log.warning("%s: not a database (%s); it is set aside as %s", path, error, aside.name)
        path.replace(aside)
        return _with_tables(sqlite3.connect(path, timeout=_LOCK_SECONDS))


def _with_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.executescript(_TABLES)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
