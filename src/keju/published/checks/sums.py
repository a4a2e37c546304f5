"""Checks of arithmetic: cells that are a mean, a total or a copy of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keju.published.checks.base import (
    Check,
    Mismatch,
    Outcome,
    Term,
    compare_column,
    differs,
    format_value,
    weighted_sum,
)
from keju.published.printed_tables import PrintedTables
from keju.published.tables import Column


class Mean(Check, frozen=True, kw_only=True, tag="mean"):
    """In each of `tables`, `column` is the plain mean of `parts` (of tasks of one `format`).

    With `scale`, the parts are between 0 and it: a row in which parts are not numbers is wrong if
    its mean is none for any of them.
    """

    tables: tuple[str, ...]
    column: str
    parts: str | tuple[str, ...]
    format: str = ""
    scale: float = 0

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a table; other rows that lack a part are not compared."""
        listed = (self.parts,) if isinstance(self.parts, str) else self.parts
        for table in self.tables:
            columns = [
                column
                for part in listed
                for column in paper.columns(f"{table} | {part}", self.format)
            ]
            mean = paper.column(f"{table} | {self.column}")
            half = sum(column.half for column in columns) / len(columns)
            means = {
                row: sum(column.values[row] for column in columns) / len(columns)
                for row in columns[0].values
                if all(row in column.values for column in columns)
            }
            outcome = _same(mean, means, half)
            impossible = self._impossible(mean, columns, half) if self.scale else ()
            yield outcome._replace(mismatches=(*outcome.mismatches, *impossible))

    def _impossible(
        self, mean: Column, columns: Sequence[Column], half: float
    ) -> Iterator[Mismatch]:
        """The rows whose mean no values of the parts that are not numbers explain."""
        for row, value in mean.values.items():
            cells = [column.cells[row] for column in columns if row in column.cells]
            unread = sum(cell.value is None for cell in cells)
            if len(cells) < len(columns) or not unread:
                continue
            least = sum(cell.value or 0 for cell in cells) / len(cells)
            most = least + unread * self.scale / len(cells)
            if value < least - mean.half - half or value > most + mean.half + half:
                between = f"{format_value(least, mean)}–{format_value(most, mean)}"
                yield Mismatch(where=row, printed=mean.cells[row].text, recomputed=between)


class RowMean(Check, frozen=True, kw_only=True, tag="row_mean"):
    """In every one of `columns`, the cell of `row` is the plain mean of the evaluated models'."""

    columns: tuple[str, ...]
    row: str

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a column."""
        for reference in self.columns:
            for column in paper.columns(reference):
                values = [column.values[row] for row in paper.evaluated if row in column.values]
                if self.row in column.values and values:
                    mean = sum(values) / len(values)
                    yield _same(column, {self.row: mean}, column.half)


class Linear(Check, frozen=True, kw_only=True, tag="linear"):
    """`column` is `constant` plus the weighted sum of `terms`, give or take `slack`.

    `instead` is another sum that explains the column where this one does not.
    """

    column: str
    terms: tuple[Term, ...]
    constant: float = 0.0
    slack: float = 0.0
    instead: tuple[Term, ...] = ()

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place."""
        column = paper.column(self.column)
        total = weighted_sum(paper, self.terms, self.constant)
        found = _same(column, total.values, total.half + self.slack)
        if self.instead and found.mismatches:
            other = weighted_sum(paper, self.instead)
            fits = sum(
                not differs(column.values[row], value, column.half + other.half)
                for row, value in other.values.items()
            )
            found = found._replace(
                note=f"That sum fits {fits} of {len(other.values)} rows.",
                note_zh=f"按此求和，{len(other.values)} 行中 {fits} 行相符。",
            )
        yield found


class Same(Check, frozen=True, kw_only=True, tag="same"):
    """Each pair of columns agrees in every row that both have."""

    pairs: tuple[tuple[str, str], ...]

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a pair; a pair of patterns is paired by the columns' names."""
        for first, second in self.pairs:
            others = paper.columns(second)
            for column in paper.columns(first):
                named = [other for other in others if other.name == column.name]
                for other in named or (others if len(others) == 1 else []):
                    yield _same(column, other.values, other.half)


class Total(Check, frozen=True, kw_only=True, tag="total"):
    """A column of counts adds up to `equals`, or to its own `row`, which is not added."""

    column: str
    equals: float | None = None
    row: str = ""

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place."""
        column = paper.column(self.column)
        total = sum(value for row, value in column.values.items() if row != self.row)
        stated = column.values[self.row] if self.equals is None else self.equals
        mismatch = Mismatch(where=self.row or "sum", printed=f"{stated:g}", recomputed=f"{total:g}")
        yield Outcome(column.place, 1, (mismatch,) if differs(stated, total, 0) else ())


def _same(column: Column, values: dict[str, float], half: float) -> Outcome:
    """Compare a column with what its rows were computed to be."""
    rows = [row for row in column.values if row in values]
    due = {
        row: format_value(values[row], column)
        for row in rows
        if differs(column.values[row], values[row], column.half + half)
    }
    return compare_column(column, len(rows), due)._replace(column=column, instead=values)
