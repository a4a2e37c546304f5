"""`Dropped`: an item or a part of a source that was dropped, with the reason.

Every source and step writes them to the table ``dropped``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from keju.building.step_context import TABLES
from keju.building.tables import write_table

TABLE = "dropped"
"""The name of the table."""


class Dropped(Struct, frozen=True):
    """An item or a part of a source that was dropped.

    Attributes:
        subject: the id of the item, or the file, page, row or class.
        reason: why it was dropped.
        task: the task of the item; empty for a part of a source.
        details: its stratum, answer, image or manifest, if the reason depends on it.
    """

    subject: str
    reason: str
    task: str = ""
    details: str = ""


def write_dropped(out: Path, rows: Iterable[Dropped]) -> None:
    """Write OUT/tables/dropped.parquet and .csv; without rows, a table without rows."""
    write_table(out / TABLES, TABLE, rows, Dropped)
