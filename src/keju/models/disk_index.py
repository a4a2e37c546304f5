"""`DiskIndex`: tables in a temporary file, so that millions of records need little memory."""

from __future__ import annotations

import sqlite3
from typing import Any

from keju.errors import UsageError


class DiskIndex:
    """Tables of SQLite in a file without a name (in ``TMPDIR``), which `close` deletes.

    A run may look records up in another thread than the one that stored them, but never in two at
    the same time. `statements` create the tables and their indexes.
    """

    def __init__(self, *statements: str) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        # One transaction that never ends: nothing is rolled back, or written before memory is full.
        settings = ("PRAGMA cache_size = -16384", "PRAGMA journal_mode = OFF", "BEGIN")
        for statement in (*settings, *statements):
            self.rows(statement)

    def rows(self, statement: str, *values: object) -> list[Any]:
        """Run a statement, and return its rows.

        Raises:
            UsageError: the disk is full, or not writable.
        """
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise UsageError(
                "the index cannot be stored in a temporary file: {}",
                error,
                hint="Free disk space, or set TMPDIR to a folder on a larger disk",
            ) from None

    def close(self) -> None:
        """Delete the tables."""
        self._database.close()
