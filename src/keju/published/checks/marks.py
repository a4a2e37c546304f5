"""Checks of emphasis: bold and underlined cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from keju.published.checks.base import Check, Mismatch, Outcome, merits_of
from keju.published.models import published_model
from keju.published.printed_tables import PrintedTables
from keju.published.tables import Column, Mark
from keju.texts import _


class Marks(Check, frozen=True, kw_only=True, tag="marks"):
    """In each column the best is bold and the second best underlined, ties together.

    `legible` are the marks that the transcription kept. `by_kind` marks closed and open models
    apart. A column without any mark is skipped, unless `missing` states that it should have them.
    Where several share the first place, no second is required. A cell that is not a number may have
    any place.
    """

    tables: tuple[str, ...]
    legible: tuple[Mark, ...]
    columns: str = "*:*"
    by_kind: bool = False
    missing: bool = False

    def examine(self, paper: PrintedTables) -> Iterator[Outcome]:
        """One outcome per column."""
        for table in self.tables:
            for column in paper.columns(f"{table} | {self.columns}"):
                if column.metric == "rank":
                    continue
                for rows in self._groups(paper, column):
                    marked = any(column.cells[row].mark for row in rows)
                    if marked != self.missing and len(rows) > 1:
                        wrong = self._wrong(column, rows, _unread(paper, column))
                        yield Outcome(column.place, len(rows), tuple(wrong))

    def _groups(self, paper: PrintedTables, column: Column) -> list[list[str]]:
        rows = [row for row in column.values if row in paper.models]
        if not self.by_kind:
            return [rows]
        kinds = {
            row: found.kind for row in rows if (found := published_model(paper.benchmark, row))
        }
        return [
            [row for row in rows if kinds[row] == kind] for kind in dict.fromkeys(kinds.values())
        ]

    def _wrong(self, column: Column, rows: Sequence[str], unread: int) -> Iterator[Mismatch]:
        placed = places(column, rows)
        first_is_shared = sum(place == 1 for place in placed.values()) > 1
        for row in rows:
            place, mark = placed[row], column.cells[row].mark
            due = _due(place)
            excused = first_is_shared and due == "underline" and not mark
            # Each cell without a number may be better than this one.
            possible = {_due(place + better) for better in range(unread + 1)}
            if mark not in possible and not excused and {mark, due} & set(self.legible):
                yield Mismatch(
                    where=row,
                    printed=_("{} {}", column.cells[row].text, _name_mark(mark)),
                    recomputed=_name_mark(due) if place < 3 else _("place {}", place),
                )


def _unread(paper: PrintedTables, column: Column) -> int:
    return sum(cell.value is None for row, cell in column.cells.items() if row in paper.models)


def _due(place: int) -> Mark:
    return "bold" if place == 1 else "underline" if place == 2 else ""


def _name_mark(mark: Mark) -> str:
    if mark == "bold":
        return _("best")
    return _("second") if mark else _("unmarked")


def places(column: Column, rows: Iterable[str]) -> dict[str, int]:
    """The place of each row among the distinct values of a column, the best first."""
    merits = merits_of(column, column.values, rows)
    order = sorted(set(merits.values()), reverse=True)
    return {row: order.index(value) + 1 for row, value in merits.items()}
