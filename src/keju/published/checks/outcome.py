"""`Outcome`: the result of a check of printed numbers in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from keju.items import Record
from keju.published.tables import EPSILON, Column

Severity = Literal["error", "conflict", "meaning", "marks", "caution"]
"""error: cannot be as printed; conflict: two places disagree, or a claim and a table; meaning: the
number is not what its name says; marks: the wrong cells are emphasised; caution: true, but easily
read for more than it is."""

Certainty = Literal["proved", "likely", "editorial"]
"""proved: from the printed numbers alone; likely: it needs an assumption that the finding names;
editorial: a matter of naming or marking."""


class Mismatch(Record, frozen=True, kw_only=True):
    """One cell that does not hold: where, what is printed, what it would have to be."""

    where: str
    printed: str
    recomputed: str


class Outcome(NamedTuple):
    """The result of a check in one place: how many cells were compared, and those that fail.

    `note` is what the check adds to its declaration's words (e.g. how unlikely luck is), `note_zh`
    the same in Chinese. `column` and `instead` are the column with the values recomputed for its
    rows, where the check recomputes a whole column. `concerned` is the number of cells that a
    finding is about, where it is not the number of mismatches.
    """

    place: str
    compared: int
    mismatches: tuple[Mismatch, ...]
    note: str = ""
    note_zh: str = ""
    column: Column | None = None
    instead: Mapping[str, float] = MappingProxyType({})
    concerned: int | None = None

    @property
    def cells(self) -> int:
        """The number of cells that a finding in this place is about."""
        return len(self.mismatches) if self.concerned is None else self.concerned


def compare_column(column: Column, compared: int, due: Mapping[str, str]) -> Outcome:
    """The outcome of a column; `due` has what each failing row would have to be."""
    mismatches = (
        Mismatch(where=row, printed=column.cells[row].text, recomputed=text)
        for row, text in due.items()
    )
    return Outcome(column.place, compared, tuple(mismatches))


def differs(first: float, second: float, tolerance: float) -> bool:
    """Whether two numbers lie further apart than rounding can explain."""
    return abs(first - second) > tolerance + EPSILON


def format_value(value: float, column: Column) -> str:
    """A recomputed value with the digits that the column prints, and one more."""
    decimals = max((cell.decimals for cell in column.cells.values()), default=0)
    return f"{value:.{decimals + 1}f}" if decimals else f"{value:.7g}"
