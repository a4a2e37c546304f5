"""Checks of words: who is best, who comes next, whose name is whose."""

from __future__ import annotations

from collections.abc import Iterator

from keju.published.book import Book
from keju.published.checks.base import Check, Mismatch, Outcome
from keju.published.checks.marks import places
from keju.statistics.correlation import spearman


class Rank(Check, frozen=True, kw_only=True, tag="rank"):
    """A column of ranks is the order of another."""

    column: str
    of: str

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place; equal values may stand in either order."""
        column, of = book.column(self.column), book.column(self.of)
        rows = list(column.values)
        values = [of.values[row] for row in rows]
        failed = []
        for row, rank in column.values.items():
            above = sum(value > of.values[row] for value in values)
            same = sum(value == of.values[row] for value in values)
            if not above + 1 <= rank <= above + same:
                failed.append(Mismatch(where=row, printed=f"{rank:g}", recomputed=f"{above + 1:g}"))
        yield Outcome(column.place, len(rows), tuple(failed))


class Best(Check, frozen=True, kw_only=True, tag="best"):
    """A claim that one of `models` is the best of all in each of `columns`.

    `claim` is the sentence's content and `source` where it stands.
    """

    models: tuple[str, ...]
    columns: tuple[str, ...]
    claim: str
    source: str

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place: the columns in which another is better."""
        failed = []
        for reference in self.columns:
            column = book.column(reference)
            rows = [row for row in column.values if row in book.models]
            placed = places(column, rows)
            best = [row for row in rows if placed[row] == 1]
            if not set(best) & set(self.models):
                claimed = min(self.models, key=lambda row: placed.get(row, len(rows) + 1))
                failed.append(
                    Mismatch(
                        where=column.place,
                        printed=f"{claimed} {column.cells[claimed].text}",
                        recomputed=f"{', '.join(best)} {column.cells[best[0]].text}",
                    )
                )
        yield Outcome(self.source, len(self.columns), tuple(failed), f"The claim: {self.claim}.")


class Beside(Check, frozen=True, kw_only=True, tag="beside"):
    """A claim that `models` reach at least `share` of what `row` has in `column`."""

    models: tuple[str, ...]
    column: str
    row: str
    share: float
    claim: str
    source: str

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place: the models that don't."""
        column = book.column(self.column)
        mark = column.values[self.row]
        yield Outcome(
            self.source,
            len(self.models),
            tuple(
                Mismatch(
                    where=f"{column.place}, {row}",
                    printed=column.cells[row].text,
                    recomputed=f"{column.values[row] / mark:.0%} of {column.cells[self.row].text}",
                )
                for row in self.models
                if column.values[row] < self.share * mark
            ),
            f"The claim: {self.claim}.",
        )


class Orders(Check, frozen=True, kw_only=True, tag="orders"):
    """The metrics of each table order its models much as `by` does: Spearman of `least` or more."""

    tables: tuple[str, ...]
    columns: str
    by: str
    least: float

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place a column."""
        for table in self.tables:
            by = book.column(f"{table} | {self.by}")
            for column in book.columns(f"{table} | {self.columns}"):
                if column.name == by.name:
                    continue
                rows = [row for row in by.values if row in book.evaluated]
                sign = -1 if column.how.better == "lower" else 1
                found = sign * spearman(
                    [column.values[row] for row in rows], [by.values[row] for row in rows]
                )
                mismatch = Mismatch(
                    where=f"Spearman with {by.name}",
                    printed=f"{found:.2f}",
                    recomputed=f"{self.least:g} or more",
                )
                yield Outcome(column.place, len(rows), (mismatch,) if found < self.least else ())


class Covers(Check, frozen=True, kw_only=True, tag="covers"):
    """Each of `tables` has a row for every model that the paper evaluates."""

    tables: tuple[str, ...]

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place a table."""
        for name in self.tables:
            rows = book.tables[name].rows
            lacking = [row for row in book.evaluated if row not in rows]
            yield Outcome(
                name,
                len(book.evaluated),
                tuple(Mismatch(where=row, printed="no row", recomputed="a row") for row in lacking),
            )


class Names(Check, frozen=True, kw_only=True, tag="names"):
    """One model bears one name in all of `tables`."""

    tables: tuple[str, ...]

    def examine(self, book: Book) -> Iterator[Outcome]:
        """One place a table: the rows that are spelled otherwise elsewhere."""
        for name in self.tables:
            spelled = book.tables[name].spelled
            yield Outcome(
                name,
                len(spelled),
                tuple(
                    Mismatch(where=row, printed=printed, recomputed=row)
                    for row, printed in spelled.items()
                    if printed != row
                ),
            )
