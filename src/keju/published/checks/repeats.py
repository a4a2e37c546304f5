"""Checks for copies: repeated columns, and rows under two names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from keju.published.checks.base import (
    Check,
    Mismatch,
    Outcome,
    compare_column,
)
from keju.published.printed_tables import PrintedTables
from keju.texts import _

_FEWEST = 5
"""Minimum number of rows; fewer may agree by chance."""

_TELLING = 3
"""Minimum number of different values in a row; fewer may be repeated by chance."""


class RepeatedColumns(Check, frozen=True, kw_only=True, tag="repeated_columns"):
    """No two of `columns` have the same value in more than half of five rows or more.

    A column of one value throughout (all 0, all 100) repeats nothing.
    """

    columns: tuple[str, ...]

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place for each pair that fails, or one if none does."""
        columns = [paper.column(reference) for reference in self.columns]
        compared, repeated = 0, False
        for first, second in combinations(columns, 2):
            rows = [row for row in paper.evaluated if row in first.values and row in second.values]
            equal = [row for row in rows if first.values[row] == second.values[row]]
            compared += len(rows) if len(rows) >= _FEWEST else 0
            constant = len({first.values[row] for row in equal}) < 2
            if len(rows) >= _FEWEST and len(equal) > len(rows) / 2 and not constant:
                due = dict.fromkeys(equal, _("as in {}", first.name))
                yield compare_column(second, len(rows), due)
                repeated = True
        if compared and not repeated:
            yield Outcome("all columns", compared, ())


class RepeatedRows(Check, frozen=True, kw_only=True, tag="repeated_rows"):
    """No two models have the same values in all `columns`, three different ones among them."""

    columns: tuple[str, ...]

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place: the rows that repeat an earlier one."""
        columns = [paper.column(reference) for reference in self.columns]
        seen: dict[tuple[float, ...], str] = {}
        repeated, compared = [], 0
        for row in paper.evaluated:
            values = tuple(column.values[row] for column in columns if row in column.values)
            if len(values) < len(columns) or len(set(values)) < _TELLING:
                continue
            compared += 1
            if values in seen:
                repeated.append(
                    Mismatch(
                        where=row,
                        printed=_("the values of"),
                        recomputed=seen[values],
                    )
                )
            seen.setdefault(values, row)
        if compared > 1:
            yield Outcome("all rows", compared, tuple(repeated))
