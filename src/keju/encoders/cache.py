"""Cache of vectors on disk: numbers under hashes, never a text."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[np.floating]
T = TypeVar("T")

_LOCK_SECONDS = 60.0
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID
"""
_log = logging.getLogger(__name__)


def default_cache_path() -> Path:
    """``keju/encoders-1.sqlite`` in the user cache (`XDG_CACHE_HOME`, or ``~/.cache``)."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".cache") / "keju" / "encoders-1.sqlite"


def text_key(space: str, *texts: str) -> bytes:
    """The key of one text, or of a pair in its order; `space`: weights, reading, precision."""
    digest = hashlib.sha256(space.encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.digest()


class VectorCache:
    """Vectors in one SQLite file shared by processes.

    A crash loses at most the batch being written. The cache never stops the program: where the file
    cannot be read or written, the cache continues in memory, with one line in the log. An object
    must be used by one thread only.

    Args:
        path: the file, created on first use; None keeps everything in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

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
        query = "SELECT key, value FROM vectors WHERE key = ?"
        rows = self._try(lambda db: [db.execute(query, (key,)).fetchone() for key in keys])
        stored = dict(filter(None, rows))
        length = size * kind.itemsize
        return {key: np.frombuffer(raw, kind) for key, raw in stored.items() if len(raw) == length}

    def put_vectors(self, vectors: Mapping[bytes, Array]) -> None:
        """Store arrays unchanged; existing ones stay."""
        rows = [(key, np.ascontiguousarray(value).tobytes()) for key, value in vectors.items()]
        query = "INSERT OR IGNORE INTO vectors VALUES (?, ?)"
        self._try(lambda db: db.executemany(query, rows))

    def complete(
        self,
        keys: Mapping[T, bytes],
        compute: Callable[[list[T]], Iterable[Mapping[T, Array]]],
        *,
        size: int,
        dtype: DTypeLike = np.float32,
    ) -> dict[T, Array]:
        """The array [size] of each text (or pair of texts), by its key in the cache.

        `compute` gives those that are not cached in batches; each is stored when it comes.
        """
        cached = self.vectors([*keys.values()], size=size, dtype=dtype)
        arrays = {text: cached[key] for text, key in keys.items() if key in cached}
        for batch in compute([text for text in keys if text not in arrays]):
            self.put_vectors({keys[text]: array for text, array in batch.items()})
            arrays.update(batch)
        return arrays

    def _try(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work in a transaction: in the file, or in memory where it cannot be used."""
        try:
            with self._open() as connection:
                return work(connection)
        except (sqlite3.Error, OSError) as error:
            if self.path is None:
                raise
            _log.warning("%s: the encoders' cache can't be used: %s", self.path, error)
        self.close()
        self.path = None
        return self._try(work)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path or ":memory:", timeout=_LOCK_SECONDS)
            self._connection.execute(_TABLE)
        return self._connection
