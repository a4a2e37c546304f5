"""Weighted sums of printed columns."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import msgspec

from keju.published.printed_tables import PrintedTables


class Term(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Columns of a sum, each taken `times` (a fraction such as "9/35")."""

    of: str
    times: str = "1"


class Sum(NamedTuple):
    """A weighted sum of columns, by row; `half` is what rounding of the terms may make of it."""

    values: dict[str, float]
    half: float


def weighted_sum(paper: PrintedTables, terms: tuple[Term, ...], constant: float = 0.0) -> Sum:
    """Add up the terms in every row that has them all."""
    weighted = [
        (float(Fraction(term.times)), column) for term in terms for column in paper.columns(term.of)
    ]
    rows = [
        row for row in weighted[0][1].values if all(row in column.values for _, column in weighted)
    ]
    return Sum(
        {
            row: constant + sum(times * column.values[row] for times, column in weighted)
            for row in rows
        },
        sum(abs(times) * column.half for times, column in weighted),
    )
