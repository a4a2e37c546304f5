"""Checks of bounds that hold for any answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from keju.published.checks.base import (
    Check,
    Mismatch,
    Outcome,
    Term,
    compare_column,
    format_value,
    weighted_sum,
)
from keju.published.printed_tables import PrintedTables
from keju.published.tables import EPSILON, Column
from keju.texts import _


class Bound(Check, frozen=True, kw_only=True, tag="bound"):
    """Each column is at most (`sense` "most") or at least ("least") the sum of `terms`, `constant`.

    Only rows that are models are compared, unless `every_row`. `where` restricts it to the rows in
    which that column is at most `where_at_most`. ``{table}``, ``{task}`` and ``{subset}`` in the
    references of `terms` and `where` are the column's own.
    """

    columns: tuple[str, ...]
    sense: Literal["most", "least"]
    terms: tuple[Term, ...] = ()
    constant: float = 0.0
    where: str = ""
    where_at_most: float = 0.0
    every_row: bool = False

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One outcome per column."""
        for reference in self.columns:
            for column in paper.columns(reference):
                yield self._compare(paper, column)

    def _describe(self, limit: str) -> str:
        if self.sense == "most":
            return _("at most {}", limit)
        return _("at least {}", limit)

    def _compare(self, paper: PrintedTables, column: Column) -> Outcome:
        rows = [row for row in column.values if self.every_row or row in paper.models]
        if self.where:
            condition = paper.column(_beside(self.where, column)).values
            rows = [
                row for row in rows if row in condition and condition[row] <= self.where_at_most
            ]
        limits, half = dict.fromkeys(rows, self.constant), 0.0
        if self.terms:
            terms = tuple(replace(term, of=_beside(term.of, column)) for term in self.terms)
            limits, half = weighted_sum(paper, terms, self.constant)
        sign = 1 if self.sense == "most" else -1
        compared = [row for row in rows if row in limits]
        due = {
            row: self._describe(format_value(limits[row], column))
            for row in compared
            if sign * (column.values[row] - limits[row]) > column.half + half + EPSILON
        }
        return compare_column(column, len(compared), due)


class Harmonic(Check, frozen=True, kw_only=True, tag="harmonic"):
    """F1 is the harmonic mean of the printed precision and recall of the same table and task."""

    f1: tuple[str, ...]
    precision: str
    recall: str

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One outcome per column; rounding is propagated through the formula."""
        for reference in self.f1:
            for column in paper.columns(reference):
                precision = paper.column(_beside(self.precision, column))
                recall = paper.column(_beside(self.recall, column))
                means = {
                    row: _harmonic(precision.values[row], recall.values[row])
                    for row in column.values
                }
                due = dict(_not_harmonic(column, precision, recall))
                found = compare_column(column, len(column.values), due)
                yield found._replace(column=column, instead=means)


class Between(Check, frozen=True, kw_only=True, tag="between"):
    """`column` is between the minimum and the maximum of `parts`, with a tolerance of `slack`."""

    column: str
    parts: str
    slack: float

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place."""
        column, parts = paper.column(self.column), paper.columns(self.parts)
        due = {}
        for row, value in column.values.items():
            values = [part.values[row] for part in parts]
            low, high = min(values), max(values)
            if not low - self.slack <= value <= high + self.slack:
                due[row] = _("{} to {}", f"{low:g}", f"{high:g}")
        yield compare_column(column, len(column.values), due)


class Ceiling(Check, frozen=True, kw_only=True, tag="ceiling"):
    """A perfect answer reads as the whole scale. It fails where no cell passes `at`.

    `at` is what a perfect answer is worth, by the metric's formula. The check holds only where a
    cell is above it, which shows that the formula is another one.
    """

    columns: tuple[str, ...]
    at: float

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a column; the mismatch is its highest cell."""
        for reference in self.columns:
            column = paper.column(reference)
            top = max(column.values, key=column.values.__getitem__)
            passed = column.values[top] > self.at + column.half + EPSILON
            mismatch = Mismatch(
                where=top,
                printed=_("{} (the highest)", column.cells[top].text),
                recomputed=_("at most {} of {}", f"{self.at:g}", f"{column.how.scale:g}"),
            )
            held_down = not passed and self.at < column.how.scale
            yield Outcome(
                column.place,
                len(column.values),
                (mismatch,) if held_down else (),
                concerned=len(column.values),
            )


class Below(Check, frozen=True, kw_only=True, tag="below"):
    """A cell printed as ``<x`` is less than the numbers of its column that are printed in full."""

    columns: str

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a column: numbers that are smaller than the bound beside them."""
        for column in paper.columns(self.columns):
            bounds = {
                float(cell.text[1:]): cell.text
                for cell in column.cells.values()
                if cell.text.startswith("<")
            }
            for bound, text in bounds.items():
                due = {row: text for row, value in column.values.items() if value < bound}
                yield compare_column(column, len(column.values), due)


def _beside(reference: str, column: Column) -> str:
    return reference.format(table=column.table, task=column.task, subset=column.subset)


def _not_harmonic(f1: Column, precision: Column, recall: Column) -> Iterator[tuple[str, str]]:
    for row, value in f1.values.items():
        low, mean, high = (
            _harmonic(
                precision.values[row] + off * precision.half, recall.values[row] + off * recall.half
            )
            for off in (-1, 0, 1)
        )
        if not low - f1.half - EPSILON <= value <= high + f1.half + EPSILON:
            yield row, format_value(mean, f1)


def _harmonic(precision: float, recall: float) -> float:
    precision, recall = max(precision, 0.0), max(recall, 0.0)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
