"""Checks of what must be more or less than something else, whatever the answers were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from keju.published.book import Book
from keju.published.checks.base import EPSILON, Check, Mismatch, Outcome, differs, shown
from keju.published.checks.sums import Term, weighted_sum
from keju.published.tables import Column


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

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place a column."""
        for reference in self.columns:
            for column in book.columns(reference):
                yield self._compare(book, column)

    def _compare(self, book: Book, column: Column) -> Outcome:
        rows = [row for row in column.values if self.every_row or row in book.models]
        if self.where:
            condition = book.column(_beside(self.where, column)).values
            rows = [
                row for row in rows if row in condition and condition[row] <= self.where_at_most
            ]
        limits, half = dict.fromkeys(rows, self.constant), 0.0
        if self.terms:
            terms = tuple(replace(term, of=_beside(term.of, column)) for term in self.terms)
            limits, half = weighted_sum(book, terms, self.constant)
        sign = 1 if self.sense == "most" else -1
        compared = [row for row in rows if row in limits]
        return Outcome(
            column.place,
            len(compared),
            tuple(
                Mismatch(
                    where=row,
                    printed=column.cells[row].text,
                    recomputed=f"at {self.sense} {shown(limits[row], column)}",
                )
                for row in compared
                if sign * (column.values[row] - limits[row]) > column.half + half + EPSILON
            ),
        )


class Harmonic(Check, frozen=True, kw_only=True, tag="harmonic"):
    """F1 is the harmonic mean of the printed precision and recall of the same table and task."""

    f1: tuple[str, ...]
    precision: str
    recall: str

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place a column; rounding is taken through the formula."""
        for reference in self.f1:
            for column in book.columns(reference):
                precision = book.column(_beside(self.precision, column))
                recall = book.column(_beside(self.recall, column))
                yield Outcome(
                    column.place,
                    len(column.values),
                    tuple(_not_harmonic(column, precision, recall)),
                )


class Between(Check, frozen=True, kw_only=True, tag="between"):
    """`column` lies between the least and the greatest of `parts`, give or take `slack`."""

    column: str
    parts: str
    slack: float

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place."""
        column, parts = book.column(self.column), book.columns(self.parts)
        failed = []
        for row, value in column.values.items():
            values = [part.values[row] for part in parts]
            if not min(values) - self.slack <= value <= max(values) + self.slack:
                failed.append(
                    Mismatch(
                        where=row,
                        printed=column.cells[row].text,
                        recomputed=f"{min(values):g} to {max(values):g}",
                    )
                )
        yield Outcome(column.place, len(column.values), tuple(failed))


class Ceiling(Check, frozen=True, kw_only=True, tag="ceiling"):
    """A perfect system reads as 1 (or 100). It fails where `at` is all that can be reached."""

    columns: tuple[str, ...]
    at: float

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place a column: the cells that stand at the ceiling, none of which passes it."""
        for reference in self.columns:
            column = book.column(reference)
            values = column.values
            held_down = not any(value > self.at + column.half for value in values.values())
            top = [row for row, value in values.items() if not differs(value, self.at, column.half)]
            yield Outcome(
                column.place,
                len(values),
                tuple(
                    Mismatch(where=row, printed=column.cells[row].text, recomputed="perfect")
                    for row in (top if held_down else ())
                ),
            )


class Below(Check, frozen=True, kw_only=True, tag="below"):
    """A cell printed as ``<x`` stands for less than the numbers of its column printed in full."""

    columns: str

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place a column: numbers that are smaller than the bound beside them."""
        for column in book.columns(self.columns):
            bounds = {
                float(cell.text[1:]): cell.text
                for cell in column.cells.values()
                if cell.text.startswith("<")
            }
            for bound, text in bounds.items():
                smaller = [row for row, value in column.values.items() if value < bound]
                yield Outcome(
                    column.place,
                    len(column.values),
                    tuple(
                        Mismatch(where=row, printed=column.cells[row].text, recomputed=text)
                        for row in smaller
                    ),
                )


def _beside(reference: str, column: Column) -> str:
    return reference.format(table=column.table, task=column.task, subset=column.subset)


def _not_harmonic(f1: Column, precision: Column, recall: Column) -> Iterator[Mismatch]:
    for row, value in f1.values.items():
        low, mean, high = (
            _harmonic(
                precision.values[row] + off * precision.half, recall.values[row] + off * recall.half
            )
            for off in (-1, 0, 1)
        )
        if not low - f1.half - EPSILON <= value <= high + f1.half + EPSILON:
            yield Mismatch(where=row, printed=f1.cells[row].text, recomputed=shown(mean, f1))


def _harmonic(precision: float, recall: float) -> float:
    precision, recall = max(precision, 0.0), max(recall, 0.0)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
