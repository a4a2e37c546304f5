"""Terminal output about memorization: how much a model reads, and how much it recites."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from keju.cli.output.console import plain_table
from keju.formatting import NOTHING, percent
from keju.scoring.memorization import MemorizationResult


def memorization_table(found: Iterable[MemorizationResult]) -> Table:
    """A row for each model and kind of control."""
    table = plain_table(
        "model", "control", "places", "read", "95 % interval", "recited", "95 % interval", "slips",
        "neither", "not found",
        right=[2, 3, 4, 5, 6, 7, 8, 9],
    )  # fmt: skip
    for each in found:
        table.add_row(
            each.model,
            each.kind,
            f"{each.places:,}",
            _share(each.read, each.places),
            _interval(each.reading),
            _share(each.recited, each.places),
            _interval(each.reciting),
            _share(each.slips, each.of),
            _share(each.neither, each.places),
            _share(each.missed, each.places),
        )
    return table


def _share(count: int, of: int) -> str:
    return percent(count / of) if of else NOTHING


def _interval(found: tuple[float, float] | None) -> str:
    return f"{percent(found[0])} to {percent(found[1])}" if found else NOTHING
