"""What every check of printed numbers has in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from keju.items import Record
from keju.published.book import Book
from keju.published.tables import Column

Severity = Literal["error", "conflict", "meaning", "marks", "caution"]
"""error: cannot be as printed; conflict: two places disagree, or a claim and a table; meaning: the
number is not what its name says; marks: the wrong cells are emphasised; caution: true, but easily
read for more than it is."""

EPSILON = 1e-9


class Mismatch(Record, frozen=True, kw_only=True):
    """One cell that does not hold: where, what is printed, what it would have to be."""

    where: str
    printed: str
    recomputed: str


class Outcome(NamedTuple):
    """What a check saw in one place: how many cells were compared, and those that fail.

    `note` is what the check adds to its declaration's words, e.g. how unlikely luck is.
    """

    place: str
    compared: int
    mismatches: tuple[Mismatch, ...]
    note: str = ""


class Check(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"
):
    """A declared check. `says` is what is found where it fails; `consequence` what follows.

    `holds` is what ought to be true, in a few words; it is what the list of held checks shows.
    """

    id: str
    holds: str
    says: str
    consequence: str
    severity: Severity

    def examine(self, book: Book) -> Iterator[Outcome]:
        """Compare, place by place.

        Raises:
            DataError: the declaration names a column that there is not.
        """
        raise NotImplementedError


def differs(first: float, second: float, tolerance: float) -> bool:
    """Whether two numbers lie further apart than rounding can explain."""
    return abs(first - second) > tolerance + EPSILON


def shown(value: float, column: Column) -> str:
    """A recomputed value with the digits that the column prints, and one more."""
    decimals = max((cell.decimals for cell in column.cells.values()), default=0)
    return f"{value:.{decimals + 1}f}" if decimals else f"{value:.7g}"
