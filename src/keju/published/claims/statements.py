"""Statements about printed tables that are true or false: the checks of a claim."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import msgspec

from keju.published.checks.marks import places
from keju.published.claims.quantities import (
    COMPARE,
    AnyQuantity,
    RowMean,
    Sense,
    half_of,
    limit,
)
from keju.published.claims.selection import select_cells, select_rows
from keju.published.printed_tables import PrintedTables
from keju.published.tables import EPSILON, Column


class TestResult(NamedTuple):
    """Whether a statement is true, and the numbers that it was decided by."""

    is_true: bool
    values: tuple[float, ...]


class Statement(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"
):
    """Something that printed cells make true or false."""

    def test(self, paper: PrintedTables) -> TestResult:
        """Decide it.

        Raises:
            DataError: a column or row that it names does not exist.
        """
        raise NotImplementedError


class Equals(Statement, frozen=True, kw_only=True, tag="equals"):
    """The computed `amount` is the number that the paper states, within rounding.

    `stated` is written as in the paper (``"35.46"``, ``"59"``): its digits set the tolerance. For
    "about 3,000" or "nearly half" give the tolerance in `within`.
    """

    amount: AnyQuantity
    stated: str
    within: float | None = None

    def test(self, paper: PrintedTables) -> TestResult:
        """Whether the two agree."""
        found, stated = self.amount.amount(paper), float(self.stated)
        allowed = self.within if self.within is not None else half_of(self.stated)
        near = abs(found.value - stated) <= allowed + found.half + EPSILON
        return TestResult(near, (found.value, stated))


class Compares(Statement, frozen=True, kw_only=True, tag="compares"):
    """`first` is `sense` (above, at least, below, at most, equal to) `second`."""

    first: AnyQuantity
    sense: Sense
    second: AnyQuantity

    def test(self, paper: PrintedTables) -> TestResult:
        """Whether the printed numbers compare so."""
        first, second = self.first.amount(paper).value, self.second.amount(paper).value
        return TestResult(COMPARE[self.sense](first, second), (first, second))


class First(Statement, frozen=True, kw_only=True, tag="first"):
    """In each of the columns `of`, `models` have the best places among `rows`, in any order.

    With one model: it is the best (a tie counts). The direction is the metric's: a low error rate
    is good. With `ordered`, the models are in the order given.
    """

    of: str
    models: tuple[str, ...]
    rows: tuple[str, ...] = ("@evaluated",)
    ordered: bool = False
    from_worst: bool = False

    def test(self, paper: PrintedTables) -> TestResult:
        """Whether as many rows as there are models, and no others, are in front."""
        found = [self._of_column(paper, column) for column in paper.columns(self.of)]
        return TestResult(
            all(each for each, _ in found), tuple(v for _, values in found for v in values)
        )

    def _of_column(self, paper: PrintedTables, column: Column) -> tuple[bool, list[float]]:
        select_rows(paper, column, self.models)  # Each of them must be in the column.
        placed = places(column, {*select_rows(paper, column, self.rows), *self.models})
        sign = -1 if self.from_worst else 1
        worst = max(sign * placed[model] for model in self.models)
        in_front = {row for row, place in placed.items() if sign * place < worst} - {*self.models}
        given = [sign * placed[model] for model in self.models]
        best = min(placed, key=lambda row: sign * placed[row])
        values = [column.values[row] for row in (*self.models, best)]
        return not in_front and (not self.ordered or given == sorted(given)), values


class Ordered(Statement, frozen=True, kw_only=True, tag="ordered"):
    """In each of the columns `of`, each of `rows` is better than the one after it."""

    of: str
    rows: tuple[str, ...]

    def test(self, paper: PrintedTables) -> TestResult:
        """Whether the named rows are in this order, equal values not counting as better."""
        is_true, values = True, []
        for column in paper.columns(self.of):
            select_rows(paper, column, self.rows)
            placed = places(column, self.rows)
            order = [placed[row] for row in self.rows]
            is_true = is_true and all(a < b for a, b in pairwise(order))
            values += [column.values[row] for row in self.rows]
        return TestResult(is_true, tuple(values))


class Every(Statement, frozen=True, kw_only=True, tag="every"):
    """Every cell of the columns `of` in `rows` is `sense` the limit; see `CountOf` for `than`."""

    of: str
    sense: Sense
    rows: tuple[str, ...] = ("@evaluated",)
    without: tuple[str, ...] = ()
    than: AnyQuantity | None = None
    than_of: str = ""

    def test(self, paper: PrintedTables) -> TestResult:
        """Whether all cells compare so; the values are those that do not, then the extremes."""
        holds = self._compared(paper)
        failing = [value for value, _, kept in holds if not kept]
        values = [value for value, _, _ in holds]
        limits = [bound for _, bound, _ in holds]
        shown = (*failing, min(values), max(values), min(limits), max(limits))
        return TestResult(self._is_true([kept for _, _, kept in holds]), shown)

    def _is_true(self, kept: list[bool]) -> bool:
        return all(kept)

    def _compared(self, paper: PrintedTables) -> list[tuple[float, float, bool]]:
        cells = select_cells(paper, self.of, self.rows, self.without)
        bounds = [limit(paper, row, self.than, self.than_of) for _, row, _ in cells]
        return [
            (value, bound, COMPARE[self.sense](value, bound))
            for (_, _, value), bound in zip(cells, bounds, strict=True)
        ]


class NoneOf(Every, frozen=True, kw_only=True, tag="none"):
    """No cell of the columns `of` in `rows` is `sense` the limit."""

    def _is_true(self, kept: list[bool]) -> bool:
        return not any(kept)


class HighestColumn(Statement, frozen=True, kw_only=True, tag="highest_column"):
    """In one row, `column` has the highest number of the columns `of` (`lowest`: the lowest)."""

    row: str
    of: str
    column: str
    lowest: bool = False

    def test(self, paper: PrintedTables) -> TestResult:
        """Whether no other column has a higher (lower) number in this row."""
        sign = -1 if self.lowest else 1
        claimed = paper.column(self.column).values[self.row]
        values = [column.values[self.row] for column in paper.columns(self.of)]
        best = max(values, key=lambda value: sign * value)
        return TestResult(sign * claimed >= sign * best, (claimed, best))


class Means(Statement, frozen=True, kw_only=True, tag="means"):
    """In every row of `rows`, the cell of `of` is the mean of the row's cells in `parts`.

    `weights_of` as in `RowMean`. The value is the largest difference.
    """

    of: str
    parts: tuple[str, ...]
    rows: tuple[str, ...] = ("@evaluated",)
    without: tuple[str, ...] = ()
    weights_of: str = ""

    def test(self, paper: PrintedTables) -> TestResult:
        """Whether all means agree, within rounding."""
        column = paper.column(self.of)
        differences, near = [], []
        for _, row, value in select_cells(paper, self.of, self.rows, self.without):
            mean = RowMean(row=row, parts=self.parts, weights_of=self.weights_of).amount(paper)
            differences.append(abs(mean.value - value))
            near.append(differences[-1] <= mean.half + column.half + EPSILON)
        return TestResult(all(near), (max(differences),))


AnyStatement = Equals | Compares | First | Ordered | Every | NoneOf | HighestColumn | Means
