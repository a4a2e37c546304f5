"""Checks of ranks and names: the best model, the order, and the names of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase

from keju.published.checks.base import Check, Mismatch, Outcome, ranks_of
from keju.published.checks.marks import places
from keju.published.models import published_model
from keju.published.printed_tables import PrintedTables
from keju.statistics import spearman
from keju.texts import _, either


class Rank(Check, frozen=True, kw_only=True, tag="rank"):
    """A column of ranks is the order of another, in the rows that have both.

    Rows that have a rank and a cell that is not a number keep their rank.
    """

    column: str
    of: str

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place; equal values may have either order."""
        column, of = paper.column(self.column), paper.column(self.of)
        rows = [row for row in column.values if row in of.values]
        places_of = ranks_of(of, of.values, rows)
        shared = Counter(places_of.values())
        unread = [
            rank
            for row, rank in column.values.items()
            if row in of.cells and of.cells[row].value is None
        ]
        failed = []
        for row, place_among_read in places_of.items():
            rank = column.values[row]
            place = place_among_read + sum(other < rank for other in unread)
            if not place <= rank < place + shared[place_among_read]:
                failed.append(Mismatch(where=row, printed=f"{rank:g}", recomputed=f"{place:g}"))
        yield Outcome(column.place, len(rows), tuple(failed))


class Best(Check, frozen=True, kw_only=True, tag="best"):
    """One of `models` is the best of all in each of `columns`."""

    models: tuple[str, ...]
    columns: tuple[str, ...]

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a column in which another is better."""
        for reference in self.columns:
            column = paper.column(reference)
            rows = [row for row in column.values if row in paper.models]
            placed = places(column, rows)
            best = [row for row in rows if placed[row] == 1]
            claimed = min(self.models, key=lambda row: placed[row])
            mismatch = Mismatch(
                where=claimed,
                printed=column.cells[claimed].text,
                recomputed=f"{', '.join(best)} {column.cells[best[0]].text}",
            )
            failing = not set(best) & set(self.models)
            yield Outcome(column.place, len(rows), (mismatch,) if failing else ())


class Orders(Check, frozen=True, kw_only=True, tag="orders"):
    """The metrics of each table order its models much as `by` does: Spearman of `least` or more."""

    tables: tuple[str, ...]
    columns: str
    by: str
    least: float

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a column."""
        for table in self.tables:
            by = paper.column(f"{table} | {self.by}")
            for column in paper.columns(f"{table} | {self.columns}"):
                if column.name == by.name:
                    continue
                rows = [row for row in by.values if row in paper.evaluated]
                sign = -1 if column.how.better == "lower" else 1
                found = sign * spearman(
                    [column.values[row] for row in rows], [by.values[row] for row in rows]
                )
                mismatch = Mismatch(
                    where=_("Spearman with {}", by.name),
                    printed=f"{found:.2f}",
                    recomputed=_("{} or more", f"{self.least:g}"),
                )
                yield Outcome(
                    column.place,
                    len(rows),
                    (mismatch,) if found < self.least else (),
                    concerned=len(rows),
                )


class Covers(Check, frozen=True, kw_only=True, tag="covers"):
    """Each of `tables` has a row for every model that the paper evaluates."""

    tables: tuple[str, ...]

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a table."""
        for name in self.tables:
            rows = paper.tables[name].rows
            lacking = [row for row in paper.evaluated if row not in rows]
            yield Outcome(
                name,
                len(paper.evaluated),
                tuple(
                    Mismatch(
                        where=row,
                        printed=_("no row"),
                        recomputed=_("a row"),
                    )
                    for row in lacking
                ),
            )


class Names(Check, frozen=True, kw_only=True, tag="names"):
    """One model has one name in all of `tables`, apart from capitals, spaces and hyphens."""

    tables: tuple[str, ...]

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a table: the rows that have another name elsewhere."""
        for name in self.tables:
            spelled = paper.tables[name].spelled
            yield Outcome(
                name,
                len(spelled),
                tuple(
                    Mismatch(where=row, printed=printed, recomputed=row)
                    for row, printed in spelled.items()
                    if _letters(printed) != _letters(row)
                ),
            )


class Releases(Check, frozen=True, kw_only=True, tag="releases"):
    """The sizes of rows like `rows` are among the released `sizes` (10^9 parameters)."""

    rows: str
    sizes: tuple[float, ...]
    tables: tuple[str, ...]

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One place a table."""
        released = either(f"{size:g}B" for size in self.sizes)
        for name in self.tables:
            rows = [row for row in paper.tables[name].rows if fnmatchcase(row, self.rows)]
            yield Outcome(
                name,
                len(rows),
                tuple(
                    Mismatch(where=row, printed=f"{model.size_b:g}B", recomputed=released)
                    for row in rows
                    if (model := published_model(paper.benchmark, row))
                    and model.size_b is not None
                    and model.size_b not in self.sizes
                ),
            )


def _letters(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalnum())
