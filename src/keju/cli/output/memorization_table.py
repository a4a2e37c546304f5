"""Terminal output about memorization: how much a model reads, and how much it recites."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from keju.cli.output.console import format_interval, name_columns, plain_table
from keju.formatting import NOTHING, percent
from keju.scoring.memorization import MemorizationResult


def memorization_table(found: Iterable[MemorizationResult]) -> Table:
    """A row for each model and kind of control."""
    table = plain_table(
        *name_columns(
            "model", "control", "places", "read", "interval", "recited", "interval", "slips",
            "neither", "not-found",
        ),
        right=[2, 3, 4, 5, 6, 7, 8, 9],
    )  # fmt: skip
    for each in found:
        table.add_row(
            each.model,
            each.kind,
            f"{each.places:,}",
            _format_share(each.read, each.places),
            format_interval(each.reading, ".1f", scale=100),
            _format_share(each.recited, each.places),
            format_interval(each.reciting, ".1f", scale=100),
            _format_share(each.slips, each.of),
            _format_share(each.neither, each.places),
            _format_share(each.missed, each.places),
        )
    return table


def _format_share(count: int, of: int) -> str:
    return percent(count / of) if of else NOTHING
