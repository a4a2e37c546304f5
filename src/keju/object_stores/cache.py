"""`FileCache`: a bounded folder of files that were fetched, shared by several processes.

It is ``KEJU_CACHE``, else ``keju`` in ``XDG_CACHE_HOME``, else ``~/.cache/keju``. `KEJU_CACHE_GB`
bounds its size (default 20); the files that were not used for the longest time are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from keju.errors import UsageError
from keju.messages import message

DEFAULT_GB = 20.0
"""The default maximum size of the cache, in 10^9 bytes."""

_KEEP = 0.8
"""After a removal the cache has at most this part of its maximum size."""

_EVERY = 0.05
"""The cache is measured each time that this part of its maximum size was added."""


def cache_folder() -> Path:
    """The folder of the cache."""
    if chosen := os.environ.get("KEJU_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "keju"


def cache_limit() -> int:
    """The maximum size of the cache in bytes.

    Raises:
        UsageError: ``KEJU_CACHE_GB`` is not a positive number.
    """
    given = os.environ.get("KEJU_CACHE_GB", "").strip()
    with contextlib.suppress(ValueError):
        if (size := float(given or DEFAULT_GB)) > 0:
            return int(size * 1e9)
    raise UsageError(message("object-stores.cache-size", given=given))


class FileCache:
    """Files by key. A file is complete when it has its name; the same file may be fetched twice.

    Args:
        folder: the folder; `cache_folder` by default.
        limit: maximum size in bytes; `cache_limit` by default.

    Raises:
        UsageError: ``KEJU_CACHE_GB`` is not a positive number.
    """

    def __init__(self, folder: Path | None = None, limit: int | None = None) -> None:
        self.folder = folder or cache_folder()
        self.limit = cache_limit() if limit is None else limit
        self._added = self.limit  # The first addition measures what earlier processes left.

    def get(self, key: str, fetch: Callable[[Path], None]) -> Path:
        """The file of a key, fetched if it is not in the cache.

        Args:
            key: identifies the content, which never changes.
            fetch: writes a file, atomically.

        Raises:
            DataError: as `fetch` does.
        """
        path = self.path(key)
        try:
            os.utime(path)  # The time of its last use.
        except OSError:
            path.parent.mkdir(parents=True, exist_ok=True)
            fetch(path)
            self._added += path.stat().st_size
            if self._added >= self.limit * _EVERY:
                self._added = 0
                self._bound(path)
        return path

    def path(self, key: str) -> Path:
        """The path of a key's file."""
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / "objects" / name[:2] / name

    def _bound(self, newest: Path) -> None:
        """Remove the files that were not used for the longest time, until the size is in bounds.

        One process does this at a time. A file that another process reads stays readable for it.
        """
        with contextlib.suppress(Timeout), FileLock(self.folder / ".lock", timeout=0):
            found = sorted(self._files())
            total = sum(size for _, size, _ in found)
            if total <= self.limit:
                return
            for _, size, path in found:
                if total <= self.limit * _KEEP:
                    return
                if path != newest:
                    path.unlink(missing_ok=True)
                    total -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        for folder, _, names in os.walk(self.folder / "objects"):
            for name in names:
                with contextlib.suppress(OSError):
                    about = (Path(folder) / name).stat()
                    yield about.st_mtime, about.st_size, Path(folder) / name
