"""`FileCache`: a bounded folder of fetched files that several processes share.

The folder is ``KEJU_CACHE``, else ``keju`` in ``XDG_CACHE_HOME``, else ``~/.cache/keju``.
``KEJU_CACHE_GB`` is its maximum size (default 20); the least recently used files are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from keju.errors import UsageError

# Shares of the maximum size: what remains after files were removed, and what is added before the
# cache is measured again.
_REMAINING, _BETWEEN_CHECKS = 0.8, 0.05

_WAIT = 10
"""Seconds to wait for a process that removes files."""

_UNFINISHED = 3600
"""Seconds after the last change until an unfinished file is one that a process left."""


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
    setting = os.environ.get("KEJU_CACHE_GB", "").strip()
    with contextlib.suppress(ValueError):
        if (size := float(setting or 20)) > 0:
            return int(size * 1e9)
    raise UsageError(
        "KEJU_CACHE_GB is {!r}. It must be the size of the cache in GB, such as 20", setting
    )


class FileCache:
    """Files by key. A file under its final name is complete. A file may be fetched twice.

    `cache_folder` and `cache_limit` (in bytes) are the defaults.
    """

    def __init__(self, folder: Path | None = None, limit: int | None = None) -> None:
        self.folder = folder or cache_folder()
        self.limit = cache_limit() if limit is None else limit
        self._added = self.limit  # The first addition measures what earlier processes left.

    def get(self, key: str, fetch: Callable[[Path], None]) -> Path:
        """The file of a key, fetched if it is not in the cache; the content of a key never changes.

        Raises:
            DataError: `fetch` raised it.
        """
        path = self.path(key)
        try:
            os.utime(path)  # The time of its last use.
        except OSError:
            path.parent.mkdir(parents=True, exist_ok=True)
            fetch(path)
            with contextlib.suppress(FileNotFoundError):  # Another process may have removed it.
                self._added += path.stat().st_size
            if self._added >= self.limit * _BETWEEN_CHECKS:
                self._added = 0
                self._bound(path)
        return path

    def path(self, key: str) -> Path:
        """The path of a key's file."""
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / "objects" / name[:2] / name

    def _bound(self, newest: Path) -> None:
        """Remove the least recently used files until the size is within the limit.

        Only one process does this at a time; the others wait, because the files that they added may
        have come after it listed the folder. A removed file stays readable for its readers.
        """
        with contextlib.suppress(Timeout), FileLock(self.folder / ".lock", timeout=_WAIT):
            files: list[tuple[float, int, Path]] = []
            for path in (self.folder / "objects").glob("*/*"):
                with contextlib.suppress(OSError):
                    about = path.stat()
                    # Another process may be writing an unfinished file, which it then renames.
                    age = time.time() - about.st_mtime
                    if not path.name.startswith(".") or age > _UNFINISHED:
                        files.append((about.st_mtime, about.st_size, path))
            total = sum(size for _, size, _ in files)
            bound = self.limit if total <= self.limit else self.limit * _REMAINING
            for _, size, path in sorted(files):
                if total > bound and path != newest:
                    path.unlink(missing_ok=True)
                    total -= size
