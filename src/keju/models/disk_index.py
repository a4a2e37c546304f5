"""`DiskIndex`: tables in a temporary file, so that millions of records need little memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from keju.errors import UsageError


class DiskIndex:
    """Tables of SQLite in a file without a name, which is deleted when it is closed.

    SQLite creates the file in the folder for temporary files (``TMPDIR``). A run may look records
    up in another thread than the one that stored them, but never in two at the same time.

    Args:
        tables: statements that create the tables.
    """

    def __init__(self, *tables: str) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        # One transaction that never ends: nothing is rolled back, or written before memory is full.
        for setting in ("cache_size = -16384", "journal_mode = OFF"):
            self.rows(f"PRAGMA {setting}")
        self.rows("BEGIN")
        for table in tables:
            self.rows(f"CREATE TABLE {table}")

    def rows(self, statement: str, *values: object) -> list[Any]:
        """Run a statement, and return all its rows.

        Raises:
            UsageError: the disk is full, or not writable.
        """
        return list(self.iterate(statement, *values))

    def iterate(self, statement: str, *values: object) -> Iterator[Any]:
        """Run a statement, and yield its rows one by one.

        Raises:
            UsageError: as `rows`.
        """
        try:
            yield from self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise _not_stored(error) from None

    def insert(self, statement: str, records: Iterable[Sequence[object]]) -> None:
        """Run a statement that adds one record, for each record.

        Raises:
            UsageError: as `rows`.
        """
        try:
            self._database.executemany(statement, records)
        except sqlite3.Error as error:
            raise _not_stored(error) from None

    def close(self) -> None:
        """Delete the tables."""
        self._database.close()


def _not_stored(error: sqlite3.Error) -> UsageError:
    return UsageError(
        "the index cannot be stored in a temporary file: {}",
        error,
        hint="Free disk space, or set TMPDIR to a folder on a larger disk",
    )
